"""Base classes of commands and groups of commands, with the option --plugin of each of them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import get_close_matches

import click

from rnng_dy import plugins
from rnng_dy.cli.paths import FILE
from rnng_dy.cli.quiet import quiet_option

TYPED = "rnng_dy.typed"
_PLUGINS = "rnng_dy.plugins"


def typed_command() -> str | None:
    """Return the command line as it was typed; None if the command was called in another way."""
    typed = click.get_current_context().meta.get(TYPED)
    return None if typed is None else shlex.join(["rnng-dy", *typed])


def _take(ctx: click.Context, _: click.Parameter, paths: Sequence[str]) -> None:
    ctx.meta.setdefault(_PLUGINS, []).extend(paths)
    if not isinstance(ctx.command, click.Group):
        _load_plugins(ctx)


_plugin_option = click.Option(
    ["--plugin"],
    type=FILE,
    multiple=True,
    metavar="FILE.py",
    # processed before options whose choices a plugin extends
    is_eager=True,
    expose_value=False,
    callback=_take,
    help="Load classes of your own, such as a composition.",
)
_EVERYWHERE = quiet_option, _plugin_option


def _load_plugins(ctx: click.Context) -> None:
    """Load the plugins named on the command line so far."""
    for path in ctx.meta[_PLUGINS]:
        plugins.load(path)


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


class Group(click.Group):
    """A group that suggests a command for a mistyped one.

    --quiet and --plugin may stand before and after each of its commands.
    """

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.params += _EVERYWHERE

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra
    ) -> click.Context:
        """See click."""
        typed = [*args]
        context = super().make_context(info_name, args, parent, **extra)
        # the outermost group sets it; inner groups share its dictionary
        context.meta.setdefault(TYPED, typed)
        return context

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """See click."""
        super().add_command(cmd, name)
        cmd.params += [option for option in _EVERYWHERE if option not in cmd.params]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See click. Raises UsageError for an unknown command, suggesting one that it begins or the nearest one."""
        name = args[0]
        refusable = not (name.startswith("-") or ctx.resilient_parsing)
        if refusable and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            begun = [other for other in known if other.startswith(name)]
            near = begun or get_close_matches(name, known)
            suggestion = "".join(f" Did you mean {other!r}?" for other in near[:1])
            ctx.fail(f"No such command {name!r}.{suggestion}")
        found = super().resolve_command(ctx, args)
        # a subgroup leaves loading to its commands: with several ranks, only the first rank reads files
        if not isinstance(found[1], click.Group):
            _load_plugins(ctx)
        return found
