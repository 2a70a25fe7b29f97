"""Sources of surprisals: models of words, and `--scorer`, which needs no model folder."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click

from rnng_dy import model_folder
from rnng_dy.baselines.scorers import SCORERS, OpenableScorer
from rnng_dy.cli.job import ModelFolder
from rnng_dy.cli.options import LiveChoice, together
from rnng_dy.cli.paths import FILE, GENERATIVE
from rnng_dy.cli.searching import given_search_option

DEFAULT = "english-generative"


class ScorerName(LiveChoice):
    """A name in `SCORERS`, with `:N` if the n of n-grams is not 5, and `=FILE` if the scorer is made from a file."""

    name = "scorer"

    def convert(self, value, param, ctx) -> OpenableScorer:
        """See click."""
        if isinstance(value, OpenableScorer):
            return value
        name, equals, path = value.partition("=")
        name, colon, order = name.partition(":")
        super().convert(name, param, ctx)
        source = FILE.convert(path, param, ctx) if equals else None
        if not colon:
            return OpenableScorer(name, source)
        return OpenableScorer(name, source, click.IntRange(1, 100).convert(order, param, ctx))

    def get_metavar(self, *of_option, **options) -> str:
        """See click."""
        return f"{super().get_metavar(*of_option, **options)}[:N][=FILE]"


def _systems(
    folders: Sequence[str], scorers: Sequence[OpenableScorer]
) -> list[ModelFolder | OpenableScorer]:
    """Return models and scorers. Raises UsageError for one twice."""
    if not (folders or scorers):
        folders = [DEFAULT]
    models = [ModelFolder(model_folder.kind_of_words(folder).kind, folder) for folder in folders]
    found = [*models, *scorers]
    if len({system.title for system in found}) < len(found):
        raise click.UsageError("two models have the same name")
    return found


def _system(folder: str | None, scorer: OpenableScorer | None) -> ModelFolder | OpenableScorer:
    """Return the one model or scorer. Raises UsageError for both."""
    if folder and scorer:
        raise click.UsageError("give either --model or --scorer")
    return _systems([folder] if folder else [], [scorer] if scorer else [])[0]


def require_trees(outputs: Collection[str], *systems: ModelFolder | OpenableScorer) -> None:
    """Raise UsageError for an output of trees, or a search option, unless a model searches trees."""
    flag = "-o FILE.trees" if ".trees" in outputs else given_search_option()
    if flag and not any(system.has_trees for system in systems):
        raise click.UsageError(f"{flag} is for generative models with trees")


MODEL_HELP = f"Generative or LSTM model.  [default: {DEFAULT}]"
SCORER_HELP = "Instead: n-grams of an oracle, or surprisals of a table."

system_option = together(
    "system",
    _system,
    click.option("--model", "folder", type=GENERATIVE, help=MODEL_HELP),
    click.option("--scorer", type=ScorerName(SCORERS), help=SCORER_HELP),
)
"""--model or --scorer; the command gets `system`, a model's folder or a scorer, neither of them opened."""
systems_option = together(
    "systems",
    _systems,
    click.option("--model", "folders", type=GENERATIVE, multiple=True, help=MODEL_HELP),
    click.option("--scorer", "scorers", type=ScorerName(SCORERS), multiple=True, help=SCORER_HELP),
)
"""Both options, each once or more."""
