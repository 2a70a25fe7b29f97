"""Sentences as programs give them: words, or pairs of words and tags."""

from __future__ import annotations

from collections.abc import Sequence

from oracle.errors import RnngError

Token = str | tuple[str, str]
"""A word, or a word and its tag."""


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
