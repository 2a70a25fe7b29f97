"""Sentences as users give them: words, or pairs of words and tags."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from oracle.errors import RnngError

Token = str | tuple[str, str]
"""A word, or a word and its tag."""

TOO_LONG = "it does not fit into memory"
SHOWN_WORDS = 5


def split_tokens(tokens: Sequence[Token]) -> tuple[list[str], list[str] | None]:
    """Words and tags of plain or tagged tokens. Raises RnngError for neither, for a mixture and for none."""
    if isinstance(tokens, str) or not tokens:
        raise RnngError(
            "a sentence is a list of tokens, one at least; for the trees of a text call the model: `model(text)`"
        )
    if all(isinstance(token, str) for token in tokens):
        return list(tokens), None
    if any(isinstance(token, str) or len(token) != 2 for token in tokens):
        raise RnngError("all tokens are words, or all are (word, tag) pairs")
    return [word for word, _ in tokens], [tag for _, tag in tokens]


def warn_of_no_tree(number: int, tokens: Sequence[Token], reason: str) -> None:
    """Say which sentence of a text, counted from 1, has no tree."""
    words, _ = split_tokens(tokens)
    begin = " ".join(words[:SHOWN_WORDS])
    more = f" ..., {len(words)} words" if len(words) > SHOWN_WORDS else ""
    # the line that calls the model: there are `best_trees` and `__call__` between
    warnings.warn(f"sentence {number} ({begin}{more}) has no tree: {reason}", stacklevel=4)
