"""`rnng-dy compare`: compare systems on the sentences that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from oracle.errors import InputError, RnngError
from rnng_dy.cli.evalb import GOLD, hint_at_tags, tags_option
from rnng_dy.cli.paths import FILE, require_read_once
from rnng_dy.evaluation import comparison_report as report
from rnng_dy.evaluation.comparison import read_common
from rnng_dy.evaluation.perplexity import in_all, likelihood_in_all
from rnng_dy.evaluation.significance import perplexity_difference
from rnng_dy.search.importance import read_in_all

Samples = tuple[str, str]
"""Names of a file of samples and of the file of their likelihoods."""

count_option = click.option(
    "-n", "count", type=click.IntRange(min=0), default=5, help="Number of sentences to show."
)


@click.command()
@click.argument("gold", type=FILE, metavar="GOLD.trees")
@click.argument("systems", type=FILE, nargs=-1, required=True, metavar="SYS.trees...")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Name of a system; give it once per system, in their order.  [default: the names of the files]",
)
@click.option(
    "--samples",
    nargs=2,
    type=FILE,
    multiple=True,
    metavar="PROPS LIKELIHOODS",
    help="Samples and likelihoods of a system, for perplexity; give it once per system, in their order.",
)
@tags_option
@count_option
def compare(gold, systems, names, samples, tags, count) -> None:
    """Compare the trees of two or more systems on the same sentences.

    Each file has one tree per line. Prints F1, perplexity if there are --samples, a paired bootstrap for each pair
    of systems, F1 by length and label of constituents, and the sentences that differ most. F1 is over the sentences
    that EVALB can score for every system. For more than two systems, p is also corrected for the number of pairs by
    Holm's method.

    Example: rnng-dy compare test.trees buggy.trees corrected.trees gated.trees
    """  # fmt: skip
    _require_one_for_each(gold, systems, names, samples)
    stems = [Path(path).stem for path in systems]
    names = names or (stems if len(set(stems)) == len(set(systems)) else systems)
    if len(set(names)) < len(names):
        raise click.UsageError("two systems have one name: give each its own by --name")
    common, errors = read_common(gold, systems, tags == GOLD)
    _print(report.left_out(names, common))
    hint_at_tags(errors, tags)
    if not common.golds:
        raise RnngError(
            "no sentence can be scored for every system: see that all files hold the same words"
        )
    _print(report.f1_lines(names, common))
    if samples:
        _print(_perplexity_lines(names, samples, common.all_sentences))
    _print(report.kinds(names, common))
    _print(report.sentences(names, common, count))


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def _require_one_for_each(
    gold: str, systems: Sequence[str], names: Sequence[str], samples: Sequence[Samples]
) -> None:
    if len(systems) < 2:
        raise click.UsageError("give the trees of two systems at least, after the gold ones")
    require_read_once(gold, *systems)
    for option, of_systems in (("--name", names), ("--samples", samples)):
        if of_systems and len(of_systems) != len(systems):
            raise click.UsageError(f"{option} is given once for each of the {len(systems)} systems")


def _perplexity_lines(
    names: Sequence[str], samples: Sequence[Samples], sentences: int
) -> Iterator[str]:
    """Yield lines on perplexity, of sentences with samples and p > 0 by every system. Raises InputError for none."""
    marginals, lengths = read_in_all(samples)
    found = likelihood_in_all(marginals, lengths)
    kept = found[0].sentences
    if not kept:
        raise InputError("no sentence has samples and p > 0 by every system", samples[-1][0])
    if kept < sentences:
        yield f"perplexity is of the {kept} of {sentences} sentences that have samples and p > 0 by every system"
    difference, systems = partial(perplexity_difference, lengths=lengths), in_all(marginals)
    values = [of_system.perplexity for of_system in found]
    yield from report.figures("perplexity", names, values, difference, systems)
