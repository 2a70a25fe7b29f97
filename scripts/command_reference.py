"""A hook for MkDocs: fills the page of the commands from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from rnng_dy.cli import main

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return a page with the commands in place of the mark; MkDocs calls this for each page."""
    if MARK not in markdown:
        return markdown
    with click.Context(main, info_name="rnng-dy", **main.context_settings) as context:
        return markdown.replace(MARK, "\n".join(_group(main, context)))


def _group(group: click.Group, context: click.Context) -> Iterator[str]:
    """Yield the Markdown of a group's commands, by name."""
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    for name, command in sorted(commands.items()):
        yield from _command(command, click.Context(command, context, name))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    path = context.command_path
    yield f"## {path} {{ #{path.removeprefix('rnng-dy ').replace(' ', '-')} }}\n"
    for paragraph in inspect.cleandoc(command.help).split("\n\n"):
        text = " ".join(paragraph.split())
        example = text.removeprefix("Example: ")
        yield f"    {example}\n" if example != text else f"{_escaped(text)}\n"
    if isinstance(command, click.Group):
        yield from _group(command, context)
        return
    yield f"Usage: `{path} {' '.join(command.collect_usage_pieces(context))}`\n"
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if not record or isinstance(option, click.Argument) or "--help" in option.opts:
            continue
        flags, text = record
        yield f"`{flags}`\n:   {_escaped(text)}\n"


def _escaped(text: str) -> str:
    """Escape the signs of Markdown outside of code."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<|\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
