"""What gives words probabilities in `rnng-dy surprisal`: generative and LSTM models, and n-grams."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from oracle.errors import RnngError
from oracle.files import SourceSentence, read_oracle
from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy import registry
from rnng_dy.cli.job import open_model
from rnng_dy.execution.executor import Executor
from rnng_dy.execution.work import InputFile, Lines, ModelFolder
from rnng_dy.search.surprisal import SearchOptions, measure, measures_of
from rnng_dy.search.words import MeasuredSentence, WordRecord
from rnng_dy.text.segmenter import Segmenter


class Item(NamedTuple):
    """A sentence of the input and its place there, from 0."""

    index: int
    sentence: SourceSentence


class Wanted(NamedTuple):
    """What is wanted besides the words' numbers."""

    end: bool
    trees: bool
    beams: bool


class Scorer(NamedTuple):
    """A model that gives words probabilities, whatever its kind."""

    open_lines: Callable[[], Callable[[Sequence[Item]], list[Lines]]]
    columns: Sequence[str]
    """The measures that it has."""
    has_trees: bool
    identity: Sequence[object]
    """What its numbers depend on."""
    description: str
    open: Callable[[Executor], TransitionSystem]
    """Opens the model in this process, so that what is wrong with it is said at once; gives its transition system."""
    segmenter: Callable[[], Segmenter]
    """How running text becomes the tokens that it was trained on."""


def open_scorer(
    folder: str | None,
    train_path: str | None,
    order: int,
    options: SearchOptions,
    wanted: Wanted,
    device: str,
) -> Scorer:
    """The model of a folder, or n-grams of a training oracle where that is None. Raises RnngError for a parser."""
    if folder is None:
        lines = partial(_kneser_ney_lines, InputFile(train_path), order, wanted.end)
        identity = [wanted, order, Path(train_path)]
        description = f"Kneser-Ney, order {order}"
        opened = partial(_open_kneser_ney, train_path, order)
        segmenter = partial(_segmenter_of_oracle, train_path)
        return Scorer(lines, ["surprisal"], False, identity, description, opened, segmenter)
    kind = registry.kind_of(folder)
    if not kind.generates_words:
        raise RnngError(f"{folder} is a parser, which gives words no probability: name a generator")
    place = ModelFolder(kind.name, folder, device)
    identity, opened = [wanted, *place.content()], partial(_open_folder, place)
    segmenter = partial(_segmenter_of_model, place)
    if not kind.has_trees:
        lines = partial(_language_model_lines, place, wanted.end)
        return Scorer(lines, ["surprisal"], False, identity, folder, opened, segmenter)
    lines = partial(_generator_lines, place, options, wanted)
    return Scorer(lines, measures_of(options), True, identity, folder, opened, segmenter)


def _open_folder(place: ModelFolder, executor: Executor) -> TransitionSystem:
    return getattr(open_model(place, executor), "transitions", TOP_DOWN)


def _open_kneser_ney(train_path: str, order: int, executor: Executor) -> TransitionSystem:
    executor.prepare()
    _kneser_ney(train_path, order)
    return TOP_DOWN


def _segmenter_of_model(place: ModelFolder) -> Segmenter:
    return place.open().segmenter


def _segmenter_of_oracle(train_path: str) -> Segmenter:
    return Segmenter.of_training(sentence.tokens for sentence in read_oracle(train_path))


def _generator_lines(place: ModelFolder, options: SearchOptions, wanted: Wanted):
    model, end = place.open(), wanted.end or wanted.trees

    def kept(found: MeasuredSentence) -> MeasuredSentence:
        records = found.records
        if not wanted.beams:
            records = [replace(record, beam=()) for record in records]
        return found._replace(records=records, trees=found.trees[:1] if wanted.trees else ())

    def lines(batch: Sequence[Item]) -> list[Lines]:
        read = [item for item in batch if item.sentence.tokens]
        tokens = [item.sentence.tokens for item in read]
        unkified = [item.sentence.unkified for item in read]
        measured = measure(model, tokens, options, end, unkified, [item.index for item in read])
        return _in_places(batch, map(kept, measured))

    return lines


def _language_model_lines(place: ModelFolder, end: bool):
    return _sequential_lines(place.open().surprisals_of, end)


def _kneser_ney_lines(train: InputFile, order: int, end: bool):
    return _sequential_lines(_kneser_ney(train.path, order).surprisals_of, end)


def _kneser_ney(train_path: str, order: int):
    return _counted(train_path, os.path.abspath(train_path), order)


# a file's name may mean another one after the process has changed its folder
@lru_cache(maxsize=1)
def _counted(train_path: str, path: str, order: int):
    from rnng_dy.baselines.kneser_ney import KneserNey

    return KneserNey.of_oracle(train_path, order)


def _sequential_lines(surprisals_of: Callable[..., Sequence[Sequence[WordRecord]]], end: bool):
    def lines(batch: Sequence[Item]) -> list[Lines]:
        read = [item.sentence for item in batch if item.sentence.tokens]
        records = surprisals_of([s.tokens for s in read], [s.unkified for s in read])
        return _in_places(batch, (_of_records(found, end) for found in records))

    return lines


def _of_records(records: Sequence[WordRecord], end: bool) -> MeasuredSentence:
    unseen = [f"{r.token} ({r.unk})" for r in records if math.isinf(r.surprisal)]
    problem = None
    if unseen:
        problem = f"not in the model's vocabulary, so passed over: {', '.join(unseen)}"
    if any(math.isnan(r.surprisal) for r in records):
        problem = "does not fit into memory"
    return MeasuredSentence(records if end else records[:-1], problem=problem)


def _in_places(batch: Sequence[Item], measured: Iterator[MeasuredSentence]) -> list[Lines]:
    """One line of JSON a sentence; an empty one has no words."""
    found = iter(measured)
    nothing = MeasuredSentence([])
    return [[(next(found) if item.sentence.tokens else nothing).to_json()] for item in batch]
