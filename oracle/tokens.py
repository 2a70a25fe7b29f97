"""Checks of sentences from Python code: words, or pairs of words and tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set

from oracle.brackets import escape_brackets
from oracle.errors import RnngError
from oracle.files import WHITE_SPACE

Token = str | tuple[str, str]
"""A word, or a word and its tag."""

# surrogates stand for bytes of a file that are not UTF-8; all others are half a character
_WRONG = re.compile(rf"[{WHITE_SPACE}\ud800-\udc7f\udd00-\udfff]")


def split_tokens(tokens: Iterable[Token]) -> tuple[list[str], list[str] | None]:
    """Return words and tags of a sentence whose tokens are words (str) or pairs of a word and its tag (tuples).

    Brackets become -LRB- and -RRB-, as in the trees and inputs of commands. Raises RnngError for other or mixed
    tokens, for none, and for an empty word or tag, white space and lone surrogates.

    >>> split_tokens([("(", "-LRB-"), ("see", "VB")])
    (['-LRB-', 'see'], ['-LRB-', 'VB'])
    """
    is_list = isinstance(tokens, Iterable) and not isinstance(tokens, str | Set | Mapping)
    given = list(tokens) if is_list else []
    if not given:
        raise RnngError(
            "a sentence is a list of tokens, one at least; of a text `model(text)` gives the trees and "
            "`model.surprisals_of(text)` the surprisals"
        )
    if all(isinstance(token, str) for token in given):
        return _checked(given), None
    if not all(isinstance(token, tuple) and len(token) == 2 for token in given):
        raise RnngError(
            "all tokens are words, or all are (word, tag) tuples; for several sentences call the model"
        )
    return _checked([word for word, _ in given]), _checked([tag for _, tag in given])


def _checked(texts: list[str]) -> list[str]:
    for text in texts:
        if not isinstance(text, str) or not text or _WRONG.search(text):
            raise RnngError(
                f"{text!r:.80} is no word or tag: each is a text, not empty, without white space and lone surrogates"
            )
    return [escape_brackets(text) for text in texts]
