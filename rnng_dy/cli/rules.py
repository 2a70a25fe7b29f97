"""What options go with: one that would do nothing, or that replaces itself, is an error."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from oracle.common.errors import RnngError
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


def option(flags: str, help: str, kind: Any = None, name: str | None = None, **how: Any) -> Any:
    """Return a decorator for an option with a value of a kind.

    `name` is the one in Python if the flags do not tell it, `how` are settings of click.
    """
    names = flags.split() if name is None else [*flags.split(), name]
    return click.option(*names, help=help, type=kind, **how)


def flag(flags: str, help: str, name: str | None = None) -> Any:
    """Return a decorator for an option without a value, as `option`."""
    return option(flags, help, None, name, is_flag=True)


def rule_of(param: Any) -> str:
    """Return what a parameter goes with."""
    rule: str | Callable[[str], str] = getattr(param, "goes", "")
    return rule if isinstance(rule, str) else rule(param.name)


def is_given(name: str) -> bool:
    """Return whether a parameter of the running command is on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def require_fit(params: Parameters, values: Mapping[str, Any]) -> None:
    """Raise RnngError for an option on the command line that does nothing beside these values."""
    require({p.name: rule_of(p) for p in params if is_given(p.name)}, meanings(params, values))


def meanings(params: Parameters, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all parameters as rules see them."""
    return {**values, **{p.name: p.means(values) for p in params if getattr(p, "means", None)}}


def applies(param: click.Parameter, values: Mapping[str, Any]) -> bool:
    """Return whether a parameter does something, given the meanings of all."""
    try:
        require({param.name: rule_of(param)}, values)
    except RnngError:
        return False
    return True


def require_once(params: Parameters, order: Parameters, values: Mapping[str, Any]) -> None:
    """Raise UsageError for an option with one value that is given twice, or a value twice.

    `order` has each parameter as often as it is given. Of NAME=VALUE, each NAME is given once.
    """
    for param in params:
        flags = [param.opts[0]] * order.count(param)
        if param.multiple:
            names = [v[0] if hasattr(param.type, "types") else v for v in values[param.name]]
            flags = [f"{param.opts[0]} {name}" for name in names]
        if twice := [flag for flag in flags if flags.count(flag) > 1]:
            raise click.UsageError(f"{twice[0]} is given twice")


def with_flags(message: str, params: Parameters) -> str:
    """Return a message with the options of the arguments that it has in backquotes."""
    shown = {name: f"{p.opts[0]} {name}" for p in params for name in getattr(p.type, "types", ())}
    for p in params:
        is_option = p.opts[0].startswith("-")
        flags = [p.opts[0], *p.secondary_opts] if is_option else [p.human_readable_name.strip("[]")]
        shown[p.name] = "/".join(flags)
    return re.sub(r"`(\w+)`", lambda match: shown.get(match[1], match[0]), message)
