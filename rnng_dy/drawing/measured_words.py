"""Measured sentences as text: a table, JSON, the best trees, or a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from oracle.brackets import format_tree
from oracle.transitions import TransitionSystem
from oracle.treebank import NO_TAG
from rnng_dy.drawing import item_figures
from rnng_dy.drawing.surprisal_page import surprisal_page
from rnng_dy.evaluation.records import MeasuredSentence, WordRecord, tokens_so_far, with_spellings
from rnng_dy.evaluation.word_tables import TokenRows, WordRows, header, json_line, line

FORMS = {
    ".tsv": "a table",
    ".csv": "the same",
    ".jsonl": "measures and partial trees",
    ".trees": "the best complete trees",
    ".html": "a page",
    ".svg": "with --stimuli, a curve per item and condition",
}
"""What files with each ending hold."""


class WordWriter(NamedTuple):
    """Writer of measured sentences in one form."""

    form: str
    """One of `FORMS`."""
    rows: TokenRows
    """The rows of a table."""
    columns: Sequence[str]
    """The measures."""
    end: bool
    """Whether sentence ends have rows."""
    transitions: TransitionSystem
    spellings: Sequence[Sequence[float]] | None
    """log p of each word's spelling in nats, per sentence; None without an open vocabulary."""
    description: str
    """The model, as a page names it."""

    def parts(self, sentences: Iterable[MeasuredSentence]) -> Iterator[str]:
        """Return the text of all sentences in parts."""
        if self.form == ".trees":
            return (f"{best_tree(measured, self.transitions)}\n" for measured in sentences)
        words = (self._words(*item) for item in enumerate(sentences, 1))
        if self.form == ".html":
            found, names, system = list(words), self.rows.names, self.transitions
            drawn = self._figure(found, item_figures.ON_A_PAGE) if item_figures.is_there() else ""
            return surprisal_page(found, "Surprisal", self.description, system, names, drawn)
        if self.form == ".svg":
            return iter([self._figure(list(words))])
        lines = self._json(words) if self.form == ".jsonl" else self._table(words)
        return (f"{text}\n" for text in lines)

    def _json(self, sentences: Iterable[Sequence[WordRecord]]) -> Iterator[str]:
        for number, words in enumerate(sentences, 1):
            fields = self.rows.fields(number, len(words))
            yield json_line(words, number, self.columns, self.transitions, fields)

    def _table(self, sentences: Iterable[Sequence[WordRecord]]) -> Iterator[str]:
        yield header(self.columns, self.form[1:], self.rows.place)
        for row in self.rows.of(sentences):
            yield line(row, self.columns, self.form[1:])

    def _figure(self, words: Sequence[Sequence[WordRecord]], most: float = math.inf) -> str:
        """Return the figure of stimuli, which is empty for other input and for more than `most` items."""
        if not isinstance(self.rows, WordRows) or self.rows.stimuli is None:
            return ""
        without_ends = [[record for record in of if record.token is not None] for of in words]
        items = item_figures.curves(self.rows, without_ends)
        return item_figures.figure(items) if len(items) <= most else ""

    def _words(self, number: int, measured: MeasuredSentence) -> list[WordRecord]:
        records = measured.records
        if self.spellings is not None:
            records = with_spellings(records, self.spellings[number - 1])
        return [record for record in records if self.end or record.token is not None]


def best_tree(measured: MeasuredSentence, transitions: TransitionSystem) -> str:
    """Return the best complete tree as a line, tags XX; an empty line if there is none."""
    if not measured.trees:
        return ""
    words = tokens_so_far(measured.records, len(measured.records))
    actions = measured.trees[0].actions
    return format_tree(transitions.tree_of(actions, words, [NO_TAG] * len(words)))
