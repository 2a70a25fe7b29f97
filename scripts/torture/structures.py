"""Ways to damage the content of JSON and .npz files, while they stay readable as such."""

from __future__ import annotations

import io
import json
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import numpy as np

from scripts.torture.mutations import ANY, DEEP, NASTY, TEXT, Mutation

PWNED = "pwned"
"""The file that a pickle in one of these archives creates if somebody loads it."""
VALUES: list[object] = [
    *(None, True, False, 0, -1, 1, 1.5, 1e308, float("nan"), float("inf"), -float("inf"), 10**400, 2**63),
    *("", "nan", "a", "\ud800", "\0", "a" * 10_000, [], {}, [[]], {"a": 1}, [None], [1, "a"], {"": {}}),
]  # fmt: skip


class Pickled:
    """An object whose pickle runs code, as an attacker would use."""

    def __reduce__(self):
        return os.mkdir, (PWNED,)


_TYPES = (np.int64, np.complex64, bool, "datetime64[s]", [("a", "f4"), ("b", "i4")], ">f4")
_VALUES = ("nan", b"1", None, Pickled(), *np.float32(["nan", "inf", 3e38, 1e-45]))
ARRAYS: list[Callable[[np.ndarray], np.ndarray]] = [
    *(partial(lambda dtype, a: np.zeros(a.shape, dtype), dtype) for dtype in _TYPES),
    *(partial(lambda value, a: np.full(a.shape, value), value) for value in _VALUES),
    lambda a: a.astype(np.float64),
    lambda a: a.astype(np.float16),
    lambda a: a.T,
    lambda a: a.reshape(-1),
    lambda a: a[..., None],
    lambda a: a[:0] if a.ndim else a,
    lambda a: a[:-1] if a.ndim else a,
    lambda a: np.concatenate([a, a]) if a.ndim else a,
    lambda a: np.array(0.0, np.float32),
]
"""Ways to change an array's type, numbers and shape."""


def change_json(random: Random, content: bytes) -> bytes:
    """Change the type of a value somewhere in JSON, remove it, or add others."""
    tree = json.loads(content)
    holders = list(_holders(tree))
    if not holders:
        return json.dumps(random.choice(VALUES)).encode()
    holder = random.choice(holders)
    key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    how = random.randrange(6)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[random.choice(["", "new", "__class__", "a\0"])] = holder[key]
    elif how == 1:
        holder.append(holder[key])
    elif how == 2:
        tree = random.choice(VALUES)
    elif how == 3 and isinstance(holder, list):
        random.shuffle(holder)
    elif how == 4 and type(holder[key]) in (int, float):
        holder[key] += random.choice([1, -1, 10, -10, 0.5, 10**6, 10**10])
    else:
        holder[key] = random.choice(VALUES)
    return json.dumps(tree, indent=1).encode()


def _holders(tree: object) -> Iterator[dict | list]:
    """Yield every object and list that is not empty; small ones, which matter more, as often as large ones."""
    if isinstance(tree, (dict, list)) and tree:
        yield tree
        for item in tree.values() if isinstance(tree, dict) else tree:
            yield from _holders(item)


def nest_json(random: Random, content: bytes) -> bytes:
    """Nest JSON extremely deep, as a whole or in the place of the first value."""
    deep = random.choice([b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP])
    return deep if random.random() < 0.5 else content.replace(b": ", b": " + deep + b', "x": ', 1)


def change_member(random: Random, content: bytes) -> bytes:
    """Replace a member of an .npz by another array, remove or rename it, or add others."""
    arrays = _arrays(content)
    name = random.choice(list(arrays))
    how = random.randrange(8)
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays[random.choice(["x", "optimizer/x/y", "parameter/x", "../../x"])] = arrays.pop(name)
    elif how == 2:
        arrays["added"] = arrays[name]
    elif arrays[name].dtype.kind == "U":
        arrays[name] = np.array(_changed_text(random, str(arrays[name])))
    else:
        arrays[name] = random.choice(ARRAYS)(arrays[name])
    return written(np.savez, **arrays)


def change_number(random: Random, content: bytes) -> bytes:
    """Replace a number of an .npz by NaN or a far too large one."""
    arrays = {name: np.array(values) for name, values in _arrays(content).items()}
    floats = [values for values in arrays.values() if values.dtype.kind == "f" and values.size]
    if floats:
        values = random.choice(floats).reshape(-1)
        values[random.randrange(len(values))] = random.choice([np.nan, np.inf, -np.inf, 3e38, 1e30])
    return written(np.savez, **arrays)


def change_state(random: Random, content: bytes) -> bytes:
    """Change the JSON within an .npz, or another array if it has none."""
    arrays = _arrays(content)
    if "state" not in arrays:
        return change_member(random, content)
    arrays["state"] = np.array(_changed_text(random, str(arrays["state"])))
    return written(np.savez, **arrays)


def written(save: Callable, *content: object, **named: object) -> bytes:
    """Return the bytes that a function writes into a stream."""
    stream = io.BytesIO()
    save(stream, *content, **named)
    return stream.getvalue()


def _changed_text(random: Random, text: str) -> str:
    try:
        return change_json(random, text.encode()).decode()
    except ValueError:
        return random.choice(NASTY).decode("utf-8", "replace")


def promise_more(random: Random, content: bytes) -> bytes:
    """Announce an array in a member's header that is far larger than its data."""
    shapes = ["(10000000000,)", "(100000, 100000)", "(-1,)", "()"]
    return _with_header(random, content, random.choice(shapes))


def spoil_header(random: Random, content: bytes) -> bytes:
    """Replace a member's header by something else."""
    shape = random.choice(["None", "(1e3,)", "'a'", "(" * 200 + ")" * 200, "(True,)", "(2**9999,)"])
    return _with_header(random, content, shape)


def _with_header(random: Random, content: bytes, shape: str) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(118).encode() + b"\n"
    spoilt = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 64
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        members = {name: old.read(name) for name in old.namelist()}
        members[random.choice(list(members))] = spoilt
        for name, member in members.items():
            new.writestr(name, member)
    return stream.getvalue()


def double_member(random: Random, content: bytes) -> bytes:
    """Repeat a member of the archive, or add one that is no array."""
    stream = io.BytesIO(content)
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "a") as archive:
        warnings.simplefilter("ignore")
        name = random.choice(archive.namelist())
        archive.writestr(random.choice([name, "readme.txt", "x.npy"]), random.choice(NASTY))
    return stream.getvalue()


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


JSON: list[Mutation] = [*[change_json] * 14, nest_json, *TEXT]
NPZ: list[Mutation] = [
    *[change_member] * 8,
    *[change_number] * 3,
    *(promise_more, spoil_header, double_member, *ANY),
]
TRAINING: list[Mutation] = [*NPZ, *[change_state] * 8]
