"""Options of INPUT, of stimuli, and of models that give words probabilities."""

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from functools import partial

import click

from oracle.common.errors import RnngError
from oracle.common.tables import TABLES
from rnng_dy.baselines.scorers import SCORERS, OpenableScorer
from rnng_dy.cli.messages import say, warn
from rnng_dy.cli.options import FILE, GENERATIVE, SEED, LiveChoice, all_of, together
from rnng_dy.cli.rules import flag, goes, is_given, option
from rnng_dy.cli.signature import SEARCHED
from rnng_dy.evaluation.suites import Formula
from rnng_dy.kinds import ModelFolder, kind_of_words
from rnng_dy.scorer import WordScorer
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


def source_of(
    paths: Sequence[str],
    is_text: bool,
    one_per_line: bool,
    tagged: bool | None,
    own_tags: bool = False,
    is_stimuli: bool = False,
) -> Source:
    """Return the input that INPUT and its options name."""
    path, text = paths[0], None
    names = [path for path in paths if not _is_text(path)]
    if len(paths) > 1 and names:
        raise click.UsageError(f"several INPUTs are texts in quotation marks: {names[0]!r} is none")
    if is_stimuli:
        return Source(path, one_per_line=one_per_line, is_stimuli=True)
    if _is_text(path):
        say("INPUT is no file: it is read as running text")
        text = ("\n" if one_per_line else "\n\n").join(paths)
        path, is_text = "-", True
    if path.lower().endswith(TABLES):
        warn(f"{path} is read as a text: `surprisal --stimuli` reads tables")
    return Source(path, is_text, one_per_line, text, tagged, own_tags)


_of_table = goes("with `is_stimuli`")
columns_options = together(
    "columns",
    Columns,
    _of_table,
    option("--column", "Column of texts, or several.", name="texts", metavar="NAME", multiple=True),
    _of_table,
    option("--item", "Columns of items, one or more.", metavar="NAME", multiple=True),
    goes("with `is_stimuli` or `predictions`"),
    option(
        "--condition", "Columns of conditions.", name="conditions", metavar="NAME", multiple=True
    ),
    goes("with `is_stimuli` or `predictions`"),
    option("--region", "Column of regions, a row each.", metavar="NAME"),
    option("--mark", "Mark between or around regions.  [default: |]", metavar="MARK"),
)


def source_options(*more: Callable) -> Callable:
    """Return a decorator that adds INPUT, its options and `more`; the command gets `source`."""
    return together(
        "source",
        source_of,
        click.argument("paths", type=FILE, metavar="INPUT", nargs=-1, required=True),
        goes(
            "without `is_stimuli`", lambda values: values["is_text"] or _is_text(values["paths"][0])
        ),
        flag("--text", "INPUT is running text.", "is_text"),
        goes("with `is_text` or `is_stimuli`"),
        flag("--one-per-line", "With --text: a line is a sentence."),
        goes("without `is_text` or `is_stimuli`"),
        option("--tagged/--untagged", "Tokens are word_TAG.  [default: untagged]", default=None),
        *more,
    )


parser_source = source_options(flag("--own-tags", "Take tags from the parser's tagger, not INPUT."))

DEFAULT_MODEL = "english-generative"
System = ModelFolder | OpenableScorer
_FIELDS = {field.name: field for field in fields(SearchOptions)}


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
        if getattr(SCORERS[name].open, "__func__", None) is WordScorer.open.__func__:
            self.fail(f":{order} is the n of n-grams, and {name} has none", param, ctx)
        return OpenableScorer(name, source, click.IntRange(1, 100).convert(order, param, ctx))

    def get_metavar(self, *option, **names) -> str:
        """Return the names, with N and FILE."""
        return f"{super().get_metavar(*option, **names)}[:N][=FILE]"


def _systems(folders: Sequence[str], scorers: Sequence[OpenableScorer]) -> list[System]:
    """Return models and scorers. Raises UsageError for one twice."""
    if not (folders or scorers):
        folders = [DEFAULT_MODEL]
    systems = [*(ModelFolder(kind_of_words(name).kind, name) for name in folders), *scorers]
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
    option("--model", f"Model.  [default: {DEFAULT_MODEL}]", GENERATIVE, "folders", multiple=True),
    goes(means=lambda values: tuple(scorer.name for scorer in values["scorers"])),
    option(
        "--scorer",
        "Instead: n-grams of training sentences, or surprisals of a table.",
        ScorerName(SCORERS),
        "scorers",
        multiple=True,
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
    needing = ["`output` FILE.trees"] * (".trees" in outputs) + given_options(*SEARCHED, also)
    if needing and not any(system.has_trees for system in systems):
        raise RnngError(f"{needing[0]} is for generative models with trees")


def given_options(*names: str) -> list[str]:
    """Return the options of some names that are on the command line, for a message."""
    return [f"`{name}`" for name in names if is_given(name)]


def search_options(*more: Callable, without: Collection[str] = ()) -> Callable:
    """Return a decorator that adds search options and `more`; the command gets `options`."""
    shown = [_option(name) for name in SEARCHED if name not in without]
    return together("options", SearchOptions, *shown, *more)


def _searches(name: str, rule: str = "with") -> str:
    """Return the rule that an option goes with the searches that read it."""
    searches = (search for search in SEARCHES if name in SEARCHES[search].reads)
    return f"{rule} `search` {'/'.join(searches)}"


_seed = option("--seed", "Random seed.", SEED, default=1, metavar="N")
seed_option = all_of(goes(partial(_searches, rule="with `decode` mbr or `generator` or")), _seed)


def _option(name: str) -> Callable:
    if name == "search":
        choice, shown = LiveChoice(SEARCHES), "The search of a generative model."
        return option("--search", shown, choice, default=SEARCHES.default)
    field, flags = _FIELDS[name], "--" + name.replace("_", "-")
    how = {"is_flag": True}
    if field.type != "bool":
        how = {"kind": field.metadata["type"], "default": field.default, "metavar": "N"}
    return all_of(goes(_searches), option(flags, field.metadata["help"], **how))


def decode_option(best: str) -> Callable:
    """Return the decorator for `--decode`; `best` describes the tree without it."""
    text = f"{best}, or the tree with the highest expected F1."
    decode = option("--decode", text, click.Choice(["best", "mbr"]), default="best")
    return all_of(goes("without `generator`, with `output`"), decode)


def predictions_option(help: str) -> Callable:
    """Return the decorator for `--prediction`; the command gets numbered `predictions`."""

    def make(predictions: Sequence[str]) -> list[Formula]:
        return [Formula(text, str(number)) for number, text in enumerate(predictions, 1)]

    name, how = "predictions", {"metavar": "FORMULA", "multiple": True}
    return together(name, make, option("--prediction", help, name=name, **how))
