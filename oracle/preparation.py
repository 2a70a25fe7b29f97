"""Preparation of treebank trees: cleaning, skipping and counting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from oracle.brackets import LocatedTree, format_tree
from oracle.errors import InputError
from oracle.lazy import nltk
from oracle.treebank import is_preterminal, is_trace

# markup of the Penn Parsed Corpora of Historical English, and of IcePaHC with a lemma after each word
_BESIDE_THE_TEXT = frozenset(["ID", "CODE", "METADATA"])
_NUMERALS = ("NUM", "CD")


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


def is_no_text(tree: nltk.Tree) -> bool:
    """Return whether a node holds none of the text's words.

    Such nodes are (ID ...), (CODE ...), (METADATA ...), comments such as {COM:torn}, traces and other empty elements.
    Empty elements are words that begin with *, and 0 unless it is a numeral.
    """
    label = tree.label()
    if label in _BESIDE_THE_TEXT or is_trace(tree):
        return True
    if not is_preterminal(tree):
        return False
    word = tree[0]
    if word == "0":
        return not label.startswith(_NUMERALS)
    return word.startswith("*") or (word.startswith("{") and word.endswith("}"))


def without_lemma(token: str) -> str:
    """Return the word of word-lemma: all before the last hyphen, or half of the token if both are equal.

    >>> [without_lemma(token) for token in ("hestinum-hestur", ",-,", "---", "á-fram-á-fram", "og")]
    ['hestinum', ',', '-', 'á-fram', 'og']
    """
    half = len(token) // 2
    if half and token == f"{token[:half]}-{token[:half]}":
        return token[:half]
    word, _, lemma = token.rpartition("-")
    return word if word and lemma else token
