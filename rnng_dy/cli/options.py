"""Options that several commands share, and groups of options that a command gets as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from oracle.transitions import SYSTEMS
from rnng_dy.cli.paths import GENERATIVE, MODEL, OUTPUT, ending_of
from rnng_dy.drawing import pages
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.settings import FiniteRange

ENDINGS = (".tsv", ".csv", ".json", ".jsonl", ".trees", ".html", ".svg", ".txt", ".R")
"""The endings that say a form in some command."""
SAMPLES = click.IntRange(1, 10**9)


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
        self._item = item

    def convert(self, value, param, ctx) -> tuple:
        """See click."""
        if isinstance(value, tuple):
            return value
        found = tuple(self._item.convert(text.strip(), param, ctx) for text in value.split(","))
        if len(set(found)) < len(found):
            self.fail(f"{value!r}: each once.", param, ctx)
        return found


class Assignment(click.ParamType):
    """NAME=VALUE with one of some names, each with a type of value; the command gets the pair."""

    name = "assignment"

    def __init__(self, types: Mapping[str, click.ParamType]):
        self._types = types

    def convert(self, value, param, ctx) -> tuple[str, Any]:
        """See click."""
        name, _, text = value.partition("=")
        if name not in self._types or not text:
            names = ", ".join(self._types)
            self.fail(f"{value!r} is no NAME=VALUE, with one of {names} as NAME", param, ctx)
        try:
            return name, self._types[name].convert(text, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{name}: {error.message}", param, ctx)


COMPOSITION, TRANSITIONS = LiveChoice(COMPOSITIONS), LiveChoice(SYSTEMS)
ALPHA = FiniteRange(0, 100)


def all_of(*options: Callable) -> Callable:
    """Return a decorator that adds options to a command, in this order."""

    def decorate(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def together(name: str, make: Callable, *options: Callable) -> Callable:
    """Return a decorator that adds options; the command gets `name`, the result of `make`, instead of them.

    `make` takes options, these and others of the command, as parameters of their names. It raises UsageError for
    options that exclude each other.
    """
    names = inspect.signature(make).parameters

    def decorate(command: Callable) -> Callable:
        @wraps(command)
        def with_options(*args, **given):
            value = make(**{option: given.pop(option) for option in names if option in given})
            return command(*args, **{name: value}, **given)

        return all_of(*options)(with_options)

    return decorate


def flag_given(name: str) -> str | None:
    """Return the flag of an option, such as `--beam`, if it is on the command line, else None."""
    context = click.get_current_context()
    if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return None
    return next(p.opts[0] for p in context.command.params if p.name == name)


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


device_option = click.option(
    "--device", default="cpu", metavar="cpu|cuda|cuda:N", help="Where to compute."
)
model_option = click.option(
    "--model", "folder", type=MODEL, required=True, help="Model folder, archive or name."
)
generative_option = click.option(
    "--model", "folder", type=GENERATIVE, required=True, help="Model folder, archive or name."
)
output_option = click.option(
    "-o", "--output", type=OUTPUT, default="-", help="File to write; - is standard output."
)
trees_output_option = click.option(
    "-o", "--output", type=OUTPUT, default="-", metavar="OUT.trees", help="Trees to write."
)
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=1, metavar="N", help="Random seed."
)

open_option = click.option(
    "--open",
    "is_open",
    is_flag=True,
    help="Add the spelling of unknown words; see `train --open`.",
)
