"""The `rnng-dy` command: a thin layer that parses options, calls the library and prints."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TextIO

import click

from oracle.errors import RnngError
from rnng_dy.cli.group import Group

# command -> the module of rnng_dy.cli that defines it, under the command's name with - as _
COMMANDS = {
    "prepare": "oracle",
    "oracle": "oracle",
    "tag": "tag",
    "clusters": "clusters",
    "train": "train",
    "parse": "parse",
    "sample": "sample",
    "score": "score",
    "rerank": "rerank",
    "surprisal": "surprisal",
    "perplexity": "perplexity",
    "suite": "suite",
    "evalb": "evalb",
    "show": "show",
    "compare-composition": "compare",
    "generate": "generate",
    "import-clab": "import_clab",
    "about": "about",
    "reproduce": "reproduce",
    "doctor": "doctor",
}


def load_command(name: str = "") -> ModuleType | None:
    """Import the module of a command; None where there is no such command."""
    return importlib.import_module(f"rnng_dy.cli.{COMMANDS[name]}") if name in COMMANDS else None


class LazyGroup(Group):
    """Imports a command's module only when it is called, so that `oracle` never loads DyNet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.commands and (module := load_command(name)):
            self.add_command(getattr(module, name.replace("-", "_")), name)
        return super().get_command(ctx, name)

    def make_context(self, *arguments, **extra) -> click.Context:
        """See click; --version and --help print while the context is made."""
        with told():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context):
        if isinstance(sys.stdout, io.TextIOWrapper):
            # what a file or an argument has that is not UTF-8 is printed as it is
            sys.stdout.reconfigure(errors="surrogateescape")
        with told():
            return super().invoke(ctx)


@contextmanager
def told() -> Iterator[None]:
    """Turn what a user can mend, and what the system refuses, into one message and an exit code."""
    try:
        yield
    except RnngError as error:
        fail(str(error))
    except KeyboardInterrupt as stop:
        click.echo(f"\n{str(stop) or 'stopped'}", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # the reader of our standard output went away (`| head`): not an error
        _to_nowhere(sys.stdout)
        sys.exit(0)
    except OSError as error:
        # what could not be written cannot be written when Python ends either
        _to_nowhere(sys.stdout)
        named = "" if error.filename is None else f"{error.filename}: "
        fail(f"{named}{error.strerror or error}")
    except MemoryError as error:
        more = f" ({error})" if str(error) else ""
        fail(f"out of memory{more}: give it less to do at a time")


def _to_nowhere(stream: TextIO | None) -> None:
    """Let go of what a stream still holds."""
    # a test's stream has no descriptor, a closed one is None
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def fail(message: str) -> None:
    """Print one clear message and leave with exit code 2."""
    try:
        click.echo(f"Error: {message}", err=True)
    except OSError:
        _to_nowhere(sys.stderr)
    sys.exit(2)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="rnng_dy")
def main() -> None:
    """Recurrent Neural Network Grammars on DyNet."""
