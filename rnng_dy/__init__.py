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
    from rnng_dy.baselines.lstm_lm import LstmLanguageModel as LstmLanguageModel
    from rnng_dy.generator import GenerativeModel as GenerativeModel
    from rnng_dy.generator import LanguageModel as LanguageModel
    from rnng_dy.parser import DiscriminativeParser as DiscriminativeParser
    from rnng_dy.parser import Parser as Parser
    from rnng_dy.plugins import load_plugin as load_plugin
    from rnng_dy.registry import load as load
    from rnng_dy.registry import parse as parse
    from rnng_dy.registry import surprisals as surprisals
    from rnng_dy.search.posterior import posterior as posterior
    from rnng_dy.training.train import train as train

__version__ = "0.3.0"

# imported on first use: the oracle and evaluation commands must work without DyNet
_MODULES = {
    "DiscriminativeParser": "rnng_dy.parser",
    "GenerativeModel": "rnng_dy.generator",
    "LanguageModel": "rnng_dy.generator",
    "LstmLanguageModel": "rnng_dy.baselines.lstm_lm",
    "Parser": "rnng_dy.parser",
    "load": "rnng_dy.registry",
    "load_plugin": "rnng_dy.plugins",
    "parse": "rnng_dy.registry",
    "posterior": "rnng_dy.search.posterior",
    "surprisals": "rnng_dy.registry",
    "train": "rnng_dy.training.train",
}
__all__ = ["InputError", "RnngError", "__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
