"""Readers of reading times, of frequencies and of surprisals."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oracle.errors import InputError
from oracle.numerals import is_whole_number
from oracle.tables import read_columns
from rnng_dy.evaluation.records import END, one_word

MISSING = ("", "NA", "nan")
"""Cells of a table without a number, where one may be missing."""


class Columns(NamedTuple):
    """Names of the columns of a table of reading times."""

    item: str = "item"
    position: str = "position"
    word: str = "word"
    time: str = "time"
    subject: str | None = None
    frequency: str | None = None


class Word(NamedTuple):
    """A word that was read."""

    item: str
    position: int
    """Its number in the item; the word before it has the number before."""
    text: str
    line: int
    """1-based line of the table."""
    count: float
    """Its frequency as a count; NaN if it has none."""


@dataclass(frozen=True)
class Times:
    """A table of reading times."""

    path: str
    words: Sequence[Word]
    """In the order in which they were read: by items, which are sorted if all are numbers, and positions."""
    times: np.ndarray
    """In ms, shape (rows,)."""
    word_of: np.ndarray
    """Per row, the index of its word, shape (rows,)."""
    subjects: Sequence[str] = ()
    """Names of the subjects, if the table has them."""
    subject_of: np.ndarray | None = None
    """Per row, the index of its subject, shape (rows,)."""


class Reading(NamedTuple):
    """A row of a table of surprisals."""

    text: str
    bits: float
    """Its surprisal; infinite or NaN if the model gives none."""
    is_known: bool
    is_first: bool
    """Whether it begins a sentence."""
    is_last: bool
    line: int


def read_times(
    path: str, columns: Columns, frequencies: Mapping[str, float] | None = None
) -> Times:
    """Return a table of reading times: a row per word, or per subject and word.

    `frequencies` has counts of words without the punctuation around them, as written or in lower case; it replaces
    `columns.frequency`.

    Raises InputError, with the line, for a missing column, a position or time that is no number, a repeated row, and
    rows of one item and position with different words or frequencies.
    """
    names = (columns.item, columns.position, columns.word, columns.time)
    named = [name for name in (columns.subject, columns.frequency) if name]
    words: dict[tuple[str, int], Word] = {}
    lines: dict[tuple[str, int, str], int] = {}
    times: list[float] = []
    for line, cells in read_columns(path, [*names, *named]):
        row = dict(zip([*names, *named], cells, strict=True))
        word = _word(row, columns, frequencies, path, line)
        place = word.item, word.position
        _require_equal(words.setdefault(place, word), word, path)
        key = *place, row.get(columns.subject, "")
        if (before := lines.setdefault(key, line)) != line:
            hint = "" if columns.subject else ", or name the column of the subjects"
            raise InputError(
                f"item {word.item}, position {word.position}, is in line {before} as well: leave one out{hint}",
                path,
                line,
            )
        times.append(_number(row[columns.time], columns.time, path, line))
    if not times:
        raise InputError("no reading times in this table", path)
    return _times(path, words, [*lines], times, bool(columns.subject))


def _word(
    row: Mapping[str, str],
    columns: Columns,
    frequencies: Mapping[str, float] | None,
    path: str,
    line: int,
) -> Word:
    text, position = row[columns.word], row[columns.position]
    if not text.strip():
        raise InputError(f"column {columns.word!r}: no word", path, line)
    number = _number(position, columns.position, path, line)
    if not number.is_integer():
        raise InputError(
            f"column {columns.position!r}: {position!r} is no whole number", path, line
        )
    count = math.nan
    if frequencies is not None:
        core = without_marks(text)
        count = frequencies.get(core, frequencies.get(core.lower(), math.nan))
    elif columns.frequency and row[columns.frequency] not in MISSING:
        count = _count(row[columns.frequency], columns.frequency, path, line)
    return Word(row[columns.item], int(number), one_word(text), line, count)


def _require_equal(known: Word, word: Word, path: str) -> None:
    # text, because NaN is not equal to itself
    shown, again = (f"{w.text!r} (frequency {w.count})" for w in (known, word))
    if again != shown:
        raise InputError(
            f"{again}, but line {known.line} has {shown} at the same item and position",
            path,
            word.line,
        )


def _times(
    path: str,
    words: Mapping[tuple[str, int], Word],
    rows: Sequence[tuple[str, int, str]],
    times: Sequence[float],
    has_subjects: bool,
) -> Times:
    items = list(dict.fromkeys(item for item, _ in words))
    if all(map(is_whole_number, items)):
        items.sort(key=int)
    rank = {item: i for i, item in enumerate(items)}
    places = sorted(words, key=lambda place: (rank[place[0]], place[1]))
    index = {place: i for i, place in enumerate(places)}
    word_of = np.array([index[item, position] for item, position, _ in rows])
    in_order = [words[place] for place in places]
    if not has_subjects:
        return Times(path, in_order, np.array(times), word_of)
    subjects = {name: i for i, name in enumerate(dict.fromkeys(name for *_, name in rows))}
    subject_of = np.array([subjects[name] for *_, name in rows])
    return Times(path, in_order, np.array(times), word_of, list(subjects), subject_of)


def read_frequencies(path: str) -> dict[str, float]:
    """Return the counts of a table with the columns `word` and `count`; equal words are added up."""
    counts: dict[str, float] = {}
    for line, (word, count) in read_columns(path, ["word", "count"]):
        counts[word] = counts.get(word, 0.0) + _count(count, "count", path, line)
    return counts


def read_surprisals(path: str) -> list[Reading]:
    """Return the rows of a table with the columns `token` and `surprisal`, without ends of sentences.

    `known` and `sentence_id` may be missing: then all words are known, or all are one sentence.

    Raises InputError, with the line, for a missing column and a surprisal that is no number.
    """
    rows = [
        (line, *cells)
        for line, cells in read_columns(path, ["token", "surprisal"], ["known", "sentence_id"])
        if cells[0] != END
    ]
    if not rows:
        raise InputError("no surprisals in this table", path)
    found = []
    for i, (line, token, bits, known, sentence) in enumerate(rows):
        value = math.nan
        if bits not in (*MISSING, "inf"):
            value = _number(bits, "surprisal", path, line)
        first = i == 0 or rows[i - 1][4] != sentence
        last = i + 1 == len(rows) or rows[i + 1][4] != sentence
        found.append(Reading(one_word(token), value, known != "0", first, last, line))
    return found


def without_marks(text: str) -> str:
    """Return a word without the punctuation before and after it.

    >>> without_marks("'mid-day,'"), without_marks("...")
    ('mid-day', '')
    """
    kept = [i for i, character in enumerate(text) if not is_mark(character)]
    return text[kept[0] : kept[-1] + 1] if kept else ""


def is_mark(character: str) -> bool:
    """Return whether a character is a punctuation mark."""
    return unicodedata.category(character).startswith("P")


def _count(text: str, column: str, path: str, line: int) -> float:
    count = _number(text, column, path, line)
    if count < 0:
        raise InputError(f"column {column!r}: {text!r} is no count", path, line)
    return count


def _number(text: str, column: str, path: str, line: int) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"column {column!r}: {text!r} is no number", path, line)
    return number
