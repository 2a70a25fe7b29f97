"""NLTK, which takes most of the time that a command needs to say how it is used, imported at its first use."""

from __future__ import annotations

import importlib
import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nltk
else:

    class _LazyModule(types.ModuleType):
        """Stands for a module, which it imports when something of it is asked for."""

        def __getattr__(self, name: str):
            found = getattr(importlib.import_module(self.__name__), name)
            setattr(self, name, found)
            return found

    nltk = _LazyModule("nltk")
