"""Readers of test suites: SyntaxGym's JSON, minimal pairs in two columns or JSON lines (BLiMP), tables of stimuli."""

from __future__ import annotations

import json
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from oracle.brackets import escape_brackets
from oracle.errors import InputError, RnngError, listed
from oracle.files import WHITE_SPACE, placed, read_lines, reading, split_words
from oracle.tables import is_whole_number, read_table
from rnng_dy.evaluation.suites import Condition, Formula, Item, Suite
from rnng_dy.evaluation.unknown_words import SHOWN_WORDS
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import running_text
from rnng_dy.text.stimuli import USUAL, Columns, read_stimuli

Tokenize = Callable[[str], Sequence[str]]
FOLDER = Path(__file__).parent / "data"
"""The folder of the suites that come with the package."""
PAIR_NAMES = (
    *(("sentence_good", "sentence_bad"), ("good", "bad"), ("good_sentence", "bad_sentence")),
    *(("grammatical_sentence", "ungrammatical_sentence"), ("grammatical", "ungrammatical")),
    *(("acceptable", "unacceptable"), ("correct", "incorrect")),
)
"""The usual names of the sentences of a minimal pair, in lower case."""
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

    Without a segmenter, blanks separate tokens; texts that look like running text get a warning. Items that belong to
    no prediction, such as fillers, are left out with a warning.
    """
    if predictions:
        suites = [_of_stimuli(source, predictions, segmenter, columns) for source in sources]
    else:
        tokenize = segmenter.tokens if segmenter else tokens_of
        suites = [suite for source in sources for suite in read_suites(source, tokenize)]
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

    The numbers of regions are those of the table, or else count the names of regions. Raises InputError for an item
    that has a condition twice, and for a text without words.
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
            name = "" if is_whole_number(region.name) else region.name
            regions.append((number, tokens))
            names.setdefault(number, name)
        items.setdefault(item, []).append((condition, regions, ends))
    if counted and len(names) > len(counted):
        raise InputError("some regions have numbers as names, others words: use one of them", path)
    own = all(map(is_whole_number, items))
    with placed(path):
        made = tuple(Item.of(int(name) if own else name, of) for name, of in items.items())
    return Suite(Path(path).stem, path, names, tuple(predictions), made)


def read_suites(source: str, tokenize: Tokenize = tokens_of) -> list[Suite]:
    """Return the suites of a file, or of one of the package's files by its name.

    Minimal pairs have a suite per phenomenon, which is their UID as in BLiMP. Other files are one suite. `tokenize`
    splits sentences, or each region by itself, into tokens.
    Raises InputError that names the place, RnngError if neither a file nor a suite has the name.
    """
    known = shipped()
    path = str(known.get(source, source))
    if path != "-" and os.sep not in source and not os.path.exists(path):
        raise RnngError(f"{source} is no file and none of the suites {', '.join(known)}")
    texts = {} if path.lower().endswith(".xlsx") else dict(read_lines(path))
    lines = {number: text for number, text in texts.items() if text.strip(WHITE_SPACE)}
    first = next(iter(lines.values()), "").lstrip(WHITE_SPACE)
    keys = re.findall(r'"(\w+)"\s*:', first)
    if first.startswith("{") and not any(good in keys for good, _ in PAIR_NAMES):
        return [_syntaxgym("".join(texts.values()), path, tokenize)]
    pairs: dict[str, list[Item]] = {}
    for line, phenomenon, *sentences in _pairs(path, lines, first):
        with placed(path, line):
            both = zip((GOOD, BAD), map(tokenize, sentences), strict=True)
            item = Item.of(line, [(name, [(1, words)], ()) for name, words in both])
            pairs.setdefault(phenomenon, []).append(item)
    if not pairs:
        raise InputError("no test suite in this file", path)
    name = "standard input" if path == "-" else Path(path).stem
    return [
        Suite(phenomenon if len(pairs) > 1 else name, path, {1: "sentence"}, (_PAIR,), tuple(items))
        for phenomenon, items in pairs.items()
    ]


def _pairs(path: str, lines: Mapping[int, str], first: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield the line, the phenomenon, which may be empty, and the sentences of each minimal pair.

    Args:
        path: The file, for messages, and if it is a workbook for reading.
        lines: Its lines by their numbers, without empty ones.
        first: The first line.
    """
    header = {name.strip('" \r\n').lower() for name in re.split("[,;\t]", first)}
    if not lines or any(header.issuperset(names) for names in PAIR_NAMES):
        _, names, rows = read_table(path, quoted_tsv=True, lines=lines.items())
        found = ((line, dict(zip(names, cells, strict=True))) for line, cells in rows)
    elif first.startswith("["):
        with reading(path):
            found = enumerate(_read_json("".join(lines.values())), 1)
    elif first.startswith("{"):
        found = ((line, text) for line, text in lines.items())
    else:
        yield from _plain_pairs(path, lines)
        return
    shown = " or ".join(" and ".join(map(repr, names)) for names in PAIR_NAMES[:2])
    for line, content in found:
        with reading(path, line, f"each pair has {shown}"):
            row = _read_json(content) if isinstance(content, str) else content
            named = {key.lower(): value for key, value in row.items()}
            there = [names for names in PAIR_NAMES if named.keys() >= {*names}]
            if not there:
                raise RnngError(f"no pair in {', '.join(row)}")
            good, bad = there[0]
            yield line, str(named.get("uid", "")), named[good] + "", named[bad] + ""


def _plain_pairs(path: str, lines: Mapping[int, str]) -> Iterator[tuple[int, str, str, str]]:
    """Yield pairs of a line with a tab between the sentences, or of two lines that share most of their words."""
    if not any("\t" in text for text in lines.values()) and len(lines) % 2 == 0:
        numbered = list(lines.items())
        both = list(zip(numbered[::2], numbered[1::2], strict=True))
        if all(_are_alike(good, bad) for (_, good), (_, bad) in both):
            _log.warning(f"{path}: read as lines in turn, a good sentence and a bad one")
            for (line, good), (_, bad) in both:
                yield line, "", good, bad
            return
    for line, text in lines.items():
        sentences = text.rstrip("\r\n").split("\t")
        if len(sentences) != 2:
            message = (
                "not two sentences with a tab between them; a table of stimuli needs --prediction"
            )
            raise InputError(f"{len(sentences)} columns, {message}", path, line)
        yield line, "", *sentences


def _are_alike(good: str, bad: str) -> bool:
    words = [Counter(split_words(text)) for text in (good, bad)]
    return 2 * (words[0] & words[1]).total() > max(of.total() for of in words)


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
            formula = of_prediction["formula"]
            formulas.append(Formula(formula, str(of_prediction.get("name", i))))
    for i, of_item in found:
        with reading(path, remedy=f"see item {i} of the file"):
            items.append(_item(of_item, tokenize))
    return Suite(name, path, names, tuple(formulas), tuple(items))


def _item(content: Any, tokenize: Tokenize) -> Item:
    conditions = [
        (
            str(condition["condition_name"]),
            [(int(of["region_number"]), tokenize(of["content"])) for of in condition["regions"]],
            (),
        )
        for condition in content["conditions"]
    ]
    return Item.of(int(content["item_number"]), conditions)
