"""Recurrent Neural Network Grammars on DyNet (Dyer et al., NAACL 2016, with the corrigendum).

import rnng_dy

parser = rnng_dy.load("parser")
print(parser("The cat sat on the mat."))
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from oracle.errors import InputError, PluginError, RnngError

if TYPE_CHECKING:
    from rnng_dy.baselines.lstm_lm import LstmLanguageModel
    from rnng_dy.language_model import GenerativeModel
    from rnng_dy.parser import DiscriminativeParser

__version__ = "0.1.0"
__all__ = [
    "DiscriminativeParser",
    "GenerativeModel",
    "InputError",
    "LstmLanguageModel",
    "PluginError",
    "RnngError",
    "__version__",
    "load",
    "load_plugin",
]

# imported on first use: the oracle and evaluation commands must work without DyNet
_MODULES = {
    "DiscriminativeParser": "rnng_dy.parser",
    "GenerativeModel": "rnng_dy.language_model",
    "LstmLanguageModel": "rnng_dy.baselines.lstm_lm",
}


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def load(
    folder: str | os.PathLike, device: str | None = None
) -> DiscriminativeParser | GenerativeModel | LstmLanguageModel:
    """The model of a folder, of whatever kind it is.

    `device` is `cpu`, `cuda` or `cuda:N`, one for all models of a process.  [default: that of the models there are,
    else `cpu`]

    Raises RnngError, which says what to do, where the folder holds no model or a damaged one, or the device cannot be
    used.

    >>> load("no/such/folder")
    Traceback (most recent call last):
    oracle.errors.RnngError: there is no folder no/such/folder: name one that `rnng-dy train` or `import-clab` wrote
    """
    from rnng_dy import engine, registry

    # before DyNet is loaded
    kind = registry.kind_of(folder)
    engine.start_on(device)
    return registry.load(folder, kind)


def load_plugin(path: str | os.PathLike) -> None:
    """Load a file of Python whose classes join the project's registries: see docs/extending.md.

    Raises PluginError naming file and line for a mistake in it, OSError where it cannot be read.
    """
    from rnng_dy import plugins

    plugins.load(path)
