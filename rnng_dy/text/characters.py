"""Classes of characters in raw text: blanks, invisible marks, Han, openers and closers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from oracle.errors import RnngError

OPENERS = "([{<“‘„‚«‹¿¡「『《〈（【〔"
CLOSERS = ")]}>”’»›」』》〉）】〕"
HAN = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""A character class: Chinese characters and Japanese syllables, which are written without blanks."""
HAN_ENDS = "。｡！？"

# joiners of emoji and of Persian and Indic letters, signs of Arabic and Kaithi numbers
_SEEN = re.compile(
    "[\u200c\u200d\u0600-\u0605\u06dd\u070f\u08e2\U000110bd\U000110cd]|[\U000e0020-\U000e007f]"
)
_BLANKS = "\u200b\ufeff"


class _Cleaning(dict):
    """A table for str.translate: blanks except line ends become spaces, invisible characters inside words vanish."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        if character == "\n":
            found = "\n"
        elif character.isspace() or category in ("Cc", "Zl", "Zp") or character in _BLANKS:
            found = " "
        elif category == "Cf" and not _SEEN.match(character):
            found = None
        else:
            found = character
        self[code] = found
        return found


_CLEANING = _Cleaning()


class CleanText(NamedTuple):
    """A text whose blanks are spaces and line ends, with the position of each character in the original."""

    text: str
    positions: Sequence[int]

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """Return the positions of these characters in the original; `end` is exclusive."""
        return self.positions[begin], self.positions[end - 1] + 1


def clean(text: str) -> CleanText:
    """Return the text with blanks for white space and invisible characters, without soft hyphens and direction marks.

    Invisible are control characters and zero-width spaces.

    Raises RnngError for a character that UTF-8 cannot encode.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RnngError(
            f"character {error.start + 1} of the text is a lone surrogate, which no UTF-8 has: decode the text again"
        ) from None
    cleaned = text.translate(_CLEANING)
    if len(cleaned) == len(text):
        return CleanText(cleaned, range(len(text)))
    kept = [i for i, character in enumerate(text) if _CLEANING[ord(character)] is not None]
    return CleanText(cleaned, kept)
