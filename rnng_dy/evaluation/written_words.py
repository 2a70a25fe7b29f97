"""Measures of written words and regions, which cover several tokens."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from oracle.files import WHITE_SPACE
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import ALL_MEASURES, WordRecord

_NOT_ADDED = ("standard_error", "entropy", "open", "next_word_entropy")
_WRITTEN = re.compile(rf"[^{WHITE_SPACE}]+")


@dataclass(frozen=True)
class MergedWord(WordRecord):
    """A written word, or the end of a sentence, with the measures of the tokens that it covers.

    Surprisal, its shares, rounds, actions, changes of entropies and numbers of nodes are sums; a sum is None if some
    token lacks the measure. Entropies and open constituents are the values after the last token. The standard error is
    a single token's, and None for several tokens, since the errors of neighbours are not independent. `unk` is the
    model's form of a single token.
    """

    first: int = 1
    """Number of the first token, from 1."""
    last: int = 1
    known: bool | None = None
    """Whether the model saw all tokens unchanged; None for the end of a sentence."""
    span: tuple[int, int] | None = None
    """Its characters in the text, from 0, the end exclusive; None for the end of a sentence."""

    @property
    def token_ids(self) -> str:
        """`3`, or `3-4` for several tokens."""
        return f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"


def merged(sentence: SourceSentence, records: Sequence[WordRecord]) -> list[MergedWord]:
    """Return the written words of a sentence of running text with their tokens' measures.

    White space separates words. Records after the tokens, such as that of the end, stay alone.
    """
    text, spans = sentence.text, sentence.spans
    offset = spans[0][0] if spans else 0
    begins = [offset + written.start() for written in _WRITTEN.finditer(text)]
    words = []
    for _, of_word in groupby(range(len(spans)), lambda i: bisect_right(begins, spans[i][0])):
        first, *others = of_word
        last = others[-1] if others else first
        begin, end = spans[first][0], spans[last][1]
        word = " ".join(_WRITTEN.findall(text[begin - offset : end - offset]))
        covered = records[first : last + 1]
        words.append(covering(word, covered, first + 1, (begin, end)))
    ends = enumerate(records[len(spans) :], len(spans) + 1)
    return words + [covering(None, [record], number) for number, record in ends]


def covering(
    text: str | None,
    covered: Sequence[WordRecord],
    first: int = 1,
    span: tuple[int, int] | None = None,
) -> MergedWord:
    """Return a text with the measures of the tokens that it covers; `first` is the number of the first, from 1."""
    known = [record.known for record in covered]
    alone, last = len(covered) == 1, covered[-1]

    def total(name: str) -> float | None:
        values = [getattr(record, name) for record in covered]
        return None if None in values else sum(values)

    return MergedWord(
        token=text,
        first=first,
        last=first + len(covered) - 1,
        standard_error=last.standard_error if alone else None,
        entropy=last.entropy,
        open=last.open,
        next_word_entropy=last.next_word_entropy,
        unk=last.unk if alone else None,
        known=None if None in known else all(known),
        span=span,
        **{name: total(name) for name in ALL_MEASURES if name not in _NOT_ADDED},
    )
