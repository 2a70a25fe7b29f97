"""Rows of the table of surprisals: tokens, written words, or regions of stimuli."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from oracle.errors import InputError
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.merging import MergedWord, covering, merge, merge_spans
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.evaluation.surprisal_table import PLACE, header, line, measured_line
from rnng_dy.text.stimuli import REGION, Stimuli

_WORD = ("word_id", "start", "end")
_OF_REGION = (REGION, "sentence_id", "start", "end", "content", "words", "unknown")


class TokenRows:
    """A row per token."""

    place: Sequence[str] = PLACE
    """The columns before the measures."""
    names: Sequence[str] = ()
    """How a page names the sentences; by their numbers without them."""

    def __init__(self, columns: Sequence[str], style: str):
        """`columns` are the measures, `style` is the format of the table: TSV or CSV."""
        self._columns, self._style = columns, style

    @property
    def header(self) -> str:
        """Return the first line of the table."""
        return header(self._columns, self._style, self.place)

    def lines(self, number: int, records: Sequence[WordRecord]) -> Iterator[str]:
        """Yield the lines of a sentence; `number` counts sentences from 1."""
        for i, record in enumerate(records, 1):
            yield self._line(number, i, record)

    def fields(self, number: int, tokens: int) -> Sequence[Mapping[str, str]]:
        """Return what else the JSON of each token of a sentence has, its end included; empty if nothing."""
        return ()

    def _line(
        self, number: int, token_id: object, record: WordRecord, before: Sequence[str] = ()
    ) -> str:
        return line(record, number, token_id, self._columns, self._style, before)


class RawLineRows(TokenRows):
    """A row per word of a file with the sentences as they were written."""

    def __init__(self, columns: Sequence[str], style: str, raw: Sequence[str], path: str):
        super().__init__(columns, style)
        self._raw, self._path = raw, path

    def lines(self, number: int, records: Sequence[WordRecord]) -> Iterator[str]:
        """See `TokenRows`. Raises InputError if tokens and text cannot be aligned."""
        for word in merge(self._raw[number - 1], records, self._path, number):
            yield self._line(number, word.token_ids, word)


class TextRows(TokenRows):
    """A row per word of running text, with its place in the text."""

    place = (*_WORD, *PLACE)

    def __init__(self, columns: Sequence[str], style: str, sentences: Sequence[SourceSentence]):
        super().__init__(columns, style)
        self._sentences = sentences

    def words(self, number: int, records: Sequence[WordRecord]) -> list[MergedWord]:
        """Return the written words of a sentence with their places in the text."""
        sentence = self._sentences[number - 1]
        return merge_spans(sentence.text, sentence.spans, records) if sentence.tokens else []

    def lines(self, number: int, records: Sequence[WordRecord]) -> Iterator[str]:
        """See `TokenRows`."""
        for i, word in enumerate(self.words(number, records), 1):
            yield self._line(
                number, word.token_ids, word, (*self.before(number, word), *_of(i, word))
            )

    def before(self, number: int, word: MergedWord) -> Sequence[str]:
        """Return the cells before the word's place."""
        return ()


class StimulusRows(TextRows):
    """A row per word of stimuli, with the columns of their table."""

    own = (REGION, *_WORD, *PLACE)
    """The columns that the table adds."""

    def __init__(
        self,
        columns: Sequence[str],
        style: str,
        sentences: Sequence[SourceSentence],
        stimuli: Stimuli,
    ):
        """Raises InputError if a column of the stimuli has the name of a column that is added."""
        super().__init__(columns, style, sentences)
        self._stimuli = stimuli
        self.place = (*stimuli.columns, *self.own)
        self.names = [
            f"{i} ({sentence.name})" if sentence.name else str(i)
            for i, sentence in enumerate(stimuli.sentences, 1)
        ]
        for name in stimuli.columns:
            if name in (*self.own, *columns):
                message = f"the output has a column {name!r}, too: rename the column of the stimuli"
                raise InputError(message, stimuli.path, 1)

    def before(self, number: int, word: MergedWord) -> Sequence[str]:
        """Return the carried cells and the region."""
        return self._carried(number, word.span)

    def fields(self, number: int, tokens: int) -> Sequence[Mapping[str, str]]:
        """See `TokenRows`."""
        names = (*self._stimuli.columns, REGION)
        spans = [*self._sentences[number - 1].spans, None][:tokens]
        return [dict(zip(names, self._carried(number, span), strict=True)) for span in spans]

    def _carried(self, number: int, span: tuple[int, int] | None) -> Sequence[str]:
        regions = self._stimuli.sentences[number - 1].regions
        if span is None:
            return (*regions[-1].cells, "")
        region = regions[self.region_of(number, span)]
        return (*region.cells, region.name)

    def region_of(self, number: int, span: tuple[int, int]) -> int:
        """Return the index of the region in which characters of a sentence begin."""
        return self._stimuli.sentences[number - 1].region_at(span[0])


class RegionRows(StimulusRows):
    """A row per region of stimuli, with sums over its words; a word belongs to the region in which it begins."""

    own = _OF_REGION

    def lines(self, number: int, records: Sequence[WordRecord]) -> Iterator[str]:
        """See `TokenRows`. A region without words has the sum 0."""
        words = [word for word in self.words(number, records) if word.span is not None]
        found = {i: list(of) for i, of in groupby(words, lambda w: self.region_of(number, w.span))}
        for i, region in enumerate(self._stimuli.sentences[number - 1].regions):
            inside = found.get(i, [])
            summed = WordRecord("", None, 0.0)
            if inside:
                content = " ".join(word.token for word in inside)
                summed = covering(content, records, inside[0].first - 1, inside[-1].last - 1)
            unknown = sum(word.known is False for word in inside)
            begin, end = (inside[0].span[0], inside[-1].span[1]) if inside else (region.begin,) * 2
            counts = (number, begin, end, summed.token, len(inside), unknown)
            place = (*region.cells, region.name, *map(str, counts))
            yield measured_line(place, summed, self._columns, self._style)


def _of(word_id: int, word: MergedWord) -> Iterable[str]:
    """Return the cells of a word's number and its place in the text."""
    return (str(word_id), *(map(str, word.span) if word.span else ("", "")))
