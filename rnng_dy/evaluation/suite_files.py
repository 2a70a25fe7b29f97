"""Readers of test suites: SyntaxGym's JSON, minimal pairs in two columns or in JSON lines (BLiMP), built-in suites."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from oracle.brackets import escape_brackets
from oracle.errors import InputError, RnngError
from oracle.files import WHITE_SPACE, read_lines, split_words
from rnng_dy.evaluation.formula import Formula, FormulaError
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
_SUITE_KEYS = {"meta", "region_meta", "predictions", "items"}
_GOOD, _BAD = "sentence_good", "sentence_bad"
_KINDS = {str: "text", int: "a whole number", list: "a list", dict: "an object"}
_NUMBER = re.compile("[0-9]{1,9}")


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
    lines = [(number, text) for number, text in read_lines(path) if text.strip(WHITE_SPACE)]
    if not lines:
        raise InputError("no test suite in this file", path)
    name = "standard input" if path == "-" else Path(path).stem
    if not lines[0][1].lstrip(WHITE_SPACE).startswith("{"):
        return [suite_of_pairs(name, path, [_row(tokenize, path, *line) for line in lines])]
    if _is_a_pair(lines[0][1]):
        pairs: dict[object, list[Item]] = {}
        for line in lines:
            phenomenon, item = _json_pair(tokenize, path, *line)
            pairs.setdefault(phenomenon, []).append(item)
        names = pairs if len(pairs) > 1 else [name]
        return [
            suite_of_pairs(str(called), path, items)
            for called, items in zip(names, pairs.values(), strict=True)
        ]
    # with the empty lines between them, so that line numbers in messages are right
    texts = dict(lines)
    whole = "".join(texts.get(number, "\n") for number in range(1, lines[-1][0] + 1))
    return [_SyntaxGym(path, tokenize).suite(_read_json(whole, path))]


# minimal pairs


def _row(tokenize: Tokenize, path: str, line: int, text: str) -> Item:
    columns = text.rstrip("\r\n").split("\t")
    if len(columns) != 2:
        raise InputError(
            f"{len(columns)} columns, not two sentences with a tab between them; a table of stimuli needs --prediction",
            path,
            line,
        )
    return _pair(tokenize, path, line, *columns)


def _pair(tokenize: Tokenize, path: str, line: int, good: str, bad: str) -> Item:
    sentences = [tokenize(good), tokenize(bad)]
    if not all(sentences):
        raise InputError("a sentence without words", path, line)
    return pair(line, *sentences)


def _is_a_pair(line: str) -> bool:
    """Return whether this line is a minimal pair rather than a suite written on one line."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and not _SUITE_KEYS & set(content)


def _json_pair(tokenize: Tokenize, path: str, line: int, text: str) -> tuple[str, Item]:
    """Return a pair with its phenomenon, which is empty if the line names none."""
    content = _read_json(text, path, line)
    for key in (_GOOD, _BAD):
        if not isinstance(content, dict) or not isinstance(content.get(key), str):
            raise InputError(
                f"an object with the texts {_GOOD!r} and {_BAD!r} is needed", path, line
            )
    pair = _pair(tokenize, path, line, content[_GOOD], content[_BAD])
    return str(content.get("UID", "")), pair


def _read_json(text: str, path: str, line: int = 1) -> object:
    try:
        found = json.loads(text)
        # JSON allows half of a surrogate pair, which no text can contain
        json.dumps(found, ensure_ascii=False).encode("utf-8")
        return found
    except json.JSONDecodeError as error:
        message = f"no JSON at column {error.colno}: {error.msg}"
        raise InputError(message, path, line + error.lineno - 1) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON that can be read: {error}", path, line) from None


# SyntaxGym


