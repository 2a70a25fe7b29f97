"""Word-by-word measures as tables, with a row per token, written word or region, and as JSON."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from oracle.common.errors import InputError
from oracle.common.tables import TSV, joined
from oracle.sentences import SourceSentence
from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy.evaluation import records
from rnng_dy.evaluation.records import Records, WordRecord, WrittenWord, tokens_so_far
from rnng_dy.text.columns import REGION, REGION_NAME, Columns
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.stimuli import Stimuli, read_stimuli

TOKEN_COLUMNS = ("sentence_id", "token_id", "token", "unk", "known")
"""The first columns of a table of tokens."""
_WORD = ("word_id", "start", "end")

TableRow = tuple[Mapping[str, Any], WordRecord]
"""The cells by column that say where a record belongs, and the record."""


class TokenRows:
    """A row per token."""

    columns: Sequence[str] = TOKEN_COLUMNS
    """The columns before the measures."""
    names: Sequence[str] = ()
    """How a page names the sentences; by their numbers without them."""

    def of(self, sentences: Iterable[Records]) -> Iterator[TableRow]:
        """Yield the rows of all sentences."""
        for number, sentence in enumerate(sentences, 1):
            for i, record in enumerate(sentence, 1):
                yield token_cells(number, i, record, record.known), record

    def fields(self, number: int, tokens: int) -> Sequence[Mapping[str, Any]]:
        """Return what else the JSON of each token of a sentence has, its end included."""
        return [{}] * tokens


class WordRows(TokenRows):
    """A row per written word, with its characters in the running text, or the text of stimuli."""

    added: Sequence[str] = (REGION, *_WORD, *TOKEN_COLUMNS)
    """The columns that follow those of the stimuli."""
    sentence_column: Sequence[str] = ("sentence_of_text",)
    """The column before these, if some text has several sentences: the sentence's number in it."""

    def __init__(
        self,
        texts: Sequence[Sequence[SourceSentence]],
        stimuli: Stimuli | None = None,
        measures: Sequence[str] = (),
    ):
        """Make the rows of texts; sentences are numbered in all of them, words in each.

        Raises InputError if a column of the stimuli has the name of a column that is added, or of a
        measure.
        """
        self.texts, self.stimuli = texts, stimuli
        # each sentence with the index of its text and its position there, from 1
        self._sentences = [
            (sentence, text, position)
            for text, sentences in enumerate(texts)
            for position, sentence in enumerate(sentences, 1)
        ]
        self.columns = (*_WORD, *TOKEN_COLUMNS)
        if stimuli is None:
            return
        self._sentence_column = self.sentence_column if max(map(len, texts)) > 1 else ()
        self.columns = (*stimuli.columns, *self._sentence_column, *self.added)
        names = [stimuli.texts[text].name for _, text, _ in self._sentences]
        self.names = [f"{i} ({name})" if name else str(i) for i, name in enumerate(names, 1)]
        names = Counter([*self.columns, *measures])
        if twice := [name for name in stimuli.columns if names[name] > 1]:
            message = f"the output has a column {twice[0]!r}, too: rename the column of the stimuli"
            raise InputError(message, stimuli.path, 1)

    def of(self, sentences: Iterable[Records]) -> Iterator[TableRow]:
        """Yield the rows of all sentences."""
        return chain.from_iterable(self.by_text(sentences))

    def by_text(self, sentences: Iterable[Records]) -> Iterator[Iterator[TableRow]]:
        """Yield the rows of each text; `sentences` are the records of all texts' sentences."""
        numbered = enumerate(sentences, 1)
        for text, sentences_of_text in enumerate(self.texts):
            words: list[WrittenWord] = []
            for sentence in sentences_of_text:
                number, of_sentence = next(numbered)
                words += records.written_words(number, sentence, of_sentence)
            yield self._of_text(text, words)

    def _of_text(self, text: int, words: Sequence[WrittenWord]) -> Iterator[TableRow]:
        """Yield the rows of a text from its words."""
        number = 0
        for word in words:
            record = records.covering(word.text, word.covered)
            cells = token_cells(word.sentence, word.token_ids, record, word.known)
            # the end of a sentence is no word
            number += word.span is not None
            at = (number, *word.span) if word.span else [""] * len(_WORD)
            place = dict(zip(_WORD, at, strict=True))
            yield {**self._carried(word.sentence, word.span), **place, **cells}, record

    def fields(self, number: int, tokens: int) -> Sequence[Mapping[str, Any]]:
        """Return the cells of the stimuli for each token of a sentence, its end included."""
        spans = [*(self._sentences[number - 1][0].spans or ()), None][:tokens]
        return [self._carried(number, span) for span in spans]

    def _carried(self, number: int, span: tuple[int, int] | None) -> Mapping[str, Any]:
        """Return the cells of the stimuli's columns, of the sentence if several, of the region."""
        if self.stimuli is None:
            return {}
        _, text, position = self._sentences[number - 1]
        stimulus = self.stimuli.texts[text]
        cells, region = stimulus.cells, ""
        if span is not None:
            cells = stimulus.cells_at(span[0])
            region = stimulus.regions[stimulus.region_at(span[0])].number
        added = dict.fromkeys(self._sentence_column, position)
        return {**dict(zip(self.stimuli.columns, cells, strict=True)), **added, REGION: region}


