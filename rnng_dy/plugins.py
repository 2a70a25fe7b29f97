"""Plugins: files of Python of the user's own, whose classes join the project's registries.

Only the user names them: by `load`, `--plugin`, the variable RNNG_DY_PLUGINS, or as entry points of installed packages.
A process loads each content once, and other processes that work for it are sent the content. A model folder says which
plugins the model needs; nothing is ever loaded from there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pickle
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import NamedTuple, TypeVar

from oracle.errors import InputError, PluginError, RnngError
from oracle.registries import Origin, registered_by, registering
from oracle.regular_files import read_regular

T = TypeVar("T")
VARIABLE = "RNNG_DY_PLUGINS"
"""Names files, with `os.pathsep` between them."""
GROUP = "rnng_dy.plugins"
"""The entry points of installed plugins."""
GIVE = "give it with --plugin FILE.py or RNNG_DY_PLUGINS, or in Python with rnng_dy.load_plugin"


class PluginWarning(UserWarning):
    """A model was made with another content of a plugin."""


class Plugin(NamedTuple):
    """A plugin as processes send it to each other."""

    name: str
    """Of its file; of the module where a package installs it."""
    sha256: str
    """Of its content."""
    path: str
    """Where it was found."""
    source: bytes | None
    """Its content; None for one that each process has installed."""


_loaded: dict[str, Plugin] = {}
_registered: dict[str, set[str]] = {}
"""The names of the classes of each plugin."""
_is_complete = False
"""Whether this process has looked for what the variable and entry points name."""
_is_told = False
"""Whether another process warns, which this one works for."""


def load(path: str | os.PathLike) -> None:
    """Load a plugin, unless its content is loaded already.

    Raises PluginError naming file and line for a mistake in it, and where the process has another file of its name
    whose content differs; OSError where it cannot be read.
    """
    path, source = os.fspath(path), read_regular(path)
    _load(Plugin(os.path.basename(path), hashlib.sha256(source).hexdigest(), path, source))


def load_named() -> None:
    """Load what RNNG_DY_PLUGINS and the entry points of installed packages name. Raises as `load` does."""
    global _is_complete
    if _is_complete:
        return
    for path in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        load(path)
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=GROUP):
        _load_module(entry_point.module)
    _is_complete = True


def loaded() -> tuple[Plugin, ...]:
    """All plugins of this process, those that `load_named` loads included."""
    load_named()
    return tuple(_loaded.values())


def hashes(names: Collection[str] | None = None) -> list[str]:
    """The hashes of all plugins or, with `names`, of those that registered a class of such a name."""
    used = [p for p in loaded() if names is None or not _registered[p.name].isdisjoint(names)]
    return sorted(plugin.sha256 for plugin in used)


def _load(plugin: Plugin) -> None:
    if plugin.sha256 in {other.sha256 for other in _loaded.values()}:
        return
    _require_unchanged(plugin)
    module = ModuleType("rnng_dy_plugin_" + re.sub(r"\W", "_", plugin.name.removesuffix(".py")))
    module.__file__ = plugin.path

    def execute() -> None:
        sys.modules[module.__name__] = module
        exec(compile(plugin.source, plugin.path, "exec", dont_inherit=True), module.__dict__)

    try:
        _register(plugin, execute)
    except BaseException:
        sys.modules.pop(module.__name__, None)
        raise


def _load_module(name: str) -> None:
    """Load a plugin that a package installs, also where the user's program has imported it."""
    if name in _loaded:
        return
    try:
        path = importlib.util.find_spec(name).origin
        source = read_regular(path)
    except Exception as error:
        raise PluginError(f"the installed plugin {name} cannot be found: {_text(error)}") from None
    plugin = Plugin(name, hashlib.sha256(source).hexdigest(), path, None)
    _register(plugin, partial(importlib.import_module, name))


