"""Readers of test suites: SyntaxGym's JSON, minimal pairs in two columns or JSON lines (BLiMP), tables of stimuli."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from oracle.brackets import escape_brackets
from oracle.errors import InputError, RnngError, placed
from oracle.files import WHITE_SPACE, read_lines, reading, split_words
from oracle.numerals import is_whole_number
from rnng_dy.evaluation.formula import Formula
from rnng_dy.evaluation.suites import (
    Condition,
    Item,
    Prediction,
    Region,
    Suite,
    pair,
    suite_of_pairs,
)
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import RawText
from rnng_dy.text.stimuli import read_stimuli
from rnng_dy.text.tokens import running_text

Tokenize = Callable[[str], Sequence[str]]
FOLDER = Path(__file__).parent / "data"
"""The folder of the suites that come with the package."""
_GOOD, _BAD = "sentence_good", "sentence_bad"
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
    sources: Sequence[str], predictions: Sequence[Formula], segmenter: Segmenter | None
) -> list[Suite]:
    """Return the suites of files, which are tables of stimuli if there are predictions.

    Without a segmenter, blanks separate tokens; texts that look like running text get a warning.
    """
    if predictions:
        suites = [_of_stimuli(source, predictions, segmenter) for source in sources]
    else:
        tokenize = partial(_plain_tokens, segmenter) if segmenter else tokens_of
        suites = [suite for source in sources for suite in read_suites(source, tokenize)]
    if not segmenter:
        for suite in suites:
            if found := running_text([sentence.tokens for sentence in suite.sentences()]):
                _log.warning(f"{suite.name}: {found[1]}")
    return suites


def _of_stimuli(path: str, predictions: Sequence[Formula], segmenter: Segmenter | None) -> Suite:
    """Return the suite of a table of stimuli; items keep their numbers if they all have one.

    The numbers of regions are their names if these are numbers, or else count them by name. Raises InputError for an
    item that has a condition twice, and for a sentence without words.
    """
    stimuli, text = read_stimuli(path), RawText()
    items: dict[str, list[Condition]] = {}
    numbers: dict[str, int] = {}
    for item, condition, of in stimuli.conditions():
        if segmenter:
            found = of.tokens_by_region(text.read_line(of.text, path, of.line, segmenter))
        else:
            found = [(name, tokens_of(content)) for name, content in of.region_texts]
        for name, _ in found:
            counted = len(numbers) + 1
            numbers.setdefault(name, int(name) if is_whole_number(name) else counted)
        regions = tuple(Region(numbers[name], tuple(tokens)) for name, tokens in found)
        items.setdefault(item, []).append(Condition(condition, regions))
    if len(set(numbers.values())) < len(numbers):
        raise InputError("some regions have numbers as names, others words: use one of them", path)
    own = all(map(is_whole_number, items))
    with placed(path):
        return Suite(
            Path(path).stem,
            path,
            {number: "" if is_whole_number(of) else of for of, number in numbers.items()},
            tuple(Prediction(str(i), formula) for i, formula in enumerate(predictions, 1)),
            tuple(
                Item(int(item) if own else i, tuple(conditions))
                for i, (item, conditions) in enumerate(items.items(), 1)
            ),
        )


def _plain_tokens(segmenter: Segmenter, text: str) -> list[str]:
    return [token for of in segmenter.sentences(text, one_per_line=True) for token in of.tokens]


def read_suite(source: str, tokenize: Tokenize = tokens_of) -> Suite:
    """Return the only suite of a file (see `read_suites`). Raises InputError if it has several."""
    first, *others = read_suites(source, tokenize)
    if others:
        raise InputError(f"{1 + len(others)} phenomena in this file, not one suite", source)
    return first


def read_suites(source: str, tokenize: Tokenize = tokens_of) -> list[Suite]:
    """Return the suites of a file, or of one of the package's files by its name.

    JSON lines of minimal pairs have a suite per phenomenon, which is their UID as in BLiMP. Other files are one suite.
    `tokenize` splits sentences, or each region by itself, into tokens.
    Raises InputError that names the place, RnngError if neither a file nor a suite has the name.
    """
    known = shipped()
    path = str(known.get(source, source))
    if path != "-" and os.sep not in source and not os.path.exists(path):
        raise RnngError(f"{source} is no file and none of the suites {', '.join(known)}")
    texts = dict(read_lines(path))
    lines = {number: text for number, text in texts.items() if text.strip(WHITE_SPACE)}
    if not lines:
        raise InputError("no test suite in this file", path)
    first = next(iter(lines.values())).lstrip(WHITE_SPACE)
    if first.startswith("{") and f'"{_GOOD}"' not in first:
        return [_syntaxgym("".join(texts.values()), path, tokenize)]
    read = _json_pair if first.startswith("{") else _two_columns
    pairs: dict[str, list[Item]] = {}
    for line, text in lines.items():
        remedy = f"each line has {_GOOD!r} and {_BAD!r}" if read is _json_pair else ""
        with reading(path, line, remedy):
            phenomenon, *sentences = read(text)
            pairs.setdefault(phenomenon, []).append(pair(line, *map(tokenize, sentences)))
    name = "standard input" if path == "-" else Path(path).stem
    names = pairs if len(pairs) > 1 else [name]
    return [suite_of_pairs(*of, path) for of in zip(names, pairs.values(), strict=True)]


def _two_columns(text: str) -> tuple[str, str, str]:
    """Return an empty phenomenon, and the sentences."""
    columns = text.rstrip("\r\n").split("\t")
    if len(columns) != 2:
        raise RnngError(
            f"{len(columns)} columns, not two sentences with a tab between them; a table of stimuli needs --prediction"
        )
    return ("", *columns)


def _json_pair(text: str) -> tuple[str, str, str]:
    """Return the phenomenon, which is empty if the line names none, and the sentences."""
    content = _read_json(text)
    return str(content.get("UID", "")), content[_GOOD] + "", content[_BAD] + ""


def _read_json(text: str) -> Any:
    found = json.loads(text)
    # JSON allows half of a surrogate pair, which no text can contain
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def _syntaxgym(text: str, path: str, tokenize: Tokenize) -> Suite:
    """Return the suite of a JSON object. Raises InputError that names the item."""
    with reading(path):
        content = _read_json(text)
        meta = content.get("meta", {})
        if meta.get("metric", "sum") != "sum":
            raise RnngError(f"the metric {meta['metric']!r} is not the sum of surprisals")
        names = {int(number): str(name) for number, name in content.get("region_meta", {}).items()}
        # files of Hu et al. have their predictions as texts in `meta`, with an empty list here
        texts = [{"formula": text} for text in meta.get("string_predictions", [])]
        predictions = [*enumerate(content.get("predictions") or texts, 1)]
        found = [*enumerate(content["items"] or [], 1)]
        if not (predictions and found):
            raise RnngError("predictions and items are needed, one of each at least")
        name = str(meta.get("name", Path(path).stem))
    formulas, items = [], []
    for i, of_prediction in predictions:
        with reading(path, remedy=f"see prediction {i}"):
            formulas.append(_prediction(i, of_prediction))
    for i, of_item in found:
        with reading(path, remedy=f"see item {i} of the file"):
            items.append(_item(of_item, tokenize))
    return Suite(name, path, names, tuple(formulas), tuple(items))


def _prediction(ordinal: int, content: Any) -> Prediction:
    if content.get("type", "formula") != "formula":
        raise RnngError(f"its type is {content['type']!r}, and only 'formula' is known")
    return Prediction(str(content.get("name", ordinal)), Formula(content["formula"]))


def _item(content: Any, tokenize: Tokenize) -> Item:
    conditions = [
        Condition(
            str(condition["condition_name"]),
            tuple(
                Region(int(region["region_number"]), tuple(tokenize(region["content"])))
                for region in condition["regions"]
            ),
        )
        for condition in content["conditions"]
    ]
    return Item(int(content["item_number"]), tuple(conditions))
