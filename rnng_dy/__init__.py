"""Recurrent Neural Network Grammars on DyNet (Dyer et al., NAACL 2016, with the corrigendum).

import rnng_dy

print(rnng_dy.parse("The cat sat on the mat."))

parser = rnng_dy.load("parser")
print(parser("The cat sat on the mat."))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from oracle.errors import InputError, RnngError

if TYPE_CHECKING:
    from rnng_dy.baselines.lstm_lm import LstmLanguageModel
    from rnng_dy.generator import GenerativeModel, LanguageModel
    from rnng_dy.parser import DiscriminativeParser, Parser
    from rnng_dy.plugins import load_plugin
    from rnng_dy.registry import load, parse, surprisals
    from rnng_dy.search.posterior import posterior
    from rnng_dy.training.train import train

__version__ = "0.3.0"
__all__ = [
    "DiscriminativeParser",
    "GenerativeModel",
    "InputError",
    "LanguageModel",
    "LstmLanguageModel",
    "Parser",
    "RnngError",
    "__version__",
    "load",
    "load_plugin",
    "parse",
    "posterior",
    "surprisals",
    "train",
]

# imported on first use: the oracle and evaluation commands must work without DyNet
_MODULES = {
    "LstmLanguageModel": "rnng_dy.baselines.lstm_lm",
    "GenerativeModel": "rnng_dy.generator",
    "LanguageModel": "rnng_dy.generator",
    "DiscriminativeParser": "rnng_dy.parser",
    "Parser": "rnng_dy.parser",
    "load_plugin": "rnng_dy.plugins",
    "load": "rnng_dy.registry",
    "parse": "rnng_dy.registry",
    "surprisals": "rnng_dy.registry",
    "posterior": "rnng_dy.search.posterior",
    "train": "rnng_dy.training.train",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
