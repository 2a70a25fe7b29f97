"""The files that training starts from, made from trees: clean trees in two parts, and the oracle of each part."""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import floor
from pathlib import Path
from typing import TypeVar

from oracle.blocks import make_oracle, write_oracle
from oracle.brackets import LocatedTree, format_located, format_tree, read_tree_lines, read_trees
from oracle.errors import InputError
from oracle.files import numbered_lines, open_bytes, replacing
from oracle.lazy import nltk
from oracle.preparation import Preparation
from oracle.transitions import SYSTEMS, unlimited
from oracle.treebank import clean, words
from oracle.unknown import UnknownWords, known_words

T = TypeVar("T")

PARTS = ("train", "dev")


def trees_of(folder: Path, part: str) -> Path:
    """Return the path where `make_training_data` writes the trees of a part."""
    return folder / f"{part}.trees"


def oracle_of(folder: Path, part: str) -> Path:
    """Return the path where `make_training_data` writes the oracle of a part."""
    return folder / f"{part}.oracle"


@dataclass(frozen=True)
class Recipe:
    """Settings for making oracles: the rules for unknown words, the transition system, and the kind of model."""

    unk: str
    transitions: str
    generative: bool


class TreesFile(Preparation):
    """Iterable of a file's trees, cleaned as `rnng-dy prepare` does, with counts of what was read and changed."""

    def __init__(
        self,
        path: str,
        skip_preterminals: bool = False,
        on_bytes: Callable[[int], None] = lambda size: None,
        trees: Iterable[nltk.Tree] | None = None,
    ):
        """`on_bytes` is called with the size of each line.

        `trees` replace those of a file; `path` then names them in messages.
        """
        super().__init__(self._located(trees), clean, skip_preterminals)
        self.path, self._on_bytes = path, on_bytes
        self._digest = hashlib.sha256()
        self.changed = 0

    def __iter__(self) -> Iterator[LocatedTree]:
        """Yield the trees, each with its text on one line. Raises InputError if no tree is left."""
        yield from super().__iter__()
        if not self.read:
            raise InputError("no tree in this input", self.path)
        if not self.left:
            raise InputError(f"no tree is left of {self.read}", self.path)

    @property
    def hash(self) -> str:
        """SHA-256 of the bytes read, equal to `file_hash`."""
        return self._digest.hexdigest()

    def _located(self, trees: Iterable[nltk.Tree] | None) -> Iterator[LocatedTree]:
        """Yield the trees of the file, or those given, with their places."""
        given = None if trees is None else nullcontext(_lines(self._checked(trees)))
        with given or open_bytes(self.path) as stream:
            lines = (line.decode("utf-8", "surrogateescape") for line in self._hashed(stream))
            yield from read_tree_lines(numbered_lines(lines, self.path), self.path)

    def _checked(self, trees: Iterable[nltk.Tree]) -> Iterator[nltk.Tree]:
        """Yield the trees. Raises InputError for an object that is no tree."""
        if isinstance(trees, nltk.Tree):
            raise InputError("one tree, and a list of them is needed", self.path)
        for number, tree in enumerate(trees, 1):
            if not isinstance(tree, nltk.Tree):
                raise InputError(f"{tree!r:.60} is no nltk.Tree", self.path, number)
            yield tree

    def _hashed(self, stream: Iterable[bytes]) -> Iterator[bytes]:
        for line in stream:
            self._digest.update(line)
            self._on_bytes(len(line))
            yield line.removeprefix(BOM_UTF8)

    def _cleaned(self, located: LocatedTree) -> LocatedTree | None:
        cleaned = super()._cleaned(located)
        if cleaned is None:
            return None
        text = format_located(cleaned)
        # a tree on several lines has no text, yet may be clean
        self.changed += text != located.text and text != format_tree(located.tree)
        return cleaned._replace(text=text)


def hash_of_trees(trees: Iterable[nltk.Tree]) -> str:
    """Return the hash that a `TreesFile` of these trees has after reading."""
    return hashlib.sha256(b"".join(_lines(trees))).hexdigest()


def _lines(trees: Iterable[nltk.Tree]) -> Iterator[bytes]:
    return (f"{format_tree(tree)}\n".encode("utf-8", "surrogateescape") for tree in trees)


def held_out(items: Iterable[T], share: Fraction) -> Iterator[tuple[T, bool]]:
    """Yield each item with whether it is held out: evenly spaced, every tenth for 1/10; the last item if none would be.

    >>> [item for item, is_held_out in held_out("abcdefg", Fraction(1, 3)) if is_held_out]
    ['c', 'f']
    >>> list(held_out("ab", Fraction(1, 3)))
    [('a', False), ('b', True)]
    """
    count, before = 0, None
    for number, item in enumerate(items, 1):
        if before is not None:
            yield before
        is_held_out = floor(number * share) > count
        count += is_held_out
        before = (item, is_held_out)
    if before is not None:
        yield before[0], before[1] or not count


def evenly_spaced(items: Sequence[T], most: int) -> list[T]:
    """Return at most `most` of the items, evenly spaced.

    >>> evenly_spaced("abcdef", 3)
    ['a', 'c', 'e']
    """
    n = min(len(items), most)
    return [items[i * len(items) // n] for i in range(n)]


def make_training_data(
    folder: Path,
    trees: TreesFile,
    dev: TreesFile | Fraction,
    recipe: Recipe,
    on_tree: Callable[[], None] = lambda: None,
) -> None:
    """Write `train` and `dev`, trees and oracles, into a folder.

    `dev` is the development part's trees, or the share of `trees` to hold out for it. The oracles are the same as
    `rnng-dy oracle` makes of these trees. No tree stays in memory; `on_tree` is called after each tree's oracle is
    written. Raises InputError if no tree is left for a part.
    """
    if isinstance(dev, TreesFile):
        parts = chain(((tree, False) for tree in trees), ((tree, True) for tree in dev))
    else:
        parts = held_out(trees, dev)
    known = known_words(_written(folder, parts))
    unknown_words = UnknownWords(recipe.unk, known)
    system = unlimited(SYSTEMS[recipe.transitions])
    for part in PARTS:
        located = read_trees(trees_of(folder, part))
        with replacing(oracle_of(folder, part)) as stream:
            for block in make_oracle(located, unknown_words, recipe.generative, system):
                write_oracle([block], stream)
                on_tree()


def _written(folder: Path, parts: Iterable[tuple[LocatedTree, bool]]) -> Iterator[list[str]]:
    """Write the trees of both parts; yield the words of each training tree."""
    trains = False
    with (
        replacing(trees_of(folder, "train")) as train,
        replacing(trees_of(folder, "dev")) as dev,
    ):
        for located, is_dev in parts:
            (dev if is_dev else train).write(f"{located.text}\n")
            if not is_dev:
                trains = True
                yield words(located.tree)
    if not trains:
        raise InputError(
            "one tree alone: held out, it leaves none to train on; give --dev-trees", located.path
        )
