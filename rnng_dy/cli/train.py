"""`rnng-dy train`: the discriminative parser, the generative model and the LSTM language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from oracle.errors import RnngError
from oracle.files import OracleSentence
from rnng_dy import engine
from rnng_dy.cli.group import Sectioned
from rnng_dy.cli.initial_model import initial_model
from rnng_dy.cli.options import (
    PARSER_SIZES,
    data_option,
    model_section_option,
    number_options,
    state_option,
    training_options,
)
from rnng_dy.cli.paths import FILE
from rnng_dy.cli.quiet import say
from rnng_dy.cli.ranks import RankedGroup
from rnng_dy.cli.training_data import TrainingData, training_data
from rnng_dy.cli.training_run import TrainingRun, WordsRun
from rnng_dy.execution.local import check_jobs
from rnng_dy.execution.outputs import content_hash
from rnng_dy.models.parser_state import GENERATOR_STATES, PARSER_STATES


@click.group(cls=RankedGroup)
def train() -> None:
    """Train a model. Ctrl-C stops it so that --resume can go on."""


@train.command("discriminative", cls=Sectioned)
@training_options
@state_option(PARSER_STATES)
@number_options(PARSER_SIZES, "Model")
@model_section_option("--pos", is_flag=True, help="Condition on the POS tags of the data.")
@model_section_option(
    "--no-tagger",
    is_flag=True,
    help="With --pos: keep no POS tagger, trained on the training oracle's tags, in a new model folder. Where those "
    "are jackknifed, `rnng-dy tag --train GOLD.trees --into MODEL` makes a better one.",
)
@data_option(
    "--pretrained",
    type=FILE,
    help="Word vectors in word2vec's text format, used as constants.",
)
def discriminative(pos, no_tagger, pretrained, device, **options) -> None:
    """Train the parser q(y | x), selected by F1 on the development data, which is scored with gold tags.

    Example: rnng-dy train discriminative --trees train.trees --dev-trees dev.trees --pos --model parser
    """
    base = initial_model("discriminative", options, device, pretrained=pretrained)
    _start(device, options)
    with training_data("discriminative", options, base) as data:
        words, vectors = _read_vectors(pretrained)
        from rnng_dy.interop.vectors import covered_share
        from rnng_dy.models.discriminative import ParserSizes
        from rnng_dy.models.vocabulary import ParserVocabulary
        from rnng_dy.parser import DiscriminativeParser
        from rnng_dy.training.development import ParserEvaluation

        data.inputs["--pretrained"] = content_hash(words, vectors) if pretrained else None
        run = TrainingRun("discriminative", ParserSizes(), options, data, base)

        def make(sizes: ParserSizes, **more) -> DiscriminativeParser:
            vocabulary = ParserVocabulary.from_oracle(data.train, pos, words)
            more = {"transitions": data.train[0].transitions} | more
            return DiscriminativeParser(vocabulary, sizes, vectors=vectors, **more)

        model = run.model(make)
        if pretrained:
            share = covered_share(model.vocabulary, data.train)
            say(
                f"{run.folder.name}: {pretrained} has vectors for {100 * share:.1f} % of the training words"
            )
        _require_tags_as_said(run, model, pos, options["init"])
        evaluation = ParserEvaluation(model, run.data.dev, data.golds)
        reads_tags = model.vocabulary.tags is not None
        has_new_tagger = reads_tags and not (model.tagger or no_tagger or run.resumes)
        more = [_train_tagger(run, model, data.train, data.dev)] if has_new_tagger else []
        run.train(
            model, evaluation, lambda r: f"dev F1 {r['f1']:.2f} ({evaluation.tags_used})", *more
        )


def _start(device: str, options: Mapping[str, object]) -> None:
    """Start DyNet, before data is made. Raises RnngError where the device cannot do what the options say."""
    if options["mpi"] and device != engine.CPU:
        raise RnngError("--mpi is for the CPU: leave out --device")
    check_jobs(options["jobs"] or 1, device)
    engine.start(device)


def _require_tags_as_said(run: TrainingRun, model, pos: bool, init: str | None) -> None:
    """Raise RnngError where --pos says other than the model; with --init nothing need be said."""
    has_tags = model.vocabulary.tags is not None
    if pos == has_tags or (init and not pos):
        return
    folder = run.folder if run.resumes else init
    raise RnngError(
        f"{folder} was trained {'with' if has_tags else 'without'} --pos: go on with the same"
    )


def _train_tagger(
    run: TrainingRun, parser, sentences: Sequence[OracleSentence], dev: Sequence[OracleSentence]
) -> Callable[[Path], None]:
    """Give a new parser its own tagger, and say how well it tags; gives what writes that into the folder's log."""
    from rnng_dy.training.loop import append_record
    from rnng_dy.training.tagger import train_own_tagger

    say(f"{run.folder.name}: training a POS tagger")
    record = train_own_tagger(parser, sentences, dev, run.settings.seed)
    figure = f"dev accuracy {record['accuracy']:.2f} % of {record['dev_words']} words"
    say(f"{run.folder.name}: POS tagger: {figure}")
    return partial(append_record, record=record)


