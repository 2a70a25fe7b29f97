"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import click

from oracle.transitions import SYSTEMS
from rnng_dy.cli.paths import GENERATIVE, MODEL, OUTPUT
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.settings import FiniteRange

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
    """NAME=VALUE with one of some names; the command gets the pair."""

    name = "assignment"

    def __init__(self, names: Sequence[str], value: click.ParamType = click.STRING):
        self._names, self._value = names, value

    def convert(self, value, param, ctx) -> tuple[str, Any]:
        """See click."""
        if isinstance(value, tuple):
            return value
        name, _, text = value.partition("=")
        if name not in self._names or not text:
            names = ", ".join(self._names)
            self.fail(f"{value!r} is no NAME=VALUE, with one of {names} as NAME", param, ctx)
        return name, self._value.convert(text, param, ctx)


COMPOSITION, TRANSITIONS = LiveChoice(COMPOSITIONS), LiveChoice(SYSTEMS)
ALPHA = FiniteRange(0, 100)


class SectionOption(click.Option):
    """An option that the help lists in a section; see `Sectioned`."""

    def __init__(self, *arguments, section: str, **settings):
        super().__init__(*arguments, **settings)
        self.section = section


class Sectioned(click.Command):
    """A command whose help lists options in sections, in the order of each section's first option."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See click."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                title = getattr(parameter, "section", "Other")
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def in_section(title: str) -> Callable:
    """Return a function that makes options for a section in the help of a `Sectioned` command."""
    return partial(click.option, cls=SectionOption, section=title)


def device_options(option: Callable) -> Callable:
    """Return the option --device."""
    return option(
        "--device",
        default="cpu",
        show_default=True,
        metavar="cpu|cuda|cuda:N",
        help="Where to compute.",
    )


device_option = device_options(click.option)
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
