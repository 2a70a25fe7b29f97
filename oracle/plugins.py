"""Plugins: the user's own Python files, whose classes join the project's registries (docs/extending.md).

Only the user names plugins, by `--plugin` or `rnng_dy.load_plugin`; no plugin is loaded from a model folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from oracle.errors import InputError

_MODULE = "rnng_dy_plugin_"
_loaded: dict[str, str] = {}


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Load a Python file whose classes join the project's registries, unless it is loaded already.

    Args:
        path: The file; `rnng-dy --plugin` takes the same files.

    Raises:
        Exception: Any exception of the file's code.
        OSError: The file cannot be read.
    """
    load_sent({os.fspath(path): Path(path).read_text(encoding="utf-8")})


def loaded() -> Mapping[str, str]:
    """Return the text of each plugin of this process, by path."""
    return _loaded


def load_sent(texts: Mapping[str, str]) -> None:
    """Load plugins of another process: their texts by path."""
    for path, text in texts.items():
        if _loaded.get(path) != text:
            module = ModuleType(_MODULE + Path(path).stem)
            module.__file__ = path
            sys.modules[module.__name__] = module
            exec(compile(text, path, "exec", dont_inherit=True), vars(module))
            _loaded[path] = text


def files_of(parts: Iterable[object]) -> list[str]:
    """Return the names of the plugin files that the classes of some objects are from, sorted."""
    modules = {type(part).__module__ for part in parts}
    return sorted(m.removeprefix(_MODULE) + ".py" for m in modules if m.startswith(_MODULE))


def require(needed: Iterable[str], place: object) -> None:
    """Raise InputError unless all plugin files that the model in `place` needs are loaded."""
    missing = sorted({*needed} - {os.path.basename(path) for path in _loaded})
    if missing:
        raise InputError(
            f"this model needs the plugin {missing[0]}: give it with --plugin {missing[0]}, or in Python with "
            "rnng_dy.load_plugin",
            place,
        )
