"""Written words and regions, which cover several tokens."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from oracle.files import WHITE_SPACE
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import ALL_MEASURES, WordRecord

_LAST = ("entropy", "open", "next_word_entropy")
"""The measures of which several tokens have the value after the last one."""
_WRITTEN = re.compile(rf"[^{WHITE_SPACE}]+")


class Word(NamedTuple):
    """A written word, or the end of a sentence, with the tokens that it covers."""

    sentence: int
    """The number of its sentence, from 1."""
    first: int
    """The number of its first token, from 1."""
    covered: Sequence[WordRecord]
    text: str | None
    """None for the end of a sentence, as for `span`."""
    span: tuple[int, int] | None
    """Its characters in the text, from 0, the end exclusive."""

    @property
    def known(self) -> bool | None:
        """Whether the model saw all tokens unchanged; None for the end of a sentence."""
        known = [record.known for record in self.covered]
        return None if None in known else all(known)

    @property
    def token_ids(self) -> str:
        """`3`, or `3-4` for several tokens."""
        last = self.first + len(self.covered) - 1
        return f"{self.first}" if last == self.first else f"{self.first}-{last}"


def written_words(
    number: int, sentence: SourceSentence, records: Sequence[WordRecord]
) -> list[Word]:
    """Return the written words of a sentence of running text, which white space separates.

    Records after the tokens, such as that of the end, stay alone.
    """
    text, spans = sentence.text, sentence.spans or ()
    offset = spans[0][0] if spans else 0
    begins = [offset + written.start() for written in _WRITTEN.finditer(text or "")]
    words = []
    for _, of_word in groupby(range(len(spans)), lambda i: bisect_right(begins, spans[i][0])):
        tokens = list(of_word)
        begin, end = spans[tokens[0]][0], spans[tokens[-1]][1]
        word = " ".join(_WRITTEN.findall(text[begin - offset : end - offset]))
        covered = [records[i] for i in tokens]
        words.append(Word(number, tokens[0] + 1, covered, word, (begin, end)))
    ends = enumerate(records[len(spans) :], len(spans) + 1)
    return words + [Word(number, i, [record], None, None) for i, record in ends]


def covering(text: str | None, covered: Sequence[WordRecord]) -> WordRecord:
    """Return a text with the measures of the tokens that it covers; without tokens its surprisal is 0.

    Surprisal, its shares, rounds, actions, changes of entropies and numbers of nodes are sums; a sum is None if some
    token lacks the measure. `unk` is a single token's, and None for several tokens.
    """
    if len(covered) < 2:
        return replace(covered[0], token=text) if covered else WordRecord(text, None, 0.0)
    measures: dict[str, Any] = {}
    for name in ALL_MEASURES:
        values = [getattr(record, name) for record in covered]
        measures[name] = values[-1] if name in _LAST else None if None in values else sum(values)
    return WordRecord(text, None, **measures)
