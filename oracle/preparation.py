"""Preparation of treebank trees: cleaning, skipping and counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from oracle.brackets import LocatedTree
from oracle.lazy import nltk
from oracle.treebank import PreterminalRoots


class Preparation:
    """Iterable of cleaned trees, without lone preterminals; it counts what passes through."""

    def __init__(
        self,
        trees: Iterable[LocatedTree],
        cleaner: Callable[[nltk.Tree], nltk.Tree | None],
        skip_preterminals: bool,
    ):
        """`cleaner` returns None for a tree of which nothing is left."""
        self._trees, self._cleaner = trees, cleaner
        self._roots = PreterminalRoots(skip_preterminals)
        self.read = self.emptied = self.written = 0

    @property
    def skipped(self) -> int:
        """Number of trees that were only a preterminal."""
        return self._roots.count

    def __iter__(self) -> Iterator[LocatedTree]:
        """Yield the trees that are left. Raises InputError for lone preterminals unless they are to be skipped."""
        for located in self._roots.without(self._cleaned()):
            self.written += 1
            yield located

    def _cleaned(self) -> Iterator[LocatedTree]:
        for located in self._trees:
            self.read += 1
            tree = self._cleaner(located.tree)
            if tree is None:
                self.emptied += 1
            else:
                yield located._replace(tree=tree)
