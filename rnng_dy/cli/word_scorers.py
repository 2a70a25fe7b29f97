"""Sources of word probabilities in `rnng-dy surprisal`: generative and LSTM models, n-grams, other scorers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from oracle.errors import RnngError
from oracle.files import SourceSentence
from oracle.transitions import TOP_DOWN, TransitionSystem
from rnng_dy import registry
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.baselines.scorers import SCORERS, OpenableScorer
from rnng_dy.cli.job import open_model
from rnng_dy.cli.options import LiveChoice
from rnng_dy.cli.paths import FILE
from rnng_dy.execution.executor import Executor
from rnng_dy.execution.work import InputFile, Lines, ModelFolder
from rnng_dy.search.surprisal import SearchOptions, measure, measures_of
from rnng_dy.search.words import MeasuredSentence, WordRecord
from rnng_dy.text.segmenter import Segmenter


class Item(NamedTuple):
    """A sentence of the input and its index there, from 0."""

    index: int
    sentence: SourceSentence


class Wanted(NamedTuple):
    """Outputs that the user requests besides the measures of words."""

    end: bool
    trees: bool
    beams: bool


class Scorer(NamedTuple):
    """A model or baseline that gives probabilities of words."""

    open_lines: Callable[[], Callable[[Sequence[Item]], list[Lines]]]
    columns: Sequence[str]
    """The names of its measures."""
    has_trees: bool
    identity: Sequence[object]
    """Everything that determines its results."""
    description: str
    open: Callable[[Executor], TransitionSystem]
    """Opens the model in this process, so that errors are reported at once; returns its transition system."""
    segmenter: Callable[[], Segmenter]
    """Returns the segmenter that turns running text into tokens as in its training data."""


class ScorerName(click.ParamType):
    """A name in `SCORERS`, with = and a file if the scorer is made from one."""

    name = "scorer"

    def convert(self, value, param, ctx) -> OpenableScorer:
        """See click."""
        if isinstance(value, OpenableScorer):
            return value
        name, equals, path = value.partition("=")
        _SCORER.convert(name, param, ctx)
        return OpenableScorer(name, InputFile(FILE.convert(path, param, ctx)) if equals else None)

    def get_metavar(self, *of_option, **options) -> str:
        """See click."""
        return f"{_SCORER.get_metavar(*of_option, **options)}[=FILE]"

    def shell_complete(self, ctx, param, incomplete: str) -> list[CompletionItem]:
        """See click."""
        return _SCORER.shell_complete(ctx, param, incomplete)


_SCORER = LiveChoice(SCORERS)
scorer_option = click.option(
    "--scorer",
    type=ScorerName(),
    help="Instead: what gives words surprisals without a model folder, made of a file where it needs one.",
)


def chosen_baseline(
    train_path: str | None, scorer: OpenableScorer | None, order: int
) -> OpenableScorer | None:
    """Return the scorer of --kneser-ney or --scorer, with the n of n-grams; None without these options."""
    if train_path is not None:
        scorer = OpenableScorer(KneserNey.name, InputFile(train_path))
    return scorer and scorer._replace(order=order)


def open_scorer(
    folder: str | None,
    baseline: OpenableScorer | None,
    options: SearchOptions,
    wanted: Wanted,
    device: str,
) -> Scorer:
    """Return the scorer of a model folder or, if `folder` is None, of the baseline. Raises RnngError for a parser."""
    if folder is None:
        lines = partial(_sequential_lines, baseline, wanted.end)
        segmenter = partial(_segmenter, baseline)
        identity = [wanted, *baseline.content()]
        opened = partial(_open_baseline, baseline)
        return Scorer(lines, ["surprisal"], False, identity, baseline.title, opened, segmenter)
    kind = registry.kind_of(folder)
    if not kind.generates_words:
        raise RnngError(f"{folder} is a parser, which gives words no probability: name a generator")
    place = ModelFolder(kind.name, folder, device)
    identity, opened = [wanted, *place.content()], partial(_open_folder, place)
    segmenter = partial(_segmenter, place)
    if not kind.has_trees:
        lines = partial(_sequential_lines, place, wanted.end)
        return Scorer(lines, ["surprisal"], False, identity, folder, opened, segmenter)
    lines = partial(_generator_lines, place, options, wanted)
    return Scorer(lines, measures_of(options), True, identity, folder, opened, segmenter)


def _open_folder(place: ModelFolder, executor: Executor) -> TransitionSystem:
    return getattr(open_model(place, executor), "transitions", TOP_DOWN)


def _open_baseline(baseline: OpenableScorer, executor: Executor) -> TransitionSystem:
    executor.prepare()
    baseline.open()
    return TOP_DOWN


def _segmenter(place: ModelFolder | OpenableScorer) -> Segmenter:
    return place.open().segmenter


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


def _sequential_lines(place: ModelFolder | OpenableScorer, end: bool):
    model = place.open()

    def lines(batch: Sequence[Item]) -> list[Lines]:
        read = [item.sentence for item in batch if item.sentence.tokens]
        records = model.surprisals_of([s.tokens for s in read], [s.unkified for s in read])
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
    """Return one line of JSON per sentence; an empty sentence has no words."""
    found = iter(measured)
    nothing = MeasuredSentence([])
    return [[(next(found) if item.sentence.tokens else nothing).to_json()] for item in batch]
