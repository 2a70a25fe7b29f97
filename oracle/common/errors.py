"""Exceptions for errors that the user can fix.

The message is one sentence: what is wrong and what to do.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class RnngError(ValueError):
    """Bad input; the command line prints the message without a traceback and exits with 2."""


class InputError(RnngError):
    """Bad content of a file. `str()` returns `path:line: message`; line is 1-based, or absent."""

    def __init__(self, message: str, path: object = None, line: int | None = None):
        self.message, self.path, self.line = message, path, line
        location = "".join(f"{x}:" for x in (path, line) if x is not None)
        super().__init__(f"{location} {message}" if location else message)


@contextmanager
def extra(needed: str, name: str) -> Iterator[None]:
    """Turn an ImportError into an RnngError that names the extra to install."""
    try:
        yield
    except ImportError as error:
        raise RnngError(f"{needed} ({error}): pip install 'rnng_dy[{name}]'") from None


def listed(items: Sequence[object], most: int) -> str:
    """Return the first items for a message.

    >>> listed([1, 2, 3], 2), listed([1, 2], 2)
    ('1, 2, ...', '1, 2')
    """
    return ", ".join(map(str, items[:most])) + ", ..." * (len(items) > most)


class ImpossibleError(RnngError):
    """A sentence or tree to which a model gives probability 0, with the reason."""


class UnseenSymbolError(ImpossibleError):
    """Words or nonterminals that a model does not have, in `symbols`."""

    def __init__(self, symbols: Iterable[str]):
        self.symbols = tuple(dict.fromkeys(symbols))
        super().__init__(f"unseen in training: {', '.join(self.symbols)}")

    def __reduce__(self) -> tuple[Any, ...]:
        # pickle would pass the message, not the symbols, when a worker process sends the exception
        return type(self), (self.symbols,)


class UnderivableError(ImpossibleError):
    """Actions, or a tree, that a transition system cannot derive."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP has been received; it acts like Ctrl-C."""
