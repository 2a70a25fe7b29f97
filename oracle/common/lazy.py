"""Lazy import of NLTK at its first use, since importing it takes most of the time of `--help`."""

import importlib
import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nltk as nltk
else:

    class _LazyModule(types.ModuleType):
        """A stand-in that imports its module when an attribute is first needed."""

        def __getattr__(self, name: str):
            value = getattr(importlib.import_module(self.__name__), name)
            setattr(self, name, value)
            return value

    nltk = _LazyModule("nltk")
