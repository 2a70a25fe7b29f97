"""`rnng-dy train`: the discriminative parser and the generative model."""

from __future__ import annotations

from collections.abc import Sequence

import click

from oracle.errors import InputError, RnngError
from oracle.files import OracleSentence, read_oracle
from oracle.treebank import format_tree
from rnng_dy import engine
from rnng_dy.cli.group import Group
from rnng_dy.cli.options import PARSER_SIZES, number_options, training_options
from rnng_dy.cli.paths import FILE
from rnng_dy.cli.training_run import TrainingRun, WordsRun
from rnng_dy.execution.outputs import content_hash


@click.group(cls=Group)
def train() -> None:
    """Train a model. Ctrl-C stops it so that --resume can go on."""


@train.command("discriminative")
@training_options
@number_options(PARSER_SIZES)
@click.option(
    "--dev-trees", type=FILE, required=True, help="Gold trees of the development oracle, for F1."
)
@click.option("--pos", is_flag=True, help="Condition on the oracle's POS tags.")
@click.option(
    "--pretrained", type=FILE, help="Word vectors in word2vec's text format, used as constants."
)
def discriminative(train_path, dev_path, dev_trees, pos, pretrained, device, **options) -> None:
    """Train the parser q(y | x), selected by F1 on the development data.

    Example: rnng-dy train discriminative --train train.oracle --dev dev.oracle --dev-trees dev.trees --model parser
    """
    from rnng_dy.training.development import ParserEvaluation, read_golds

    sentences, dev = (_read_with_tags(path) for path in (train_path, dev_path))
    golds = read_golds(dev_trees, dev, dev_path)
    words, vectors = _read_vectors(pretrained)
    engine.start(device)
    from rnng_dy.models.discriminative import DiscriminativeParser, ParserSizes
    from rnng_dy.models.vocabulary import ParserVocabulary

    inputs = {
        "--train": content_hash(sentences),
        "--dev": content_hash(dev),
        "--dev-trees": content_hash(list(map(format_tree, golds))),
        "--pretrained": content_hash(words, vectors) if pretrained else None,
    }
    run = TrainingRun("discriminative", ParserSizes(), options, inputs, train_path)

    def make(sizes: ParserSizes, **more) -> DiscriminativeParser:
        vocabulary = ParserVocabulary.from_oracle(sentences, pos, words)
        more = {"transitions": sentences[0].transitions} | more
        return DiscriminativeParser(vocabulary, sizes, vectors=vectors, **more)

    model = run.model(make)
    has_tags = model.vocabulary.tags is not None
    if pos != has_tags:
        raise RnngError(
            f"{run.folder} was trained {'with' if has_tags else 'without'} --pos: resume with the same"
        )
    evaluation = ParserEvaluation(model, dev, golds)
    run.train(model, sentences, evaluation, lambda r: f"dev F1 {r['f1']:.2f}")


def _read_with_tags(path: str) -> list[OracleSentence]:
    sentences = read_oracle(path)
    if sentences[0].tags is None:
        raise InputError(
            "this is a generative oracle; the parser needs one made without --generative",
            path,
            sentences[0].line,
        )
    return sentences


def _read_vectors(path: str | None) -> tuple:
    from rnng_dy.interop.vectors import read_vectors

    return read_vectors(path) if path else (None, None)


clusters_option = click.option(
    "--clusters",
    "clusters_path",
    type=FILE,
    help="Clusters of the training words.  [default: Brown clusters of the training oracle, made now]",
)


@train.command("generative")
@training_options
@clusters_option
def generative(train_path, dev_path, clusters_path, device, **options) -> None:
    """Train the generative model p(x, y), selected by joint likelihood on the development data.

    Example: rnng-dy train generative --train train.gen.oracle --dev dev.gen.oracle --model generator
    """
    sentences, dev = read_oracle(train_path), read_oracle(dev_path)
    given = _read_clusters(clusters_path)
    engine.start(device)
    from rnng_dy.models.generative import GenerativeModel, GeneratorSizes
    from rnng_dy.training.development import GeneratorEvaluation

    inputs = _inputs_of_words(sentences, dev, given)
    run = WordsRun("generative", GeneratorSizes(), options, inputs, train_path)

    def make(vocabulary, sizes, **more) -> GenerativeModel:
        more = {"transitions": sentences[0].transitions} | more
        return GenerativeModel(vocabulary, sizes, **more)

    model = run.model_of_words(make, sentences, given)
    run.train_words(
        model,
        sentences,
        GeneratorEvaluation(model, dev),
        dev_path,
        "dev perplexity of words and trees",
    )


@train.command("lstm-lm")
@training_options
@clusters_option
def lstm_lm(
    train_path, dev_path, clusters_path, device, composition, transitions, **options
) -> None:
    """Train a sequential LSTM language model, the baseline of the paper, on the words of generative oracles.

    Example: rnng-dy train lstm-lm --train train.gen.oracle --dev dev.gen.oracle --clusters clusters.paths --model lm
    """
    if composition is not None or transitions is not None:
        raise click.UsageError(
            "--composition and --transitions are for RNNGs: a sequential model has neither"
        )
    sentences, dev = read_oracle(train_path), read_oracle(dev_path)
    given = _read_clusters(clusters_path)
    engine.start(device)
    from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel
    from rnng_dy.training.development import LanguageModelEvaluation

    inputs = _inputs_of_words(sentences, dev, given)
    sizes, options = LanguageModelSizes(), options | {"composition": None, "transitions": None}
    run = WordsRun("lstm-lm", sizes, options, inputs, train_path)
    model = run.model_of_words(LstmLanguageModel, sentences, given)
    run.train_words(
        model, sentences, LanguageModelEvaluation(model, dev), dev_path, "dev perplexity"
    )


def _read_clusters(path: str | None) -> list | None:
    from clusters.files import read_clusters

    return read_clusters(path) if path else None


def _inputs_of_words(
    sentences: Sequence[OracleSentence], dev: Sequence[OracleSentence], clusters: list | None
) -> dict[str, object]:
    """What the training of a model of words depends on, by option."""
    return {
        "--train": content_hash(sentences),
        "--dev": content_hash(dev),
        "--clusters": content_hash(clusters) if clusters else None,
    }
