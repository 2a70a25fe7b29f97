"""Trees as the text from which they may have been made, with the place of each token in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oracle.brackets import unspelled
from rnng_dy.text.learning import CLITICS

_QUOTES = {"``": '"', "''": '"', "`": "'"}
_GLUED_LEFT = frozenset([*",.:;?!%)]}", "''", "...", "”", "’"])
_GLUED_RIGHT = frozenset([*"([{$#£€", "``", "`", "“", "‘"])
_GLUED_BOTH = frozenset(["HYPH", "/"])
_TWO_WORDS = frozenset(
    ["can not", "gon na", "got ta", "gim me", "wan na", "lem me", "d 'ye", "'t is", "'t was"]
)


class Detokenised(NamedTuple):
    """A sentence as text, and the characters of each of its tokens, the end exclusive."""

    text: str
    spans: tuple[tuple[int, int], ...]


def detokenised(words: Sequence[str], tags: Sequence[str]) -> Detokenised:
    """Join tokens into text: brackets and quotes as they are typed, clitics and marks beside their words.

    An abbreviation and the period after it share one period, which counts as the final one.

    >>> detokenised(["He", "ca", "n't", "-LRB-", "U.S.", ".", "-RRB-"], ["X"] * 7).text
    "He can't (U.S.)"
    """
    text, spans, glued, is_open = "", [], True, False
    for i, (word, tag) in enumerate(zip(words, tags, strict=True)):
        letters = _QUOTES.get(word) or unspelled(word)
        is_straight = word == '"'
        opens = is_straight and not is_open
        is_open = is_open != is_straight
        if not (glued or _is_glued_left(words, tags, i, opens)):
            text += " "
        if word == "." and text.endswith(".") and not text.endswith(".."):
            begin, end = spans[-1]
            spans[-1] = (begin, end - 1)
            spans.append((end - 1, end))
        else:
            spans.append((len(text), len(text) + len(letters)))
            text += letters
        glued = opens or unspelled(word) in _GLUED_RIGHT or word.endswith("$") or tag in _GLUED_BOTH
        glued = glued or word == "/"
    return Detokenised(text, tuple(spans))


def _is_glued_left(words: Sequence[str], tags: Sequence[str], i: int, opens: bool) -> bool:
    word = unspelled(words[i])
    if word == '"':
        return not opens
    if word in _GLUED_LEFT or tags[i] == "HYPH" or word == "/":
        return True
    if tags[i] == "POS" or word == "'" or word.replace("’", "'").lower() in CLITICS:
        return True
    return i > 0 and f"{words[i - 1]} {words[i]}".lower() in _TWO_WORDS
