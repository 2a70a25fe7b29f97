"""Recurrent Neural Network Grammars on DyNet (Dyer et al., NAACL 2016, with the corrigendum).

import rnng_dy

print(rnng_dy.parse("The cat sat on the mat."))

parser = rnng_dy.load("parser")
print(parser("The cat sat on the mat."))
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from oracle.common.errors import InputError, RnngError

if TYPE_CHECKING:
    from nltk import Tree

    from oracle.common.plugins import load_plugin as load_plugin
    from rnng_dy.baselines.lstm_lm import LstmLanguageModel as LstmLanguageModel
    from rnng_dy.evaluation.records import WordRecord
    from rnng_dy.generator import GenerativeModel as GenerativeModel
    from rnng_dy.kinds import load as load
    from rnng_dy.parser import DiscriminativeParser as DiscriminativeParser
    from rnng_dy.parser import Parser as Parser
    from rnng_dy.search.posterior import posterior as posterior
    from rnng_dy.training.train import train as train

__version__ = "0.4.0"

# imported on first use: the oracle and evaluation commands must work without DyNet
_MODULES = {
    "DiscriminativeParser": "rnng_dy.parser",
    "GenerativeModel": "rnng_dy.generator",
    "LstmLanguageModel": "rnng_dy.baselines.lstm_lm",
    "Parser": "rnng_dy.parser",
    "load": "rnng_dy.kinds",
    "load_plugin": "oracle.common.plugins",
    "posterior": "rnng_dy.search.posterior",
    "train": "rnng_dy.training.train",
}
__all__ = ["InputError", "RnngError", "__version__", "parse", "surprisals", *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _svg(tree: Tree) -> str:
    from rnng_dy.drawing.trees import Picture, svg_file

    return "".join(svg_file([("", Picture(tree))]))


# in a notebook trees are drawn; NLTK would need another package, and shows its absence as a
# traceback
if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()):
    formatter = shell.display_formatter.formatters["image/svg+xml"]
    formatter.for_type_by_name("nltk.tree.tree", "Tree", _svg)


def parse(text: Any) -> list[Tree] | Tree:
    """Parse by the package's English parser, which stays loaded.

    Args:
        text: Running text, a list of sentences, or one sentence of tokens, as a model's call takes
            it.

    Returns:
        A list of trees, or one tree for one sentence of tokens.

    Raises:
        RnngError: A token is invalid.
    """
    return _of_package("english")(text)


def surprisals(text: Any) -> list[list[WordRecord]]:
    """Measure surprisals in bits by the package's English generative model, which stays loaded.

    Args:
        text: Running text, a list of sentences, or one sentence of tokens.

    Returns:
        A list of `WordRecord` for each sentence.

    Raises:
        RnngError: A token is invalid.
    """
    return _of_package("english-generative").surprisals_of(text)  # type: ignore[no-any-return]


@cache
def _of_package(name: str) -> Any:
    from rnng_dy.kinds import load

    return load(name)
