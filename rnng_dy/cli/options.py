"""Options that several commands share: names of files, outputs, and groups of options that a command gets as one value.

Inputs and outputs are checked before a command works.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from oracle.common.compression import plain_name
from oracle.common.errors import RnngError
from oracle.common.files import is_replaced, locked, replacing
from rnng_dy.cli.rules import goes, require_fit, require_once, with_flags
from rnng_dy.drawing import pages
from rnng_dy.model_folder import generative, paths_of

UNWRITTEN = (".xlsx", ".pdf", ".png")
"""The endings of forms that no command writes."""
PACKED = (".gz", ".bz2", ".xz", ".lzma")


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


class LiveChoice(click.Choice):
    """A name in a registry, which is read only when the option is used."""

    def __init__(self, registry: Collection[str]):
        self._registry, self.case_sensitive = registry, True

    @property
    def choices(self) -> tuple[str, ...]:
        """See click."""
        return tuple(self._registry)


class ListOf(click.ParamType):
    """Values of a type, separated by commas, each once."""

    name = "list"

    def __init__(self, item: click.ParamType):
        self.item = item

    def convert(self, value, param, ctx) -> tuple:
        """See click."""
        if isinstance(value, tuple):
            return value
        found = tuple(self.item.convert(text.strip(), param, ctx) for text in value.split(","))
        if len(set(found)) < len(found):
            self.fail(f"{value!r}: each once.", param, ctx)
        return found


class Assignment(click.ParamType):
    """NAME=VALUE with one of some names, each with a type of value; the command gets the pair."""

    name = "assignment"

    def __init__(self, types: Mapping[str, click.ParamType]):
        self.types = types

    def convert(self, value, param, ctx) -> tuple[str, Any]:
        """See click."""
        name, _, text = value.partition("=")
        if name not in self.types or not text:
            names = ", ".join(self.types)
            self.fail(f"{value!r} is no NAME=VALUE, with one of {names} as NAME", param, ctx)
        try:
            return name, self.types[name].convert(text, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{name}: {error.message}", param, ctx)


class Command(click.Command):
    """A command that checks its options, inputs and outputs before it works."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See click."""
        *_, ctx.meta["rnng_dy.order"] = self.make_parser(ctx).parse_args([*args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context):
        """See click."""
        try:
            require_once(self.params, ctx.meta["rnng_dy.order"], ctx.params)
            check_files(path for kind, path in _given() if kind is OUTPUT)
            require_fit(self.params, ctx.params)
            return super().invoke(ctx)
        except RnngError as error:
            raise RnngError(with_flags(str(error), self.params)) from error


def check_files(outputs: Iterable[str]) -> None:
    """Raise RnngError or OSError for outputs that cannot be written after the work; `-` is standard output.

    The outputs are locked until the command ends. Raises UsageError if two of the command's inputs
    are the same stream.
    """
    inputs, streams = [*_inputs()], set()
    for path in inputs:
        is_pipe = os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))
        if path == "-" or is_pipe:
            stream = os.path.realpath("/dev/stdin" if path == "-" else path)
            if stream in streams:
                raise click.UsageError("only one of the files can be standard input, or one pipe")
            streams.add(stream)
    read = [path for path in inputs if path != "-" and os.path.exists(path)]
    targets: dict[str, str] = {}
    for path in outputs:
        if os.path.isdir(path) or path.endswith(os.sep):
            raise RnngError(f"{path} is a folder: name a file for the output")
        if path.endswith(UNWRITTEN):
            raise RnngError(f"{path}: no command writes {ending_of(path)}: give it another ending")
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


def _given() -> Iterator[tuple[click.ParamType, Any]]:
    """Yield the values of the command's parameters with their types."""
    context = click.get_current_context()
    for param in context.command.params:
        value = context.params.get(param.name)
        values = value if param.multiple or param.nargs != 1 else [value]
        yield from ((param.type, each) for each in values or () if each is not None)


