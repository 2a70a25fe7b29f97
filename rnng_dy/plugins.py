"""Plugins: the user's own Python files, whose classes join the project's registries.

Only the user names plugins: by `load`, `--plugin`, the variable RNNG_DY_PLUGINS, or as entry points of installed
packages. A process loads each content once and sends it to the processes that work for it. A model folder records the
plugins that the model needs; plugins are never loaded from a model folder.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import pickle
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import ModuleType
from typing import NamedTuple, TypeVar

from oracle.archives import read_regular
from oracle.errors import InputError, PluginError, RnngError
from oracle.registries import Origin, registered_by, registering

T = TypeVar("T")
VARIABLE = "RNNG_DY_PLUGINS"
"""The environment variable that names plugin files, separated by `os.pathsep`."""
GROUP = "rnng_dy.plugins"
"""The group of the entry points of installed plugins."""
GIVE = "give it with --plugin FILE.py or RNNG_DY_PLUGINS, or in Python with rnng_dy.load_plugin"


class PluginWarning(UserWarning):
    """Warning that a model was made with another content of a plugin."""


class Plugin(NamedTuple):
    """A plugin, in the form in which processes send it to each other."""

    name: str
    """Name of its file, or of its module if a package installs it."""
    sha256: str
    """Hash of its content."""
    path: str
    """Path that it was loaded from."""
    source: bytes | None
    """Its content; None for an installed plugin, which each process imports itself."""


_loaded: dict[str, Plugin] = {}
_registered: dict[str, set[str]] = {}
"""Names of the registered classes, by plugin."""
_is_complete = False
"""Whether this process has loaded the plugins that the variable and entry points name."""
_is_told = False
"""Whether this process works for another one, which gives the warnings."""


def load(path: str | os.PathLike[str]) -> None:
    """Load a plugin, unless its content is loaded already.

    Raises PluginError naming file and line for a mistake in the file, and if another content is loaded under its name.
    Raises OSError if the file cannot be read.
    """
    path, source = os.fspath(path), read_regular(path)
    _load(Plugin(os.path.basename(path), hashlib.sha256(source).hexdigest(), path, source))


def load_named() -> None:
    """Load the plugins named by RNNG_DY_PLUGINS and by entry points of installed packages. Raises as `load` does."""
    global _is_complete
    if _is_complete:
        return
    for path in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        load(path)
    if any(map(_may_name_plugins, sys.path)):
        from importlib.metadata import entry_points

        for entry_point in entry_points(group=GROUP):
            _load_module(entry_point.module)
    _is_complete = True


def _may_name_plugins(folder: str) -> bool:
    """Return whether packages in a folder may have entry points of GROUP; `importlib.metadata` takes longer to load."""
    if os.path.isfile(folder):
        # an archive, which may contain packages
        return True
    for path in glob.iglob(os.path.join(glob.escape(folder), "*", "entry_points.txt")):
        with suppress(OSError), open(path, "rb") as text:
            if GROUP.encode() in text.read():
                return True
    return False


def loaded() -> tuple[Plugin, ...]:
    """Return all plugins of this process, after `load_named`."""
    load_named()
    return tuple(_loaded.values())


def hashes(names: Collection[str] | None = None) -> list[str]:
    """Return the hashes of all plugins or, with `names`, of the plugins that registered a class of such a name."""
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
    """Load a plugin that a package installs, even if the user's program has imported it already."""
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
            "cannot have both, so start it again or give this file another name",
            plugin.path,
        )


def _register(plugin: Plugin, execute: Callable[[], object]) -> None:
    """Run a plugin's code, which registers its classes. Raises PluginError if it fails or registers nothing."""
    with blamed(plugin.path), registering(Origin(*plugin[:2])) as registered:
        execute()
        if not registered:
            # an installed plugin that the user's program imported before registered its classes then
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
    """Turn an exception raised in a plugin's code into a PluginError with file and line.

    An RnngError passes, since it concerns the user's input, and so does a MemoryError. While the file `loading` is
    loaded, every exception but MemoryError counts as a mistake in it.
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
    """Return `open_work` for another process, so that it first loads the plugins of this process."""
    return partial(_open_carried, loaded(), open_work) if loaded() else open_work


def _open_carried(sent: Iterable[Plugin], open_work: Callable[[], T]) -> T:
    load_sent(sent)
    return open_work()


def load_sent(sent: Iterable[Plugin]) -> None:
    """Load the plugins of the process that this one works for, and no others.

    Raises PluginError if an installed plugin has another content here, or if a content was changed on its way.
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
    """Call `load_sent` with plugins that another process has pickled to standard input."""
    load_sent(pickle.load(sys.stdin.buffer))


# models


def require(needed: object, place: object) -> None:
    """Raise InputError if a plugin that a model needs is not loaded; warn if its content differs.

    `needed` maps file names to hashes, as in config.json, whose path is `place`. Another content is no error, since it
    may only be a new comment; parameters that do not fit are refused when they are read.
    """
    if needed is None:
        return
    if not (isinstance(needed, dict) and all(isinstance(value, str) for value in needed.values())):
        raise InputError("damaged: `plugins` has no hashes by names: train the model again", place)
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
