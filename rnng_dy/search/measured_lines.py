"""Sentences with the records of their words, as lines of JSON that are made where work is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from rnng_dy.evaluation.records import END, MeasuredSentence, WordRecord, unmeasured
from rnng_dy.open_vocabulary import open_records
from rnng_dy.results import Lines
from rnng_dy.search.surprisal import SearchOptions, measure, measure_batch
from rnng_dy.search.trees import NumberedSentence, in_places


class WantedOutputs(NamedTuple):
    """Outputs that are wanted besides the measures of words."""

    end: bool
    trees: bool
    beams: bool


def searched_lines(
    options: SearchOptions, wanted: WantedOutputs, model, batch: Sequence[NumberedSentence]
) -> list[Lines]:
    """Return the line of each sentence, measured by a search with a generative model."""

    def kept(found: MeasuredSentence) -> MeasuredSentence:
        records = found.records
        if not wanted.beams:
            records = [replace(record, beam=()) for record in records]
        return found._replace(records=records, trees=found.trees[:1] if wanted.trees else ())

    search = partial(measure_batch, options, wanted.end or wanted.trees, model)
    return _lines(lambda sentences: map(kept, search(sentences)), batch)


def sequential_lines(
    wanted: WantedOutputs, next_word: bool, scorer, batch: Sequence[NumberedSentence]
) -> list[Lines]:
    """Return the line of each sentence, measured by a model of words without trees.

    With `next_word`, records have the entropy of the next word, too.
    """

    def measured(sentences: Sequence[NumberedSentence]) -> Iterator[MeasuredSentence]:
        tokens = [item.sentence.tokens for item in sentences]
        records = scorer.surprisals_of(tokens, [item.sentence.unkified for item in sentences])
        if next_word:
            records = _with_next_words(scorer, records)
        return (_of_records(found, wanted.end) for found in records)

    return _lines(measured, batch)


def _with_next_words(scorer, records: Sequence[Sequence[WordRecord]]) -> Iterator[list[WordRecord]]:
    """Yield the records of each sentence, with the entropy of the next word for the words that the scorer has read."""

    def was_read(record: WordRecord) -> bool:
        return record.token is not None and math.isfinite(record.surprisal)

    read = [[record.unk for record in filter(was_read, of)] for of in records]
    for of, entropies in zip(records, scorer.next_word_entropies(read), strict=True):
        steps = pairwise(entropies)
        yield [_foreseeing(record, *next(steps)) if was_read(record) else record for record in of]


def _foreseeing(record: WordRecord, before: float, after: float) -> WordRecord:
    return replace(record, next_word_entropy=after, next_word_entropy_delta=after - before)


def records_of(
    options: SearchOptions, is_open: bool, model, batch: Sequence[tuple[int, Sequence[str]]]
) -> list[Sequence[WordRecord]]:
    """Return the word records of each sentence, with or without a search; `is_open` asks for those of words as strings.

    A sentence comes with its number, which decides the draws of a particle filter.
    """
    numbers, sentences = zip(*batch, strict=True)

    def measured(unkified: list[list[str]] | None = None) -> list[Sequence[WordRecord]]:
        if not hasattr(model, "transitions"):
            return model.surprisals_of(sentences, unkified)
        found = measure(model, sentences, options, unkified=unkified, numbers=numbers)
        return [of.records for of in found]

    return open_records(model, sentences, measured) if is_open else measured()


def line_without_memory(wanted: WantedOutputs, item: NumberedSentence) -> Lines:
    """Return the line of a sentence that does not fit into memory."""
    tokens = [*item.sentence.tokens, *([None] if wanted.end else [])]
    return [MeasuredSentence(unmeasured(tokens), problem="does not fit into memory").to_json()]


def _of_records(records: Sequence[WordRecord], end: bool) -> MeasuredSentence:
    unseen = [f"{r.token} ({r.unk})" for r in records if math.isinf(r.surprisal)]
    problem = None
    if unseen:
        problem = f"not in the model's vocabulary, so skipped: {', '.join(unseen)}"
    was_measured = any(math.isfinite(r.surprisal) for r in records)
    records = records if end else records[:-1]
    if missing := [r.token or END for r in records if math.isnan(r.surprisal)]:
        lacking = f"has no surprisal of {', '.join(missing)}"
        problem = lacking if was_measured else "does not fit into memory"
    return MeasuredSentence(records, problem=problem)


def _lines(
    measured: Callable[[list[NumberedSentence]], Iterator[MeasuredSentence]],
    batch: Sequence[NumberedSentence],
) -> list[Lines]:
    """Return a line of JSON per sentence; an empty sentence has no words."""
    return [[found.to_json()] for found in in_places(measured, batch, MeasuredSentence([]))]
