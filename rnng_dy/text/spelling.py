"""Spelling of tokens in a treebank's style: brackets, quotes, dashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rnng_dy.text.characters import OPENERS
from rnng_dy.text.conventions import Conventions
from rnng_dy.text.tokens import Piece

_BEFORE_OPENING = set(OPENERS) | set(" \n\"'`-—–")


def spelled(
    text: str, begin: int, end: int, pieces: Sequence[Piece], c: Conventions
) -> Iterator[str]:
    """Yield the tokens of a sentence's pieces.

    A straight quote opens if a blank or an opening bracket precedes it and no blank follows. Between two blanks it
    closes an open quote.
    """
    is_open = False
    for piece in pieces:
        letters = piece.letters
        if letters in ('"', "``", "''"):
            is_open = letters == "``" or (
                letters != "''" and _opens(text, begin, end, piece, is_open)
            )
            yield c.quotes[0 if is_open else 1]
        elif letters in ("'", "`") and (letters == "`" or _opens(text, begin, end, piece, True)):
            yield c.single_quotes[0]
        elif letters == "'":
            yield c.single_quotes[1]
        elif len(letters) > 2 and len(set(letters)) == 1 and letters[0] in ".-":
            yield "..." if letters[0] == "." else "--"
        elif len(letters) == 1:
            yield c.spellings.get(letters, letters)
        else:
            # a dash inside a word is a hyphen
            ways = (c.spellings.get(letter, letter) for letter in letters)
            yield "".join("-" if way == "--" else way for way in ways)


def _opens(text: str, begin: int, end: int, piece: Piece, is_open: bool) -> bool:
    before = text[piece.begin - 1] if piece.begin > begin else " "
    after = text[piece.end] if piece.end < end else " "
    if after in " \n":
        return before in " \n" and not is_open and piece.end < end
    return before in _BEFORE_OPENING
