"""The progress of a training, which --resume continues: its log, log.jsonl, and its state, training.npz."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from oracle.errors import InputError, RnngError
from oracle.files import one_line, reading
from rnng_dy import checkpoint
from rnng_dy.training.presets import Settings
from rnng_dy.training.updates import Updater

FORMAT = "rnng_dy 0.4"
"""The format of training states."""
LOG = "log.jsonl"
"""The log in a model folder: a JSON object per line, in the order of training."""
EVALUATION, PROGRESS, LEFT_OUT, ENDED_EARLY = "evaluation", "progress", "left_out", "ended_early"
"""Events of records. `ended_early` is the last record of a training that patience ended."""

Record = Mapping[str, Any]


@dataclass
class Progress:
    """The progress of a training: all that a resumed one needs besides parameters and optimizer state."""

    epoch: int = 0
    position: int = 0
    """Sentences of this epoch that are done."""
    sentences: int = 0
    updates: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_sentences: int = 0
    best_left_out: int | None = None
    """Development sentences that had no score when the best was found."""
    evaluated: int = -1
    """Number of sentences at the last evaluation; -1 before the first."""
    stale: int = 0
    """Number of evaluations since the best one."""
    window: Sequence[float] = (0.0, 0, 0, 0)
    """Sums since the last progress record: loss in nats, words, updates, clipped updates."""
    logged: int = 0
    """Bytes of the log."""

    def is_best(self, score: float, left_out: int) -> bool:
        """Return whether a score is the best so far; a score of fewer sentences is not, whatever it is."""
        if self.best is None:
            return True
        if self.best_left_out == left_out:
            return score > self.best
        return left_out < self.best_left_out

    def is_evaluation_due(self, before: int, settings: Settings) -> bool:
        """Return whether an evaluation falls between `before` sentences and now."""
        if self.epoch < settings.evaluate_from_epoch or self.sentences < settings.first_evaluation:
            return False
        first, every = settings.first_evaluation, settings.evaluate_every
        return before < first or crosses(before - first, self.sentences - first, every)

    def learning_rate(self, settings: Settings, examples: int) -> float:
        """Return the learning rate of the next update."""
        if settings.schedule == "linear":
            done = self.sentences / (settings.epochs * examples)
            return settings.learning_rate * (1 - done)
        return settings.learning_rate / (1 + self.epoch * settings.decay)

    def log(self, folder: Path, record: Record) -> None:
        """Append a record to a model folder's log."""
        with open(folder / LOG, "ab") as stream:
            stream.write(f"{one_line(record)}\n".encode())
            self.logged = stream.tell()


def crosses(before: int, now: int, every: int) -> bool:
    """Return whether a multiple of `every` is over `before`, and not over `now`."""
    return before // every < now // every


def described(record: Record) -> str:
    """Return a record as a readable line."""
    text = f"epoch {record['epoch']:.2f}, {record['sentences']} sentences: "
    if record["event"] == EVALUATION:
        text += (
            f"dev F1 {record['f1']:.2f} (scored with gold tags)"
            if "f1" in record
            else f"dev perplexity {record['perplexity']:.2f}, {record['dev_words']} words"
        )
        return f"{text}{' (best)' if record['is_best'] else ''}"
    if record["event"] == ENDED_EARLY:
        return f"{text}no new best in {record['patience']} evaluations: training ends here (--patience)"
    if record["event"] == LEFT_OUT:
        return (
            f"{text}a sentence of {record['words']} words does not fit into memory and is left out"
        )
    return (
        f"{text}{record['loss_per_word']:.4f} nats/word, {record['sentences_per_second']:.1f} sentences/s, "
        f"learning rate {record['learning_rate']:.4f}, {record['clipped']:.0%} of updates clipped, "
        f"{timedelta(seconds=round(record['seconds_left']))} left"
    )


def state_of(updater: Updater, progress: Progress, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the training state without arrays, as JSON."""
    return {
        "format": FORMAT,
        "progress": asdict(progress),
        "settings": asdict(updater.settings),
        "inputs": dict(inputs),
    }


def saved_state(folder: Path) -> dict[str, Any]:
    """Return the JSON of a folder's training state, with `Settings` and `Progress`.

    Raises InputError if it is damaged, or of an older version.
    """
    state, path = checkpoint.training_state(folder), folder / checkpoint.TRAINING
    if state.get("format") != FORMAT:
        raise InputError(
            "a training state of an older version of rnng_dy, which cannot be resumed: train a new model, or begin "
            f"with this one by --init {folder}",
            path,
        )
    with reading(path, remedy="damaged"):
        settings, progress = Settings(**state["settings"]), Progress(**state["progress"])
    return {**state, "settings": settings, "progress": progress}


def require_same(
    state: Mapping[str, Any], settings: Settings, inputs: Mapping[str, Any], folder: object
) -> None:
    """Raise RnngError, which names the difference, if a resumed training has other data or settings."""
    saved = state["settings"]
    # processes and the end of training may change; the linear schedule, however, depends on the number of epochs
    free = {"jobs", "patience", *(["epochs"] if saved.schedule == "inverse" else [])}
    now, before = asdict(settings).items(), state["inputs"]
    for what, changed in {
        "data": [name for name, value in inputs.items() if before.get(name) != value],
        "settings": [k for k, v in now if k not in free and getattr(saved, k) != v],
    }.items():
        if changed:
            raise RnngError(
                f"{folder} was trained with other {what} ({', '.join(changed)}): resume with the same, or train a new "
                "model"
            )


def restored(updater: Updater, folder: Path, state: Mapping[str, Any]) -> Progress:
    """Set parameters and optimizer from a folder's training state, cut the log after it, and return the progress.

    `state` is that of `saved_state`.
    """
    # the best model so far must be whole, too
    checkpoint.load_parameters(updater.model, folder)
    checkpoint.load_training(updater.model.store, folder, updater.optimizer)
    progress: Progress = state["progress"]
    updater.model.updates = progress.updates
    log = folder / LOG
    if log.exists():
        os.truncate(log, min(progress.logged, log.stat().st_size))
    return progress
