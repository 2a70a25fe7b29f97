"""The files that a command writes: seen to before its work, and locked until it ends."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

import click

from oracle.errors import RnngError
from oracle.locks import locked
from oracle.streams import is_replaced


def check_files(outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Raise RnngError or OSError, before the work, for outputs that cannot be written after it.

    Until the command ends no other one can write them. None is no file, and `-` is standard output.
    """
    files = [path for path in outputs if path and path != "-"]
    for path in files:
        # a name that is too long
        with suppress(FileNotFoundError, NotADirectoryError):
            os.stat(path)
        if os.path.isdir(path) or path.endswith(os.sep):
            raise RnngError(f"{path} is a folder: name a file for the output")
        if not is_replaced(path):
            continue
        _refuse_input(path, inputs)
        parent = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(parent):
            raise RnngError(f"{path}: there is no folder {parent}")
    files = [path for path in files if is_replaced(path)]
    named = Counter(map(os.path.realpath, files))
    twice = next((path for path, count in named.items() if count > 1), None)
    if twice is not None:
        raise RnngError(f"{twice} is the name of two outputs: give each its own")
    for path in files:
        click.get_current_context().with_resource(locked(path))


def _refuse_input(output: str, inputs: Sequence[str | None]) -> None:
    if not os.path.exists(output):
        return
    for path in inputs:
        if path and path != "-" and os.path.exists(path) and os.path.samefile(output, path):
            raise RnngError(f"{output} is the input as well: name another file for the output")
