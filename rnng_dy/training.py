"""Training: one loop for every model, with the original's updates (Dyer et al. 2016, section 5).

Everything random is tied to the seed and the number of the epoch or update, so that a resumed run draws what an
uninterrupted one would have drawn.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from oracle.errors import RnngError
from rnng_dy import checkpoint
from rnng_dy.updates import Update, Updater

LOG = "log.jsonl"


@dataclass(frozen=True)
class Settings:
    """How to train. Rates of `decay` and the evaluation times are the original's, see PRESETS."""

    epochs: int
    dropout: float
    decay: float
    """For the inverse schedule."""
    first_evaluation: int
    """Sentences before the first evaluation on the development data."""
    evaluate_every: int
    """Sentences between evaluations."""
    evaluate_from_epoch: int
    """Full epochs before any evaluation."""
    learning_rate: float = 0.1
    schedule: str = "inverse"
    """`inverse`: learning_rate / (1 + e * decay) in epoch e, counted from 0; `linear`: down to 0 at the end."""
    optimizer: str = "sgd"
    """`sgd` or `adam`, see `updates`."""
    clip: float = 5.0
    """The global norm that gradients are scaled down to."""
    l2: float = 1e-6
    """The share by which each update shrinks dense parameters and, with sgd, the lookup rows it used."""
    batch_size: int = 1
    unknown_probability: float = 0.5
    """How often the parser sees a word that training has once as its UNK class."""
    checkpoint_every: int = 2500
    """Sentences between saved training states; every evaluation saves one too."""
    report_every: int = 500
    """Sentences between records in the log."""
    seed: int = 1
    jobs: int = 1
    """Processes that share the gradient of each minibatch; dropout differs with their number."""


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
# the paper's dropout for its LSTM language model is the same; the rest is not told
PRESETS["paper", "lstm-lm"] = PRESETS["paper", "generative"]
# chosen by experiment: docs/performance.md
_FAST = {"optimizer": "adam", "schedule": "linear", "batch_size": 16, "l2": 0.0}
PRESETS["fast", "discriminative"] = replace(
    PRESETS["paper", "discriminative"], epochs=12, learning_rate=0.004, **_FAST
)
for kind in ("generative", "lstm-lm"):
    PRESETS["fast", kind] = replace(
        PRESETS["paper", kind],
        epochs=5,
        learning_rate=0.002,
        first_evaluation=5000,
        evaluate_every=5000,
        **_FAST,
    )


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
        self.left_out: set[int] = set()
        """Indices of examples whose graphs did not fit into memory."""
        self._updater = Updater(model, examples, settings)

    def create_folder(self) -> None:
        """Write the model folder of a run that begins."""
        checkpoint.save(self.model, self.folder, self._state(), self._updater.optimizer)

    def resume(self) -> None:
        """Take up the training state that the folder holds."""
        state = checkpoint.load_training(self.model, self.folder, self._updater.optimizer)
        self.progress = Progress(**state["progress"])
        self.progress.window = tuple(self.progress.window)
        if state["examples"] != len(self.examples):
            raise RnngError(
                f"{self.folder} was trained on {state['examples']} sentences, not {len(self.examples)}: "
                "resume with the same training oracle"
            )
        saved = Settings(**state["settings"])
        changed = [k for k, v in asdict(self.settings).items() if getattr(saved, k) != v]
        # the linear schedule is one for a number of epochs
        if set(changed) - ({"epochs"} if saved.schedule == "inverse" else set()):
            raise RnngError(
                f"{self.folder} was trained with other settings ({', '.join(changed)}): "
                "resume with the same ones, or train a new model"
            )
        self._cut_log()

    def run(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train until the last epoch is done (gives True) or `stop` says so between two updates (False).

        Either way the folder then holds the training state, and the model that scored best on the development data.
        Begins from the training state in the folder, which `create_folder` writes and `resume` reads.
        """
        if self.settings.jobs == 1:
            return self._run(self._updater.update, stop)
        from rnng_dy.data_parallel import Replicas

        replicas = Replicas(self._updater, self.folder, self.settings.jobs)
        try:
            return self._run(replicas.update, stop)
        finally:
            replicas.close()

    def _run(self, update: Callable[..., Update], stop: Callable[[], bool]) -> bool:
        p, n = self.progress, len(self.examples)
        while p.epoch < self.settings.epochs:
            order = np.random.default_rng([self.settings.seed, 0, p.epoch]).permutation(n)
            while p.position < n:
                before = p.sentences
                self._step(update, order[p.position :][: self.settings.batch_size].tolist())
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
        """The learning rate of the next update."""
        settings, p = self.settings, self.progress
        if settings.schedule == "linear":
            done = p.sentences / (settings.epochs * len(self.examples))
            return settings.learning_rate * (1 - done)
        return settings.learning_rate / (1 + p.epoch * settings.decay)

    def _step(self, update: Callable[..., Update], members: list[int]) -> None:
        started = time.perf_counter()
        p = self.progress
        done = update(members, p.updates, self.learning_rate())
        p.updates += 1
        p.sentences += len(members)
        p.position += len(members)
        p.seconds += time.perf_counter() - started
        words = sum(self.model.length(self.examples[i]) for i in members if i not in done.left_out)
        p.window = tuple(
            a + b for a, b in zip(p.window, (done.loss, words, 1, int(done.clipped)), strict=True)
        )
        for i in done.left_out:
            if i not in self.left_out:
                self.left_out.add(i)
                length = self.model.length(self.examples[i])
                self._record("left_out", sentence=i, words=length, left_out=len(self.left_out))

    def update(self, members: Sequence[int]) -> Update:
        """One update from the examples with these indices; progress does not count it."""
        return self._updater.update(members, self.progress.updates, self.learning_rate())

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
        checkpoint.save_training(self.model, self.folder, self._state(), self._updater.optimizer)

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
            loss_per_word=loss / max(words, 1),
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
