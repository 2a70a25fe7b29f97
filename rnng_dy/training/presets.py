"""How to train: the original's settings, and faster ones that were chosen by experiment (docs/performance.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from oracle.errors import InputError


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
    """Processes that share the gradient of each minibatch; dropout differs with their number. A preset's are those on
    the processor: a GPU takes one."""
    bucket: bool = False
    """Whether each minibatch has sentences of like length; see `order`."""
    patience: int = 0
    """Evaluations without a new best score after which training ends; 0: all epochs."""


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
    PRESETS["paper", "discriminative"],
    epochs=12,
    learning_rate=0.004,
    **(_FAST | {"batch_size": 32}),
)
PRESETS["quick", "discriminative"] = replace(
    PRESETS["fast", "discriminative"], batch_size=16, jobs=2
)
PRESETS["gpu", "discriminative"] = replace(
    PRESETS["fast", "discriminative"], batch_size=64, learning_rate=0.006, epochs=15
)
for _kind in ("generative", "lstm-lm"):
    PRESETS["fast", _kind] = replace(
        PRESETS["paper", _kind],
        epochs=5,
        learning_rate=0.002,
        first_evaluation=5000,
        evaluate_every=5000,
        **_FAST,
    )
    PRESETS["quick", _kind] = replace(PRESETS["fast", _kind], jobs=2)
    PRESETS["gpu", _kind] = replace(
        PRESETS["fast", _kind], batch_size=64, learning_rate=0.004, epochs=7
    )
NAMES = tuple(dict.fromkeys(name for name, _ in PRESETS))


@dataclass(frozen=True)
class Fit:
    """How a preset is fitted to the number of training sentences."""

    least_updates: int = 0
    """Batches are halved, but for `least_batch`, while an epoch has fewer updates."""
    least_batch: int = 1
    most_sentences: int = 0
    """Epochs are so few that training sees about so many sentences, but one at least; 0: as many as there are."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Dimensions of a new model that are not the paper's, from `sizes_from` sentences on."""
    sizes_from: int = 1

    def __call__(self, settings: Settings, sentences: int) -> Settings:
        """The settings for a treebank of so many sentences."""
        batch_size, epochs = settings.batch_size, settings.epochs
        while batch_size > self.least_batch and sentences < self.least_updates * batch_size:
            batch_size //= 2
        if self.most_sentences:
            epochs = max(1, min(epochs, round(self.most_sentences / sentences)))
        return replace(
            settings,
            batch_size=batch_size,
            epochs=epochs,
            # at the end of each epoch of a small treebank
            first_evaluation=min(settings.first_evaluation, sentences),
            evaluate_every=min(settings.evaluate_every, sentences),
        )


# chosen by experiment: docs/performance.md
FITS = {
    ("fast", "discriminative"): Fit(least_updates=100, least_batch=16),
    ("fast", "generative"): Fit(least_updates=180, least_batch=4),
    ("fast", "lstm-lm"): Fit(least_updates=180, least_batch=4),
    ("quick", "discriminative"): Fit(most_sentences=12000),
    ("quick", "generative"): Fit(180, 4, 15000, {"lstm_input": 128, "hidden": 128}, 1800),
    ("quick", "lstm-lm"): Fit(180, 4, 15000),
    ("gpu", "discriminative"): Fit(least_updates=50, least_batch=16),
    ("gpu", "generative"): Fit(least_updates=50, least_batch=4),
    ("gpu", "lstm-lm"): Fit(least_updates=50, least_batch=4),
}


def settings_for(preset: str, kind: str, sentences: int) -> Settings:
    """The settings of a preset for a model of a kind and so many training sentences.

    >>> [settings_for("fast", "generative", n).batch_size for n in (500, 1500, 3396, 10205)]
    [4, 8, 16, 16]
    """
    settings = PRESETS[preset, kind]
    fit = FITS.get((preset, kind))
    return fit(settings, sentences) if fit else settings


def sizes_for(preset: str, kind: str, sentences: int) -> Mapping[str, int]:
    """Dimensions of a preset's new models that are not the paper's, for so many training sentences."""
    fit = FITS.get((preset, kind))
    return fit.sizes if fit and sentences >= fit.sizes_from else {}


def identity(preset: str, kind: str) -> str:
    """All that a preset's settings and dimensions depend on besides the number of training sentences."""
    return repr((PRESETS[preset, kind], FITS.get((preset, kind))))


def saved_settings(state: Mapping[str, object], folder: str | Path) -> Settings:
    """The settings in a training state. Raises InputError where they are none."""
    try:
        return Settings(**state["settings"])
    except (KeyError, TypeError) as error:
        raise InputError(f"not a training state: {error}", folder) from None
