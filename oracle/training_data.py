"""Clean trees, for training and for development, and the oracles of both."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from math import floor
from pathlib import Path
from typing import TypeVar

from oracle.blocks import STORED, OracleSentence, StoredSentences, make_oracle, stored
from oracle.brackets import LocatedTree, format_tree, read_tree_lines, read_trees
from oracle.common.errors import InputError
from oracle.common.files import numbered_lines, open_text, placed, replacing
from oracle.common.lazy import nltk
from oracle.transitions import SYSTEMS, unlimited
from oracle.treebank import clean, is_preterminal, subtrees, words
from oracle.unknown import UnknownWords, known_words

T = TypeVar("T")
Trees = str | os.PathLike[str] | Iterable["nltk.Tree"]


class Preparation:
    """Iterable of cleaned trees, each with its text on one line, which counts what passes through.

    A tree that the cleaner returns as it is keeps its text. Trees that are only a preterminal, such
    as `(NN yes)`, have no constituent and so no actions: unless they are skipped, they are an error
    after all trees are through.
    """

    def __init__(
        self,
        trees: Iterable[LocatedTree],
        cleaner: Callable[[nltk.Tree], nltk.Tree | None],
        skip_preterminals: bool,
        path: str = "",
    ):
        """`cleaner` returns None for a tree of which nothing is left.

        `path` names the trees in messages.
        """
        self._trees, self._cleaner, self._skips = trees, cleaner, skip_preterminals
        self.path = path
        self.read = self.emptied = self.skipped = self.changed = 0

    @property
    def kept(self) -> int:
        """Number of trees that remain."""
        return self.read - self.emptied - self.skipped

    def __iter__(self) -> Iterator[LocatedTree]:
        """Yield the trees that are left.

        Raises InputError for lone preterminals unless they are to be skipped.
        """
        first = None
        for located in self._trees:
            self.read += 1
            if (cleaned := self._cleaned(located)) is None:
                self.emptied += 1
            elif is_preterminal(cleaned.tree):
                self.skipped += 1
                first = first or cleaned
            else:
                yield cleaned
        if first and not self._skips:
            what = f"{format_tree(first.tree)} is only a preterminal, no tree"
            how = "take them out, or skip them by --skip-preterminals of `prepare`"
            raise InputError(f"{what} ({self.skipped} such in all): {how}", first.path, first.line)

    def require_trees(self) -> None:
        """Raise InputError if none of the trees that have passed remains."""
        if not self.kept:
            message = f"no tree is left of {self.read}" if self.read else "no tree in this input"
            raise InputError(message, self.path)

    def _cleaned(self, located: LocatedTree) -> LocatedTree | None:
        with placed(located.path, located.line):
            if (tree := self._cleaner(located.tree)) is None:
                return None
            if tree is located.tree:
                return located
            text = format_tree(tree)
        # a tree on several lines has no text, yet may be clean
        self.changed += text != located.text and _shape(tree) != _shape(located.tree)
        return located._replace(tree=tree, text=text)


def _shape(tree: nltk.Tree) -> list[object]:
    """Return words, and labels with numbers of children, top down: equal for equal trees."""
    return [node if isinstance(node, str) else (node.label(), len(node)) for node in subtrees(tree)]


def cleaned_trees(trees: Trees, name: str = "trees") -> Preparation:
    """Return the trees of a file or a list, cleaned as `rnng-dy prepare` does.

    `name` is that of a list in messages.
    """
    if isinstance(trees, (str, os.PathLike)):
        name, located = os.fspath(trees), read_trees(trees)
    else:
        located = read_tree_lines(numbered_lines(_lines_of(trees, name), name), name)
    return Preparation(located, clean, skip_preterminals=False, path=name)


def _lines_of(trees: Iterable[nltk.Tree], name: str) -> Iterator[str]:
    """Yield the trees of a list as lines. Raises InputError for an object that is no tree."""
    if isinstance(trees, nltk.Tree):
        raise InputError("one tree, and a list of them is needed", name)
    for number, tree in enumerate(trees, 1):
        if not isinstance(tree, nltk.Tree):
            raise InputError(f"{tree!r:.60} is no nltk.Tree", name, number)
        with placed(name, number):
            line = format_tree(tree)
        yield line


def held_out(items: Iterable[T], share: Fraction) -> Iterator[tuple[T, bool]]:
    """Yield each item with whether it is held out: evenly spaced, every tenth for 1/10.

    The last item is held out if none would be.

    >>> [item for item, is_held_out in held_out("abcdefg", Fraction(1, 3)) if is_held_out]
    ['c', 'f']
    >>> list(held_out("ab", Fraction(1, 3)))
    [('a', False), ('b', True)]
    """
    end = object()
    for number, (item, following) in enumerate(pairwise(chain(items, [end])), 1):
        before, count = floor((number - 1) * share), floor(number * share)
        yield item, count > before or (following is end and not count)


def evenly_spaced(items: Sequence[T], most: int) -> list[T]:
    """Return at most `most` of the items, evenly spaced.

    >>> evenly_spaced("abcdef", 3)
    ['a', 'c', 'e']
    """
    n = min(len(items), most)
    return [items[i * len(items) // n] for i in range(n)]


def make_training_data(
    folder: Path,
    trees: Preparation,
    dev: Preparation | Fraction,
    unk: str,
    transitions: str,
    generative: bool,
) -> tuple[StoredSentences, list[OracleSentence]]:
    """Return the oracles of training and development trees, as `rnng-dy oracle` makes them.

    `dev` is the development part's trees, or the share of `trees` to hold out for it. The training
    part stays in files of an empty folder, which is needed as long as it is. Raises InputError if
    no tree is left for a part.
    """
    if isinstance(dev, Preparation):
        sources = [trees, dev]
        divided = chain(((tree, False) for tree in trees), ((tree, True) for tree in dev))
    else:
        sources, divided = [trees], held_out(trees, dev)
    train_trees, dev_texts = folder / "train.trees", []

    def training_words() -> Iterator[list[str]]:
        with replacing(train_trees) as stream:
            for located, is_dev in divided:
                if is_dev:
                    dev_texts.append(located.text)
                else:
                    stream.write(f"{located.text}\n")
                    yield words(located.tree)

    unknown_words = UnknownWords(unk, known_words(training_words()))
    for source in sources:
        source.require_trees()
    if not train_trees.stat().st_size:
        message = "one tree alone: held out, it leaves none to train on; give --dev-trees"
        raise InputError(message, trees.path)

    def oracle_of(texts: Iterable[str]) -> Iterator[OracleSentence]:
        located = read_tree_lines(enumerate(texts, 1), trees.path)
        return make_oracle(located, unknown_words, generative, unlimited(SYSTEMS[transitions]))

    with open_text(train_trees) as texts:
        return stored(oracle_of(texts), folder / STORED), list(oracle_of(dev_texts))