def _require_unchanged(plugin: Plugin) -> None:
    other = _loaded.get(plugin.name)
    if other is not None:
        raise PluginError.at(
            f"another content of {plugin.name} is loaded, from {other.path} (sha256 {other.sha256:.12}): one process "
            "cannot have both, so start it anew or give this file another name",
            plugin.path,
        )


def _register(plugin: Plugin, execute: Callable[[], object]) -> None:
    """Run a plugin's code, which registers its classes. Raises PluginError where it fails or registers nothing."""
    with blamed(plugin.path), registering(Origin(*plugin[:2])) as registered:
        execute()
        if not registered:
            # an installed one that the user's program has imported before
            registered += registered_by(plugin.name)
        if not registered:
            raise RnngError(
                "it registers nothing: say for example `@COMPOSITIONS.register` before a class"
            )
    _loaded[plugin.name] = plugin
    _registered[plugin.name] = {name for _, name in registered}


# mistakes


@contextmanager
def blamed(loading: str | None = None) -> Iterator[None]:
    """Turn an exception that comes out of the code of a plugin into a PluginError that says where.

    An RnngError is what a plugin says of the user's input, and a MemoryError is not its fault. While a file is
    `loading`, all but MemoryError is a mistake in it.
    """
    try:
        yield
    except (PluginError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        paths = {loading} if loading else {plugin.path for plugin in _loaded.values()}
        frames = traceback.walk_tb(error.__traceback__)
        places = [(f.f_code.co_filename, n) for f, n in frames if f.f_code.co_filename in paths]
        if not loading and (isinstance(error, RnngError) or not places):
            raise
        if isinstance(error, SyntaxError) and error.filename == loading:
            places.append((loading, error.lineno))
        raise PluginError.at(_text(error), *(places or [(loading, None)])[-1]) from error


def _text(error: BaseException) -> str:
    if isinstance(error, RnngError):
        return str(error)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# other processes


def carried(open_work: Callable[[], T]) -> Callable[[], T]:
    """`open_work` for another process, where the plugins of this one are loaded before."""
    return partial(_open_carried, loaded(), open_work) if loaded() else open_work


def _open_carried(sent: Iterable[Plugin], open_work: Callable[[], T]) -> T:
    load_sent(sent)
    return open_work()


def load_sent(sent: Iterable[Plugin]) -> None:
    """Load the plugins of the process that this one works for, and no others.

    Raises PluginError where an installed one has another content here.
    """
    global _is_complete, _is_told
    _is_complete = _is_told = True
    for plugin in sent:
        if plugin.source is not None:
            if hashlib.sha256(plugin.source).hexdigest() != plugin.sha256:
                raise PluginError.at("it was changed on its way to this process", plugin.path)
            _load(plugin)
        else:
            _load_module(plugin.name)
            if plugin.sha256 not in hashes():
                raise PluginError.at("another content is installed for this process", plugin.path)


def load_from_stdin() -> None:
    """`load_sent` of what another process has pickled."""
    load_sent(pickle.load(sys.stdin.buffer))


# models


def require(needed: object, place: object) -> None:
    """Raise InputError where a plugin that a model needs is not loaded; warn where its content is another one.

    `needed` is what config.json, named by `place`, says: a hash by the name of each file. A plugin may have got a
    comment since, so that another content is no error: parameters that do not fit are refused when they are read.
    """
    if needed is None:
        return
    if not (isinstance(needed, dict) and all(isinstance(value, str) for value in needed.values())):
        raise InputError("damaged: `plugins` has no hashes by names: make the model anew", place)
    known = hashes()
    for name, sha256 in needed.items():
        if name not in _loaded and sha256 not in known:
            raise InputError(f"this model needs the plugin {name} (sha256 {sha256}): {GIVE}", place)
        if sha256 not in known and not _is_told:
            warnings.warn(
                f"{place}: the model was made with another content of the plugin {name} (sha256 {sha256:.12}) than "
                f"that of {_loaded[name].path} ({_loaded[name].sha256:.12}): its numbers may differ",
                PluginWarning,
                stacklevel=2,
            )
