"""Records of word-by-word measures: a model's output for each word as it is read."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import NamedTuple

from oracle.errors import RnngError
from oracle.tables import number_of

END = "</s>"
"""The written form of a sentence's end, whose record has no token."""

ROUNDING = 1e-3
"""The largest difference in bits of numbers that count as equal."""
SHOWN_WORDS = 10
"""The most words that a message lists."""

_BREAKS_A_LINE = re.compile(r"[\0-\x20\x7f\x85\u2028\u2029]")


def surprisal_of(text: str) -> float:
    """Return the surprisal in a cell of a table; NaN if it is missing.

    Raises RnngError for what is no number, and for a negative one, such as a log probability.
    """
    try:
        bits = number_of(text)
    except ValueError:
        raise RnngError(f"the surprisal {text!r} is no number") from None
    if bits < -ROUNDING:
        raise RnngError(f"the surprisal {text} is negative: log probabilities need the other sign")
    return bits


class Analysis(NamedTuple):
    """A partial tree of the words so far, or a complete one at the end of a sentence."""

    log_prob: float
    """Joint log probability of its actions and words, in nats."""
    actions: Sequence[str]
    """Its actions, as in an oracle."""


@dataclass(frozen=True)
class WordRecord:
    """A word and its measures, in bits unless stated otherwise. Unavailable measures are None.

    The record of a sentence's end has the token None.
    """

    token: str | None
    """The word as written."""
    unk: str | None
    """The word as the model reads it: a word of its vocabulary, or a class of unknown words."""
    surprisal: float
    """-log2 p(word | the words before); infinite for a word that the model cannot generate."""
    class_surprisal: float | None = field(default=None, kw_only=True)
    """With an open vocabulary, the share of the word or its class of unknown words."""
    spelling_surprisal: float | None = field(default=None, kw_only=True)
    """With an open vocabulary, -log2 p(string | class), 0 for a known word; both shares add up to the surprisal."""
    syntactic: float | None = None
    """The share of the actions before the word."""
    lexical: float | None = None
    """The share of the word itself; both shares add up to the surprisal."""
    best_syntactic: float | None = None
    """The shares in the best derivation alone."""
    best_lexical: float | None = None
    rounds: int | None = None
    """Rounds of the search's loop until the word."""
    actions: int | None = None
    """Actions taken until the word."""
    entropy: float | None = None
    """Entropy of the partial trees in the word beam; with particles, an estimate for all partial trees."""
    entropy_delta: float | None = None
    """Change of the entropy; before the first word the entropy is 0."""
    open: int | None = None
    """Number of open constituents in the best partial tree."""
    beam: Sequence[Analysis] = ()
    """The partial trees after the word, best first."""
    opened: float | None = None
    """Expected number of constituents opened between the word before and this word."""
    closed: float | None = None
    """Expected number of constituents closed there."""
    best_opened: int | None = None
    """These numbers in the best partial tree alone."""
    best_closed: int | None = None
    next_word_entropy: float | None = None
    """Entropy of the word after this one, if asked for; the end of the sentence counts as a word."""
    next_word_entropy_delta: float | None = None
    """Change of this entropy since the word before."""

    @property
    def known(self) -> bool | None:
        """Whether the model knows the word itself; None for the end of a sentence and a word that it did not read."""
        return None if self.unk is None else self.token == self.unk


class MeasuredSentence(NamedTuple):
    """The measures of a sentence."""

    records: list[WordRecord]
    """Records of its words and, if asked for, of its end."""
    trees: Sequence[Analysis] = ()
    """Complete trees, best first; only if the end was asked for."""
    log_mass: float | None = None
    """log of the estimated probability of the words and, if asked for, the end, in nats."""
    problem: str | None = None
    """The reason why some of its measures are not finite."""

    def to_json(self) -> str:
        """Return the whole as one line for `from_json`."""
        return json.dumps(self._replace(records=[vars(record) for record in self.records]))

    @classmethod
    def from_json(cls, text: str) -> MeasuredSentence:
        """Return the sentence that `to_json` wrote."""
        records, trees, log_mass, problem = json.loads(text)
        read = [
            WordRecord(**{**of, "beam": [Analysis(*item) for item in of["beam"]]}) for of in records
        ]
        return cls(read, [Analysis(*tree) for tree in trees], log_mass, problem)