def _inputs() -> Iterator[str]:
    """Yield the files that the command reads, those of models and scorers included."""
    for kind, value in _given():
        if kind in (MODEL, GENERATIVE):
            yield from paths_of(value)
        elif kind is FILE:
            yield value
        elif hasattr(value, "files"):
            yield from map(str, value.files().values())


def write_output(path: str | None, parts: Iterable[str]) -> None:
    """Write the parts of a text to an output; None is no output."""
    if path is not None:
        with replacing(path) as stream:
            stream.writelines(parts)


def ending_of(path: str) -> str:
    """Return the ending that says a file's form: `.trees` of `a.trees` and of `a.trees.gz`, '' of `-`."""
    root, ending = os.path.splitext(path)
    return os.path.splitext(root)[1] if ending in PACKED else ending


def all_of(*options: Callable) -> Callable:
    """Return a decorator that adds options to a command, in this order."""

    def decorate(command: Callable) -> Callable:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def together(
    name: str, make: Callable, *options: Callable, names: Collection[str] = ()
) -> Callable:
    """Return a decorator that adds options; the command gets `name`, the result of `make`, instead of them.

    `make` takes options, these and others of the command, as parameters of their names, or those of
    `names`. It raises UsageError for options that exclude each other.
    """
    taken = names or inspect.signature(make).parameters

    def decorate(command: Callable) -> Callable:
        @wraps(command)
        def with_options(*args, **given):
            value = make(**{option: given.pop(option) for option in taken if option in given})
            return command(*args, **{name: value}, **given)

        return all_of(*options)(with_options)

    return decorate


def outputs_option(forms: Mapping[str, str]) -> Callable:
    """Return a decorator that adds -o, which may be given several times, and --format.

    `forms` says what a file with each ending holds; the first is the form of standard output, and
    of a file without an ending, unless --format names another. The command gets `outputs`, a
    dictionary from endings to paths.
    """
    first, listed = next(iter(forms)), ", ".join(forms)

    def make(output: Sequence[str], form: str | None) -> dict[str, str]:
        other = first if form is None else f".{form}"
        found: dict[str, str] = {}
        for path in output or ["-"]:
            ending = ending_of(path)
            if ending not in forms:
                if ending and form is None:
                    raise click.UsageError(f"-o {path}: this command writes {listed}; or --format")
                ending = other
            if ending in found:
                raise click.UsageError(
                    f"-o {found[ending]} and -o {path} would both hold {ending[1:]}: leave one out, or give it "
                    f"another ending of {listed}"
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
        goes(means=lambda values: tuple(make(values["output"], values["form"]))),
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
            help=f"The form of standard output, or of a file with another ending.  [default: {first[1:]}]",
        ),
    )


def output_option(
    help: str = "File to write; - is standard output.", metavar: str | None = None
) -> Callable:
    """Return the decorator for -o of a command with one output."""
    return click.option("-o", "--output", type=OUTPUT, default="-", metavar=metavar, help=help)


def model_option(kind: PathName = MODEL, default: str | None = None) -> Callable:
    """Return the decorator for --model, which the command gets as `folder`; it is required without a default."""
    # click takes a default of None for a value that is given
    how: dict[str, Any] = {"required": True} if default is None else {"default": default}
    return click.option(
        "--model", "folder", type=kind, help="Model folder, archive or name.", **how
    )


device_option = all_of(
    goes("with `folders`"),
    click.option("--device", default="cpu", metavar="cpu|cuda|cuda:N", help="Where to compute."),
)
open_option = click.option(
    "--open", "is_open", is_flag=True, help="Add the spelling of unknown words; see `train --open`."
)


def titles(paths: Sequence[str]) -> Sequence[str]:
    """Return names of files without endings, or paths if two names are equal. Raises UsageError for a file twice."""
    for names in ([Path(plain_name(path)).stem for path in paths], paths):
        if len(set(names)) == len(names):
            return names
    raise click.UsageError("the same file twice among the systems")
