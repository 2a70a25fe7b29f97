"""What commands print of long jobs and of likelihoods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import click

from rnng_dy.cli.progress import Progress
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
) -> None:
    """`write_batches` with its progress shown."""
    progress = Progress(what, sum(len(batch) for batch in batches), unit)
    write_batches(batches, lines_of, output, key, resume, progress)
    progress.finish()


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
