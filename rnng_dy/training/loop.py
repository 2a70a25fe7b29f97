"""The loop of every training: updates with the original's schedule, evaluations, saved states (Dyer et al. 2016, 5).

All random draws depend on the seed and the number of the epoch or update. So a resumed training makes the same draws
as an uninterrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rnng_dy import checkpoint
from rnng_dy.training.progress import (
    ENDED_EARLY,
    EVALUATION,
    LEFT_OUT,
    PROGRESS,
    Progress,
    Record,
    crosses,
    state_of,
)
from rnng_dy.training.updates import Updater


def run(
    updater: Updater,
    progress: Progress,
    evaluate: Callable[[], Mapping[str, Any]],
    folder: Path,
    inputs: Mapping[str, Any] | None = None,
    report: Callable[[Record], None] = lambda record: None,
    stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Train from `progress` to the end and return True, or until `stop` returns True and return False.

    Training ends after the last epoch, or earlier after `patience` evaluations without a new best score, the `score` of
    `evaluate`. Afterwards the folder holds the training state and the model that scored best on the development data.
    """
    model, examples, settings = updater.model, updater.examples, updater.settings
    p, n = progress, len(examples)

    def record(event: str, **values: Any) -> None:
        place = {"sentences": p.sentences, "updates": p.updates, "seconds": round(p.seconds, 3)}
        record = {"event": event, "epoch": round(p.sentences / n, 3), **place, **values}
        p.log(folder, record)
        report(record)

    def save() -> None:
        # a state with unusable parameters would replace one that can be loaded
        updater.require_usable(p.updates)
        state = state_of(updater, p, inputs or {})
        checkpoint.save_training(model.store, folder, state, updater.optimizer)

    def evaluate_now() -> None:
        updater.require_usable(p.updates)
        result = dict(evaluate())
        p.evaluated = p.sentences
        left_out = result.get("dev_left_out", 0)
        is_best = p.is_best(result["score"], left_out)
        p.stale = 0 if is_best else p.stale + 1
        if is_best:
            p.best, p.best_sentences, p.best_left_out = result["score"], p.sentences, left_out
            checkpoint.save_parameters(model, folder)
        record(EVALUATION, **result, is_best=is_best, best=p.best)
        save()

    def is_over() -> bool:
        return p.epoch >= settings.epochs or 0 < settings.patience <= p.stale

    while not is_over():
        order = np.random.default_rng([settings.seed, 0, p.epoch]).permutation(n)
        epoch = p.epoch
        while p.epoch == epoch and not is_over():
            before, started = p.sentences, time.perf_counter()
            members = order[p.position :][: settings.batch_size].tolist()
            done = updater.update(members, p.updates, p.learning_rate(settings, n))
            p.updates += 1
            model.updates = p.updates
            p.sentences += len(members)
            p.position += len(members)
            p.seconds += time.perf_counter() - started
            words = sum(len(examples.tokens(i)) for i in members if i not in done.left_out)
            sums = (done.loss, words, 1, int(done.clipped))
            p.window = [a + b for a, b in zip(p.window, sums, strict=True)]
            for i in done.left_out:
                record(LEFT_OUT, sentence=i, words=len(examples.tokens(i)))
            if p.position >= n:
                p.epoch, p.position = p.epoch + 1, 0
            if crosses(before, p.sentences, settings.report_every):
                loss, words, updates, clipped = p.window
                record(
                    PROGRESS,
                    loss_per_word=loss / max(words, 1),
                    learning_rate=p.learning_rate(settings, n),
                    clipped=clipped / updates,
                    sentences_per_second=p.sentences / p.seconds,
                    seconds_left=(settings.epochs * n / p.sentences - 1) * p.seconds,
                )
                p.window = (0.0, 0, 0, 0)
            if p.is_evaluation_due(before, settings):
                evaluate_now()
            elif crosses(before, p.sentences, settings.checkpoint_every):
                save()
            if stop():
                save()
                if p.best is None:
                    checkpoint.save_parameters(model, folder)
                return False
    if p.evaluated != p.sentences:
        evaluate_now()
    if p.epoch < settings.epochs:
        record(ENDED_EARLY, patience=settings.patience, best=p.best)
    return True
