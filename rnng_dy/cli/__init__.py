"""The `rnng-dy` command: a thin layer that parses options, calls the library and prints."""

import errno
import importlib
import io
import logging
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from oracle.common import plugins
from oracle.common.errors import RnngError, Terminated
from rnng_dy import __version__
from rnng_dy.cli.messages import escaped, show_messages, to_nowhere, warn
from rnng_dy.cli.rules import flag, option

COMMANDS = {
    "prepare": "Make a file with one tree per line from a treebank.",
    "oracle": "Make an oracle: the actions that build each tree.",
    "tag": "Replace the POS tags of trees by a tagger's.",
    "clusters": "Make Brown clusters of words.",
    "train": "Train a parser, a generative model or an LSTM.",
    "parse": "Parse sentences.",
    "sample": "Draw trees from a parser.",
    "score": "Compute joint likelihoods of sentences and trees.",
    "rerank": "Rerank samples, and estimate perplexity from them.",
    "surprisal": "Measure surprisal word by word.",
    "next-words": "Estimate the most probable next words after texts.",
    "perplexity": "Measure the likelihood and perplexity of sentences.",
    "suite": "Measure accuracy on test suites and minimal pairs.",
    "reading-times": "Measure how much of reading times surprisals explain.",
    "evalb": "Score trees by EVALB's rules.",
    "show": "Draw trees, and mark errors against gold trees.",
    "generate": "Generate sentences from a model.",
    "import-clab": "Convert a checkpoint of the original program.",
    "models": "List models by name, show one, or put one into a file.",
    "serve": "Show models on web pages, and answer with JSON.",
    "reproduce": "Make the paper's tables from a treebank.",
    "doctor": "Check the installation and the numerics.",
}
"""Summaries, so that --help need not load the modules of commands."""
BESIDE = {"prepare": "oracle", "sample": "parse", "next-words": "generate"}
"""Commands in the module of another one."""


class LazyGroup(click.Group):
    """Imports a command's module only when it is called, so that `oracle` never loads DyNet."""

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command from the module of its name, with _ for -; None if there is none."""
        if name not in COMMANDS:
            return None
        module = BESIDE.get(name, name).replace("-", "_")
        return getattr(importlib.import_module(f"rnng_dy.cli.{module}"), name.replace("-", "_"))

    def resolve_command(self, ctx: click.Context, args: list[str]):
        """Find the command. A text in place of one is told where it belongs."""
        if " " in args[0]:
            ctx.fail(
                f'a text goes to a command: rnng-dy parse "{args[0]}", or surprisal, perplexity'
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def make_context(self, info_name: str | None, args: list[str], **extra) -> click.Context:
        """Report errors of --version and --help, which print while the context is made."""
        with errors_reported():
            return super().make_context(info_name, args, **extra)

    def invoke(self, ctx: click.Context):
        """Run the command, and report its errors and warnings."""
        if isinstance(sys.stdout, io.TextIOWrapper):
            # bytes of files and arguments that are not UTF-8 are printed unchanged
            sys.stdout.reconfigure(errors="surrogateescape")
        with errors_reported(), warnings.catch_warnings():
            warnings.showwarning = lambda message, *place: warn(f"Warning: {message}")
            return super().invoke(ctx)


@contextmanager
def errors_reported() -> Iterator[None]:
    """Turn errors of the user and of the system into one message and an exit code."""
    try:
        yield
    except RnngError as error:
        fail(str(error))
    except click.ClickException as error:
        error.message = escaped(error.message)
        raise
    except ImportError as error:
        # numpy explains possible causes in twenty lines; the last line is the actual error
        reason = (str(error).strip() or "a library cannot be loaded").splitlines()[-1]
        fail(f"{reason}: install it, or let the process have more memory (ulimit -v)")
    except KeyboardInterrupt as stop:
        warn(f"\n{str(stop) or 'stopped'}")
        sys.exit(128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT))
    except BrokenPipeError:
        # the reader of standard output has closed it (`| head`): no error
        to_nowhere(sys.stdout)
        sys.exit(0)
    except OSError as error:
        # drop the buffered output, which could not be written at Python's exit either
        to_nowhere(sys.stdout)
        name = "standard output" if error.errno == errno.EBADF else error.filename
        named = "" if name is None else f"{name}: "
        fail(f"{named}{error.strerror or error}")
    except MemoryError as error:
        more = f" ({error})" if str(error) else ""
        fail(f"out of memory{more}: give it less to do at a time")


def fail(message: str) -> None:
    """Print an error message and exit with code 2."""
    warn(f"Error: {message}")
    sys.exit(2)


@click.group(
    cls=LazyGroup,
    # names without commands, from which click suggests one for a mistyped name
    commands=dict.fromkeys(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@flag("-q --quiet", "Print only results, warnings and errors.")
@option("--plugin", "Load your own classes.", click.Path(), multiple=True, metavar="FILE.py")
@click.version_option(__version__, "-V", "--version")
def main(quiet: bool, plugin: Sequence[str]) -> None:
    """Recurrent Neural Network Grammars on DyNet."""
    show_messages(logging.WARNING if quiet else logging.INFO)
    for path in plugin:
        plugins.load_plugin(path)
