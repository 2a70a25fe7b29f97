"""What tables, pages and sums need of the record of a word; searches, which are not imported here, make them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

END = "</s>"
"""How the end of a sentence, whose record has no token, is written."""

SHOWN_WORDS = 10
"""Words that are named where there are many."""

_BREAKS_A_LINE = re.compile(r"[\0-\x20\x7f\x85\u2028\u2029]")


class Analysis(Protocol):
    """A derivation of the words so far; see `rnng_dy.search.words.Analysis`."""

    log_prob: float
    actions: Sequence[str]


class Record(Protocol):
    """A word and its measures; see `rnng_dy.search.words.WordRecord`."""

    token: str | None
    unk: str | None
    known: bool | None
    surprisal: float
    standard_error: float | None
    syntactic: float | None
    lexical: float | None
    best_syntactic: float | None
    best_lexical: float | None
    rounds: int | None
    actions: int | None
    entropy: float | None
    entropy_delta: float | None
    open: int | None
    beam: Sequence[Analysis]


def one_word(text: str) -> str:
    r"""The text with an escape, `\t` or `\x20`, for each ASCII space or control character and each line end of Unicode.

    Other backslashes stay as they are. What splits lines, columns or words then finds one word.

    >>> print(one_word("a b\tc"), one_word("1\\/2"))
    a\x20b\tc 1\/2
    """
    return _BREAKS_A_LINE.sub(_escape, text)


def _escape(match: re.Match) -> str:
    return "\\x20" if match[0] == " " else match[0].encode("unicode_escape").decode("ascii")


def tokens_so_far(records: Sequence[Record], end: int) -> list[str]:
    """The tokens of the first `end` records, each one word, as trees need them, without those that were passed over."""
    return [
        one_word(record.token)
        for record in records[:end]
        if record.token is not None and (math.isfinite(record.surprisal) or record.beam)
    ]


def unknown_words(unknown: Counter[str], words: int) -> str:
    """Return how many of so many words a model saw as UNK classes, or could not give at all."""
    shown = shown_counts(unknown)
    return f"words outside the model's vocabulary: {unknown.total()} of {words}, {shown}"


def shown_counts(counts: Counter[str]) -> str:
    """Return the most frequent ones with their counts, and how many more there are.

    >>> shown_counts(Counter({"cat": 2, "dog": 1}))
    'cat (2), dog (1)'
    """
    shown = [f"{word:.40} ({count})" for word, count in counts.most_common(SHOWN_WORDS)]
    more = [f"and {len(counts) - SHOWN_WORDS} more"] if len(counts) > SHOWN_WORDS else []
    return ", ".join(shown + more)
