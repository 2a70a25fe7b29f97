"""Options that a command gets together, as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps

import click
from click.core import ParameterSource


def all_of(*options: Callable) -> Callable:
    """A decorator that adds options to a command, in this order."""

    def decorate(command: Callable) -> Callable:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def together(name: str, make: Callable, *options: Callable) -> Callable:
    """A decorator that adds options, of which, with others, the command gets `name`: the result of `make`.

    `make` takes each option by the name of one of its parameters, and raises UsageError for options that do not go
    together.
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
    """How an option that stands on the command line is written; None where it does not."""
    context = click.get_current_context()
    if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return None
    return next(p.opts[0] for p in context.command.params if p.name == name)