class RegionRows(WordRows):
    """A row per region, with sums over its words; a word is of the region in which it begins."""

    added = (REGION, "sentence_id", "start", "end", "content", "words", "unknown")
    sentence_column = ()

    def _of_text(self, text: int, words: Sequence[WrittenWord]) -> Iterator[TableRow]:
        """Yield the rows of a text; a region without words has the sum 0 and the last sentence."""
        stimulus = self.stimuli.texts[text]
        by_region: list[list[WrittenWord]] = [[] for _ in stimulus.regions]
        for word in words:
            by_region[stimulus.region_at(word.span[0])].append(word)
        for region, inside in zip(stimulus.regions, by_region, strict=True):
            count, at = len(inside), (region.begin, region.begin)
            inside = inside or [words[-1]._replace(covered=(), text="", span=at)]
            covered = [record for word in inside for record in word.covered]
            summed = records.covering(" ".join(word.text for word in inside), covered)
            span = inside[0].sentence, inside[0].span[0], inside[-1].span[1]
            unknown = sum(word.known is False for word in inside)
            added = (region.number, *span, summed.token, count, unknown)
            yield dict(zip(self.columns, (*region.cells, *added), strict=True)), summed


class WordTable(list[dict[str, Any]]):
    """The words of stimuli, a dictionary each with the stimuli's columns and the measures in bits.

    `pandas.DataFrame` takes it as it is.
    """

    def __init__(
        self,
        table: Any,
        columns: Columns,
        segmenter: Segmenter,
        surprisals: Callable[[list[list[str]]], Sequence[Records]],
    ):
        """Make the rows of a table of stimuli; `surprisals` measures sentences of tokens."""
        self._stimuli = read_stimuli(table, columns)
        self._texts = self._stimuli.tokenised(segmenter)
        sentences = [list(sentence.tokens) for text in self._texts for sentence in text]
        self._records = surprisals(sentences)
        super().__init__(self._rows(WordRows, self._stimuli))

    def by_region(self) -> list[dict[str, Any]]:
        """Return a row per region, with sums over its words."""
        return list(self._rows(RegionRows, self._stimuli))

    def by_sentence(self) -> list[dict[str, Any]]:
        """Return a row per text, with sums over its words, and the cells that its rows share."""
        texts = self._stimuli.texts
        whole = [t._replace(regions=[t.regions[0]._replace(cells=t.cells)]) for t in texts]
        return [
            {name: cell for name, cell in row.items() if name not in (REGION, REGION_NAME)}
            for row in self._rows(RegionRows, self._stimuli._replace(texts=whole))
        ]

    def _rows(self, kind: type[WordRows], stimuli: Stimuli) -> Iterator[dict[str, Any]]:
        values = [vars(record) for record in chain.from_iterable(self._records)]
        measures = [n for n in records.ALL_MEASURES if any(v[n] is not None for v in values)]
        for cells, record in kind(self._texts, stimuli, measures).of(self._records):
            yield {**cells, **{name: getattr(record, name) for name in measures}}


def token_cells(
    sentence_id: int, token_id: int | str, record: WordRecord, known: bool | None
) -> Mapping[str, Any]:
    """Return the cells of the columns TOKEN_COLUMNS.

    `known` is 1 for a word that the model knows, else 0. The end of a sentence has the token
    `</s>`. `one_word` escapes white space and control characters in a token.
    """
    token = records.END if record.token is None else records.one_word(record.token)
    unk = "" if record.unk is None else records.one_word(record.unk)
    shown = "" if known is None else int(known)
    return dict(zip(TOKEN_COLUMNS, (sentence_id, token_id, token, unk, shown), strict=True))


def line(row: TableRow, columns: Sequence[str], style: str = TSV) -> str:
    """Return the line of a row: the columns of its place, and those of the measures.

    Bits have six digits after the point, or are `inf`. Cells of unavailable measures are empty.
    """
    place, record = row
    measures = (_cell(getattr(record, name)) for name in columns)
    return joined((*map(str, place.values()), *measures), style)


def json_word(
    records: Records, index: int, columns: Sequence[str], transitions: TransitionSystem = TOP_DOWN
) -> dict[str, object]:
    """Return a word as a JSON object; `records` are its sentence's, at least up to the word.

    It has the table's columns by name, with tokens unescaped (null at the end of the sentence). It
    may have a `beam`: `log_prob` in nats, the `tree` so far in brackets, and its `actions`. An
    infinite surprisal, which JSON does not have, comes with `"infinite": true`.
    """
    record = records[index]
    names = ("token", "unk", "known", *columns)
    word = {"token_id": index + 1, **{name: getattr(record, name) for name in names}}
    if math.isinf(record.surprisal):
        word["infinite"] = True
    if record.beam:
        words = tokens_so_far(records, index + 1)
        brackets = transitions.partial_brackets
        word["beam"] = [
            {"log_prob": log_prob, "tree": brackets(actions, words), "actions": list(actions)}
            for log_prob, actions in record.beam
        ]
    return word


def _cell(value: float | int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    # adding 0.0 removes the sign of a negative zero
    return f"{round(value, 6) + 0.0:.6f}" if math.isfinite(value) else str(value)
