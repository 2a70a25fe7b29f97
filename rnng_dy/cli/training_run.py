"""What every `train` command does with its options: a new model, one that goes on, or with --resume the folder's."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

import click

from oracle.encoded import EncodedOracle
from oracle.errors import InputError, RnngError
from oracle.files import open_output
from oracle.json_lines import finite, one_line
from oracle.training_data import PARTS, evenly_spaced
from rnng_dy import engine, registry
from rnng_dy.cli.group import typed_command
from rnng_dy.cli.initial_model import initial_hash
from rnng_dy.cli.options import require_possible
from rnng_dy.cli.progress import Progress, clock
from rnng_dy.cli.quiet import say
from rnng_dy.cli.stopping import stopping
from rnng_dy.cli.training_data import TrainingData, goes_on
from rnng_dy.execution.local import prepare_process
from rnng_dy.text.segmenter import Segmenter

CLUSTERS = "clusters.paths"
LEARNT_FROM = 100_000
"""Sentences that show how a treebank writes text, evenly spaced where there are more."""


class TrainingRun:
    """A training run from its options: a new model, one that goes on from --init, or with --resume the folder's."""

    def __init__(self, kind: str, sizes, options: dict, data: TrainingData, base=None):
        """`sizes` are the paper's; `options` holds what the command line gave, None where it gave nothing.

        `base` is the model that --init names.
        """
        from rnng_dy import checkpoint
        from rnng_dy.training.presets import saved_settings, settings_for, sizes_for

        self.kind, self.data, self._base = kind, data, base
        self._init, self._extends = options["init"], options["extend"]
        self._inputs = data.inputs | initial_hash(options)
        self.folder, self._preset = Path(options["folder"]), options["preset"]
        self._given = {
            name: options[name]
            for name in ("composition", "transitions", "state")
            if options[name] is not None
        }
        self.resumes = goes_on(options)
        # --word-size, so called because --word alone would say nothing, is the field `word`
        self._given_sizes = _given(sizes, {k.removesuffix("_size"): v for k, v in options.items()})
        preset = options["preset"], kind, len(data.train)
        self._sizes = replace(sizes, **{**sizes_for(*preset), **self._given_sizes})
        settings = settings_for(*preset)
        if self.resumes:
            settings = saved_settings(checkpoint.training_state(self.folder), self.folder)
            require_possible(settings, self.folder)
        if engine.device() != engine.CPU:
            # a preset, or a training begun on the processor, may have more
            settings = replace(settings, jobs=1)
        self.settings = replace(settings, **_given(settings, options))
        self._world = click.get_current_context().obj if options["mpi"] else None
        if self._world:
            self.settings = replace(self.settings, jobs=self._world.size)

    def model(self, make: Callable):
        """The model to train; `make(sizes, seed=, composition=, transitions=, state=)` makes a new one.

        The last three are left out where they are not given. With --init, `data` is then as the model sees it.
        """
        from rnng_dy.training.provenance import about_continued

        if self.resumes:
            model = registry.class_of(self.kind).build(self.folder)
            self._require_same(model, self.folder, "resume")
        elif self._base is not None:
            self._require_same(self._base, self._init, "go on")
            model = self._continued()
            model.about = about_continued(self._base, self._init)
        else:
            return make(self._sizes, seed=self.settings.seed, **self._given)
        if self._init is not None:
            from rnng_dy.training.continuing import as_seen_by

            parts = {part: as_seen_by(model, getattr(self.data, part)) for part in PARTS}
            self.data = replace(self.data, **parts)
        return model

    def _require_same(self, model, place: object, verb: str) -> None:
        """Raise RnngError where options that were given are not those of the model."""
        for name, value in self._given.items():
            if value != model.config()[name]:
                raise RnngError(f"{place} has another {name}: {verb} without --{name}")
        if replace(model.sizes, **self._given_sizes) != model.sizes:
            raise RnngError(f"{place} has other dimensions, {model.sizes}: {verb} with those")

    def _continued(self):
        """The model of --init, with what --extend adds to it."""
        from rnng_dy.training.continuing import extended, unseen

        try:
            if symbols := str(unseen(self._base, self.data.train)):
                if not self._extends:
                    raise RnngError(
                        f"{symbols} are not in {self._init}: add them with --extend, or take them out"
                    )
                say(f"{self._init}: adding {symbols}")
            if self._extends:
                return extended(self._base, self.data.train, self.settings.seed)
        except RnngError as error:
            raise InputError(str(error), self.data.source) from None
        return self._base

    def train(
        self,
        model,
        evaluation,
        describe: Callable[[dict], str],
        *adding: Callable[[Path], None],
    ) -> None:
        """Train to the end or to Ctrl-C; `describe` words an evaluation's record.

        Each of `adding` writes something into a new model folder before that is complete.
        """
        from rnng_dy.training.examples import examples_of
        from rnng_dy.training.log import LOG
        from rnng_dy.training.loop import Training
        from rnng_dy.training.provenance import Provenance

        world, jobs = self._world, self.settings.jobs
        prepare_process(world.here if world else jobs, engine.device())
        sentences, path = self.data.train, self.data.train_path
        _require_transitions(model, sentences.symbols.systems, self.data.source)
        examples, impossible = examples_of(model, sentences)
        if not examples:
            raise InputError(
                f"no sentence to train on: {next(iter(impossible.values()))}", self.data.source
            )

        about = Provenance(
            model, sentences, self.settings, self._inputs, typed_command(), self._preset
        )

        def report(record: dict) -> None:
            about.report(record, self.folder)
            number = examples.lines[record["sentence"]] if "sentence" in record else None
            line = f"{self.folder.name}: {_line(record, describe, f'{path}:{number}')}"
            if record["event"] == "left_out":
                click.echo(line, err=True)
            else:
                say(line)
            if record != finite(record):
                names = ", ".join(name for name, x in record.items() if x != finite(x))
                click.echo(
                    f"{self.folder.name}: {names}: too large for a number, or none (null in {LOG})",
                    err=True,
                )

        team = world.team if world else None
        run = Training(
            model, examples, evaluation, self.settings, self.folder, report, self._inputs, team
        )
        if world:
            say(f"MPI: ranks {jobs}, machines {world.machines}")
        if self.resumes:
            run.resume()
            say(f"going on after {run.standing.sentences} sentences")
        else:
            if self._base is None:
                shown = evenly_spaced(sentences, LEARNT_FROM)
                model.segmenter = Segmenter.of_training(sentence.tokens for sentence in shown)
            run.create_folder(partial(_add_all, [self.data.keep, *adding]))
        for line, reason in impossible.items():
            click.echo(f"{path}:{line}: left out: {reason}", err=True)
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
        about.finish(self.folder)
        best = one_line({"best": run.standing.best, "sentences": run.standing.best_sentences})
        click.echo(f"{self.folder}: {best}")


