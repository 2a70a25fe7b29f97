"""Where a model comes from: the content of about.json."""

from __future__ import annotations

import hashlib
import importlib
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from oracle.blocks import OracleSentence
from oracle.common import plugins
from oracle.common.files import finite
from rnng_dy import engine, model_folder
from rnng_dy.engine import cpu_level
from rnng_dy.model import Model
from rnng_dy.model_folder import PARAMETERS, PARAMETERS_HASH, PLUGINS, About, located

OF_RECORD = {"event", "score", "is_best", "best"}
"""Keys of an evaluation's record that are no scores for the description."""


def about_model(model: Model, sentences: Sequence[OracleSentence], command: str | None) -> dict:
    """Return the sections about a model made by a command from the sentences of a training oracle.

    A resumed training keeps the date and the command of its beginning.
    """
    recorded: About = model.about or {}
    config = dict(model.config())
    sizes = config.pop("sizes")
    needed = config.pop(PLUGINS, ())
    words = sum(len(sentence.tokens) for sentence in sentences)
    return {
        **recorded,
        "model": {**config, "parameters": model.store.count()},
        **({PLUGINS: plugins.hashes(needed)} if needed else {}),
        "sizes": sizes,
        "corpus": {"sentences": len(sentences), "words": words},
        "made": recorded.get("made", {"date": now(), "command": command}),
        "versions": {
            # rnng_dy itself imports this module
            "rnng_dy": importlib.import_module("rnng_dy").__version__,
            "dynet": engine.installed_version(),
            "python": platform.python_version(),
            "processor": cpu_level() or platform.machine(),
        },
    }


def about_continued(base: Model, folder: str | Path) -> About:
    """Return the section about the origin of a model that starts from the model of a folder (--init)."""
    parameters = (located(folder) / PARAMETERS).read_bytes()
    return {
        "origin": {
            "model": str(folder),
            "sha256": hashlib.sha256(parameters).hexdigest(),
            "trained_on": model_folder.trained_on(base.about or {}),
        }
    }


def now() -> str:
    """Return the current time in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def evaluated(model: Model, record: Mapping[str, Any]) -> About:
    """Return a model's sections with the record of the best evaluation so far, which is of its parameters."""
    scores = {name: x for name, x in record.items() if name not in OF_RECORD}
    of = {
        "date": now(),
        "dev": model.about["data"]["dev"],
        PARAMETERS_HASH: model.store.hash(),
    }
    return {**model.about, "scores": {**finite(scores), **of}}
