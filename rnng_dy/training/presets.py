"""Training settings: the original's, and faster ones chosen by experiment (docs/performance.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import click

from rnng_dy.settings import NOT_NEGATIVE, POSITIVE, RATE, FiniteRange, setting

NAMES = "paper", "fast", "quick"
"""The names of the presets."""
SCHEDULES = "inverse", "linear"

_OF_PARSERS, _OF_TREES = "with `kind` discriminative", "with `kind` discriminative/generative"
_OF_WORDS = "with `kind` generative/lstm-lm"
GOES = {
    "hold_out": "with `trees`, without `dev_trees`",
    "unk": "with `trees`",
    "train": "with `dev`, without `trees`",
    "dev": "with `train`",
    "extend": f"{_OF_TREES}, with `init`",
    "transitions": _OF_TREES,
    "state": _OF_TREES,
    "word_input": _OF_TREES,
    "composition": f"{_OF_TREES}, without `state` no-stack/history",
    "pos": _OF_PARSERS,
    "pretrained": f"{_OF_PARSERS}, without `init`",
    "clusters": f"{_OF_WORDS}, without `init`",
    "open": _OF_WORDS,
    **dict.fromkeys(("tagger", "no_tagger", "tag_size"), "with `pos` or `init`"),
    "unknown_probability": _OF_PARSERS,
    "decay": "with `schedule` inverse",
    "gold": "with `gold_weight`, without `hold_out`",
    "gold_weight": "with `gold`",
    "jobs": "without `mpi` or `ranks`",
    "mpi": "with `device` cpu",
    "ranks": "with `device` cpu",
}
"""What options of a training go with: rules of `settings.require`."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a training; defaults are the original's where PRESETS has no others."""

    preset: str = setting(
        "Set of settings, which other options change. paper: the original's. fast: minibatches "
        "with Adam, fitted to the number of sentences. quick: as fast, for about two minutes on "
        "two cores.  [default: paper, or the folder's]",
        "paper",
        click.Choice(NAMES),
    )
    epochs: int = setting("Passes over the training data.")
    dropout: float = setting("Dropout rate.", kind=RATE)
    optimizer: str = setting("Rule of the updates.", "sgd", click.Choice(["sgd", "adam"]))
    learning_rate: float = setting("Learning rate at the beginning.", 0.1, POSITIVE)
    schedule: str = setting(
        "Decrease of the rate: inverse, or linear to 0.", "inverse", click.Choice(SCHEDULES)
    )
    decay: float = setting("Epoch e, from 0, has the rate / (1 + e * decay).", kind=FiniteRange(0))
    clip: float = setting("Norm to which larger gradients are scaled down.", 5.0, POSITIVE)
    l2: float = setting("Share by which an update shrinks parameters that it uses.", 1e-6, RATE)
    """Applies to dense parameters and, with sgd, to the lookup rows of the minibatch."""
    batch_size: int = setting("Sentences per update.", 1)
    unknown_probability: float = setting(
        "Probability that a rare word is read as its class.", 0.5, FiniteRange(0, 1)
    )
    gold: int = setting("Number of first sentences that gold_weight is about.", 0, NOT_NEGATIVE)
    gold_weight: int = setting("Times that an epoch has each of the `gold` sentences.", 1)
    first_evaluation: int = setting("Sentences before the first evaluation on the dev data.")
    evaluate_every: int = setting("Sentences between evaluations.")
    evaluate_from_epoch: int = setting("Full epochs before any evaluation.", 0, NOT_NEGATIVE)
    patience: int = setting("Evaluations without a new best that end it; 0: none.", 0, NOT_NEGATIVE)
    save_every: float = setting("Minutes between saved training states.", 10.0, FiniteRange(0))
    report_every: int = setting("Sentences between records in log.jsonl.", 500)
    seed: int = setting("Random seed of the training.", 1, click.IntRange(0, 2**32 - 1))
    jobs: int = setting(
        "Number of processes among which each minibatch is divided; models differ slightly with "
        "it.",
        1,
    )
    """Presets give the number for the CPU; a GPU takes one process."""


def by_kind(**presets: tuple[Any, Any]) -> dict[tuple[str, str], Any]:
    """Return what each preset has for parsers and for models of words, by preset and kind of model.

    The paper's dropout for its LSTM language model is that of the generative one; it does not
    report the rest.
    """
    return {
        (name, kind): values[kind != "discriminative"]
        for name, values in presets.items()
        for kind in ("discriminative", "generative", "lstm-lm")
    }


_PARSER = Settings(epochs=15, dropout=0.2, decay=0.05, first_evaluation=100, evaluate_every=2500)
_EVERY_10000 = {"first_evaluation": 10000, "evaluate_every": 10000, "evaluate_from_epoch": 1}
_WORDS = Settings(epochs=12, dropout=0.3, decay=0.08, **_EVERY_10000)
# chosen by experiment: docs/performance.md
_FAST = {"preset": "fast", "optimizer": "adam", "schedule": "linear", "l2": 0.0}
_FAST_PARSER = replace(_PARSER, epochs=12, learning_rate=0.004, batch_size=32, **_FAST)
_EVERY_5000 = {"first_evaluation": 5000, "evaluate_every": 5000}
_FAST_WORDS = replace(_WORDS, epochs=5, learning_rate=0.002, batch_size=16, **_EVERY_5000, **_FAST)
_QUICK = {"preset": "quick", "jobs": 2}
PRESETS = by_kind(
    paper=(_PARSER, _WORDS),
    fast=(_FAST_PARSER, _FAST_WORDS),
    quick=(replace(_FAST_PARSER, batch_size=16, **_QUICK), replace(_FAST_WORDS, **_QUICK)),
)
LEAST_UPDATES = by_kind(fast=((100, 16), (180, 4)), quick=((0, 1), (180, 4)))
"""Batches are halved, down to the second number, if an epoch has too few updates."""
MOST_SENTENCES = by_kind(quick=(12000, 15000))
"""Epochs are reduced, to one at least, so that training sees about this many sentences."""
QUICK_SIZES, QUICK_FROM = {"lstm_input": 128, "hidden": 128}, 1800
"""Dimensions of quick generative models, from a number of training sentences on."""


def settings_for(preset: str, kind: str, sentences: int) -> Settings:
    """Return the settings of a preset for a kind of model and a number of training sentences.

    >>> [settings_for("fast", "generative", n).batch_size for n in (500, 1500, 3396, 10205)]
    [4, 8, 16, 16]
    """
    settings = PRESETS[preset, kind]
    if preset == "paper":
        return settings
    batch_size, epochs = settings.batch_size, settings.epochs
    least_updates, least_batch = LEAST_UPDATES[preset, kind]
    while batch_size > least_batch and sentences < least_updates * batch_size:
        batch_size //= 2
    if most := MOST_SENTENCES.get((preset, kind)):
        epochs = max(1, min(epochs, round(most / sentences)))
    # a small treebank is evaluated at the end of each epoch
    often = ("first_evaluation", "evaluate_every")
    changes = {name: min(getattr(settings, name), sentences) for name in often}
    return replace(settings, batch_size=batch_size, epochs=epochs, **changes)


def sizes_for(preset: str, kind: str, sentences: int) -> Mapping[str, int]:
    """Return a preset's dimensions of new models that differ from the paper's."""
    is_smaller = (preset, kind) == ("quick", "generative") and sentences >= QUICK_FROM
    return QUICK_SIZES if is_smaller else {}
