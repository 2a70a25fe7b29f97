"""Training: one loop for every model, with the original's updates (Dyer et al. 2016, section 5).

Everything random is tied to the seed and the number of the epoch or update, so that a resumed run draws what an
uninterrupted one would have drawn.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from oracle.errors import RnngError
from rnng_dy import checkpoint
from rnng_dy.engine import dy

LOG = "log.jsonl"


@dataclass(frozen=True)
class Settings:
    """How to train. Rates of `decay` and the evaluation times are the original's, see PRESETS."""

    epochs: int
    dropout: float
    decay: float
    """The learning rate in epoch e, counted from 0, is learning_rate / (1 + e * decay)."""
    first_evaluation: int
    """Sentences before the first evaluation on the development data."""
    evaluate_every: int
    """Sentences between evaluations."""
    evaluate_from_epoch: int
    """Full epochs before any evaluation."""
    learning_rate: float = 0.1
    clip: float = 5.0
    """The global norm that gradients are scaled down to."""
    l2: float = 1e-6
    """The share by which each update shrinks dense parameters and the lookup rows it used."""
    batch_size: int = 1
    unknown_probability: float = 0.5
    """How often the parser sees a word that training has once as its UNK class."""
    checkpoint_every: int = 2500
    """Sentences between saved training states; every evaluation saves one too."""
    report_every: int = 500
    """Sentences between records in the log."""
    seed: int = 1


PRESETS = {
    ("paper", "discriminative"): Settings(
        epochs=15,
        dropout=0.2,
        decay=0.05,
        first_evaluation=100,
        evaluate_every=2500,
        evaluate_from_epoch=0,
    ),
    ("paper", "generative"): Settings(
        epochs=12,
        dropout=0.3,
        decay=0.08,
        first_evaluation=10000,
        evaluate_every=10000,
        evaluate_from_epoch=1,
    ),
}


@dataclass
class Progress:
    """Where training stands; all that a resumed run needs besides the parameters."""

    epoch: int = 0
    position: int = 0
    """Sentences done of this epoch."""
    sentences: int = 0
    updates: int = 0
    seconds: float = 0.0
    best: float | None = None
    best_sentences: int = 0
    evaluated: int = -1
    """Sentences at the last evaluation."""
    window: tuple[float, int, int, int] = (0.0, 0, 0, 0)
    """Since the last record: loss in nats, words, updates, clipped updates."""

    def is_evaluation_due(self, before: int, settings: Settings) -> bool:
        """Whether an evaluation falls between `before` sentences and now."""
        if self.epoch < settings.evaluate_from_epoch or self.sentences < settings.first_evaluation:
            return False
        first, every = settings.first_evaluation, settings.evaluate_every
        return before < first or (before - first) // every < (self.sentences - first) // every


Score = Mapping[str, object]
"""What an evaluation gives; `score` is the number to maximise."""


