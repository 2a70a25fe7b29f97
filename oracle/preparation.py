"""Preparation of treebank trees: cleaning, skipping and counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from oracle.brackets import LocatedTree, format_tree
from oracle.errors import InputError
from oracle.lazy import nltk
from oracle.treebank import is_preterminal


class Preparation:
    """Iterable of cleaned trees, which counts what passes through.

    It leaves out trees that are only a preterminal, such as `(NN yes)`: no constituent, so no actions.
    """

    def __init__(
        self,
        trees: Iterable[LocatedTree],
        cleaner: Callable[[nltk.Tree], nltk.Tree | None],
        skip_preterminals: bool,
    ):
        """`cleaner` returns None for a tree of which nothing is left."""
        self._trees, self._cleaner, self._skips = trees, cleaner, skip_preterminals
        self.read = self.emptied = self.skipped = 0

    @property
    def left(self) -> int:
        """Number of trees that remain."""
        return self.read - self.emptied - self.skipped

    def __iter__(self) -> Iterator[LocatedTree]:
        """Yield the trees that are left. Raises InputError for lone preterminals unless they are to be skipped."""
        first = None
        for located in self._trees:
            self.read += 1
            cleaned = self._cleaned(located)
            if cleaned is None:
                self.emptied += 1
            elif is_preterminal(cleaned.tree):
                self.skipped += 1
                first = first or cleaned
            else:
                yield cleaned
        if first and not self._skips:
            raise InputError(
                f"{format_tree(first.tree)} is only a preterminal, no tree ({self.skipped} such in "
                "all): take them out, or skip them with --skip-preterminals",
                first.path,
                first.line,
            )

    def _cleaned(self, located: LocatedTree) -> LocatedTree | None:
        tree = self._cleaner(located.tree)
        return None if tree is None else located._replace(tree=tree)
