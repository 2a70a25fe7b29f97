"""`rnng-dy train`: the discriminative parser and the generative model."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

import click

from oracle.errors import ImpossibleError, RnngError
from oracle.files import OracleSentence, open_output, read_oracle
from oracle.treebank import format_tree
from rnng_dy import engine, registry
from rnng_dy.cli.options import PARSER_SIZES, number_options, training_options
from rnng_dy.cli.progress import Progress, clock
from rnng_dy.execution.local import prepare_process
from rnng_dy.execution.outputs import content_hash
from rnng_dy.models.composition import DEFAULT


@click.group()
def train() -> None:
    """Train a model. Ctrl-C stops it so that --resume can go on."""


@train.command("discriminative")
@training_options
@number_options(PARSER_SIZES)
@click.option("--dev-trees", required=True, help="Gold trees of the development oracle, for F1.")
@click.option("--pos", is_flag=True, help="Condition on the oracle's POS tags.")
@click.option("--pretrained", help="Word vectors in word2vec's text format, used as constants.")
def discriminative(train_path, dev_path, dev_trees, pos, pretrained, device, **options) -> None:
    """Train the parser q(y | x), selected by F1 on the development data.

    Example: rnng-dy train discriminative --train train.oracle --dev dev.oracle --dev-trees dev.trees --model parser
    """
    from rnng_dy.training.development import ParserEvaluation, read_golds

    sentences, dev = read_oracle(train_path), read_oracle(dev_path)
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
    run = _TrainingRun("discriminative", ParserSizes(), options, inputs, train_path)

    def make(sizes: ParserSizes, composition: str, seed: int) -> DiscriminativeParser:
        vocabulary = ParserVocabulary.from_oracle(sentences, pos, words)
        return DiscriminativeParser(vocabulary, sizes, composition, vectors, seed)

    model = run.model(make)
    has_tags = model.vocabulary.tags is not None
    if pos != has_tags:
        raise RnngError(
            f"{run.folder} was trained {'with' if has_tags else 'without'} --pos: resume with the same"
        )
    evaluation = ParserEvaluation(model, dev, golds)
    run.train(model, sentences, evaluation, lambda r: f"dev F1 {r['f1']:.2f}")


def _read_vectors(path: str | None) -> tuple:
    from rnng_dy.interop.vectors import read_vectors

    return read_vectors(path) if path else (None, None)


clusters_option = click.option(
    "--clusters",
    "clusters_path",
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
    run = _WordsRun("generative", GeneratorSizes(), options, inputs, train_path)
    model = run.model_of_words(
        lambda vocabulary, sizes, composition, seed: GenerativeModel(
            vocabulary, sizes, composition, seed
        ),
        sentences,
        given,
    )
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
def lstm_lm(train_path, dev_path, clusters_path, device, composition, **options) -> None:
    """Train a sequential LSTM language model, the baseline of the paper, on the words of generative oracles.

    Example: rnng-dy train lstm-lm --train train.gen.oracle --dev dev.gen.oracle --clusters clusters.paths --model lm
    """
    if composition is not None:
        raise click.UsageError("--composition is for RNNGs: a sequential model composes nothing")
    sentences, dev = read_oracle(train_path), read_oracle(dev_path)
    given = _read_clusters(clusters_path)
    engine.start(device)
    from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel
    from rnng_dy.training.development import LanguageModelEvaluation

    inputs = _inputs_of_words(sentences, dev, given)
    sizes, options = LanguageModelSizes(), options | {"composition": None}
    run = _WordsRun("lstm-lm", sizes, options, inputs, train_path)
    model = run.model_of_words(
        lambda vocabulary, sizes, _, seed: LstmLanguageModel(vocabulary, sizes, seed),
        sentences,
        given,
    )
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


def _make_clusters(sentences: Sequence[OracleSentence], path: str) -> list:
    """Brown clusters of a training oracle, as `rnng-dy clusters` makes them."""
    from clusters.brown import brown_clusters

    click.echo(f"no --clusters: making Brown clusters of {path}", err=True)
    progress = None

    def show(clustering) -> None:
        nonlocal progress
        progress = progress or Progress("clusters", clustering.total, "steps")
        progress.advance()

    entries = brown_clusters([s.unkified for s in sentences], on_step=show)
    progress.finish()
    classes = len({entry.path for entry in entries})
    click.echo(f"{classes} clusters of {len(entries)} words, kept in the model folder", err=True)
    return entries


class _TrainingRun:
    """A training run from its options: a new model, or with --resume the one in the folder."""

    def __init__(
        self, kind: str, sizes, options: dict, inputs: Mapping[str, object], train_path: str
    ):
        """`sizes` are the paper's; `options` holds what the command line gave, None where it gave nothing.

        `inputs` are hashes of the data, by option.
        """
        from rnng_dy import checkpoint
        from rnng_dy.training.presets import PRESETS, saved_settings

        self.kind, self._inputs, self._train_path = kind, inputs, train_path
        self.folder = Path(options["folder"])
        self._composition = options["composition"]
        self.resumes = options["resume"] and self.folder.exists()
        if self.folder.exists() and not self.resumes:
            raise RnngError(
                f"{self.folder} exists: go on with --resume, or name another --model folder"
            )
        # --word-size, so called because --word alone would say nothing, is the field `word`
        self._given_sizes = _given(sizes, {k.removesuffix("_size"): v for k, v in options.items()})
        self._sizes = replace(sizes, **self._given_sizes)
        settings = PRESETS[options["preset"], kind]
        if self.resumes:
            settings = saved_settings(checkpoint.training_state(self.folder), self.folder)
        self.settings = replace(settings, **_given(settings, options))

    def model(self, make: Callable):
        """The model to train; `make(sizes, composition, seed)` makes a new one."""
        if not self.resumes:
            return make(self._sizes, self._composition or DEFAULT, self.settings.seed)
        model = registry.class_of(self.kind).build(self.folder)
        if self._composition not in (None, model.config().get("composition")):
            raise RnngError(f"{self.folder} has another composition: resume without --composition")
        if replace(model.sizes, **self._given_sizes) != model.sizes:
            raise RnngError(f"{self.folder} has other dimensions, {model.sizes}: resume with those")
        return model

    def train(
        self,
        model,
        sentences: Sequence[OracleSentence],
        evaluation,
        describe: Callable[[dict], str],
        add_to_folder: Callable[[], None] = lambda: None,
    ) -> None:
        """Train to the end or to Ctrl-C; `describe` words an evaluation's record."""
        from rnng_dy.training.loop import Training

        prepare_process(self.settings.jobs, engine.device())
        examples, lines, impossible = _encode(model, sentences)

        def report(record: dict) -> None:
            line = lines[record["sentence"]] if "sentence" in record else None
            place = f"{self._train_path}:{line}"
            click.echo(f"{self.folder.name}: {_line(record, describe, place)}", err=True)

        run = Training(
            model, examples, evaluation, self.settings, self.folder, report, self._inputs
        )
        if self.resumes:
            run.resume()
            click.echo(f"going on after {run.standing.sentences} sentences", err=True)
        else:
            run.create_folder()
            add_to_folder()
        for line, reason in impossible.items():
            click.echo(f"{self._train_path}:{line}: left out: {reason}", err=True)
        if impossible:
            click.echo(
                f"{len(impossible)} of {len(sentences)} training sentences left out", err=True
            )
        stopped: list[int] = []

        def stop(number: int, frame: object) -> None:
            # the update that runs is finished first; a second signal ends at once
            stopped.append(number)
            signal.signal(number, signal.SIG_DFL)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        if not run.run(stop=lambda: bool(stopped)):
            click.echo(
                f"stopped; the same command with --resume goes on in {self.folder}", err=True
            )
            sys.exit(128 + stopped[0])
        best = json.dumps({"best": run.standing.best, "sentences": run.standing.best_sentences})
        click.echo(f"{self.folder}: {best}")


