"""Registries of classes by name. Command-line options list them, and plugins add their own."""

from __future__ import annotations

import re
from typing import TypeVar

from oracle.errors import RnngError

T = TypeVar("T", bound=type)

NAME = re.compile(r"[^\W_][\w.+-]*")


class Registry(dict[str, T]):
    """The classes of one kind by their `name`, the default first.

    >>> class Colour:
    ...     name = "red"
    >>> colours = Registry("colour", Colour, Colour)
    >>> colours["blue"]
    Traceback (most recent call last):
    oracle.errors.RnngError: no colour is called 'blue': red
    """

    def __init__(self, what: str, base: type, *classes: T):
        """`what` is the kind of class, for messages; all classes derive from `base`."""
        super().__init__()
        self._what, self._base = what, base
        for member in classes:
            self.register(member)

    def register(self, added: T) -> T:
        """Add a class under its `name` and return it; usable as a decorator.

        Raises RnngError if the class does not derive from the base, or if its name is invalid or taken.
        """
        if not (isinstance(added, type) and issubclass(added, self._base)):
            raise RnngError(f"{added!r} is no {self._what}: derive a class from {self._base!r}")
        name = getattr(added, "name", None)
        if not (isinstance(name, str) and NAME.fullmatch(name)):
            raise RnngError(
                f"the {self._what} {added.__name__} needs a `name` of letters, digits and . + - _, not {name!r}"
            )
        # a file that is loaded again, such as in a notebook, replaces its own classes
        if name in self and self[name].__module__ != added.__module__:
            raise RnngError(f"the name {name!r} is taken: give the {self._what} another one")
        self[name] = added
        return added

    def __missing__(self, name: str) -> T:
        raise RnngError(f"no {self._what} is called {name!r}: {', '.join(self)}")

    @property
    def default(self) -> str:
        """The first name."""
        return next(iter(self))
