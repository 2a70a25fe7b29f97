"""Options of INPUT, of stimuli, and of models that give words probabilities."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from functools import partial

import click

from oracle.common.errors import RnngError
from rnng_dy.baselines.scorers import SCORERS, OpenableScorer
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import FILE, GENERATIVE, SEED, LiveChoice, all_of, together
from rnng_dy.cli.rules import goes, is_given
from rnng_dy.kinds import ModelFolder, kind_of_words
from rnng_dy.search.surprisal import SEARCHES, SearchOptions
from rnng_dy.text.columns import Columns
from rnng_dy.text.sources import Source

_FILE_NAME = re.compile(r"[/\\]|\.\w{1,6}$")
"""A slash or an ending: names of files have them, and few texts."""
_ENDS, _MARKS = tuple(".!?…"), tuple(".!?…\"'”’)]")
"""What ends a text of one word, and any text."""


def _is_text(argument: str) -> bool:
    """Return whether an argument is a text and no file's name."""
    if os.path.exists(argument):
        return False
    if " " in argument and argument.rstrip().endswith(_MARKS):
        return True
    return (" " in argument or argument.endswith(_ENDS)) and not _FILE_NAME.search(argument)


def _source(
    paths: Sequence[str],
    is_text: bool,
    one_per_line: bool,
    tagged: bool | None,
    own_tags: bool = False,
    is_stimuli: bool = False,
) -> Source:
    path, text = paths[0], None
    if len(paths) > 1 and not all(map(_is_text, paths)):
        name = next(path for path in paths if not _is_text(path))
        raise click.UsageError(f"several INPUTs are texts in quotation marks: {name!r} is none")
    if is_stimuli:
        return Source(path, one_per_line=one_per_line, is_stimuli=True)
    if _is_text(path):
        say("INPUT is no file: it is read as running text")
        text = ("\n" if one_per_line else "\n\n").join(paths)
        path, is_text = "-", True
    if path.lower().endswith((".csv", ".tsv", ".xlsx")):
        warn(f"{path} is read as a text: `surprisal --stimuli` reads tables")
    return Source(path, is_text, one_per_line, text, tagged, own_tags)


_of_table = goes("with `is_stimuli`")
columns_options = together(
    "columns",
    Columns,
    _of_table,
    click.option(
        "--column", "texts", metavar="NAME", multiple=True, help="Column of texts, or several."
    ),
    _of_table,
    click.option("--item", metavar="NAME", multiple=True, help="Columns of items, one or more."),
    goes("with `is_stimuli` or `predictions`"),
    click.option(
        "--condition", "conditions", metavar="NAME", multiple=True, help="Columns of conditions."
    ),
    goes("with `is_stimuli` or `predictions`"),
    click.option("--region", metavar="NAME", help="Column of regions, a row each."),
    click.option("--mark", metavar="MARK", help="Mark between or around regions.  [default: |]"),
)


def source_options(*more: Callable) -> Callable:
    """Return a decorator that adds INPUT, its options and `more`; the command gets `source`."""
    return together(
        "source",
        _source,
        click.argument("paths", type=FILE, metavar="INPUT", nargs=-1, required=True),
        goes(
            "without `is_stimuli`", lambda values: values["is_text"] or _is_text(values["paths"][0])
        ),
        click.option("--text", "is_text", is_flag=True, help="INPUT is running text."),
        goes("with `is_text` or `is_stimuli`"),
        click.option("--one-per-line", is_flag=True, help="With --text: a line is a sentence."),
        goes("without `is_text` or `is_stimuli`"),
        click.option(
            "--tagged/--untagged", default=None, help="Tokens are word_TAG.  [default: untagged]"
        ),
        *more,
    )


parser_source = source_options(
    click.option("--own-tags", is_flag=True, help="Take tags from the parser's tagger, not INPUT.")
)

DEFAULT_MODEL = "english-generative"
System = ModelFolder | OpenableScorer
_FIELDS = {field.name: field for field in fields(SearchOptions)}
OPTIONS = ["search", *(name for name, field in _FIELDS.items() if field.metadata)]
"""The names of the search options."""