class _WordsRun(_TrainingRun):
    """The training of a model that generates words: its vocabulary is that of the clusters."""

    _clusters: list

    def model_of_words(
        self, new: Callable, sentences: Sequence[OracleSentence], given: list | None
    ):
        """The model to train; `new` makes one from vocabulary, sizes, composition and seed.

        A new one has the given clusters, or such as are made now.
        """
        from rnng_dy.models.vocabulary import GeneratorVocabulary

        def make(sizes, composition: str, seed: int):
            self._clusters = given or _make_clusters(sentences, self._train_path)
            vocabulary = GeneratorVocabulary.build(self._clusters, sentences)
            return new(vocabulary, sizes, composition, seed)

        return self.model(make)

    def train_words(
        self, model, sentences: Sequence[OracleSentence], evaluation, dev_path: str, figure: str
    ) -> None:
        """See `train`; `figure` is what the evaluation's perplexity is called."""
        for line, reason in evaluation.impossible.items():
            click.echo(f"{dev_path}:{line}: left out: {reason}", err=True)

        def describe(record: dict) -> str:
            return f"{figure} {record['perplexity']:.2f}, {record['dev_words']} words"

        self.train(model, sentences, evaluation, describe, self._keep_clusters)

    def _keep_clusters(self) -> None:
        """Write the clusters that the model was made with into its folder."""
        from clusters.files import write_clusters

        with open_output(self.folder / "clusters.paths") as stream:
            write_clusters(self._clusters, stream)


def _encode(model, sentences: Sequence[OracleSentence]) -> tuple[list, list[int], dict[int, str]]:
    """Examples, the lines of their sentences, and by line why others cannot be any.

    Raises RnngError where there is no example.
    """
    examples, lines, impossible = [], [], {}
    for sentence in sentences:
        try:
            examples.append(model.encode_training(sentence))
            lines.append(sentence.line)
        except ImpossibleError as error:
            impossible[sentence.line] = str(error)
    if not examples:
        raise RnngError(f"no sentence to train on: {next(iter(impossible.values()))}")
    return examples, lines, impossible


def _given(dataclass_instance, options: dict) -> dict:
    """The options that were given and are fields of the dataclass."""
    names = {field.name for field in fields(dataclass_instance)}
    return {k: v for k, v in options.items() if k in names and v is not None}


def _line(record: dict, describe: Callable[[dict], str], sentence: str) -> str:
    """A record of the log as one line for people; `sentence` is the place of the one that it is about."""
    place = f"epoch {record['epoch']:.2f}, {record['sentences']} sentences"
    if record["event"] == "evaluation":
        return f"{place}: {describe(record)}{' (best)' if record['is_best'] else ''}"
    if record["event"] == "left_out":
        return (
            f"{sentence}: the sentence ({record['words']} words) does not fit into memory and is left out; "
            f"{record['left_out']} left out so far"
        )
    return (
        f"{place}: {record['loss_per_word']:.4f} nats/word, {record['sentences_per_second']:.1f} sentences/s, "
        f"learning rate {record['learning_rate']:.4f}, {record['clipped']:.0%} of updates clipped, "
        f"{clock(record['seconds_left'])} left"
    )
