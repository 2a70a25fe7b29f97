"""What commands print of long jobs and of likelihoods."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeVar

import click

from oracle.streams import is_replaced
from rnng_dy.cli.progress import Progress
from rnng_dy.cli.stopping import tidy
from rnng_dy.evaluation.perplexity import Likelihood, likelihood
from rnng_dy.execution.executor import Executor
from rnng_dy.execution.outputs import write_batches
from rnng_dy.execution.work import ModelFolder

T = TypeVar("T")


def run_batches(
    what: str,
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    output: str,
    key: str,
    resume: bool,
    unit: str = "sentences",
    make: Callable[[Path], None] | None = None,
) -> None:
    """`write_batches` with its progress shown."""
    progress = Progress(what, sum(len(batch) for batch in batches), unit)
    with tidy():
        write_batches(batches, lines_of, output, key, resume, progress, make)
    progress.finish()


def run_and_make(
    what: str,
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    output: str,
    key: str,
    resume: bool,
    make: Callable[[Path], None],
    on_lines: Callable[[Sequence[str]], None] = lambda lines: None,
) -> None:
    """`run_batches` for what is made of all lines; beside an output that is a file a stopped run leaves a part.

    `on_lines` is given the lines of each batch of this run when they are kept.
    """

    def passed_on(left: Sequence[Sequence[T]]) -> Iterator[Sequence[str]]:
        for lines in lines_of(left):
            yield lines
            on_lines(lines)

    if is_replaced(output):
        run_batches(what, batches, passed_on, output, key, resume, make=make)
        return
    with NamedTemporaryFile("w", encoding="utf-8", errors="surrogateescape") as kept:

        def kept_lines(left: Sequence[Sequence[T]]) -> Iterator[Sequence[str]]:
            for lines in passed_on(left):
                kept.writelines(f"{line}\n" for line in lines)
                yield []

        run_batches(what, batches, kept_lines, os.devnull, key, False)
        kept.flush()
        make(Path(kept.name))


def gather_batches(
    what: str,
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    output: str | None,
    key: str,
    resume: bool,
) -> list[str]:
    """The lines of all batches, from which `output` is made afterwards; with its progress shown.

    They are kept beside it meanwhile, so that what a stopped run had found is gone on with.
    """
    found: list[str] = []

    def gathered(left: Sequence[Sequence[T]]) -> Iterator[Sequence[str]]:
        for lines in lines_of(left):
            found.extend(lines)
            yield lines

    if output is None or not is_replaced(output):
        run_batches(what, batches, gathered, "/dev/null", key, False)
        return found
    kept = Path(f"{output}.sentences")
    run_batches(what, batches, lines_of, str(kept), key, resume)
    # as they were written: words may hold any bytes, and what Python takes for the end of a line
    text = kept.read_text(encoding="utf-8", errors="surrogateescape")
    kept.unlink()
    return text.split("\n")[:-1]


def print_likelihood(
    log_probs: Sequence[float], lengths: Sequence[int], sentences: int
) -> Likelihood:
    """Print likelihood and perplexity of those of `sentences` sentences that have p > 0, and how many have not."""
    found = likelihood(log_probs, lengths)
    if found.sentences < len(log_probs):
        click.echo(
            f"{len(log_probs) - found.sentences} of {sentences} sentences have p = 0 and are left out",
            err=True,
        )
    if math.isinf(found.perplexity):
        click.echo("the perplexity is too large for a number: see to the likelihoods", err=True)
    if not found.sentences:
        click.echo("no sentence has p > 0: there is no perplexity", err=True)
    click.echo(f"sentences={found.sentences} of {sentences}")
    click.echo(f"len={found.words} words")
    click.echo(f"LLH={found.llh:.15g}")
    click.echo(f"PPL={found.perplexity:.15g}")
    return found


def open_model(place: ModelFolder, executor: Executor):
    """The model of a folder, in this process, which is made ready for it; says so where it is not trained."""
    executor.prepare()
    model = place.open()
    if model.updates == 0:
        click.echo(f"{place.folder}: the model is not trained, what it says is random", err=True)
    return model