class ScorerName(LiveChoice):
    """A name in `SCORERS`, with `:N` for an n of n-grams other than 5, and `=FILE` for its file."""

    name = "scorer"

    def convert(self, value, param, ctx) -> OpenableScorer:
        """Return the scorer, which is not opened."""
        name, equals, path = value.partition("=")
        name, colon, order = name.partition(":")
        super().convert(name, param, ctx)
        source = FILE.convert(path, param, ctx) if equals else None
        if not colon:
            return OpenableScorer(name, source)
        return OpenableScorer(name, source, click.IntRange(1, 100).convert(order, param, ctx))

    def get_metavar(self, *option, **names) -> str:
        """Return the names, with N and FILE."""
        return f"{super().get_metavar(*option, **names)}[:N][=FILE]"


def _systems(folders: Sequence[str], scorers: Sequence[OpenableScorer]) -> list[System]:
    """Return models and scorers. Raises UsageError for one twice."""
    if not (folders or scorers):
        folders = [DEFAULT_MODEL]
    models = [ModelFolder(kind_of_words(folder).kind, folder) for folder in folders]
    systems = [*models, *scorers]
    if len({system.title for system in systems}) < len(systems):
        raise click.UsageError("two models have the same name")
    return systems


def _system(folders: Sequence[str], scorers: Sequence[OpenableScorer]) -> System:
    """Return the one model or scorer. Raises UsageError for several."""
    system, *others = _systems(folders, scorers)
    if others:
        raise click.UsageError("give either --model or --scorer, and once")
    return system


_SYSTEM_OPTIONS = (
    goes(means=lambda values: values["folders"] or (() if values["scorers"] else DEFAULT_MODEL)),
    click.option(
        "--model",
        "folders",
        type=GENERATIVE,
        multiple=True,
        help=f"Model.  [default: {DEFAULT_MODEL}]",
    ),
    goes(means=lambda values: tuple(scorer.name for scorer in values["scorers"])),
    click.option(
        "--scorer",
        "scorers",
        type=ScorerName(SCORERS),
        multiple=True,
        help="Instead: n-grams of training sentences, or surprisals of a table.",
    ),
)
system_option = together("system", _system, *_SYSTEM_OPTIONS)
"""--model or --scorer; the command gets `system`, which is not opened."""
systems_option = together("systems", _systems, *_SYSTEM_OPTIONS)
"""Both options, each once or more."""


def require_trees(outputs: Collection[str], *systems: System, also: str = "search") -> None:
    """Raise RnngError for what needs a model with trees, unless there is one.

    These are an output of trees, the options of the search, and the option `also`.
    """
    needing = ["`output` FILE.trees"] * (".trees" in outputs) + given_options(*OPTIONS, also)
    if needing and not any(system.has_trees for system in systems):
        raise RnngError(f"{needing[0]} is for generative models with trees")


def given_options(*names: str) -> list[str]:
    """Return the options of some names that are on the command line, for a message."""
    return [f"`{name}`" for name in names if is_given(name)]


def search_options(*more: Callable, without: Collection[str] = ()) -> Callable:
    """Return a decorator that adds search options and `more`; the command gets `options`."""
    shown = [_option(name) for name in OPTIONS if name not in without]
    return together("options", SearchOptions, *shown, *more)


def _searches(name: str, rule: str = "with") -> str:
    """Return the rule that an option goes with the searches that read it."""
    searches = (search for search in SEARCHES if name in SEARCHES[search].reads)
    return f"{rule} `search` {'/'.join(searches)}"


seed_option = all_of(
    goes(partial(_searches, rule="with `decode` mbr or `generator` or")),
    click.option("--seed", type=SEED, default=1, metavar="N", help="Random seed."),
)


def _option(name: str) -> Callable:
    if name == "search":
        choice, shown = LiveChoice(SEARCHES), "The search of a generative model."
        return click.option("--search", type=choice, default=SEARCHES.default, help=shown)
    field, flag = _FIELDS[name], "--" + name.replace("_", "-")
    attributes = {"is_flag": True}
    if field.type != "bool":
        attributes = {"type": field.metadata["type"], "default": field.default, "metavar": "N"}
    return all_of(goes(_searches), click.option(flag, help=field.metadata["help"], **attributes))


def decode_option(best: str) -> Callable:
    """Return the decorator for `--decode`; `best` describes the tree without it."""
    text = f"{best}, or the tree with the highest expected F1."
    choice = click.Choice(["best", "mbr"])
    return all_of(
        goes("without `generator`, with `output`"),
        click.option("--decode", type=choice, default="best", help=text),
    )
