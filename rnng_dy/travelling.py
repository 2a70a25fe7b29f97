"""Models on their way to other processes: as the path of a folder that has the model as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from oracle.common import plugins
from oracle.common.errors import RnngError
from rnng_dy import checkpoint
from rnng_dy.model_folder import PARAMETERS, Folder, located


def remember(model: Any, folder: str | Folder) -> None:
    """Note that the folder or archive has the model as it is now."""
    # one that the folder lacks is made when it is needed
    segmenter = vars(model).get("segmenter")
    model.saved_in = os.path.realpath(str(folder).rstrip("/")), _companions(model), segmenter


def as_path(model: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return what makes the model in another process. Raises RnngError if the model differs from its folder."""
    folder, companions, segmenter = model.saved_in or ("", None, None)
    is_same = companions == _companions(model) and segmenter in (None, model.segmenter)
    if not (is_same and _has_parameters(folder, model)):
        raise RnngError(
            "a model travels as the path of its folder, which does not have this one as it is: save() it first"
        )
    return _load, (folder, dict(plugins.loaded()))


def _companions(model: Any) -> tuple[object, ...]:
    return model.vocabulary, model.tagger, model.spelling, model.updates


def _has_parameters(folder: str, model: Any) -> bool:
    path = located(folder) / PARAMETERS
    saved = checkpoint.read_arrays(path) if path.is_file() else {}
    return all(np.array_equal(saved.get(n), values) for n, values in model.store.arrays().items())


def _load(folder: str, sent: Mapping[str, str]) -> Any:
    plugins.load_sent(sent)
    return checkpoint.load(folder)
