"""Where a model comes from: the content of about.json, and its updates during training."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from oracle.archives import read_regular
from oracle.blocks import OracleSentence
from oracle.encoding import encoded
from oracle.errors import RnngError
from oracle.files import file_hash, finite
from rnng_dy import engine, model_card
from rnng_dy.checkpoint import PARAMETERS, PLUGINS
from rnng_dy.cpu_level import cpu_level
from rnng_dy.model import Model
from rnng_dy.model_card import About, Value
from rnng_dy.model_paths import located
from rnng_dy.training.log import EVALUATION
from rnng_dy.training.presets import Settings

DATE = "SOURCE_DATE_EPOCH"
"""The environment variable that replaces the current time, for reproducible outputs."""
OF_RECORD = {"event", "epoch", "sentences", "updates", "seconds", "score", "is_best", "best"}
"""Keys of an evaluation's record that are no scores for the model card."""


def about_model(model: Model, sentences: Sequence[OracleSentence], command: str | None) -> dict:
    """Return the sections about a new model made by a command from the sentences of a training oracle."""
    config = model.config()
    return {
        "model": {
            **{k: value for k, value in config.items() if k not in ("sizes", PLUGINS)},
            **({PLUGINS: ", ".join(config[PLUGINS])} if PLUGINS in config else {}),
            "parameters": model.store.count(),
        },
        "sizes": dict(config["sizes"]),
        "corpus": corpus(sentences),
        "made": {"date": now(), "command": command},
        "versions": versions(),
    }


def about_import(
    model: Model,
    sentences: Sequence[OracleSentence],
    command: str | None,
    checkpoint: str | Path,
) -> dict:
    """Return the sections about a model imported from a checkpoint of the original program."""
    origin = {
        "program": "clab/rnng",
        "checkpoint": str(checkpoint),
        "sha256": file_hash(checkpoint),
    }
    return {**about_model(model, sentences, command), "origin": origin}


def about_continued(base: Model, folder: str | Path) -> About:
    """Return the section about the origin of a model that starts from the model of a folder (--init)."""
    about = base.about or {}
    origin = {
        "model": str(folder),
        "sha256": hashlib.sha256(read_regular(located(folder) / PARAMETERS)).hexdigest(),
        "trained_on": model_card.trained_on(about),
        "score": model_card.best_score(about),
        "made": about.get("made", {}).get("date"),
    }
    return {"origin": origin}


def corpus(sentences: Sequence[OracleSentence]) -> dict[str, Value]:
    """Return the counts that describe the size of a training oracle."""
    oracle = encoded(sentences)
    counts, (_, classes) = oracle.counts("tokens"), oracle.unkified_types()
    return {
        "sentences": len(oracle),
        "words": int(counts.sum()),
        "types": int(np.count_nonzero(counts)),
        "singletons": int(np.count_nonzero(counts == 1)),
        "unknown_classes": len(set(classes.tolist()) - {-1}),
        "nonterminals": len(oracle.nonterminals()),
        "tags": len(oracle.symbols.tags) or None,
        "longest_sentence": int(oracle.lengths().max()),
    }


def versions() -> dict[str, Value]:
    """Return the versions of the software, and the processor."""
    return {
        # rnng_dy itself imports this module
        "rnng_dy": importlib.import_module("rnng_dy").__version__,
        "dynet": engine.installed_version(),
        **{name: importlib.metadata.version(name) for name in ("numpy", "nltk")},
        "python": platform.python_version(),
        "processor": cpu_level() or platform.machine(),
        "precision": engine.precision(),
    }


def now() -> str:
    """Return the current time in UTC, or that of SOURCE_DATE_EPOCH. Raises RnngError if this is no time."""
    given = os.environ.get(DATE)
    try:
        moment = datetime.fromtimestamp(time.time() if given is None else int(given), timezone.utc)
    except (OSError, OverflowError, ValueError):
        raise RnngError(
            f"{DATE} is {given!r}, no number of seconds since 1970: fix it, or unset it"
        ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class Provenance:
    """The model card of a model in training."""

    def __init__(
        self,
        model: Model,
        sentences: Sequence[OracleSentence],
        settings: Settings,
        inputs: Mapping[str, str | None],
        command: str | None,
        preset: str,
    ):
        """Replace sections about the model by new ones; its other sections stay.

        `inputs` are hashes of the data by option; `preset` is used for a new model, not for a resumed one.
        """
        about: About = model.about or {}
        new = about_model(model, sentences, command)
        if "made" in about:
            new["resumed"], new["made"] = new["made"], about["made"]
            preset = about.get("settings", {}).get("preset")
        new["settings"] = {"preset": preset, **asdict(settings)}
        new["data"] = {name: value for name, value in inputs.items() if value is not None}
        new["training"] = {**about.get("training", {}), "finished": False}
        self._model = model
        self._dev = {name: x for name, x in new["data"].items() if name.startswith("--dev")}
        model.about = {**about, **new}

    def report(self, record: Mapping[str, object], folder: Path) -> None:
        """Update and write the model card from a record of the log, if this is an evaluation."""
        if record["event"] != EVALUATION:
            return
        names = {"epoch": "epochs", "sentences": "sentences", "updates": "updates"}
        stands = {ours: record[theirs] for theirs, ours in names.items()}
        self._update(training={**stands, "seconds": record["seconds"], "finished": False})
        if record["is_best"]:
            scores = {name: x for name, x in record.items() if name not in OF_RECORD}
            self._update(scores={**finite(scores), **stands, "date": now(), **self._dev})
        model_card.write(folder, self._model.about)

    def finish(self, folder: Path) -> None:
        """Record on the model card that the training is finished."""
        self._update(training={**self._model.about["training"], "finished": True})
        model_card.write(folder, self._model.about)

    def _update(self, **sections: Mapping[str, Value]) -> None:
        self._model.about = {**self._model.about, **sections}
