"""Options that several commands share: names of files, outputs, and groups of options.

Inputs and outputs are checked before a command works.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce, wraps
from pathlib import Path
from typing import Any

import click

from oracle.common.compression import plain_name
from oracle.common.errors import RnngError
from oracle.common.files import is_replaced, locked, replacing
from oracle.common.tables import CSV, TSV
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.rules import flag, goes, option, require_fit, require_once, with_flags
from rnng_dy.cli.signature import signature
from rnng_dy.drawing import pages
from rnng_dy.model_folder import companion, is_name, known_models, paths_of


class PathName(click.Path):
    """The name of a file or folder, which need not exist; `meaning` may turn it into another."""

    def __init__(self, name: str, meaning: Callable[[str], str] = str, is_model: bool = False):
        super().__init__()
        self.name, self._meaning, self.is_model = name, meaning, is_model

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name. Refuses an empty one, as of an unset variable in a script."""
        if not value:
            self.fail("an empty name: give another one, or leave it out", param, ctx)
        path = self._meaning(value)
        hidden = known_models().get(path) if self.is_model and not is_name(path) else None
        if hidden and not os.path.samefile(hidden, path):
            warn(f"{path} is the one here, not the model of this name at {hidden}")
        return path


SEED = click.IntRange(0, 2**32 - 1)
FILE, OUTPUT = PathName("file"), PathName("file")
FOLDER, MODEL = PathName("folder"), PathName("folder", is_model=True)
GENERATIVE = PathName("folder", partial(companion, roles=["generative"]), is_model=True)
"""A model that gives probabilities of words; the name of a parser stands for its companion."""
JUDGE = PathName("folder", partial(companion, roles=["judge", "generative"]), is_model=True)
"""A generative model of a parser's trees, which may have more labels than the model of words."""


class LiveChoice(click.Choice):
    """A name in a registry, which is read only when the option is used."""

    def __init__(self, registry: Collection[str]):
        self._registry, self.case_sensitive = registry, True

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the names that are in the registry now."""
        return tuple(self._registry)


class ListOf(click.ParamType):
    """Values of a type, separated by commas, each once."""

    name = "list"

    def __init__(self, item: click.ParamType):
        self.item = item

    def convert(self, value, param, ctx) -> tuple:
        """Return the values."""
        if isinstance(value, tuple):
            return value
        values = tuple(self.item.convert(text.strip(), param, ctx) for text in value.split(","))
        if len(set(values)) < len(values):
            self.fail(f"{value!r}: each once.", param, ctx)
        return values


class Assignment(click.ParamType):
    """NAME=VALUE with one of some names, each with a type of value; the command gets the pair.

    Without types, any name has a text.
    """

    name = "assignment"

    def __init__(self, types: Mapping[str, click.ParamType] = {}):
        self.types = types

    def convert(self, value, param, ctx) -> tuple[str, Any]:
        """Return name and value."""
        name, equals, text = value.partition("=")
        if not equals or (self.types and not (text and name in self.types)):
            names = f", with one of {', '.join(self.types)} as NAME" if self.types else ""
            self.fail(f"{value!r} is no NAME=VALUE{names}", param, ctx)
        try:
            return name, self.types.get(name, click.STRING).convert(text, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{name}: {error.message}", param, ctx)


class Command(click.Command):
    """A command that checks its options, inputs and outputs before it works."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options, and note each of them in the order of the command line."""
        *_, ctx.meta["rnng_dy.order"] = self.make_parser(ctx).parse_args([*args])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context):
        """Check options and files, then run the command."""
        try:
            require_once(self.params, ctx.meta["rnng_dy.order"], ctx.params)
            check_files(path for kind, path in _values() if kind is OUTPUT)
            require_fit(self.params, ctx.params)
            result = super().invoke(ctx)
        except RnngError as error:
            raise RnngError(with_flags(str(error), self.params)) from error
        if "output" in ctx.params:
            say(signature())
        return result


def check_files(outputs: Iterable[str]) -> None:
    """Raise RnngError or OSError for outputs that cannot be written after the work.

    The outputs are locked until the command ends. Raises UsageError if two of the command's inputs
    are the same stream.
    """
    inputs = [*_inputs()]
    read = [path for path in inputs if path != "-" and os.path.exists(path)]
    pipes = [path for path in read if not (os.path.isfile(path) or os.path.isdir(path))]
    streams = [*map(os.path.realpath, [*["/dev/stdin"] * inputs.count("-"), *pipes])]
    if len({*streams}) < len(streams):
        raise click.UsageError("only one of the files can be standard input, or one pipe")
    targets: dict[str, str] = {}
    for path in outputs:
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