class _SyntaxGym:
    """Reader of the JSON object of one file; messages name the item, condition and region."""

    def __init__(self, path: str, tokenize: Tokenize):
        self._path, self._tokenize = path, tokenize

    def suite(self, content: object) -> Suite:
        meta = self._field(content, "meta", dict, "the suite", {})
        name = self._field(meta, "name", str, "meta", Path(self._path).stem)
        metric = self._field(meta, "metric", str, "meta", "sum")
        if metric not in METRICS:
            raise self._error(f"the metric {metric!r} is none of {', '.join(METRICS)}")
        names = self._region_names(content)
        predictions = self._predictions(content, meta)
        items = self._listed(content, "items", "the suite")
        return Suite(
            name,
            self._path,
            metric,
            names,
            tuple(self._prediction(i, found) for i, found in enumerate(predictions, 1)),
            tuple(self._item(i, found, names) for i, found in enumerate(items, 1)),
        )

    def _error(self, message: str) -> InputError:
        return InputError(message, self._path)

    def _field(
        self, content: object, key: str, kind: type, where: str, default: object = None
    ) -> Any:
        """Return a field of an object. Raises InputError if it is missing and has no default, or has another type."""
        if not isinstance(content, dict):
            raise self._error(f"{where} is no object")
        found = content.get(key, default)
        if found is None:
            raise self._error(f"{where} has no {key!r}")
        # in Python True is an int
        if not isinstance(found, kind) or isinstance(found, bool):
            raise self._error(f"{where}: {key!r} is not {_KINDS[kind]}")
        return found

    def _listed(self, content: object, key: str, where: str) -> list[Any]:
        found = self._field(content, key, list, where)
        if not found:
            raise self._error(f"{where} has an empty list of {key}")
        return found

    def _region_names(self, content: object) -> Mapping[int, str]:
        """Return region names by number; empty if the suite has none."""
        named = self._field(content, "region_meta", dict, "the suite", {})
        for key, name in named.items():
            if not _NUMBER.fullmatch(key) or not isinstance(name, str):
                raise self._error(f"region_meta: {key!r} is no number with a text as its name")
        return {int(key): name for key, name in named.items()}

    def _predictions(self, content: object, meta: object) -> list[Any]:
        """Return the suite's predictions; files of Hu et al. have them as texts in `meta`, with an empty list here."""
        texts = self._field(meta, "string_predictions", list, "meta", [])
        if texts and not self._field(content, "predictions", list, "the suite", []):
            return [{"formula": text} for text in texts]
        return self._listed(content, "predictions", "the suite")

    def _prediction(self, ordinal: int, content: object) -> Prediction:
        where = f"prediction {ordinal}"
        text = self._field(content, "formula", str, where)
        kind = self._field(content, "type", str, where, "formula")
        if kind != "formula":
            raise self._error(f"{where}: its type is {kind!r}, and only 'formula' is known")
        try:
            formula = Formula(text)
        except FormulaError as error:
            raise self._error(f"{where}, {error}") from None
        return Prediction(self._field(content, "name", str, where, str(ordinal)), formula)

    def _item(self, ordinal: int, content: object, names: Mapping[int, str]) -> Item:
        number = self._field(content, "item_number", int, f"the {ordinal}. item")
        where = f"item {number}"
        listed = self._listed(content, "conditions", where)
        conditions = [self._condition(where, found, names) for found in listed]
        self._require_once([c.name for c in conditions], where, "condition")
        return Item(number, tuple(conditions))

    def _condition(self, where: str, content: object, names: Mapping[int, str]) -> Condition:
        name = self._field(content, "condition_name", str, f"{where}: a condition")
        where = f"{where}, condition {name!r}"
        listed = self._listed(content, "regions", where)
        condition = Condition(name, tuple(self._region(where, found, names) for found in listed))
        self._require_once([r.number for r in condition.regions], where, "region")
        if not condition.tokens:
            raise self._error(f"{where}: a sentence without words")
        return condition

    def _region(self, where: str, content: object, names: Mapping[int, str]) -> Region:
        number = self._field(content, "region_number", int, f"{where}: a region")
        if names and number not in names:
            raise self._error(f"{where}: region_meta has no region {number}")
        text = self._field(content, "content", str, f"{where}, region {number}")
        return Region(number, tuple(self._tokenize(text)))

    def _require_once(self, names: Sequence[object], where: str, what: str) -> None:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise self._error(f"{where} has the {what} {twice!r} twice")
