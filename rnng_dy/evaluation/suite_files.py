"""Readers of test suites: SyntaxGym's JSON, minimal pairs, tables of stimuli."""

import logging
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any

from oracle.common.errors import InputError, RnngError, listed
from oracle.common.files import WHITE_SPACE, placed, read_lines, reading, split_words
from oracle.common.tables import cell_text, is_whole_number
from rnng_dy.evaluation.pair_files import read_json, read_pairs, text_of
from rnng_dy.evaluation.suites import Condition, Formula, Item, Suite, numbers_of
from rnng_dy.evaluation.unknown_words import SHOWN_WORDS
from rnng_dy.text.columns import USUAL, Columns, as_names, require_names
from rnng_dy.text.no_sentences import require_sentence, running_text
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.stimuli import Stimulus, StimulusRegion, read_stimuli, tokens_of
from rnng_dy.text.stimulus_rows import report_filled

FOLDER = Path(__file__).parent / "data"
"""The folder of the suites that come with the package."""
GOOD, BAD = "good", "bad"
"""The conditions of a minimal pair."""
_PAIR = Formula(f"(*;%{GOOD}%) < (*;%{BAD}%)", "good is more probable")
"""The prediction for minimal pairs; a tie is wrong."""
_log = logging.getLogger(__name__)


