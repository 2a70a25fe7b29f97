"""Sources of surprisals: models of words, and `--scorer`, which needs no model folder."""

from __future__ import annotations

import click

from rnng_dy import registry
from rnng_dy.baselines.scorers import SCORERS, OpenableScorer
from rnng_dy.cli.job import ModelFolder
from rnng_dy.cli.option_groups import flag_given
from rnng_dy.cli.options import LiveChoice
from rnng_dy.cli.paths import FILE


class ScorerName(LiveChoice):
    """A name in `SCORERS`, with = and a file if the scorer is made from one."""

    name = "scorer"

    def convert(self, value, param, ctx) -> OpenableScorer:
        """See click."""
        if isinstance(value, OpenableScorer):
            return value
        name, equals, path = value.partition("=")
        super().convert(name, param, ctx)
        return OpenableScorer(name, FILE.convert(path, param, ctx) if equals else None)

    def get_metavar(self, *of_option, **options) -> str:
        """See click."""
        return f"{super().get_metavar(*of_option, **options)}[=FILE]"


scorer_option = click.option(
    "--scorer",
    type=ScorerName(SCORERS),
    help="Instead of --model: n-grams of an oracle, or a table of surprisals.",
)


several_scorers_option = click.option(
    "--scorer",
    "scorers",
    type=ScorerName(SCORERS),
    multiple=True,
    help="A scorer of words that needs no model folder, made from a FILE: n-grams from an oracle, or the surprisals of "
    "another program from a table with the columns sentence_id, token and surprisal (bits).",
)


def chosen_scorer(
    folder: str | None, scorer: OpenableScorer | None, order: int
) -> OpenableScorer | None:
    """Return the scorer of --scorer with the n of n-grams; None without it. Raises UsageError beside --model."""
    if folder is not None and scorer is not None:
        raise click.UsageError("give either --model or --scorer")
    check_order(scorer is not None)
    return scorer and scorer._replace(order=order)


def check_order(is_read: bool) -> None:
    """Raise UsageError if --order is on the command line and nothing reads it."""
    if not is_read and flag_given("order"):
        raise click.UsageError("--order is for n-gram models")


def model_of_words(device: str, folder: str) -> ModelFolder:
    """Return the model of a folder. Raises RnngError for a parser."""
    return ModelFolder(registry.kind_of_words(folder).kind, folder, device)
