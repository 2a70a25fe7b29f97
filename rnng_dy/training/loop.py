"""The loop of every training, with the original's schedule (Dyer et al. 2016, 5).

`Training.run` is the loop. `begin` writes the folder with random parameters, and `train.train` the
trees that were held out (dev.trees). Then the folder gets:

- log.jsonl: a record every `report_every` sentences and at each evaluation;
- parameters.npz and about.json: the model, when an evaluation finds it better than all before;
- training.npz: the newest parameters, the optimizer and `Progress`, every `save_every` minutes, at
  a stop and at the end. A resumed training continues from it;
- parameters.npz at a stop before the first evaluation: the newest ones.

All random draws depend on the seed and the number of the epoch or update. So a resumed training
makes the same draws as an uninterrupted one.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from oracle.common.errors import InputError, RnngError
from oracle.common.files import one_line, reading
from rnng_dy import checkpoint, model_folder
from rnng_dy.training.presets import Settings
from rnng_dy.training.updates import Updater

FORMAT = "rnng_dy 0.4"
"""The format of training states."""
LOG = "log.jsonl"
"""The log in a model folder: a JSON object per line, in the order of training."""
EVALUATION, PROGRESS = "evaluation", "progress"
"""Events of records."""

Record = Mapping[str, Any]

_log = logging.getLogger(__name__)


@dataclass
class Progress:
    """All that a resumed training needs besides parameters and optimizer state."""

    epoch: int = 0
    position: int = 0
    """Sentences of this epoch that are done."""
    sentences: int = 0
    updates: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_sentences: int = 0
    best_left_out: int = 0
    """Development sentences that had no score when the best was found."""
    evaluated: int = -1
    """Number of sentences at the last evaluation; -1 before the first."""
    stale: int = 0
    """Number of evaluations since the best one."""
    window: Sequence[float] = (0.0, 0)
    """Sums since the last progress record: loss in nats, words."""
    logged: int = 0
    """Bytes of the log."""

    def is_evaluation_due(self, before: int, settings: Settings) -> bool:
        """Return whether an evaluation falls between `before` sentences and now."""
        first, every = settings.first_evaluation, settings.evaluate_every
        is_early = self.epoch < settings.evaluate_from_epoch or self.sentences < first
        return not is_early and crosses(before - first, self.sentences - first, every)

    def is_over(self, settings: Settings) -> bool:
        """Return whether the training has ended."""
        return self.epoch >= settings.epochs or 0 < settings.patience <= self.stale

    def learning_rate(self, settings: Settings, examples: int) -> float:
        """Return the learning rate of the next update."""
        if settings.schedule == "linear":
            return settings.learning_rate * (1 - self.sentences / (settings.epochs * examples))
        return settings.learning_rate / (1 + self.epoch * settings.decay)


def crosses(before: int, now: int, every: int) -> bool:
    """Return whether a multiple of `every` is over `before`, and not over `now`."""
    return before // every < now // every


@dataclass
class Training:
    """A training in its folder, which `begin` writes, or `resume` continues, before `run`."""

    updater: Updater
    folder: Path
    evaluate: Callable[[], Mapping[str, Any]]
    """Returns scores on the development data, of which `score` selects the best model."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What identifies the data."""
    on_record: Callable[[Record], None] = lambda record: None
    progress: Progress = field(default_factory=Progress)

    def begin(self) -> None:
        """Write a new folder."""
        checkpoint.save(self.updater.model, self.folder, self._state(), self.updater.optimizer)

    def resume(self, state: Mapping[str, Any]) -> None:
        """Restore progress, parameters and optimizer, and cut the log after them."""
        model, log = self.updater.model, self.folder / LOG
        # the best model so far must be whole, too
        checkpoint.load_parameters(model, self.folder)
        checkpoint.load_training(model.store, self.folder, self.updater.optimizer)
        self.progress = state["progress"]
        model.updates = self.progress.updates
        if log.exists():
            os.truncate(log, min(self.progress.logged, log.stat().st_size))
        _log.info(f"resuming after {self.progress.sentences} sentences")

    def run(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train to the end and return True, or until `stop` returns True and return False.

        Training ends after the last epoch, or earlier after `patience` evaluations without a new
        best score. Afterwards the folder holds the training state and the model that scored best on
        the development data.
        """
        p, settings, saved = self.progress, self.updater.settings, time.monotonic()
        while not p.is_over(settings):
            random = np.random.default_rng([settings.seed, 0, p.epoch])
            order, epoch = random.permutation(len(self.updater.examples)), p.epoch
            while p.epoch == epoch and not p.is_over(settings):
                before = p.sentences
                self.update(order[p.position :][: settings.batch_size].tolist())
                if crosses(before, p.sentences, settings.report_every):
                    self.record_progress()
                if p.is_evaluation_due(before, settings):
                    self.judge()
                if time.monotonic() - saved >= 60 * settings.save_every:
                    self.save()
                    saved = time.monotonic()
                if stop():
                    self.save()
                    if p.best is None:
                        checkpoint.save_parameters(self.updater.model, self.folder)
                    return False
        if p.evaluated != p.sentences:
            self.judge()
        self.save()
        if p.epoch < settings.epochs:
            why = f"no new best in {p.stale} evaluations: training ends here (patience)"
            _log.info(f"{self.folder.name}: {p.sentences} sentences: {why}")
        return True

    def update(self, members: Sequence[int]) -> None:
        """Make the next update, from the examples with these indices."""
        p, started = self.progress, time.perf_counter()
        examples, settings = self.updater.examples, self.updater.settings
        loss = self.updater.update(members, p.updates, p.learning_rate(settings, len(examples)))
        p.updates += 1
        self.updater.model.updates = p.updates
        p.sentences += len(members)
        p.position += len(members)
        p.seconds += time.perf_counter() - started
        p.window = p.window[0] + loss, p.window[1] + sum(len(examples.tokens(i)) for i in members)
        if p.position >= len(examples):
            p.epoch, p.position = p.epoch + 1, 0

    def judge(self) -> None:
        """Evaluate the model on the development data, and keep it if it is the best so far."""
        p = self.progress
        self.updater.require_usable(p.updates)
        result = dict(self.evaluate())
        p.evaluated = p.sentences
        left_out = result.get("dev_left_out", 0)
        # a score of fewer sentences is not the best, whatever it is
        is_best = p.best is None or (-left_out, result["score"]) > (-p.best_left_out, p.best)
        p.stale = 0 if is_best else p.stale + 1
        if is_best:
            p.best, p.best_sentences, p.best_left_out = result["score"], p.sentences, left_out
            checkpoint.save_parameters(self.updater.model, self.folder)
        self.record(EVALUATION, **result, is_best=is_best, best=p.best)

    def record_progress(self) -> None:
        """Record the loss and the speed since the last such record."""
        p, settings, n = self.progress, self.updater.settings, len(self.updater.examples)
        self.record(
            PROGRESS,
            loss_per_word=p.window[0] / p.window[1],
            learning_rate=p.learning_rate(settings, n),
            sentences_per_second=p.sentences / p.seconds,
            seconds_left=(settings.epochs * n / p.sentences - 1) * p.seconds,
        )
        p.window = 0.0, 0

    def record(self, event: str, **values: Any) -> None:
        """Add a record to the log, and report it.

        The best evaluation so far describes the model.
        """
        p, model = self.progress, self.updater.model
        epoch = round(p.sentences / len(self.updater.examples), 3)
        record = {"event": event, "epoch": epoch, "sentences": p.sentences, "updates": p.updates}
        record |= {"seconds": round(p.seconds, 3), **values}
        with open(self.folder / LOG, "ab") as stream:
            stream.write(f"{one_line(record)}\n".encode())
            p.logged = stream.tell()
        _log.info(f"{self.folder.name}: {described(record, model.has_trees)}")
        if record.get("is_best"):
            model.about = model_folder.evaluated(model, record, self.inputs.get("dev"))
            model_folder.write_about(self.folder, model.about)
        self.on_record(record)

    def save(self) -> None:
        """Save the state, from which the training can be resumed."""
        # a state with unusable parameters would replace one that can be loaded
        self.updater.require_usable(self.progress.updates)
        store, optimizer = self.updater.model.store, self.updater.optimizer
        checkpoint.save_training(store, self.folder, self._state(), optimizer)

    def _state(self) -> dict[str, Any]:
        """Return the training state without arrays, as JSON."""
        return {
            "format": FORMAT,
            "progress": asdict(self.progress),
            "settings": asdict(self.updater.settings),
            "inputs": dict(self.inputs),
        }


def described(record: Record, has_trees: bool) -> str:
    """Return a record of the training of a model, with or without trees, as a readable line."""
    text = f"epoch {record['epoch']:.2f}, {record['sentences']} sentences: "
    if record["event"] == EVALUATION:
        text += (
            f"dev F1 {record['f1']:.2f} (scored with gold tags)"
            if "f1" in record
            else f"dev perplexity of words{' and trees' * has_trees} {record['perplexity']:.2f}, "
            f"{record['dev_words']} words"
        )
        return f"{text}{' (best)' if record['is_best'] else ''}"
    return (
        f"{text}{record['loss_per_word']:.4f} nats/word, {record['sentences_per_second']:.1f} "
        f"sentences/s, learning rate {record['learning_rate']:.4f}, "
        f"{timedelta(seconds=round(record['seconds_left']))} left"
    )


def saved_state(folder: Path) -> dict[str, Any]:
    """Return the JSON of a folder's training state, with `Settings` and `Progress`.

    Raises InputError if it is damaged, or of an older version.
    """
    state, path = checkpoint.training_state(folder), folder / model_folder.TRAINING
    known = {field.name for field in fields(Settings)}
    if state.get("format") != FORMAT or not known.issuperset(state.get("settings") or ()):
        raise InputError(
            "a training state of an older version of rnng_dy, which cannot be resumed: train a "
            f"new model, or begin with this one by `init` {folder}",
            path,
        )
    with reading(path, remedy="damaged"):
        settings, progress = Settings(**state["settings"]), Progress(**state["progress"])
    return {**state, "settings": settings, "progress": progress}


def require_same(
    state: Mapping[str, Any], settings: Settings, inputs: Mapping[str, Any], folder: object
) -> dict[str, Any]:
    """Return what identifies the data of a resumed training, whether or not it is given again.

    Raises RnngError, which names the difference, if data or settings are others than in the state.
    """
    saved = state["settings"]
    # these may change, though models differ slightly with jobs; the linear schedule depends on the
    # number of epochs
    free = {"jobs", "patience", "save_every", "report_every"}
    free |= {"epochs"} if saved.schedule == "inverse" else set()
    now = asdict(settings).items()
    for what, changed in {
        "data": [k for k, v in inputs.items() if state["inputs"].get(k) != v],
        "settings": [k for k, v in now if k not in free and getattr(saved, k) != v],
    }.items():
        if changed:
            how = "resume with the same, or train a new model"
            raise RnngError(f"{folder} was trained with other {what} ({', '.join(changed)}): {how}")
    return {**state["inputs"], **inputs}
