"""The project's own exceptions. Everything here is the user's to mend: one sentence says what and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import TypeVar

T = TypeVar("T")


class RnngError(ValueError):
    """Bad input of any kind, for the user to mend; the command line prints it without a traceback and exits with 2."""


class InputError(RnngError):
    """Bad content of a file. `str()` gives `path:line: message`; line is 1-based, or absent."""

    def __init__(self, message: str, path: object = None, line: int | None = None):
        self.message, self.path, self.line = message, path, line
        super().__init__(_at(message, path, line))


class PluginError(Exception):
    """A mistake in a plugin. `str()` gives `path:line: message`.

    It is no RnngError: it ends a command where an error of the input would leave a sentence out.
    """

    @classmethod
    def at(cls, message: str, path: object, line: int | None = None) -> PluginError:
        """A mistake in a line of a file."""
        return cls(_at(message, path, line))

    @classmethod
    def of(cls, function: FunctionType, message: str) -> PluginError:
        """A mistake that shows only where a function is called, or after it has returned."""
        code = getattr(function, "__code__", None)
        if code is None:
            # what Python itself gives each class
            return cls(f"`{function.__qualname__}` {message}")
        return cls.at(f"`{function.__qualname__}` {message}", code.co_filename, code.co_firstlineno)


def _at(message: str, path: object, line: int | None) -> str:
    place = "".join(f"{part}:" for part in (path, line) if part is not None)
    return f"{place} {message}" if place else message


class ImpossibleError(RnngError):
    """A sentence or tree that a model gives the probability 0, and why."""


class UnseenSymbolError(ImpossibleError):
    """Words or nonterminals that a model does not have, in `symbols`."""

    def __init__(self, symbols: Iterable[str]):
        self.symbols = tuple(dict.fromkeys(symbols))
        super().__init__(f"unseen in training: {', '.join(self.symbols)}")

    def __reduce__(self):
        # exceptions are pickled as their messages, on the way from a working process
        return type(self), (self.symbols,)


class UnderivableError(ImpossibleError):
    """Actions, or a tree, that a transition system cannot carry out."""


def named(what: str, name: object, known: Mapping[str, T]) -> T:
    """The entry of a registry. Raises RnngError for a name that none has, with those that there are.

    >>> named("colour", "red", {"red": 1})
    1
    """
    if name not in known:
        raise RnngError(f"no {what} is called {name!r}: {', '.join(known)}")
    return known[name]
