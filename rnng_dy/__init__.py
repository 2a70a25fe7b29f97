"""Recurrent Neural Network Grammars on DyNet (Dyer et al., NAACL 2016, with the corrigendum).

import rnng_dy

print(rnng_dy.parse("The cat sat on the mat."))

parser = rnng_dy.load("parser")
print(parser("The cat sat on the mat."))
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import TYPE_CHECKING, Any

for _package in ("oracle", "clusters"):
    _found = importlib.import_module(_package)
    if os.path.dirname(os.path.dirname(_found.__file__ or "")) != os.path.dirname(__path__[0]):
        raise ImportError(
            f"another `{_package}` hides the package that rnng_dy needs: {_found}; rename or uninstall it, or "
            "start Python in another folder"
        )
from oracle.errors import InputError, RnngError  # noqa: E402

if TYPE_CHECKING:
    from nltk import Tree

    from rnng_dy.baselines.lstm_lm import LstmLanguageModel
    from rnng_dy.evaluation.records import WordRecord
    from rnng_dy.generator import GenerativeModel, LanguageModel
    from rnng_dy.parser import DiscriminativeParser, Parser
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
    "rnng_dy.baselines.lstm_lm": ("LstmLanguageModel",),
    "rnng_dy.generator": ("GenerativeModel", "LanguageModel"),
    "rnng_dy.parser": ("DiscriminativeParser", "Parser"),
    "rnng_dy.search.posterior": ("posterior",),
    "rnng_dy.training.train": ("train",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def load(
    folder: str | os.PathLike[str], device: str | None = None
) -> DiscriminativeParser | GenerativeModel | LstmLanguageModel:
    """Load the model of a folder or an archive, whatever its kind.

    Args:
        folder: A model folder, as `train` writes it, an archive, or a name that `rnng-dy models` lists.
        device: `cpu`, `cuda` or `cuda:N`; all models of a process share it. None means the device that the process uses
            already, or else `cpu`.

    Returns:
        The parser, generative model or LSTM language model.

    Raises:
        RnngError: The folder holds no model or a damaged one, or the device cannot be used.

    Examples:
        >>> load("no/such/folder")
        Traceback (most recent call last):
        oracle.errors.RnngError: there is no folder no/such/folder: name one that `rnng-dy train` or `import-clab` wrote
    """
    from rnng_dy import engine, registry

    # before DyNet is loaded
    kind = registry.kind_of(os.fspath(folder))
    engine.start(device)
    return kind.load(folder)  # type: ignore[no-any-return]


@functools.cache
def _of_package(name: str) -> Any:
    return load(name)


def parse(text: Any) -> list[Tree] | Tree:
    """Parse by the package's English parser, which stays loaded.

    Args:
        text: Running text, a list of sentences, or one sentence of tokens, as a model's call takes it.

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


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Load a Python file whose classes join the project's registries; see docs/extending.md.

    Args:
        path: The file; `rnng-dy --plugin` takes the same files.

    Raises:
        Exception: Any exception of the file's code.
        OSError: The file cannot be read.
    """
    from rnng_dy import plugins

    plugins.load(path)
