"""Trees of the Penn Parsed Corpora of Historical English, and of IcePaHC with a lemma after each word."""

from __future__ import annotations

from oracle.lazy import nltk
from oracle.treebank import is_preterminal, is_trace

_BESIDE_THE_TEXT = frozenset(["ID", "CODE", "METADATA"])
_NUMERALS = ("NUM", "CD")


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
