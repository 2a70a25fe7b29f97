"""Fills the pages of docs/reference: each comment in them names what stands below it."""

import inspect
import pydoc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from rnng_dy.cli import main

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
WIDTH = 92
_FILLED = re.compile(r"^(<!-- ([^>]*) -->\n).*?(?=^<!-- |^## |\Z)", re.MULTILINE | re.DOTALL)


def filled(page: str) -> str:
    """Return a page with new sections after each of its comments, up to the next `##`."""
    made = _FILLED.sub(lambda found: "".join([found[1], *_sections(*found[2].split()), "\n"]), page)
    return made.rstrip() + "\n"


def _sections(name: str, *methods: str) -> Iterator[str]:
    """Yield the sections of all commands, or that of a function or a class with methods."""
    if name == "commands":
        yield from _commands(main, _context(main, "rnng-dy"))
        return
    thing: Any = pydoc.locate(name)
    parts = [_interface(thing), *(_interface(getattr(thing, method)) for method in methods)]
    yield _section(name, "python", "\n".join(parts))


def _interface(thing: Any) -> str:
    """Return the source of a function with its docstring, or of a class before its first method."""
    end = r"\Z|(?=\n    (?:@|def |#))" if isinstance(thing, type) else r'""".*?"""\n'
    source = inspect.getsource(getattr(thing, "fget", thing))
    return re.match(rf".*?(?:{end})", source, re.DOTALL)[0]


def _commands(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield a section per command, each after its group."""
    yield _section(context.command_path, "text", command.get_help(context) + "\n")
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        part = command.get_command(context, name)
        yield from _commands(part, _context(part, name, context))


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> Any:
    return click.Context(command, parent, name, terminal_width=WIDTH, **main.context_settings)


def _section(title: str, language: str, text: str) -> str:
    return f"\n### {title.removeprefix('rnng-dy ')}\n\n```{language}\n{text}```\n"


if __name__ == "__main__":
    for path in PAGES.glob("*.md"):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
