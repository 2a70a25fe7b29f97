"""The training loop of every model, with the original's updates (Dyer et al. 2016, section 5).

All random draws depend on the seed and the number of the epoch or update. So a resumed run makes the same draws as an
uninterrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from oracle.errors import InputError, RnngError
from rnng_dy import checkpoint
from rnng_dy.checkpoint import writing
from rnng_dy.training import log
from rnng_dy.training.all_reduce import ReplicaGroup, Update
from rnng_dy.training.examples import order_of_epoch
from rnng_dy.training.log import ENDED_EARLY, EVALUATION, LEFT_OUT, PROGRESS
from rnng_dy.training.presets import Settings
from rnng_dy.training.state import TrainingState
from rnng_dy.training.updates import Updater

Score = Mapping[str, object]
"""The result of an evaluation; `score` is the number to maximise."""


class TrainingLoop:
    """A model being trained; `run` trains from `state` to the end."""

    def __init__(
        self,
        model,
        examples: Sequence,
        evaluate: Callable[[], Score],
        settings: Settings,
        folder: str | Path,
        report: Callable[[dict], None] = lambda record: None,
        inputs: Mapping[str, object] | None = None,
        group: Callable[[Updater, Path, int], ReplicaGroup] | None = None,
    ):
        """Set up a training of `model` on `examples`, which are of the model's kind.

        `report` is called with every record of the log. `inputs` are the training's inputs besides the settings, by
        name, as JSON values (hashes of files).
        `group` makes the group of processes that share the updates, by default local ones.
        """
        self.model, self.examples, self.settings = model, examples, settings
        self.evaluate = evaluate
        self.folder, self.report, self.inputs = Path(folder), report, dict(inputs or {})
        self.state = TrainingState()
        self.left_out: set[int] = set()
        """Indices of the examples whose graphs did not fit into memory."""
        self._updater, self._group = Updater(model, examples, settings), group

    def create_folder(self, *adding: Callable[[Path], None]) -> None:
        """Write the model folder of a new run; each function in `adding` writes more files into it."""
        state, optimizer = self._to_json(), self._updater.optimizer
        checkpoint.save(self.model, self.folder, state, optimizer, adding)

    def resume(self) -> None:
        """Load the training state in the folder.

        Raises RnngError if data or settings differ from those of the saved run; it names what has changed.
        """
        # the best model so far must be whole, too
        checkpoint.load_parameters(self.model, self.folder)
        try:
            self._require_same(checkpoint.training_state(self.folder))
            state = checkpoint.load_training(self.model.store, self.folder, self._updater.optimizer)
            self.state = TrainingState.from_json(state["progress"], len(self.examples))
            self.left_out = set(state.get("left_out", ()))
            if not self.left_out <= set(range(len(self.examples))):
                raise ValueError("what it left out is not in the data")
        except RnngError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            place = self.folder / checkpoint.TRAINING
            raise InputError(f"damaged ({type(error).__name__}: {error})", place) from None
        self.model.updates = self.state.updates
        log.cut(self.folder, self.state.sentences, self.state.evaluated)

    def _require_same(self, state: Mapping) -> None:
        before = state.get("inputs", {})
        changed = [name for name, value in self.inputs.items() if before.get(name, value) != value]
        if not changed and state["examples"] != len(self.examples):
            changed = [f"{len(self.examples)} sentences instead of {state['examples']}"]
        if changed:
            raise RnngError(
                f"{self.folder} was trained with other data ({', '.join(changed)}): resume with the same, or train "
                "a new model"
            )
        saved = Settings(**state["settings"])
        # processes and the end of training may change; the linear schedule, however, depends on the number of epochs
        free = {"jobs", "patience", *(["epochs"] if saved.schedule == "inverse" else [])}
        settings = asdict(self.settings).items()
        changed = [k for k, v in settings if k not in free and getattr(saved, k) != v]
        if changed:
            raise RnngError(
                f"{self.folder} was trained with other settings ({', '.join(changed)}): "
                "resume with the same ones, or train a new model"
            )

    def run(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train to the end and return True, or until `stop` returns True after an update and return False."""
        with closing(self.updates()) as updates:
            return not any(stop() for _ in updates)

    def updates(self) -> Iterator[None]:
        """Train, yielding after every update.

        Training starts from the state in the folder, which `create_folder` writes and `resume` reads. It ends after the
        last epoch, or earlier after `patience` evaluations without a new best score.

        At the end, or when the iterator is closed, the folder holds the training state and the model that scored best
        on the development data.
        """
        with writing(self.folder):
            if self.settings.jobs == 1:
                yield from self._updates(self._updater.update)
                return
            from rnng_dy.training.replicas import Replicas

            group = (self._group or Replicas)(self._updater, self.folder, self.settings.jobs)
            try:
                yield from self._updates(group.update)
            finally:
                group.close()

    def _updates(self, update: Callable[..., Update]) -> Iterator[None]:
        p, n = self.state, len(self.examples)
        while p.epoch < self.settings.epochs and not self._is_out_of_patience:
            order = order_of_epoch(self.examples, self.settings, p.epoch)
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
                try:
                    yield
                except GeneratorExit:
                    self._save()
                    if p.best is None:
                        checkpoint.save_parameters(self.model, self.folder)
                    raise
                if p.position == 0 or self._is_out_of_patience:
                    break
        if p.evaluated != p.sentences:
            self._evaluate()
        if p.epoch < self.settings.epochs:
            self._record(ENDED_EARLY, patience=self.settings.patience, best=p.best)

    @property
    def _is_out_of_patience(self) -> bool:
        return 0 < self.settings.patience <= self.state.stale

    def learning_rate(self) -> float:
        """Return the learning rate of the next update."""
        settings, p = self.settings, self.state
        if settings.schedule == "linear":
            done = p.sentences / (settings.epochs * len(self.examples))
            return settings.learning_rate * (1 - done)
        return settings.learning_rate / (1 + p.epoch * settings.decay)

    def _step(self, update: Callable[..., Update], members: list[int]) -> None:
        started = time.perf_counter()
        p = self.state
        done = update(members, p.updates, self.learning_rate())
        p.updates += 1
        self.model.updates = p.updates
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
                self._record(LEFT_OUT, sentence=i, words=length, left_out=len(self.left_out))

    # records and files

    def _evaluate(self) -> None:
        p = self.state
        self._updater.require_usable(p.updates)
        result = dict(self.evaluate())
        p.evaluated = p.sentences
        left_out = result.get("dev_left_out", 0)
        is_best = p.is_best(result["score"], left_out)
        p.stale = 0 if is_best else p.stale + 1
        if is_best:
            p.best, p.best_sentences, p.best_left_out = result["score"], p.sentences, left_out
            checkpoint.save_parameters(self.model, self.folder)
        self._record(EVALUATION, **result, is_best=is_best, best=p.best)
        self._save()

    def _save(self) -> None:
        # a state with unusable parameters would replace one that can be loaded
        self._updater.require_usable(self.state.updates)
        store, optimizer = self.model.store, self._updater.optimizer
        checkpoint.save_training(store, self.folder, self._to_json(), optimizer)

    def _to_json(self) -> dict[str, object]:
        return {
            "progress": asdict(self.state),
            "settings": asdict(self.settings),
            "examples": len(self.examples),
            "inputs": self.inputs,
            "left_out": sorted(self.left_out),
        }

    def _report_window(self, before: int) -> None:
        p = self.state
        if not _crosses(before, p.sentences, self.settings.report_every):
            return
        loss, words, updates, clipped = p.window
        remaining = self.settings.epochs * len(self.examples) - p.sentences
        self._record(
            PROGRESS,
            loss_per_word=loss / max(words, 1),
            learning_rate=self.learning_rate(),
            clipped=clipped / updates,
            sentences_per_second=p.sentences / p.seconds,
            seconds_left=remaining * p.seconds / p.sentences,
        )
        p.window = (0.0, 0, 0, 0)

    def _record(self, event: str, **values) -> None:
        p = self.state
        epochs = round(p.sentences / len(self.examples), 3)
        record = {"event": event, "epoch": epochs, "sentences": p.sentences, "updates": p.updates}
        record |= {"seconds": round(p.seconds, 3)} | values
        log.append_record(self.folder, record)
        self.report(record)


def _crosses(before: int, now: int, every: int) -> bool:
    return before // every < now // every
