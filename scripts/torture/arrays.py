"""Forged arrays beside an oracle (ORACLE.arrays): their header always agrees with their content."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from random import Random

import numpy as np

from scripts.torture.mutations import ANY, Mutation
from scripts.torture.places import READ_AS_A_WHOLE, SPARSE, Put
from scripts.torture.structures import ARRAYS, change_json, written

ENDING = ".arrays"
KEEP = """
import sys
from oracle import encoding
encoding.KEPT_FROM = 0
encoding.read_encoded(sys.argv[1])
"""
"""A program that keeps the arrays of an oracle of any size."""
ELSEWHERE = ["/etc/passwd", "../train.gen.oracle", "/dev/zero", "", ".", "tokens.npy/../x", "\0"]


def _forge(path: Path, content: bytes) -> None:
    """Write a file of the arrays, and put its hash into the header."""
    path.write_bytes(content)
    header = path.parent / "header.json"
    if path == header:
        return
    about = json.loads(header.read_text(encoding="utf-8"))
    about["files"][path.name] = hashlib.sha256(content).hexdigest()
    header.write_text(json.dumps(about), encoding="utf-8")


def change_column(random: Random, content: bytes) -> bytes:
    """Change a column's type, shape or length, or its numbers to ids that do not exist."""
    column = np.load(io.BytesIO(content), allow_pickle=False)
    if random.random() < 0.5:
        changed = random.choice(ARRAYS)(column)
    else:
        changed = column.astype(np.uint64)
        changed[random.randrange(len(changed))] = random.choice([0, 1, 2, 10**3, 10**6, 2**63])
    return written(np.save, changed)


def name_another_file(random: Random, content: bytes) -> bytes:
    """Name a file in the header that is not in the folder."""
    about = json.loads(content)
    if random.random() < 0.5:
        about["files"].pop(random.choice(list(about["files"])))
    about["files"][random.choice(ELSEWHERE)] = "0" * 64
    return json.dumps(about).encode()


FORGED = Put("forged", _forge)
PUTS = [*[FORGED] * 12, *(put for put in READ_AS_A_WHOLE if put is not SPARSE)]
MUTATIONS: dict[str, list[Mutation]] = {
    "header.json": [*[name_another_file] * 3, *[change_json] * 3, *ANY],
    "symbols.json": [*[change_json] * 6, *ANY],
    **{
        f"{column}.npy": [*[change_column] * 6, *ANY]
        for column in (
            *("tokens", "unkified", "actions", "word_ends", "action_ends", "lines", "systems"),
        )
    },
}
"""Ways to damage each file of the arrays."""
