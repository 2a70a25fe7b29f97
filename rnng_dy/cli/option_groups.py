"""Groups of options that a command gets as one value, and what was typed on the command line."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from functools import wraps

import click
from click.core import ParameterSource


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


TYPED = "rnng_dy.typed"
"""Name of the typed arguments in click's `meta`, which all contexts of a command line share."""


def typed_command() -> str:
    """Return the command line as it was typed."""
    return shlex.join(["rnng-dy", *click.get_current_context().meta[TYPED]])
