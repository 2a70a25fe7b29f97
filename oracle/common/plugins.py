"""Registries of classes by name, and plugins: Python files whose classes join them.

Only the user names plugins, by `--plugin` or `rnng_dy.load_plugin`; no plugin is loaded from a
model folder.
"""

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from oracle.common.errors import InputError, RnngError

T = TypeVar("T", bound=type)

NAME = re.compile(r"[^\W_][\w.+-]*")


class Registry(dict[str, T]):
    """The classes of one kind by their `name`, the default first.

    >>> class Colour:
    ...     name = "red"
    >>> colours = Registry("colour", Colour, Colour)
    >>> colours["blue"]
    Traceback (most recent call last):
    oracle.common.errors.RnngError: no colour is called 'blue': red
    """

    def __init__(self, what: str, base: type, *classes: T):
        """`what` is the kind of class, for messages; all classes derive from `base`."""
        super().__init__()
        self._what, self._base = what, base
        for member in classes:
            self.register(member)

    def register(self, added: T) -> T:
        """Add a class under its `name` and return it; usable as a decorator.

        Raises RnngError if the class does not derive from the base, or if its name is invalid or
        taken.
        """
        name = getattr(added, "name", "")
        is_named = isinstance(name, str) and NAME.fullmatch(name)
        if not (is_named and isinstance(added, type) and issubclass(added, self._base)):
            needs = f"derive a class from {self._base!r}, with a `name` of letters, digits and .+-_"
            raise RnngError(f"{added!r} is no {self._what} with the name {name!r}: {needs}")
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


_MODULE = "rnng_dy_plugin_"
loaded: dict[str, str] = {}
"""The text of each plugin of this process, by path."""


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Load a Python file whose classes join the project's registries, unless it is loaded already.

    Args:
        path: The file; `rnng-dy --plugin` takes the same files.

    Raises:
        Exception: Any exception of the file's code.
        InputError: Another file of this name is loaded.
        OSError: The file cannot be read.
    """
    here = os.path.abspath(path)
    if others := [p for p in loaded if Path(p).stem == Path(here).stem and p != here]:
        raise InputError(f"{others[0]} is loaded and has the same name: rename one", path)
    load_sent({here: Path(path).read_text(encoding="utf-8")})


def load_sent(texts: Mapping[str, str]) -> None:
    """Load plugins of another process: their texts by path."""
    for path, text in texts.items():
        if loaded.get(path) != text:
            module = ModuleType(_MODULE + Path(path).stem)
            module.__file__ = path
            sys.modules[module.__name__] = module
            exec(compile(text, path, "exec", dont_inherit=True), vars(module))
            loaded[path] = text


def files_of(objects: Iterable[object]) -> list[str]:
    """Return the names of the plugin files that the classes of some objects are from, sorted."""
    modules = {type(x).__module__ for x in objects}
    return sorted(m.removeprefix(_MODULE) + ".py" for m in modules if m.startswith(_MODULE))


def hashes(names: Iterable[str]) -> dict[str, str]:
    """Return a hash of the text of each loaded plugin that has one of the file names."""
    texts = {os.path.basename(path): text.encode() for path, text in loaded.items()}
    return {name: hashlib.sha256(texts[name]).hexdigest() for name in names if name in texts}


def require(needed: Iterable[str], model: object) -> None:
    """Raise InputError unless all plugin files that the model of a folder needs are loaded."""
    if missing := sorted({*needed} - {os.path.basename(path) for path in loaded}):
        how = f"give it with --plugin {missing[0]}, or in Python with rnng_dy.load_plugin"
        raise InputError(f"this model needs the plugin {missing[0]}: {how}", model)