def _values() -> Iterator[tuple[click.ParamType, Any]]:
    """Yield the values of the command's parameters with their types."""
    context = click.get_current_context()
    for param in context.command.params:
        value = context.params.get(param.name)
        several = value if param.multiple or param.nargs != 1 else [value]
        yield from ((param.type, each) for each in several or () if each is not None)


def _inputs() -> Iterator[str]:
    """Yield the files that the command reads, those of models and scorers included."""
    for kind, value in _values():
        if getattr(kind, "is_model", False):
            yield from paths_of(value)
        elif kind is FILE:
            yield value
        elif hasattr(value, "files"):
            yield from map(str, value.files().values())


def write_output(path: str | None, texts: Iterable[str]) -> None:
    """Write texts, one after the other, to an output; None is no output."""
    if path is not None:
        with replacing(path) as stream:
            stream.writelines(texts)


def ending_of(path: str) -> str:
    """Return the ending that says a file's form: `.trees` of `a.trees.gz`, '' of `-`."""
    return os.path.splitext(plain_name(path))[1]


def all_of(*options: Callable) -> Callable:
    """Return a decorator that adds options to a command, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def together(name: str, make: Callable, *options: Callable) -> Callable:
    """Return a decorator that adds options, of which the command gets one value, `name`.

    `make` returns it for their values, and raises UsageError for options that exclude each other.
    """

    def decorate(command: Any) -> Any:
        others = [*getattr(command, "__click_params__", ())]

        @wraps(command)
        def with_options(**values):
            taken = {param.name: values.pop(param.name) for param in added}
            return command(**{name: make(**taken)}, **values)

        decorated: Any = all_of(*options)(with_options)
        added = [param for param in decorated.__click_params__ if param not in others]
        return decorated

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
        paths: dict[str, str] = {}
        for path in output or ["-"]:
            ending = ending_of(path)
            if ending not in ("", *forms) and form is None:
                raise click.UsageError(f"-o {path}: this command writes {listed}; or --format")
            ending = ending if ending in forms else other
            if ending in paths:
                raise click.UsageError(
                    f"-o {paths[ending]} and -o {path} would both hold {ending[1:]}: leave one "
                    f"out, or give it another ending of {listed}"
                )
            paths[ending] = path
        if form is not None and other not in paths:
            raise click.UsageError("--format is for standard output: here endings say the forms")
        if ".html" in paths:
            pages.require()
        return paths

    what_of = "; ".join(f"{ending} {what}" for ending, what in forms.items())
    files = f"File to write, one or more; the ending says what it holds: {what_of}."
    others = f"Form of standard output, and of other endings.  [default: {first[1:]}]"
    names = click.Choice([ending[1:] for ending in forms])
    return together(
        "outputs",
        make,
        goes(means=lambda values: tuple(make(values["output"], values["form"]))),
        option("-o --output", f"{files}  [default: standard output]", OUTPUT, multiple=True),
        option("--format", others, names, "form", metavar="FORM"),
    )


def output_option(
    help: str = "File to write; - is standard output.", metavar: str | None = None
) -> Callable:
    """Return the decorator for -o of a command with one output."""
    return option("-o --output", help, OUTPUT, default="-", metavar=metavar)


def style_of_effects(path: str | None, outputs: dict[str, str]) -> str:
    """Return the style of the table --effects; print `.txt` unless another output is printed.

    Raises UsageError for another ending.
    """
    if "-" not in (*outputs.values(), path):
        outputs.setdefault(".txt", "-")
    if (ending := ending_of(path or "")) not in ("", ".tsv", ".csv"):
        raise click.UsageError(f"--effects {path}: name a file in .tsv or .csv")
    return CSV if ending == ".csv" else TSV


def model_option(kind: PathName = MODEL, default: str | None = None) -> Callable:
    """Return the decorator for --model, which is required without a default."""
    # click takes a default of None for a value that is given
    how: dict[str, Any] = {"required": True} if default is None else {"default": default}
    return option("--model", "Model folder, archive or name.", kind, "folder", **how)


_device = option("--device", "Where to compute.", default="cpu", metavar="cpu|cuda|cuda:N")
device_option = all_of(goes("with `folders`"), _device)
open_option = flag("--open", "Add the spelling of unknown words; see `train --open`.", "is_open")


def titles(paths: Sequence[str]) -> Sequence[str]:
    """Return names of files, or paths if two are equal. Raises UsageError for a file twice."""
    for names in ([Path(plain_name(path)).stem for path in paths], paths):
        if len(set(names)) == len(names):
            return names
    raise click.UsageError("the same file twice among the systems")