OPEN_MEASURES = ("class_surprisal", "spelling_surprisal")
"""The measures that only an open vocabulary gives."""
ALL_MEASURES = tuple(f.name for f in fields(WordRecord) if f.name not in ("token", "unk", "beam"))
"""All measures of a record, in the order of the columns of a table."""
MEASURES = tuple(name for name in ALL_MEASURES if name not in OPEN_MEASURES)
"""The measures without an open vocabulary."""
OF_NEXT_WORD = tuple(name for name in MEASURES if name.startswith("next_word_"))
"""The measures that are made only if they are asked for."""


def unmeasured(tokens: Iterable[str | None]) -> list[WordRecord]:
    """Return the records of a sentence that does not fit into memory."""
    return [WordRecord(token, None, math.nan) for token in tokens]


def with_spellings(records: Sequence[WordRecord], log_probs: Sequence[float]) -> list[WordRecord]:
    """Return the records of words as strings, given log p of each word's spelling in nats; an end has no spelling."""
    found = []
    for record, log_prob in zip(records, chain(log_probs, [0.0]), strict=False):
        bits = -log_prob / math.log(2) + 0.0
        lexical = [x if x is None else x + bits for x in (record.lexical, record.best_lexical)]
        found.append(
            replace(
                record,
                surprisal=record.surprisal + bits,
                class_surprisal=record.surprisal,
                spelling_surprisal=bits,
                lexical=lexical[0],
                best_lexical=lexical[1],
            )
        )
    return found


def one_word(text: str) -> str:
    r"""Return the text with escapes (`\t`, `\x20`) for ASCII space and control characters and Unicode's line ends.

    Other backslashes stay as they are. Programs that split lines, columns or words then see one word.

    >>> print(one_word("a b\tc"), one_word("1\\/2"))
    a\x20b\tc 1\/2
    """
    return _BREAKS_A_LINE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return "\\x20" if match[0] == " " else match[0].encode("unicode_escape").decode("ascii")


def tokens_so_far(records: Sequence[WordRecord], end: int) -> list[str]:
    """Return the tokens of the first `end` records, escaped by `one_word`, without skipped tokens."""
    return [
        one_word(record.token)
        for record in records[:end]
        if record.token is not None and (math.isfinite(record.surprisal) or record.beam)
    ]


def unknown_words(pairs: Iterable[tuple[str, str | None]]) -> str | None:
    """Return a message on words that a model does not know: their number and the most frequent; None if there are none.

    `pairs` are words as written and as the model reads them.

    >>> unknown_words([("the", "the"), ("cat", "UNK-LC"), ("cat", "UNK-LC")])
    "words outside the model's vocabulary: 2 of 3, cat (2)"
    """
    words, unknown = 0, Counter[str]()
    for token, unk in pairs:
        words += 1
        unknown.update([token] if token != unk else ())
    shown = shown_counts(unknown)
    count = f"{unknown.total()} of {words}"
    return f"words outside the model's vocabulary: {count}, {shown}" if unknown else None


def unknown_words_of(records: Iterable[WordRecord]) -> str | None:
    """Return the message of `unknown_words` on records; words without a number are not counted."""
    return unknown_words(
        (r.token, r.unk)
        for r in records
        if r.token is not None and r.unk is not None and not math.isnan(r.surprisal)
    )


def shown_counts(counts: Counter[str]) -> str:
    """Return the most frequent keys with their counts, and how many more there are.

    >>> shown_counts(Counter({"cat": 2, "dog": 1}))
    'cat (2), dog (1)'
    """
    shown = [f"{word:.40} ({count})" for word, count in counts.most_common(SHOWN_WORDS)]
    more = [f"and {len(counts) - SHOWN_WORDS} more"] if len(counts) > SHOWN_WORDS else []
    return ", ".join(shown + more)
