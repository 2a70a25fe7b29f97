"""Readers of test suites: SyntaxGym's JSON, minimal pairs in two columns or in JSON lines (BLiMP), built-in suites."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oracle.brackets import escape_brackets
from oracle.errors import InputError, RnngError
from oracle.files import WHITE_SPACE, read_lines, split_words
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
    name = "standard input" if path == "-" else Path(path).stem
    first = next(iter(lines.values())).lstrip(WHITE_SPACE)
    if first.startswith("{") and f'"{_GOOD}"' not in first:
        # with the empty lines between them, so that line numbers in messages are right
        whole = "".join(lines.get(number, "\n") for number in range(1, max(lines) + 1))
        return [_syntaxgym(_read_json(whole, path), path, tokenize)]
    pairs: dict[str, list[Item]] = {}
    for line, text in lines.items():
        read = _json_pair if first.startswith("{") else _two_columns
        phenomenon, *sentences = read(text, path, line)
        words = list(map(tokenize, sentences))
        if not all(words):
            raise InputError("a sentence without words", path, line)
        pairs.setdefault(phenomenon, []).append(pair(line, *words))
    names = pairs if len(pairs) > 1 else [name]
    return [suite_of_pairs(*of, path) for of in zip(names, pairs.values(), strict=True)]


def _two_columns(text: str, path: str, line: int) -> tuple[str, str, str]:
    columns = text.rstrip("\r\n").split("\t")
    if len(columns) != 2:
        raise InputError(
            f"{len(columns)} columns, not two sentences with a tab between them; a table of stimuli needs --prediction",
            path,
            line,
        )
    return ("", *columns)


def _json_pair(text: str, path: str, line: int) -> tuple[str, str, str]:
    """Return the phenomenon, which is empty if the line names none, and the sentences."""
    content = _read_json(text, path, line)
    try:
        return str(content.get("UID", "")), content[_GOOD] + "", content[_BAD] + ""
    except (AttributeError, KeyError, TypeError):
        message = f"an object with the texts {_GOOD!r} and {_BAD!r} is needed"
        raise InputError(message, path, line) from None


def _read_json(text: str, path: str, line: int = 1) -> Any:
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


@contextmanager
def _part(path: str, where: str) -> Iterator[None]:
    """Turn what is wrong in a part of SyntaxGym's JSON into an InputError that names the part."""
    try:
        yield
    except InputError:
        raise
    except KeyError as error:
        raise InputError(f"{where} has no {error}", path) from None
    except (AttributeError, TypeError, ValueError, RnngError) as error:
        raise InputError(f"{where}: {error}", path) from None


def _syntaxgym(content: Any, path: str, tokenize: Tokenize) -> Suite:
    """Return the suite of a JSON object. Messages name the item, condition and region."""
    with _part(path, "the suite"):
        meta = content.get("meta", {})
        metric = meta.get("metric", "sum")
        if metric not in METRICS:
            raise ValueError(f"the metric {metric!r} is none of {', '.join(METRICS)}")
        names = {int(number): str(name) for number, name in content.get("region_meta", {}).items()}
        # files of Hu et al. have their predictions as texts in `meta`, with an empty list here
        texts = [{"formula": text} for text in meta.get("string_predictions", [])]
        predictions = content.get("predictions") or texts
        items = content["items"]
        if not (predictions and items):
            raise ValueError("predictions and items are needed, one of each at least")
        return Suite(
            str(meta.get("name", Path(path).stem)),
            path,
            metric,
            names,
            tuple(_prediction(i, found, path) for i, found in enumerate(predictions, 1)),
            tuple(_item(i, found, path, tokenize) for i, found in enumerate(items, 1)),
        )


def _prediction(ordinal: int, content: Any, path: str) -> Prediction:
    with _part(path, f"prediction {ordinal}"):
        if content.get("type", "formula") != "formula":
            raise ValueError(f"its type is {content['type']!r}, and only 'formula' is known")
        return Prediction(str(content.get("name", ordinal)), Formula(content["formula"]))


def _item(ordinal: int, content: Any, path: str, tokenize: Tokenize) -> Item:
    with _part(path, f"the {ordinal}. item"):
        number = int(content["item_number"])
    with _part(path, f"item {number}"):
        conditions = {}
        for found in content["conditions"]:
            name = str(found["condition_name"])
            if name in conditions:
                raise ValueError(f"the condition {name!r} is there twice")
            where = f"item {number}, condition {name!r}"
            conditions[name] = _condition(name, found, path, where, tokenize)
        return Item(number, tuple(conditions.values()))


def _condition(name: str, content: Any, path: str, where: str, tokenize: Tokenize) -> Condition:
    with _part(path, where):
        regions: dict[int, Region] = {}
        for found in content["regions"]:
            number = int(found["region_number"])
            if number in regions:
                raise ValueError(f"the region {number} is there twice")
            regions[number] = Region(number, tuple(tokenize(found["content"])))
        condition = Condition(name, tuple(regions.values()))
        if not condition.tokens:
            raise ValueError("a sentence without words")
        return condition