def shipped() -> dict[str, Path]:
    """Return the paths of the suites that come with the package, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.json*"))}


def suites_of(
    sources: Sequence[str],
    predictions: Sequence[Formula],
    segmenter: Segmenter | None,
    columns: Columns = USUAL,
) -> list[Suite]:
    """Return the suites of files, which are tables of stimuli if there are predictions.

    Without a segmenter, blanks separate tokens; texts that look like running text get a warning.
    Items that belong to no prediction, such as fillers, are left out with a warning. If there is a
    column of groups, the suites of each group come before that of all items.
    """
    if predictions:
        suites = [_of_stimuli(source, predictions, segmenter, columns) for source in sources]
    else:
        suites = [s for source in sources for s in read_suites(source, segmenter, columns)]
    several = Counter(suite.name for suite in suites)
    suites = [
        replace(suite, name=f"{suite.path}: {suite.name}") if several[suite.name] > 1 else suite
        for suite in suites
    ]
    if not segmenter:
        for suite in suites:
            if looks_running := running_text(suite.sentences(), "add --text"):
                _log.warning(f"{suite.name}: {looks_running[1]}")
    suites = [without_fillers(suite) for suite in suites]
    return [s for suite in suites for s in (*(suite.by_group() if columns.by else ()), suite)]


def without_fillers(suite: Suite) -> Suite:
    """Return the suite without items that lack a part of each prediction; warn of other lacks."""
    for prediction in suite.predictions:
        lacks = {item.name: lack for item in suite.items if (lack := item.lacks(prediction))}
        for name, lack in list(lacks.items())[:1]:
            _log.warning(
                f"{suite.name}: prediction {prediction.name}: left out: {len(lacks)} of "
                f"{len(suite.items)} items, which lack a condition or region of it: "
                f"{listed([*lacks], SHOWN_WORDS)}; item {name} has {lack}"
            )
    kept = (item for item in suite.items if not all(map(item.lacks, suite.predictions)))
    return replace(suite, items=tuple(kept)) if suite.predictions else suite


def _of_stimuli(
    path: str, predictions: Sequence[Formula], segmenter: Segmenter | None, columns: Columns
) -> Suite:
    """Return the suite of a table of stimuli; items have numbers if all their names are numbers.

    Raises InputError for an item that has a condition twice, and for a text without words.
    """
    stimuli = read_stimuli(path, columns)
    with placed(path, 1):
        require_names(as_names(columns.by), stimuli.columns)
    for column in ("item", "condition"):
        if getattr(stimuli.texts[0], column) is None:
            message = f"no column {column!r}, which a test suite needs: name it by --{column}"
            raise InputError(message, path, 1)
    by = [*stimuli.columns].index(columns.by) if columns.by else None
    tokenised = stimuli.tokenised(segmenter) if segmenter else repeat(None)
    items: dict[str, list[Condition]] = {}
    filled = []
    names: dict[tuple[int, str], None] = {}
    for text, sentences in zip(stimuli.texts, tokenised, strict=False):
        for region in text.regions:
            # a number that is not the region's, such as -1, is its name
            names[region.number, region.name * (region.name != str(region.number))] = None
        others = items.setdefault(text.item, [])
        written = {cell_text(row[by]) for _, row in text.row_cells if columns.by} - {""}
        # merged cells have the value in the first of them
        groups = written or {other.group for other in others[:1]}
        if columns.by and len(groups) != 1:
            what = "several groups" if groups else "no group: write one in its first row"
            raise InputError(f"item {text.item} has {what}", path, text.line)
        filled += [text.line] * bool(columns.by and not written)
        ends = list(accumulate(len(sentence.tokens) for sentence in sentences or ()))[:-1]
        others.append(Condition(text.condition, text.regions_of(sentences), ends, *groups))
    report_filled(path, filled, "groups")
    # the first name of each number
    region_names = dict(reversed(names))
    with placed(path):
        formulas = tuple(formula.numbered(numbers_of(names)) for formula in predictions)
        named = zip(_names([*items]), items.values(), strict=True)
        made = tuple(Item.of(name, conditions) for name, conditions in named)
    return Suite(Path(path).stem, path, dict(sorted(region_names.items())), formulas, made)


def _names(names: Sequence[str]) -> Sequence[int | str]:
    """Return the names of items, as numbers if all of them are."""
    are_numbers = all(is_whole_number(name) and str(int(name)) == name for name in names)
    return [*map(int, names)] if are_numbers else names


def read_suites(
    source: str, segmenter: Segmenter | None = None, columns: Columns = USUAL
) -> list[Suite]:
    """Return the suites of a file, or of one of the package's files by its name.

    Minimal pairs have a suite per phenomenon, which is their UID as in BLiMP, or one suite with the
    groups of a column. Other files are one suite. Without a segmenter, blanks separate tokens.
    `columns` names those of good and of bad sentences, of items, and of groups of a table of pairs.
    Raises InputError that names the place, RnngError if neither a file nor a suite has the name.
    """
    known = shipped()
    path = str(known.get(source, source))
    if path != "-" and os.sep not in source and not os.path.exists(path):
        raise RnngError(f"{source} is no file and none of the suites {', '.join(known)}")
    texts = {} if path.lower().endswith(".xlsx") else dict(read_lines(path))
    lines = {number: text for number, text in texts.items() if text.strip(WHITE_SPACE)}
    first = next(iter(lines.values()), "").lstrip(WHITE_SPACE)
    keys = {*re.findall(r'"(\w+)"\s*:', first)}
    are_lines = columns != USUAL or keys.isdisjoint(["meta", "items"])
    if first.startswith("{") and not (are_lines and first.rstrip().endswith("}")):
        if columns != USUAL:
            raise InputError("a suite in JSON has no columns, items or marks to name", path)
        return [_syntaxgym("".join(texts.values()), path, segmenter)]
    pairs = read_pairs(path, lines, first, columns)
    if not pairs:
        raise InputError("no test suite in this file", path)
    tokenize = segmenter.tokens if segmenter else tokens_of
    suites: dict[str, list[Item]] = {}
    names = _names([pair.item or str(pair.line) for pair in pairs])
    for pair, name in zip(pairs, names, strict=True):
        with placed(path, pair.line):
            conditions = [
                Condition(kind, [(1, tokenize(getattr(pair, kind)))], group=pair.group)
                for kind in (GOOD, BAD)
            ]
            item = Item.of(name, conditions)
        suites.setdefault("" if columns.by else pair.group, []).append(item)
    whole = "standard input" if path == "-" else Path(path).stem
    return [
        Suite(name if len(suites) > 1 else whole, path, {1: "sentence"}, (_PAIR,), tuple(items))
        for name, items in suites.items()
    ]


def _syntaxgym(text: str, path: str, segmenter: Segmenter | None) -> Suite:
    """Return the suite of a JSON object. Raises InputError that names the item."""
    with reading(path):
        content = read_json(text)
        meta = content.get("meta", {})
        if meta.get("metric", "sum") != "sum":
            raise RnngError(f"the metric {meta['metric']!r} is not the sum of surprisals")
        names = {int(number): str(name) for number, name in content.get("region_meta", {}).items()}
        # files of Hu et al. have their predictions as texts in `meta`, with an empty list here
        texts = [{"formula": text} for text in meta.get("string_predictions", [])]
        predictions = [*(content.get("predictions") or texts)]
        items = [*(content["items"] or [])]
        if not (predictions and items):
            raise RnngError("predictions and items are needed, one of each at least")
        name = str(meta.get("name", Path(path).stem))
    formulas, numbers = [], numbers_of(names.items())
    for i, prediction in enumerate(predictions, 1):
        with reading(path, remedy=f"see prediction {i}"):
            formula = Formula(prediction["formula"], str(prediction.get("name", i)))
            formulas.append(formula.numbered(numbers))
    made = []
    for i, item in enumerate(items, 1):
        with reading(path, remedy=f"see item {i} of the file"):
            made.append(_item(item, segmenter))
    if repeated := [number for number, n in Counter(x.name for x in made).items() if n > 1]:
        raise InputError(f"item {repeated[0]} is there twice: number items apart", path)
    return Suite(name, path, names, tuple(formulas), tuple(made))


def _item(content: Any, segmenter: Segmenter | None) -> Item:
    """Return an item; a blank stands between its regions, and sentences are split as a whole."""
    conditions = []
    for condition in content["conditions"]:
        name, text, regions = str(condition["condition_name"]), "", []
        for region in condition["regions"]:
            number = int(region["region_number"])
            what = f"item {content['item_number']}, condition {name}, region {number}: content"
            words = " ".join(split_words(text_of(region["content"], what)))
            text += " " * bool(text and words)
            regions.append(StimulusRegion(number, "", len(text), ()))
            text += words
        if text:
            require_sentence(text)
        try:
            sentences = segmenter.sentences(text, one_per_line=True) if segmenter else None
        except InputError as error:
            # its line is that of the item's text, not of the file
            raise RnngError(error.message) from None
        whole = Stimulus(text, 0, regions, (), None, None)
        conditions.append(Condition(name, whole.regions_of(sentences)))
    return Item.of(int(content["item_number"]), conditions)