class WordsRun(TrainingRun):
    """The training of a model that generates words: its vocabulary is that of the clusters."""

    _clusters: list

    def model_of_words(self, new: Callable, given: list | None):
        """The model to train; `new` makes one from vocabulary, sizes and more arguments by name.

        A new one has the given clusters, or such as are made now.
        """
        from rnng_dy.models.vocabulary import GeneratorVocabulary

        def make(sizes, **more):
            sentences = self.data.train
            self._clusters = given or _make_clusters(sentences, self.data.source)
            return new(GeneratorVocabulary.build(self._clusters, sentences), sizes, **more)

        return self.model(make)

    def train_words(self, model, evaluation, figure: str) -> None:
        """See `train`; `figure` is what the evaluation's perplexity is called."""
        systems = {sentence.transitions for sentence in self.data.dev}
        _require_transitions(model, sorted(systems), self.data.dev_source)
        for line, reason in evaluation.impossible.items():
            click.echo(f"{self.data.dev_path}:{line}: left out: {reason}", err=True)
        if not evaluation.examples:
            raise InputError(
                "every sentence has p = 0: training could not be judged by it", self.data.dev_source
            )

        def describe(record: dict) -> str:
            return f"{figure} {record['perplexity']:.2f}, {record['dev_words']} words"

        self.train(model, evaluation, describe, self._keep_clusters)

    def _keep_clusters(self, folder: Path) -> None:
        """Write the clusters that the model was made with into its folder."""
        from clusters.files import write_clusters

        if self._base is not None:
            kept = Path(self._init, CLUSTERS)
            if kept.is_file():
                shutil.copyfile(kept, folder / CLUSTERS)
            return
        with open_output(folder / CLUSTERS) as stream:
            write_clusters(self._clusters, stream)


def _add_all(adding: Iterable[Callable[[Path], None]], folder: Path) -> None:
    for add in adding:
        add(folder)


def _given(dataclass_instance, options: dict) -> dict:
    """The options that were given and are fields of the dataclass."""
    names = {field.name for field in fields(dataclass_instance)}
    return {k: v for k, v in options.items() if k in names and v is not None}


def _line(record: dict, describe: Callable[[dict], str], sentence: str) -> str:
    """A record of the log as one line for people; `sentence` is the place of the one that it is about."""
    place = f"epoch {record['epoch']:.2f}, {record['sentences']} sentences"
    if record["event"] == "evaluation":
        return f"{place}: {describe(record)}{' (best)' if record['is_best'] else ''}"
    if record["event"] == "ended_early":
        return f"{place}: no new best in {record['patience']} evaluations: training ends here (--patience)"
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


def _require_transitions(model, systems: Iterable[str], path: str) -> None:
    """Raise InputError where the actions of an oracle are of another transition system than the model's."""
    from rnng_dy.training.examples import require_transitions

    try:
        require_transitions(model, systems)
    except RnngError as error:
        raise InputError(str(error), path) from None


def _make_clusters(oracle: EncodedOracle, path: str) -> list:
    """Brown clusters of a training oracle, as `rnng-dy clusters` makes them."""
    from clusters.brown import brown_clusters

    say(f"no --clusters: making Brown clusters of {path}")
    progress = None

    def show(clustering) -> None:
        nonlocal progress
        progress = progress or Progress("clusters", clustering.total, "steps")
        progress.advance()

    entries = brown_clusters(oracle.word_sequences("unkified"), on_step=show)
    progress.finish()
    classes = len({entry.path for entry in entries})
    say(f"{classes} clusters of {len(entries)} words, kept in the model folder")
    return entries
