"""Gold trees and, after them, trees that a parser made of other sentences."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
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
    silver = [
        f"{tree['tree']}\n"
        for tree in trees
        if sum(tree["posteriors"]) / len(tree["posteriors"]) >= keep_above
    ]
    with replacing(output) as stream:
        stream.write(gold.read_text(encoding="utf-8"))
        stream.writelines(silver)
    return len(silver)


def add_different(
    gold: Iterable[Path],
    others: Iterable[Path],
    held_out: Iterable[Path],
    output: Path,
    every: int = 1,
) -> tuple[int, int]:
    """Write the gold trees, then the first tree of each other sentence that has LENGTHS words.

    If `every` is 3, each third line of the other files counts. Sentences that are held out are left
    out. Returns the numbers of gold trees and of the others.
    """
    trees, added = list(chain.from_iterable(map(_lines, gold))), 0
    known = {_sentence(tree) for tree in chain(trees, *map(_lines, held_out))}
    with replacing(output) as stream:
        stream.writelines(trees)
        for tree in chain.from_iterable(_lines(path, every) for path in others):
            sentence = _sentence(tree)
            if len(sentence) in LENGTHS and sentence not in known:
                known.add(sentence)
                stream.write(tree)
                added += 1
    return len(trees), added


def _lines(path: Path, every: int = 1) -> Iterator[str]:
    """Yield the trees in lines of a file; an empty line is a sentence without a tree."""
    with path.open(encoding="utf-8") as stream:
        yield from filter(str.strip, islice(stream, 0, None, every))


def _sentence(tree: str) -> tuple[str, ...]:
    return tuple(parse_line(tree).leaves())
