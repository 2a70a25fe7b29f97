"""Gold trees and, after them, trees that a parser made of other sentences."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from oracle.brackets import parse_line
from oracle.common.files import open_text, replacing

LENGTHS = range(3, 81)
"""The possible numbers of words of a sentence that the generative model learns from."""


def mix(gold: Path, parsed: Path, keep_above: float, output: Path) -> int:
    """Write the gold trees, then the trees in JSON that the models are sure of.

    The constituents of these have a mean posterior of at least `keep_above`, which is the expected
    precision of a tree. Returns their number.
    """
    with open_text(parsed) as lines:
        trees = [tree for line in lines for tree in json.loads(line)["trees"]]
    silver = [t["tree"] for t in trees if sum(p := t["posteriors"]) / len(p) >= keep_above]
    with replacing(output) as stream:
        stream.write(gold.read_text(encoding="utf-8"))
        stream.writelines(f"{tree}\n" for tree in silver)
    return len(silver)


def add_different(
    gold: Path, parsed: Iterable[Path], held_out: Iterable[Path], output: Path
) -> tuple[int, int]:
    """Write the gold trees, then the first tree of each other sentence that has LENGTHS words.

    Sentences that are held out are left out. Returns the numbers of gold trees and of the others.
    """
    trees, others = list(_lines(gold)), 0
    known = {_sentence(tree) for tree in chain(trees, *map(_lines, held_out))}
    with replacing(output) as stream:
        stream.writelines(trees)
        for tree in chain.from_iterable(map(_lines, parsed)):
            sentence = _sentence(tree)
            if len(sentence) in LENGTHS and sentence not in known:
                known.add(sentence)
                stream.write(tree)
                others += 1
    return len(trees), others


def _lines(path: Path) -> Iterator[str]:
    """Yield the trees of a file, one per line; an empty line is a sentence without a tree."""
    with path.open(encoding="utf-8") as stream:
        yield from (line for line in stream if line.strip())


def _sentence(tree: str) -> tuple[str, ...]:
    return tuple(parse_line(tree).leaves())
