"""Measured sentences as text: a table, JSON, the best trees, or a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from oracle.transitions import TransitionSystem
from rnng_dy.drawing import item_figures
from rnng_dy.drawing.surprisal_page import surprisal_page
from rnng_dy.evaluation.records import MeasuredSentence, WordRecord, with_spellings
from rnng_dy.evaluation.word_tables import TokenRows, WordRows, best_tree, header, json_line, line

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

    def first(self) -> list[str]:
        """Return the lines before the sentences: the names of a table's columns."""
        is_table = self.form in (".tsv", ".csv")
        return [header(self.columns, self.form[1:], self.rows.place)] if is_table else []

    def lines(self, number: int, measured: MeasuredSentence) -> Iterator[str]:
        """Yield the lines of a sentence, whose number is from 1, unless the form is a page."""
        words = self._words(number, measured)
        if self.form == ".trees":
            yield best_tree(measured, self.transitions)
        elif self.form == ".jsonl":
            fields = self.rows.fields(number, len(words))
            yield json_line(words, number, self.columns, self.transitions, fields)
        else:
            for row in self.rows.of(number, words):
                yield line(row, self.columns, self.form[1:])

    def parts(self, sentences: Iterable[MeasuredSentence]) -> Iterator[str]:
        """Return the text of all sentences in parts."""
        numbered = enumerate(sentences, 1)
        if self.form == ".html":
            words = [self._words(*item) for item in numbered]
            names, system = self.rows.names, self.transitions
            drawn = self._figure(words) if item_figures.is_there() else ""
            return surprisal_page(words, "Surprisal", self.description, system, names, drawn)
        if self.form == ".svg":
            return iter([self._figure([self._words(*item) for item in numbered])])
        lines = chain.from_iterable(self.lines(*item) for item in numbered)
        return (f"{text}\n" for text in chain(self.first(), lines))

    def _figure(self, words: Sequence[Sequence[WordRecord]]) -> str:
        """Return the figure of stimuli, which is empty for other input."""
        if not isinstance(self.rows, WordRows) or self.rows.stimuli is None:
            return ""
        without_ends = [[record for record in of if record.token is not None] for of in words]
        return item_figures.figure(item_figures.curves(self.rows, without_ends))

    def _words(self, number: int, measured: MeasuredSentence) -> list[WordRecord]:
        records = measured.records
        if self.spellings is not None:
            records = with_spellings(records, self.spellings[number - 1])
        return [record for record in records if self.end or record.token is not None]
