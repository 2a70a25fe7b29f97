"""What every `train` command does with its options: a new model, or with --resume the one in the folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

import click

from oracle.errors import InputError, RnngError
from oracle.files import OracleSentence, open_output
from rnng_dy import engine, registry
from rnng_dy.cli.options import require_possible
from rnng_dy.cli.progress import Progress, clock
from rnng_dy.cli.quiet import say
from rnng_dy.cli.stopping import stopping
from rnng_dy.execution.local import prepare_process
from rnng_dy.text.segmenter import Segmenter


class TrainingRun:
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
        self._given = {
            name: options[name]
            for name in ("composition", "transitions")
            if options[name] is not None
        }
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
            require_possible(settings, self.folder)
        self.settings = replace(settings, **_given(settings, options))

    def model(self, make: Callable):
        """The model to train; `make(sizes, seed=, composition=, transitions=)` makes a new one.

        The last two are left out where they are not given.
        """
        if not self.resumes:
            return make(self._sizes, seed=self.settings.seed, **self._given)
        model = registry.class_of(self.kind).build(self.folder)
        for name, value in self._given.items():
            if value != model.config()[name]:
                raise RnngError(f"{self.folder} has another {name}: resume without --{name}")
        if replace(model.sizes, **self._given_sizes) != model.sizes:
            raise RnngError(f"{self.folder} has other dimensions, {model.sizes}: resume with those")
        return model

    def train(
        self,
        model,
        sentences: Sequence[OracleSentence],
        evaluation,
        describe: Callable[[dict], str],
        add_to_folder: Callable[[Path], None] = lambda folder: None,
    ) -> None:
        """Train to the end or to Ctrl-C; `describe` words an evaluation's record."""
        from rnng_dy.training.development import encode_possible
        from rnng_dy.training.loop import Training

        prepare_process(self.settings.jobs, engine.device())
        examples, lines, impossible = encode_possible(model, sentences)
        if not examples:
            raise InputError(
                f"no sentence to train on: {next(iter(impossible.values()))}", self._train_path
            )

        def report(record: dict) -> None:
            number = lines[record["sentence"]] if "sentence" in record else None
            place = f"{self._train_path}:{number}"
            line = f"{self.folder.name}: {_line(record, describe, place)}"
            if record["event"] == "left_out":
                click.echo(line, err=True)
            else:
                say(line)

        run = Training(
            model, examples, evaluation, self.settings, self.folder, report, self._inputs
        )
        if self.resumes:
            run.resume()
            say(f"going on after {run.standing.sentences} sentences")
        else:
            model.segmenter = Segmenter.of_training(sentence.tokens for sentence in sentences)
            run.create_folder(add_to_folder)
        for line, reason in impossible.items():
            click.echo(f"{self._train_path}:{line}: left out: {reason}", err=True)
        if impossible:
            click.echo(
                f"{len(impossible)} of {len(sentences)} training sentences left out", err=True
            )
        with stopping() as stopped:
            finished = run.run(stop=lambda: bool(stopped))
        if not finished:
            click.echo(
                f"stopped; the same command with --resume goes on in {self.folder}", err=True
            )
            sys.exit(128 + stopped[0])
        best = json.dumps({"best": run.standing.best, "sentences": run.standing.best_sentences})
        click.echo(f"{self.folder}: {best}")


class WordsRun(TrainingRun):
    """The training of a model that generates words: its vocabulary is that of the clusters."""

    _clusters: list

    def model_of_words(
        self, new: Callable, sentences: Sequence[OracleSentence], given: list | None
    ):
        """The model to train; `new` makes one from vocabulary, sizes and more arguments by name.

        A new one has the given clusters, or such as are made now.
        """
        from rnng_dy.models.vocabulary import GeneratorVocabulary

        def make(sizes, **more):
            self._clusters = given or _make_clusters(sentences, self._train_path)
            return new(GeneratorVocabulary.build(self._clusters, sentences), sizes, **more)

        return self.model(make)

    def train_words(
        self, model, sentences: Sequence[OracleSentence], evaluation, dev_path: str, figure: str
    ) -> None:
        """See `train`; `figure` is what the evaluation's perplexity is called."""
        for line, reason in evaluation.impossible.items():
            click.echo(f"{dev_path}:{line}: left out: {reason}", err=True)
        if not evaluation.examples:
            raise InputError(
                "every sentence has p = 0: training could not be judged by it", dev_path
            )

        def describe(record: dict) -> str:
            return f"{figure} {record['perplexity']:.2f}, {record['dev_words']} words"

        self.train(model, sentences, evaluation, describe, self._keep_clusters)

    def _keep_clusters(self, folder: Path) -> None:
        """Write the clusters that the model was made with into its folder."""
        from clusters.files import write_clusters

        with open_output(folder / "clusters.paths") as stream:
            write_clusters(self._clusters, stream)


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


def _make_clusters(sentences: Sequence[OracleSentence], path: str) -> list:
    """Brown clusters of a training oracle, as `rnng-dy clusters` makes them."""
    from clusters.brown import brown_clusters

    say(f"no --clusters: making Brown clusters of {path}")
    progress = None

    def show(clustering) -> None:
        nonlocal progress
        progress = progress or Progress("clusters", clustering.total, "steps")
        progress.advance()

    entries = brown_clusters([s.unkified for s in sentences], on_step=show)
    progress.finish()
    classes = len({entry.path for entry in entries})
    say(f"{classes} clusters of {len(entries)} words, kept in the model folder")
    return entries
