"""Types of options and arguments that take the names of files and folders."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem


class PathName(click.ParamType):
    """The name of a file or a folder, which shells complete. What opens it says what is wrong with it.

    `known` are names that stand for something that is built in.
    """

    def __init__(self, name: str, completed: str, known: Sequence[str] = ()):
        self.name = name
        self._completed, self._known = completed, known

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click. No file has an empty name, which an unset variable of a script gives."""
        if not value:
            self.fail("an empty name: give another one, or leave it out", param, ctx)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """See click: `file` and `dir` leave it to the shell. These come first, since they clear what is before them."""
        known = [CompletionItem(name) for name in self._known if name.startswith(incomplete)]
        return [CompletionItem(incomplete, type=self._completed), *known]


def require_read_once(*paths: str | None) -> None:
    """Raise UsageError where two of the inputs are one stream, standard input or a pipe; None is no input."""
    found = set()
    for path in filter(None, paths):
        if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            stream = os.path.realpath("/dev/stdin" if path == "-" else path)
            if stream in found:
                raise click.UsageError("only one of the files can be standard input, or one pipe")
            found.add(stream)


FILE = PathName("file", "file")
FOLDER = PathName("folder", "dir")
