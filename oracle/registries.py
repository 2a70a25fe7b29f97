"""Registries of classes by name. Command-line options list them, and plugins add their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from oracle.errors import PluginError, RnngError

T = TypeVar("T", bound=type)

NAME = re.compile(r"[^\W_][\w.+-]*")


class Origin(NamedTuple):
    """The plugin that registered a class."""

    name: str
    """The name of its file."""
    sha256: str


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
        self.origins: dict[str, Origin] = {}
        """The plugin of each class that a plugin registered, by class name."""
        _registries.append(self)
        for member in classes:
            self.register(member)

    def register(self, added: T) -> T:
        """Add a class under its `name` and return it; usable as a decorator.

        Raises RnngError if the class does not derive from the base, or its name is invalid or taken.
        """
        if not (isinstance(added, type) and issubclass(added, self._base)):
            raise RnngError(f"{added!r} is no {self._what}: derive a class from {self._base!r}")
        name = getattr(added, "name", None)
        if not (isinstance(name, str) and NAME.fullmatch(name)):
            raise RnngError(
                f"the {self._what} {added.__name__} needs a `name` of letters, digits and . + - _, not {name!r}"
            )
        if name in self:
            raise RnngError(f"the name {name!r} is taken: give the {self._what} another one")
        self[name] = added
        for registered in _loading[-1:]:
            registered.append((self, name))
        return added

    def make(self, name: str, *arguments: object, by: str = "__call__") -> Any:
        """Return an object of the class, made by calling the class or its method `by`, such as `open`.

        Raises PluginError if the call does not accept the arguments, RnngError for an unknown name.
        """
        registered = self[name]
        try:
            return (registered if by == "__call__" else getattr(registered, by))(*arguments)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:
                # the call itself succeeded; the error comes from the plugin's code
                raise
            part = registered.__init__ if by == "__call__" else getattr(registered, by)
            raise PluginError.of(part, f"cannot be called: {error}") from None

    def __missing__(self, name: str) -> T:
        raise RnngError(f"no {self._what} is called {name!r}: {', '.join(self)}")

    @property
    def default(self) -> str:
        """The first name."""
        return next(iter(self))


_registries: list[Registry[Any]] = []
_loading: list[list[tuple[Registry[Any], str]]] = []


def registered_by(module: str) -> Iterator[tuple[Registry[Any], str]]:
    """Yield the registries and names of a module's classes."""
    for registry in _registries:
        for name, registered in registry.items():
            if registered.__module__ == module:
                yield registry, name


@contextmanager
def registering(origin: Origin) -> Iterator[list[tuple[Registry[Any], str]]]:
    """Yield a list of the classes that `origin` registers in the block; an exception removes them again."""
    registered: list[tuple[Registry[Any], str]] = []
    _loading.append(registered)
    try:
        yield registered
    except BaseException:
        for registry, name in registered:
            del registry[name]
        raise
    finally:
        _loading.pop()
    for registry, name in registered:
        registry.origins[name] = origin
