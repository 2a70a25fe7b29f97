"""Names of files and folders: types of options, and checks of inputs and outputs before a command works."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

import click

from oracle.errors import RnngError
from oracle.files import is_replaced, locked, replacing
from rnng_dy.model_folder import generative, paths_of


class PathName(click.Path):
    """The name of a file or folder; errors are raised only when it is opened. `meaning` may turn it into another."""

    def __init__(self, name: str, meaning: Callable[[str], str] = str):
        super().__init__()
        self.name, self._meaning = name, meaning

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click. Refuses an empty name, which may come from an unset variable in a script."""
        if not value:
            self.fail("an empty name: give another one, or leave it out", param, ctx)
        return self._meaning(value)


FILE, OUTPUT = PathName("file"), PathName("file")
FOLDER, MODEL = PathName("folder"), PathName("folder")
GENERATIVE = PathName("folder", meaning=generative)
"""A model that gives probabilities of words; the name of a parser stands for its companion."""


PACKED = (".gz", ".bz2", ".xz", ".lzma")


def ending_of(path: str) -> str:
    """Return the ending that says a file's form: `.trees` of `a.trees` and of `a.trees.gz`, '' of `-`."""
    root, ending = os.path.splitext(path)
    return os.path.splitext(root)[1] if ending in PACKED else ending


def require_read_once(*paths: str | None) -> None:
    """Raise UsageError if two inputs are the same stream, standard input or a pipe; None is no input."""
    found = set()
    for path in filter(None, paths):
        if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            stream = os.path.realpath("/dev/stdin" if path == "-" else path)
            if stream in found:
                raise click.UsageError("only one of the files can be standard input, or one pipe")
            found.add(stream)


def check_files(outputs: Iterable[str | None]) -> None:
    """Raise RnngError or OSError, before the work, for outputs that cannot be written after it.

    The outputs are locked until the command ends. None is no file, and `-` is standard output. Raises UsageError if
    the command's inputs cannot all be read.
    """
    inputs = [*_inputs()]
    require_read_once(*inputs)
    read = [path for path in inputs if path != "-" and os.path.exists(path)]
    targets: dict[str, str] = {}
    for path in filter(None, outputs):
        if os.path.isdir(path) or path.endswith(os.sep):
            raise RnngError(f"{path} is a folder: name a file for the output")
        if not is_replaced(path):
            continue
        if os.path.exists(path) and any(os.path.samefile(path, other) for other in read):
            raise RnngError(f"{path} is the input as well: name another file for the output")
        target = os.path.realpath(path)
        if not os.path.isdir(parent := os.path.dirname(target)):
            raise RnngError(f"{path}: there is no folder {parent}")
        if target in targets:
            raise RnngError(f"{path} is the name of two outputs: give each its own")
        targets[target] = path
    for path in targets.values():
        click.get_current_context().with_resource(locked(path))


def _inputs() -> Iterator[str]:
    """Yield the files that the command's parameters name, those of models included, but for outputs."""
    context = click.get_current_context()
    for param in context.command.params:
        given = context.params.get(param.name)
        for value in given if isinstance(given, tuple) else [given]:
            if param.type in (MODEL, GENERATIVE) and value is not None:
                yield from paths_of(value)
            elif isinstance(param.type, PathName) and param.type != OUTPUT and value is not None:
                yield value
            else:
                # those of a scorer
                yield from getattr(value, "paths", ())


def write_output(path: str | None, parts: Iterable[str]) -> None:
    """Write the parts of a text to an output; None is no output."""
    if path is not None:
        with replacing(path) as stream:
            stream.writelines(parts)
