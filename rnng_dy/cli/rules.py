"""What options go with: one that would do nothing, or that replaces itself, is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from rnng_dy.settings import require

Parameters = Sequence[click.Parameter]


def goes(rule: str | Callable[[str], str] = "", means: Callable | None = None) -> Callable:
    """Return a decorator that says of the option below it what it goes with.

    Args:
        rule: A rule of `settings.require`, or a function from the option's name in Python to one.
        means: Function of all values of the command to the value that counts in the rules of other
            options.
    """

    def decorate(command: Any) -> Any:
        command.__click_params__[-1].goes = rule
        command.__click_params__[-1].means = means
        return command

    return decorate


def rule_of(param: Any) -> str:
    """Return what a parameter goes with."""
    rule: str | Callable[[str], str] = getattr(param, "goes", "")
    return rule if isinstance(rule, str) else rule(param.name)


def is_given(name: str) -> bool:
    """Return whether a parameter of the running command is on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def require_fit(params: Parameters, values: Mapping[str, Any]) -> None:
    """Raise RnngError for an option on the command line that does nothing, given the values of all parameters."""
    meanings = {p.name: p.means(values) for p in params if getattr(p, "means", None)}
    require({p.name: rule_of(p) for p in params if is_given(p.name)}, {**values, **meanings})


def require_once(params: Parameters, order: Parameters, values: Mapping[str, Any]) -> None:
    """Raise UsageError for an option that is given twice, though it has one value, and for an equal value of another.

    `order` has each parameter as often as it is given. Of NAME=VALUE, each NAME is given once.
    """
    for param in params:
        given = [param.opts[0]] * order.count(param)
        if param.multiple:
            names = [v[0] if hasattr(param.type, "types") else v for v in values[param.name]]
            given = [f"{param.opts[0]} {name}" for name in names]
        for one in given:
            if given.count(one) > 1:
                raise click.UsageError(f"{one} is given twice")


def with_flags(message: str, params: Parameters) -> str:
    """Return a message that names options where it has Python's names of arguments in backquotes."""
    flags = {p.name: p.human_readable_name.strip("[]") for p in params}
    flags |= {
        p.name: "/".join([p.opts[0], *p.secondary_opts]) for p in params if p.opts[0][0] == "-"
    }
    named = {name: f"{p.opts[0]} {name}" for p in params for name in getattr(p.type, "types", ())}
    return re.sub(r"`(\w+)`", lambda found: {**named, **flags}.get(found[1], found[0]), message)
