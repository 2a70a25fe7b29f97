"""What characters are to a text: blanks, marks that are not seen, Han, openers and closers."""

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
    """For str.translate: each blank a space but for line ends, and what nobody sees inside a word away."""

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
    """A text whose blanks are spaces and line ends, and the position of each of its characters in the original."""

    text: str
    positions: Sequence[int]

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """Where the original has these characters; `end` is exclusive."""
        return self.positions[begin], self.positions[end - 1] + 1


def clean(text: str) -> CleanText:
    """White space, control characters and zero-width spaces become blanks; soft hyphens and direction marks vanish.

    Raises RnngError for what cannot be written as UTF-8.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RnngError(
            f"character {error.start + 1} of the text is a lone surrogate, which no UTF-8 has: decode the text anew"
        ) from None
    cleaned = text.translate(_CLEANING)
    if len(cleaned) == len(text):
        return CleanText(cleaned, range(len(text)))
    kept = [i for i, character in enumerate(text) if _CLEANING[ord(character)] is not None]
    return CleanText(cleaned, kept)
