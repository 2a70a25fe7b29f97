"""Names of files and folders: types of options, and checks of inputs and outputs before a command works."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import click
from click.shell_completion import CompletionItem

from oracle.errors import RnngError
from oracle.files import is_replaced, locked, replacing
from rnng_dy.cli.option_groups import together
from rnng_dy.drawing import pages
from rnng_dy.model_folder import generative, paths_of


class PathName(click.ParamType):
    """The name of a file or folder, which shells complete; errors are raised only when it is opened.

    `meaning` turns a given name into another one.
    """

    def __init__(self, name: str, meaning: Callable[[str], str] = str):
        self.name, self._meaning = name, meaning

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See click. Refuses an empty name, which may come from an unset variable in a script."""
        if not value:
            self.fail("an empty name: give another one, or leave it out", param, ctx)
        return self._meaning(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """See click. The shell completes it."""
        return [CompletionItem(incomplete, type="file")]


FILE, OUTPUT = PathName("file"), PathName("file")
FOLDER, MODEL = PathName("folder"), PathName("folder")
GENERATIVE = PathName("folder", meaning=generative)
"""A model that gives probabilities of words; the name of a parser stands for its companion."""


PACKED = (".gz", ".bz2", ".xz", ".lzma")
ENDINGS = (".tsv", ".csv", ".json", ".jsonl", ".trees", ".html", ".svg", ".txt", ".R")
"""The endings that say a form in some command."""


def ending_of(path: str) -> str:
    """Return the ending that says a file's form: `.trees` of `a.trees` and of `a.trees.gz`, '' of `-`."""
    root, ending = os.path.splitext(path)
    return os.path.splitext(root)[1] if ending in PACKED else ending


def outputs_option(forms: Mapping[str, str]) -> Callable:
    """Return a decorator that adds -o, which may be given several times, and --format.

    `forms` says what a file with each ending holds; the first is the form of a file with another ending and of
    standard output, unless --format names another. The command gets `outputs`, a dictionary from endings to paths.
    """
    first = next(iter(forms))

    def make(output: Sequence[str], form: str | None) -> dict[str, str]:
        other = first if form is None else f".{form}"
        found: dict[str, str] = {}
        for path in output or ["-"]:
            ending = ending_of(path) if ending_of(path) in forms else other
            if ending_of(path) in ENDINGS and ending_of(path) not in forms:
                raise click.UsageError(f"-o {path}: this command writes {', '.join(forms)}")
            if ending in found:
                raise click.UsageError(
                    f"-o {found[ending]} and -o {path} would both hold {ending[1:]}: leave one out, or give it "
                    f"another ending of {', '.join(forms)}"
                )
            found[ending] = path
        if form is not None and other not in found:
            raise click.UsageError("--format is for standard output: here endings say the forms")
        if ".html" in found:
            pages.require()
        return found

    return together(
        "outputs",
        make,
        click.option(
            "-o",
            "--output",
            type=OUTPUT,
            multiple=True,
            help="File to write, one or more; the ending says what it holds: "
            + "; ".join(f"{ending} {what}" for ending, what in forms.items())
            + ".  [default: standard output]",
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice([ending[1:] for ending in forms]),
            metavar="FORM",
            help=f"The form of standard output.  [default: {first[1:]}]",
        ),
    )


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
