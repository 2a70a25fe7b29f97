"""Readers of test suites: SyntaxGym's JSON, minimal pairs in two columns or in JSON lines (BLiMP), built-in suites."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from oracle.brackets import escape_brackets
from oracle.errors import InputError, RnngError
from oracle.files import WHITE_SPACE, read_lines, reading, split_words
from rnng_dy.evaluation.formula import Formula
from rnng_dy.evaluation.suites import (
    METRICS,
    Condition,
    Item,
    Prediction,
    Region,
    Suite,
    pair,
    suite_of_pairs,
)

Tokenize = Callable[[str], Sequence[str]]
FOLDER = Path(__file__).parent / "data"
"""The folder of the suites that come with the package."""
_GOOD, _BAD = "sentence_good", "sentence_bad"


def tokens_of(text: str) -> list[str]:
    """Return tokens separated by blanks, with brackets as in the treebank.

    >>> tokens_of("The sale ( in May ) is off .")
    ['The', 'sale', '-LRB-', 'in', 'May', '-RRB-', 'is', 'off', '.']
    """
    return [escape_brackets(token) for token in split_words(text)]


def shipped() -> dict[str, Path]:
    """Return the paths of the suites that come with the package, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.json*"))}


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
    lines = {number: text for number, text in read_lines(path) if text.strip(WHITE_SPACE)}
    if not lines:
        raise InputError("no test suite in this file", path)
    first = next(iter(lines.values())).lstrip(WHITE_SPACE)
    if first.startswith("{") and f'"{_GOOD}"' not in first:
        # with the empty lines between them, so that line numbers in messages are right
        whole = "".join(lines.get(number, "\n") for number in range(1, max(lines) + 1))
        return [_syntaxgym(whole, path, tokenize)]
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
        metric = meta.get("metric", "sum")
        if metric not in METRICS:
            raise RnngError(f"the metric {metric!r} is none of {', '.join(METRICS)}")
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
    return Suite(name, path, metric, names, tuple(formulas), tuple(items))


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
