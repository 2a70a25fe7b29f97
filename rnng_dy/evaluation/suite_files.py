"""Readers of test suites: SyntaxGym's JSON, minimal pairs in two columns or JSON lines (BLiMP), tables of stimuli."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from oracle.brackets import escape_brackets
from oracle.common.errors import InputError, RnngError, listed
from oracle.common.files import WHITE_SPACE, placed, read_lines, reading, split_words
from oracle.common.tables import is_whole_number
from rnng_dy.evaluation.pair_files import read_json, read_pairs, text_of
from rnng_dy.evaluation.suites import Condition, Formula, Item, Suite
from rnng_dy.evaluation.unknown_words import SHOWN_WORDS
from rnng_dy.text.columns import USUAL, Columns
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import running_text
from rnng_dy.text.stimuli import read_stimuli

Tokenize = Callable[[str], Sequence[str]]
FOLDER = Path(__file__).parent / "data"
"""The folder of the suites that come with the package."""
GOOD, BAD = "good", "bad"
"""The conditions of a minimal pair."""
_PAIR = Formula(f"(*;%{GOOD}%) < (*;%{BAD}%)", "good is more probable")
"""The prediction for minimal pairs; a tie is wrong."""
_log = logging.getLogger(__name__)


def tokens_of(text: str) -> list[str]:
    """Return tokens separated by blanks, with brackets as in the treebank.

    >>> tokens_of("The sale ( in May ) is off .")
    ['The', 'sale', '-LRB-', 'in', 'May', '-RRB-', 'is', 'off', '.']
    """
    return [escape_brackets(token) for token in split_words(text)]


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
    Items that belong to no prediction, such as fillers, are left out with a warning.
    """
    if predictions:
        suites = [_of_stimuli(source, predictions, segmenter, columns) for source in sources]
    else:
        tokenize = segmenter.tokens if segmenter else tokens_of
        suites = [suite for source in sources for suite in read_suites(source, tokenize, columns)]
    if not segmenter:
        for suite in suites:
            if found := running_text(suite.sentences()):
                _log.warning(f"{suite.name}: {found[1]}")
    return [_without_fillers(suite) for suite in suites]


def _without_fillers(suite: Suite) -> Suite:
    """Return the suite without items that lack a region of each prediction; warn of items that lack one."""
    for prediction in suite.predictions:
        if lacking := [(of.name, what) for of in suite.items if (what := of.lacks(prediction))]:
            counts = f"{len(lacking)} of {len(suite.items)} items"
            name, what = lacking[0]
            _log.warning(
                f"{suite.name}: prediction {prediction.name}: left out: {counts}, which lack a condition or region "
                f"of it: {listed([of for of, _ in lacking], SHOWN_WORDS)}; item {name} has {what}"
            )
    kept = (item for item in suite.items if not all(map(item.lacks, suite.predictions)))
    return replace(suite, items=tuple(kept))


def _of_stimuli(
    path: str, predictions: Sequence[Formula], segmenter: Segmenter | None, columns: Columns
) -> Suite:
    """Return the suite of a table of stimuli; items have numbers if all their names are numbers.

    The numbers of regions are those of the table, or else count the names of regions. Raises
    InputError for an item that has a condition twice, and for a text without words.
    """
    stimuli = read_stimuli(path, columns)
    texts = stimuli.tokenised(segmenter) if segmenter else []
    items: dict[str, list[Condition]] = {}
    names: dict[int, str] = {}
    counted: dict[str, int] = {}
    for i, (item, condition, of) in enumerate(stimuli.conditions()):
        found = [(region, tokens_of(text)) for region, text in of.region_texts]
        ends: list[int] = []
        if segmenter:
            found = of.tokens_by_region(texts[i])
            ends = list(accumulate(len(sentence.tokens) for sentence in texts[i]))[:-1]
        regions = []
        for region, tokens in found:
            number = region.number
            if number is None:
                number = counted.setdefault(region.name, len(counted) + 1)
            # a number that is not the region's, such as -1, is its name
            name = "" if region.name == str(region.number) else region.name
            regions.append((number, tokens))
            names.setdefault(number, name)
        items.setdefault(item, []).append((condition, regions, ends))
    if counted and len(names) > len(counted):
        raise InputError("some regions have numbers as names, others words: use one of them", path)
    with placed(path):
        named = zip(_names([*items]), items.values(), strict=True)
        made = tuple(Item.of(name, of) for name, of in named)
    return Suite(Path(path).stem, path, names, tuple(predictions), made)


def _names(names: Sequence[str]) -> Sequence[int | str]:
    """Return the names of items, as numbers if all of them are."""
    are_numbers = all(is_whole_number(name) and str(int(name)) == name for name in names)
    return [*map(int, names)] if are_numbers else names


def read_suites(
    source: str, tokenize: Tokenize = tokens_of, columns: Columns = USUAL
) -> list[Suite]:
    """Return the suites of a file, or of one of the package's files by its name.

    Minimal pairs have a suite per phenomenon, which is their UID as in BLiMP. Other files are one
    suite. `tokenize` splits sentences, or each region by itself, into tokens. `columns` names those
    of good and of bad sentences, and of items, of a table of pairs.
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
        return [_syntaxgym("".join(texts.values()), path, tokenize)]
    pairs = read_pairs(path, lines, first, columns)
    if not pairs:
        raise InputError("no test suite in this file", path)
    by_phenomenon: dict[str, list[Item]] = {}
    names = _names([pair.item or str(pair.line) for pair in pairs])
    for pair, item in zip(pairs, names, strict=True):
        with placed(path, pair.line):
            conditions = zip((GOOD, BAD), map(tokenize, (pair.good, pair.bad)), strict=True)
            of = Item.of(item, [(name, [(1, words)], ()) for name, words in conditions])
            by_phenomenon.setdefault(pair.phenomenon, []).append(of)
    name = "standard input" if path == "-" else Path(path).stem
    return [
        Suite(of if len(by_phenomenon) > 1 else name, path, {1: "sentence"}, (_PAIR,), tuple(items))
        for of, items in by_phenomenon.items()
    ]


def _syntaxgym(text: str, path: str, tokenize: Tokenize) -> Suite:
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
        found = [*(content["items"] or [])]
        if not (predictions and found):
            raise RnngError("predictions and items are needed, one of each at least")
        name = str(meta.get("name", Path(path).stem))
    formulas, items = [], []
    for i, of in enumerate(predictions, 1):
        with reading(path, remedy=f"see prediction {i}"):
            formulas.append(Formula(of["formula"], str(of.get("name", i))))
    for i, of in enumerate(found, 1):
        with reading(path, remedy=f"see item {i} of the file"):
            items.append(_item(of, tokenize))
    return Suite(name, path, names, tuple(formulas), tuple(items))


def _item(content: Any, tokenize: Tokenize) -> Item:
    conditions = []
    for condition in content["conditions"]:
        name, regions = str(condition["condition_name"]), []
        for of in condition["regions"]:
            number = int(of["region_number"])
            what = f"item {content['item_number']}, condition {name}, region {number}: content"
            regions.append((number, tokenize(text_of(of["content"], what))))
        conditions.append((name, regions, ()))
    return Item.of(int(content["item_number"]), conditions)
