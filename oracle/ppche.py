"""Trees as the Penn Parsed Corpora of Historical English have them, and IcePaHC with a lemma after each word."""

from __future__ import annotations

from oracle.lazy import nltk
from oracle.treebank import is_preterminal, is_trace

_BESIDE_THE_TEXT = frozenset(["ID", "CODE", "METADATA"])
_NUMERALS = ("NUM", "CD")


def is_no_text(tree: nltk.Tree) -> bool:
    """Is it a node that holds none of the text's words?

    Those are (ID ...), (CODE ...), (METADATA ...), comments such as {COM:torn}, and traces and other empty elements:
    words with * in front, and 0 where it is no numeral.
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
    """The word of word-lemma: all before the last hyphen, or half of it where both are equal.

    >>> [without_lemma(token) for token in ("hestinum-hestur", ",-,", "---", "á-fram-á-fram", "og")]
    ['hestinum', ',', '-', 'á-fram', 'og']
    """
    half = len(token) // 2
    if half and token == f"{token[:half]}-{token[:half]}":
        return token[:half]
    word, _, lemma = token.rpartition("-")
    return word if word and lemma else token
