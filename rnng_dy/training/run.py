"""The public interface of training: from trees or oracles to a model folder, with a record of every step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from oracle.errors import InputError, RnngError, placed
from oracle.training_data import PARTS, evenly_spaced
from rnng_dy import checkpoint, engine, registry
from rnng_dy.checkpoint import writing
from rnng_dy.execution.local import check_jobs
from rnng_dy.interrupts import Stopped, stopping
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.training.continuing import as_seen_by, extended, unseen
from rnng_dy.training.data import TrainingData, training_data
from rnng_dy.training.examples import Examples, examples_of, require_transitions
from rnng_dy.training.listener import Listener
from rnng_dy.training.loop import TrainingLoop
from rnng_dy.training.options import TrainingOptions, Trees, is_oracle, naming_arguments
from rnng_dy.training.presets import Settings, saved_settings, settings_for, sizes_for
from rnng_dy.training.provenance import Provenance, about_continued

LEARNT_FROM = 100_000
"""Maximum of training sentences, evenly spaced, from which the segmenter learns how the treebank writes text."""
Record = Mapping[str, Any]


class Training:
    """A training of a model, which is started or resumed by iterating over the records of its log.

        training = rnng_dy.Training("discriminative", "train.trees", "dev.trees", folder="parser")
        for record in training:
            print(record["event"], record["epoch"])
        parser = training.model

    Leaving the loop, and Ctrl-C, stop the training after an update. `resume=True` then continues it, with the same
    results as without the stop.
    """

    def __init__(
        self,
        kind: str,
        trees: Trees | None = None,
        dev_trees: Trees | None = None,
        *,
        folder: str | os.PathLike[str],
        listener: Listener | None = None,
        **settings: Any,
    ):
        """Check the options.

        Args:
            kind: `discriminative`, `generative` or `lstm-lm`.
            trees: Training data: a file of bracketed trees, a list of `nltk.Tree`, or an oracle.
            dev_trees: Development data, in the same forms.
            folder: The model folder; it must not exist unless `resume=True`.
            listener: Gets the messages and records of the training.
            **settings: The other options of `rnng-dy train`, with _ instead of -; see `TrainingOptions` and `Settings`.

        Raises:
            RnngError: Options exclude each other, or a setting is unknown or out of range.
        """
        # on the command line, the user names oracles by --train and --dev
        if "train" not in settings and is_oracle(trees):
            settings["train"], trees = trees, None
        if "dev" not in settings and is_oracle(dev_trees):
            settings["dev"], dev_trees = dev_trees, None
        self.kind = registry.kind(kind)
        self._sizes_type = self.kind.model_class.sizes_type
        given = {"folder": folder, "trees": trees, "dev_trees": dev_trees, **settings}
        # only the command line has a command to keep
        self._is_python = settings.get("command") is None
        with naming_arguments(self._is_python):
            self.options = TrainingOptions.of(self.kind, self._sizes_type, given)
        self.records: list[Record] = []
        """The records that this process has written."""
        self._listener = listener or Listener()
        self._new: list[Record] = []
        self._loop: TrainingLoop | None = None

    @property
    def folder(self) -> Path:
        """Return the model folder."""
        return self.options.place

    @property
    def model(self) -> Any:
        """Load the model that has scored best on the development data so far."""
        return registry.load(self.folder, self.kind.name)

    @property
    def best(self) -> dict[str, object]:
        """Return the best score so far, and the number of training sentences before it.

        Raises RnngError before the first record.
        """
        if self._loop is None:
            raise RnngError("the training has not begun: iterate over it")
        state = self._loop.state
        return {"best": state.best, "sentences": state.best_sentences}

    def __iter__(self) -> Iterator[Record]:
        """Train, and yield the records of the log.

        Raises:
            RnngError: The data, the initial model or the settings cannot be used.
            Stopped: A signal has stopped the training, and its state is saved; a KeyboardInterrupt.
        """
        with naming_arguments(self._is_python), ExitStack() as stack:
            self._begin(stack)
            stopped = stack.enter_context(stopping(self._listener.say))
            with closing(self._loop.updates()) as updates:
                for _ in updates:
                    yield from self._taken()
                    if stopped:
                        message = f"stopped; the same with resume=True continues in {self.folder}"
                        raise Stopped(message, stopped[0])
            self._about.finish(self.folder)
            yield from self._taken()

    def _taken(self) -> Iterator[Record]:
        new, self._new = self._new, []
        yield from new

    def _begin(self, stack: ExitStack) -> None:
        """Make or read data and model, and write the folder of a new model; `stack` closes the resources."""
        options, listener = self.options, self._listener
        base = self._initial_model()
        self._start_engine()
        # no other training can write the folder until this one ends
        stack.enter_context(writing(options.folder))
        options.require_free_folder()
        if options.resume and not options.resumes:
            listener.warn(
                f"{options.folder} does not exist: nothing to resume, the training starts from the beginning"
            )
        data = stack.enter_context(training_data(self.kind, options, base, listener))
        part = self.kind.training_class(self.kind, options, data, listener)
        self.settings, sizes = self._settings_and_sizes(len(data.train))
        model = self._model(base, data, part, sizes)
        if options.init is not None:
            seen = {name: as_seen_by(model, getattr(data, name)) for name in PARTS}
            data = replace(data, **seen)
        evaluation, adding = part.judge(model, data, self.settings.seed)
        self.describe = evaluation.describe
        examples = self._examples(model, data)
        inputs = data.inputs | part.inputs | options.initial_hash
        inputs["precision"] = engine.precision()
        self._about = Provenance(
            model, data.train, self.settings, inputs, options.command, options.preset
        )
        setup = model, examples, evaluation, self.settings, self.folder, self._report, inputs
        self._loop = TrainingLoop(*setup, options.world and options.world.group)
        if options.world:
            world = options.world
            listener.say(f"MPI: ranks {world.size}, machines {world.machines}")
        if options.resumes:
            self._loop.resume()
            listener.say(f"resuming after {self._loop.state.sentences} sentences")
        else:
            if base is None:
                shown = evenly_spaced(data.train, LEARNT_FROM)
                model.segmenter = Segmenter.of_training(sentence.tokens for sentence in shown)
            self._loop.create_folder(data.keep, *adding)
        self._warn_of(data)

    def _start_engine(self) -> None:
        """Start DyNet before any data is made. Raises RnngError if the device does not suit the options."""
        device = self.options.device
        if self.options.world and device not in (None, engine.CPU):
            raise RnngError("--mpi is for the CPU: leave out --device")
        check_jobs(self.options.settings.get("jobs", 1), device or engine.CPU)
        engine.start_on(device)

    def _initial_model(self) -> Any:
        """Load the model of --init; return None without --init, or when resuming, since the folder has the model."""
        options = self.options
        if options.init is None or options.resumes:
            return None
        engine.start_on(options.device)
        return registry.load(options.init, self.kind.name)

    def _settings_and_sizes(self, sentences: int) -> tuple[Settings, object]:
        options = self.options
        preset = options.preset, self.kind.presets or self.kind.name, sentences
        sizes = replace(self._sizes_type(), **{**sizes_for(*preset), **options.sizes})
        settings = settings_for(*preset)
        if options.resumes:
            settings = saved_settings(checkpoint.training_state(self.folder), self.folder)
        if engine.device() != engine.CPU:
            # a preset, or a training started on the CPU, may have more
            settings = replace(settings, jobs=1)
        settings = replace(settings, **options.settings)
        if options.world:
            return replace(settings, jobs=options.world.size), sizes
        # a preset may have more than the options
        check_jobs(settings.jobs, engine.device())
        return settings, sizes

    def _model(self, base: Any, data: TrainingData, part: Any, sizes: object) -> Any:
        """Return the model to train: a new one, that of the folder when resuming, or one made from that of --init."""
        names = ("composition", "transitions", "state")
        given = {n: value for n in names if (value := getattr(self.options, n)) is not None}
        if self.options.resumes:
            model = self.kind.model_class.build(self.folder)
            self._require_same(model, given, self.options.folder, "resume")
            return model
        if base is None:
            return part.model(sizes, seed=self.settings.seed, **given)
        self._require_same(base, given, self.options.init, "continue")
        model = self._continued(base, data)
        model.about = about_continued(base, self.options.init)
        return model

    def _require_same(self, model: Any, given: Mapping[str, str], place: object, verb: str) -> None:
        """Raise RnngError if the user's options differ from those of the model."""
        for name, value in given.items():
            if value != model.config()[name]:
                raise RnngError(f"{place} has another {name}: {verb} without --{name}")
        if replace(model.sizes, **self.options.sizes) != model.sizes:
            dimensions = ", ".join(f"{name} {value}" for name, value in asdict(model.sizes).items())
            raise RnngError(f"{place} has other dimensions, {dimensions}: {verb} with those")

    def _continued(self, base: Any, data: TrainingData) -> Any:
        """Return the model of --init, with the symbols that --extend adds."""
        init, extends = self.options.init, self.options.extend
        with placed(data.source):
            if symbols := str(unseen(base, data.train)):
                if not extends:
                    raise RnngError(
                        f"{symbols} are not in {init}: add them with --extend, or take them out"
                    )
                self._listener.say(f"{init}: adding {symbols}")
            return extended(base, data.train, self.settings.seed) if extends else base

    def _examples(self, model: Any, data: TrainingData) -> Examples:
        """Return the training examples. Raises InputError if there are none, or for another transition system."""
        with placed(data.source):
            require_transitions(model, data.train.symbols.systems)
        examples, self._impossible = examples_of(model, data.train)
        if not examples:
            reason = next(iter(self._impossible.values()))
            raise InputError(f"no sentence to train on: {reason}", data.source)
        if self.settings.gold > len(data.train):
            raise InputError(
                f"{len(data.train)} sentences, fewer than --gold {self.settings.gold}", data.source
            )
        examples = examples.repeated(self.settings.gold, self.settings.gold_weight)
        self._places = (data.train_path, examples.lines)
        return examples

    def _warn_of(self, data: TrainingData) -> None:
        """Warn of sentences that are left out of training."""
        for line, reason in self._impossible.items():
            self._listener.warn(f"{data.train_path}:{line}: left out: {reason}")
        if self._impossible:
            self._listener.warn(
                f"{len(self._impossible)} of {len(data.train)} training sentences left out"
            )

    def place_of(self, record: Record) -> str:
        """Return file and line of the sentence that a record is about."""
        path, lines = self._places
        return f"{path}:{lines[record['sentence']]}"

    def _report(self, record: dict[str, Any]) -> None:
        self._about.report(record, self.folder)
        self._listener.record(record)
        self.records.append(record)
        self._new.append(record)


def train(
    kind: str,
    trees: Trees | None = None,
    dev_trees: Trees | None = None,
    *,
    folder: str | os.PathLike[str],
    on_record: Callable[[Record], None] | None = None,
    **settings: Any,
) -> Any:
    """Train a model to the end, write its folder, and return the model that is best on the development data.

    Args:
        kind: `discriminative`, `generative` or `lstm-lm`.
        trees: Training data: a file of bracketed trees, a list of `nltk.Tree`, or an oracle.
        dev_trees: Development data, in the same forms; `hold_out=0.1` takes a share of `trees` instead.
        folder: The model folder to write.
        on_record: Function that is called with each record of the log.
        **settings: The other options of `rnng-dy train`, with _ instead of -, such as `preset="fast"`.

    Raises:
        RnngError: Options exclude each other, a setting is unknown or out of range, or the data cannot be used.
    """
    training = Training(
        kind, trees, dev_trees, folder=folder, listener=Listener(on_record), **settings
    )
    for _ in training:
        pass
    return training.model