def _read_vectors(path: str | None) -> tuple:
    from rnng_dy.interop.vectors import read_vectors

    return read_vectors(path) if path else (None, None)


clusters_option = data_option(
    "--clusters",
    "clusters_path",
    type=FILE,
    help="Clusters of the training words.  [default: Brown clusters, made now]",
)


@train.command("generative", cls=Sectioned)
@training_options
@state_option(GENERATOR_STATES)
@clusters_option
def generative(clusters_path, device, **options) -> None:
    """Train the generative model p(x, y), selected by joint likelihood on the development data.

    Example: rnng-dy train generative --trees train.trees --dev-trees dev.trees --model generator
    """
    base = initial_model("generative", options, device, clusters=clusters_path)
    _start(device, options)
    with training_data("generative", options, base) as data:
        given = _take_clusters(clusters_path, data)
        from rnng_dy.language_model import GenerativeModel
        from rnng_dy.models.generative import GeneratorSizes
        from rnng_dy.training.development import GeneratorEvaluation

        run = WordsRun("generative", GeneratorSizes(), options, data, base)

        def make(vocabulary, sizes, **more) -> GenerativeModel:
            more = {"transitions": data.train[0].transitions} | more
            return GenerativeModel(vocabulary, sizes, **more)

        model = run.model_of_words(make, given)
        evaluation = GeneratorEvaluation(model, run.data.dev)
        run.train_words(model, evaluation, "dev perplexity of words and trees")


@train.command("lstm-lm", cls=Sectioned)
@training_options
@clusters_option
def lstm_lm(clusters_path, device, composition, transitions, **options) -> None:
    """Train a sequential LSTM language model, the baseline of the paper, on the words of trees or generative oracles.

    Example: rnng-dy train lstm-lm --trees train.trees --dev-trees dev.trees --model lm
    """
    if composition is not None or transitions is not None:
        raise click.UsageError(
            "--composition and --transitions are for RNNGs: a sequential model has neither"
        )
    options |= {"composition": None, "transitions": None, "state": None}
    base = initial_model("lstm-lm", options, device, clusters=clusters_path)
    _start(device, options)
    with training_data("lstm-lm", options, base) as data:
        given = _take_clusters(clusters_path, data)
        from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel
        from rnng_dy.training.development import LanguageModelEvaluation

        run = WordsRun("lstm-lm", LanguageModelSizes(), options, data, base)
        model = run.model_of_words(LstmLanguageModel, given)
        evaluation = LanguageModelEvaluation(model, run.data.dev)
        run.train_words(model, evaluation, "dev perplexity")


def _take_clusters(path: str | None, data: TrainingData) -> list | None:
    """The clusters that were given, on which training then depends."""
    from clusters.files import read_clusters

    given = read_clusters(path) if path else None
    data.inputs["--clusters"] = content_hash(given) if given else None
    return given
