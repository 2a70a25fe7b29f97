"""Word-by-word measures as tables, with a row per token, written word or region, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from oracle.brackets import format_tree
from oracle.errors import InputError
from oracle.files import one_line
from oracle.sentences import SourceSentence
from oracle.transitions import TOP_DOWN, TransitionSystem
from oracle.treebank import NO_TAG
from rnng_dy.evaluation.records import (
    ALL_MEASURES,
    END,
    MEASURES,
    MeasuredSentence,
    WordRecord,
    one_word,
    tokens_so_far,
)
from rnng_dy.evaluation.tables import TSV, joined
from rnng_dy.evaluation.written_words import MergedWord, covering, merged
from rnng_dy.text.stimuli import REGION, Stimuli

PLACE = ("sentence_id", "token_id", "token", "unk", "known")
"""The first columns of a table of tokens."""
PART = "sentence_of_text"
"""The column of the sentence within a text of several, from 1."""
_WORD = ("word_id", "start", "end")
_OF_REGION = (REGION, "sentence_id", "start", "end", "content", "words", "unknown")

Row = tuple[Sequence[str], WordRecord]
"""The cells that say where a record belongs, and the record."""


class TokenRows:
    """A row per token."""

    place: Sequence[str] = PLACE
    """The columns before the measures."""
    names: Sequence[str] = ()
    """How a page names the sentences; by their numbers without them."""

    def of(self, number: int, records: Sequence[WordRecord]) -> Iterator[Row]:
        """Yield the rows of a sentence; `number` counts sentences from 1."""
        for i, record in enumerate(records, 1):
            yield token_cells(number, i, record), record

    def fields(self, number: int, tokens: int) -> Sequence[Mapping[str, str]]:
        """Return what else the JSON of each token of a sentence has, its end included; empty if nothing."""
        return ()


class WordRows(TokenRows):
    """A row per written word, with its place in the running text or, for stimuli, in the table's text."""

    own: Sequence[str] = (REGION, *_WORD, *PLACE)
    """The columns that follow those of the stimuli."""
    part: Sequence[str] = (PART,)
    """The column before these, if some text has several sentences."""

    def __init__(
        self,
        texts: Sequence[Sequence[SourceSentence]],
        stimuli: Stimuli | None = None,
        measures: Sequence[str] = (),
    ):
        """Make the rows of texts, whose sentences are numbered from 1 in all; words are numbered in each text.

        Raises InputError if a column of the stimuli has the name of a column that is added, or of a measure.
        """
        self.texts, self.stimuli = texts, stimuli
        self._sentences = [
            (sentence, text, place)
            for text, sentences in enumerate(texts)
            for place, sentence in enumerate(sentences, 1)
        ]
        self._lengths = [len(sentences) for sentences in texts]
        # the records of the sentences of a text so far
        self._read: dict[int, Sequence[WordRecord]] = {}
        self.place = (*_WORD, *PLACE)
        if stimuli is None:
            return
        self._part = self.part if max(self._lengths) > 1 else ()
        self.place = (*stimuli.columns, *self._part, *self.own)
        names = [stimuli.texts[text].name for _, text, _ in self._sentences]
        self.names = [f"{i} ({name})" if name else str(i) for i, name in enumerate(names, 1)]
        for name in stimuli.columns:
            if name in (*self._part, *self.own, *measures):
                message = f"the output has a column {name!r}, too: rename the column of the stimuli"
                raise InputError(message, stimuli.path, 1)

    def of(self, number: int, records: Sequence[WordRecord]) -> Iterator[Row]:
        """See `TokenRows`."""
        read = self._read_until(number, records)
        before = sum(len(self._merged(n, of)) for n, of in read.items() if n < number)
        for i, word in enumerate(self._merged(number, records), before + 1):
            place = (str(i), *(map(str, word.span) if word.span else ("", "")))
            cells = self._carried(number, word.span) if self.stimuli else ()
            yield (*cells, *place, *token_cells(number, word.token_ids, word)), word

    def fields(self, number: int, tokens: int) -> Sequence[Mapping[str, str]]:
        """See `TokenRows`."""
        if self.stimuli is None:
            return ()
        names = (*self.stimuli.columns, *self._part, REGION)
        spans = [*self._sentences[number - 1][0].spans, None][:tokens]
        return [dict(zip(names, self._carried(number, span), strict=True)) for span in spans]

    def _merged(self, number: int, records: Sequence[WordRecord]) -> list[MergedWord]:
        sentence, *_ = self._sentences[number - 1]
        return merged(sentence, records) if sentence.tokens else []

    def _read_until(
        self, number: int, records: Sequence[WordRecord]
    ) -> Mapping[int, Sequence[WordRecord]]:
        """Return the records of a text's sentences until this one by their numbers; sentences come in their order."""
        *_, place = self._sentences[number - 1]
        self._read = {**(self._read if place > 1 else {}), number: records}
        return {n: of for n, of in self._read.items() if n <= number}

    def _carried(self, number: int, span: tuple[int, int] | None) -> Sequence[str]:
        """Return the cells of the stimuli's columns, the sentence within the text if there are several, the region."""
        _, text, place = self._sentences[number - 1]
        part = [str(place)] * len(self._part)
        stimulus = self.stimuli.texts[text]
        if span is None:
            return (*stimulus.regions[-1].cells, *part, "")
        region = stimulus.regions[stimulus.region_at(span[0])]
        return (*region.cells, *part, region.name)