class Training:
    """A model being trained: `run` goes on from `progress` to the last epoch."""

    def __init__(
        self,
        model,
        examples: Sequence,
        evaluate: Callable[[], Score],
        settings: Settings,
        folder: str | Path,
        report: Callable[[dict], None] = lambda record: None,
    ):
        """`model` and `examples` are of one kind; `report` is given every record of the log."""
        self.model, self.examples, self.evaluate, self.settings = (
            model,
            examples,
            evaluate,
            settings,
        )
        self.folder, self.report = Path(folder), report
        self.progress = Progress()
        self._sgd = dy.SimpleSGDTrainer(model.store.collection, settings.learning_rate)
        # clipping is done here, where the norm is known and clipped updates can be counted
        self._sgd.set_clip_threshold(0.0)

    def create_folder(self) -> None:
        """Write the model folder of a run that begins."""
        checkpoint.save(self.model, self.folder, self._state())

    def resume(self) -> None:
        """Take up the training state that the folder holds."""
        state = checkpoint.load_training(self.model, self.folder)
        self.progress = Progress(**state["progress"])
        self.progress.window = tuple(self.progress.window)
        if state["examples"] != len(self.examples):
            raise RnngError(
                f"{self.folder} was trained on {state['examples']} sentences, not {len(self.examples)}: "
                "resume with the same training oracle"
            )
        saved = Settings(**state["settings"])
        if replace(saved, epochs=self.settings.epochs) != self.settings:
            changed = [k for k, v in asdict(self.settings).items() if getattr(saved, k) != v]
            raise RnngError(
                f"{self.folder} was trained with other settings ({', '.join(changed)}): "
                "resume with the same ones, or train a new model"
            )
        self._cut_log()

    def run(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train until the last epoch is done (gives True) or `stop` says so between two updates (False).

        Either way the folder then holds the training state, and the model that scored best on the development data.
        """
        p, n = self.progress, len(self.examples)
        while p.epoch < self.settings.epochs:
            order = np.random.default_rng([self.settings.seed, 0, p.epoch]).permutation(n)
            while p.position < n:
                before = p.sentences
                self._step(
                    [self.examples[i] for i in order[p.position :][: self.settings.batch_size]]
                )
                if p.position >= n:
                    p.epoch, p.position = p.epoch + 1, 0
                self._report_window(before)
                if p.is_evaluation_due(before, self.settings):
                    self._evaluate()
                elif _crosses(before, p.sentences, self.settings.checkpoint_every):
                    self._save()
                if stop():
                    if p.best is None:
                        checkpoint.save_parameters(self.model, self.folder)
                    self._save()
                    return False
                if p.position == 0:
                    break
        if p.evaluated != p.sentences:
            self._evaluate()
        return True

    def learning_rate(self) -> float:
        """The learning rate of the current epoch."""
        return self.settings.learning_rate / (1 + self.progress.epoch * self.settings.decay)

    def _step(self, examples: list) -> None:
        started = time.perf_counter()
        loss, clipped = self.update(examples)
        p = self.progress
        p.updates += 1
        p.sentences += len(examples)
        p.position += len(examples)
        p.seconds += time.perf_counter() - started
        words = sum(self.model.length(example) for example in examples)
        p.window = tuple(
            a + b for a, b in zip(p.window, (loss, words, 1, int(clipped)), strict=True)
        )

    def update(self, examples: Sequence) -> tuple[float, bool]:
        """One update: v -= eta * clip * g + l2 * v; gives the loss in nats and whether the gradient was clipped.

        The decay is not scaled by eta; it holds for all dense parameters and for the lookup rows that the sentences
        use, whose share comes in as a gradient.
        """
        settings, store, number = self.settings, self.model.store, self.progress.updates
        dy.reset_random_seed(_random_seed(settings.seed, number))
        random = np.random.default_rng([settings.seed, 1, number])
        examples = [
            self.model.with_unknowns(e, settings.unknown_probability, random) for e in examples
        ]
        dy.renew_cg()
        loss = self.model.training_loss(examples, settings.dropout)
        value = loss.value()
        loss.backward()
        norm = store.gradient_norm()
        if not (math.isfinite(value) and math.isfinite(norm)):
            raise RnngError(
                f"training diverged at update {number}: loss {value}, gradient norm {norm}; "
                "use a lower --learning-rate"
            )
        clipped = norm > settings.clip
        step = self.learning_rate() * (settings.clip / norm if clipped else 1.0)
        if settings.l2:
            dy.renew_cg()
            penalty = store.row_penalty(self.model.touched_rows(examples)) * (settings.l2 / step)
            penalty.forward()
            penalty.backward()
            store.decay(settings.l2)
        self._sgd.learning_rate = step
        self._sgd.update()
        return value, clipped

    # records and files

    def _evaluate(self) -> None:
        p = self.progress
        result = dict(self.evaluate())
        p.evaluated = p.sentences
        is_best = p.best is None or result["score"] > p.best
        if is_best:
            p.best, p.best_sentences = result["score"], p.sentences
            checkpoint.save_parameters(self.model, self.folder)
        self._record("evaluation", **result, is_best=is_best, best=p.best)
        self._save()

    def _save(self) -> None:
        checkpoint.save_training(self.model, self.folder, self._state())

    def _state(self) -> dict[str, object]:
        return {
            "progress": asdict(self.progress),
            "settings": asdict(self.settings),
            "examples": len(self.examples),
        }

    def _report_window(self, before: int) -> None:
        p = self.progress
        if not _crosses(before, p.sentences, self.settings.report_every):
            return
        loss, words, updates, clipped = p.window
        remaining = self.settings.epochs * len(self.examples) - p.sentences
        self._record(
            "progress",
            loss_per_word=loss / words,
            learning_rate=self.learning_rate(),
            clipped=clipped / updates,
            sentences_per_second=p.sentences / p.seconds,
            seconds_left=remaining * p.seconds / p.sentences,
        )
        p.window = (0.0, 0, 0, 0)

    def _record(self, event: str, **values) -> None:
        p = self.progress
        epochs = round(p.sentences / len(self.examples), 3)
        record = {"event": event, "epoch": epochs, "sentences": p.sentences, "updates": p.updates}
        record |= {"seconds": round(p.seconds, 3)} | values
        with open(self.folder / LOG, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
        self.report(record)

    def _cut_log(self) -> None:
        """Drop the records that a killed run wrote after its last training state."""
        path = self.folder / LOG
        if not path.exists():
            return
        kept = []
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            try:
                if json.loads(line)["sentences"] <= self.progress.sentences:
                    kept.append(line)
            except ValueError:
                break  # the killed run was writing this line
        temporary = path.with_suffix(".new")
        temporary.write_text("".join(kept), encoding="utf-8")
        os.replace(temporary, path)


def _crosses(before: int, now: int, every: int) -> bool:
    return before // every < now // every


def _random_seed(seed: int, update: int) -> int:
    """A seed for DyNet, 1 to 2^32 - 1 (0 would mean a random one), that differs between updates."""
    return 1 + int(np.random.SeedSequence([seed, 2, update]).generate_state(1)[0]) % (2**32 - 1)