class RegionRows(WordRows):
    """A row per region of stimuli, with sums over its words; a word belongs to the region in which it begins."""

    own = _OF_REGION
    part = ()

    def of(self, number: int, records: Sequence[WordRecord]) -> Iterator[Row]:
        """Yield the rows of a text after its last sentence. A region without words has the sum 0."""
        read = self._read_until(number, records)
        _, text, place = self._sentences[number - 1]
        if place < self._lengths[text]:
            return
        # each word's sentence and the number of tokens before its sentence
        words: list[tuple[int, int, MergedWord]] = []
        tokens: list[WordRecord] = []
        for n, of in read.items():
            words += [(n, len(tokens), word) for word in self._merged(n, of)]
            tokens += of
        stimulus = self.stimuli.texts[text]
        by_region = {
            i: list(of) for i, of in groupby(words, lambda w: stimulus.region_at(w[2].span[0]))
        }
        for i, region in enumerate(stimulus.regions):
            summed, begin, end, sentence_id = (
                WordRecord("", None, 0.0),
                *(region.begin,) * 2,
                number,
            )
            inside = [word for *_, word in by_region.get(i, [])]
            if inside:
                (sentence_id, before, first), (_, before_last, last) = (
                    by_region[i][k] for k in (0, -1)
                )
                content = " ".join(word.token for word in inside)
                span = before + first.first - 1, before_last + last.last - 1
                summed = covering(content, tokens, *span)
                begin, end = first.span[0], last.span[1]
            unknown = sum(word.known is False for word in inside)
            counts = (sentence_id, begin, end, summed.token, len(inside), unknown)
            yield (*region.cells, region.name, *map(str, counts)), summed


def token_cells(sentence_id: int, token_id: object, record: WordRecord) -> Sequence[str]:
    """Return the cells of the columns PLACE.

    `known` is 1 for a word that the model knows, else 0. The end of a sentence has the token `</s>`. `one_word` escapes
    white space and control characters in a token.
    """
    token = END if record.token is None else one_word(record.token)
    unk = "" if record.unk is None else one_word(record.unk)
    return str(sentence_id), str(token_id), token, unk, _cell(record.known)


def header(
    columns: Iterable[str] = MEASURES, style: str = TSV, place: Sequence[str] = PLACE
) -> str:
    r"""Return the first line of a table; `columns` are the measures that the kind of model and search provides.

    >>> header(["surprisal"]).split("\t")
    ['sentence_id', 'token_id', 'token', 'unk', 'known', 'surprisal']
    """
    return joined((*place, *_in_order(columns)), style)


def line(row: Row, columns: Iterable[str] = MEASURES, style: str = TSV) -> str:
    """Return the line of a row, with as many columns as the header.

    Bits have six digits after the point, or are `inf`. Cells of unavailable measures are empty.
    """
    place, record = row
    return joined((*place, *(_cell(getattr(record, name)) for name in _in_order(columns))), style)


def json_line(
    records: Sequence[WordRecord],
    sentence_id: int,
    columns: Iterable[str] = MEASURES,
    transitions: TransitionSystem = TOP_DOWN,
    fields: Sequence[Mapping[str, str]] = (),
) -> str:
    """Return a sentence as a JSON object on one line: `sentence_id`, and `words`, a list.

    A word has its `fields`, and the table's columns by name, with tokens unescaped (null at the end of the sentence).
    It may have a `beam`: `log_prob` in nats, the `tree` so far in brackets, and its `actions`. JSON has no infinity: an
    infinite surprisal is null with `"infinite": true`; a missing measure is only null.
    """
    words = [
        {**of_word, **json_word(records, i, columns, transitions)}
        for i, of_word in enumerate(fields or [{}] * len(records))
    ]
    return one_line({"sentence_id": sentence_id, "words": words})


def json_word(
    records: Sequence[WordRecord],
    index: int,
    columns: Iterable[str],
    transitions: TransitionSystem = TOP_DOWN,
) -> dict[str, object]:
    """Return a word of `json_line`; `records` are those of its sentence, at least up to the word."""
    record = records[index]
    word: dict[str, object] = {
        "token_id": index + 1,
        "token": record.token,
        "unk": record.unk,
        "known": record.known,
    }
    word |= {name: getattr(record, name) for name in _in_order(columns)}
    if math.isinf(record.surprisal):
        word["infinite"] = True
    if record.beam:
        words = tokens_so_far(records, index + 1)
        word["beam"] = [
            {
                "log_prob": analysis.log_prob,
                "tree": transitions.partial_brackets(analysis.actions, words),
                "actions": list(analysis.actions),
            }
            for analysis in record.beam
        ]
    return word


def _in_order(columns: Iterable[str]) -> list[str]:
    wanted = set(columns)
    return [name for name in ALL_MEASURES if name in wanted]


def _cell(value: float | int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return str(int(value))
    # adding 0.0 removes the sign of a negative zero
    return f"{round(value, 6) + 0.0:.6f}" if math.isfinite(value) else str(value)


def best_tree(measured: MeasuredSentence, transitions: TransitionSystem) -> str:
    """Return the best complete tree as a line, tags XX; an empty line if there is none."""
    if not measured.trees:
        return ""
    words = tokens_so_far(measured.records, len(measured.records))
    actions = measured.trees[0].actions
    return format_tree(transitions.tree_of(actions, words, [NO_TAG] * len(words)))
