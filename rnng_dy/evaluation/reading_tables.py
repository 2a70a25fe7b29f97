"""Readers of reading times, of frequencies and of surprisals, and the alignment of their words."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from oracle.errors import InputError, RnngError, placed
from oracle.numerals import is_whole_number
from oracle.tables import read_columns
from rnng_dy.evaluation.records import END, one_word

MISSING = ("", "NA", "nan")
"""Cells of a table without a number, where one may be missing."""
NEEDED, OPTIONAL = ("item", "position", "word", "time"), ("subject", "frequency")
"""The columns of a table of reading times."""
SHOWN = 10
"""The most differences that an error lists."""
WINDOW, ANCHOR = 50, 5
"""Words in which an alignment looks for the next equal words, and how many these must be."""


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
    subjects: Sequence[str]
    """Per row, the subject; empty texts if the table has no subjects."""


class Reading(NamedTuple):
    """A row of a table of surprisals."""

    text: str
    bits: float
    """Its surprisal; NaN if the model gives none, or an infinite one."""
    is_known: bool
    is_first: bool
    """Whether it begins a sentence."""
    is_last: bool
    line: int


def read_times(
    path: str, columns: Mapping[str, str] = {}, frequencies: Mapping[str, float] | None = None
) -> Times:
    """Return a table of reading times: a row per word, or per subject and word.

    `columns` maps NEEDED and OPTIONAL to names of columns; NEEDED have these names by default. `frequencies` has
    counts of words without the punctuation around them, as written or in lower case, in place of a column.

    Raises InputError, with the line, for a missing column, a position or time that is no number, a repeated row, and
    rows of one item and position with different words or frequencies.
    """
    named = {role: columns.get(role, role) for role in NEEDED}
    named |= {role: columns[role] for role in OPTIONAL if role in columns}
    words: dict[tuple[str, int], Word] = {}
    lines: dict[tuple[str, int, str], int] = {}
    times: list[float] = []
    for line, cells in read_columns(path, [*named.values()]):
        row = dict(zip(named, cells, strict=True))
        with placed(path, line):
            word = _word(row, named, frequencies, line)
            place = word.item, word.position
            known = words.setdefault(place, word)
            # as texts, because NaN is not equal to itself
            shown, again = (f"{w.text!r} (frequency {w.count})" for w in (known, word))
            if shown != again:
                raise RnngError(
                    f"{again}, but line {known.line} has {shown} at the same item and position"
                )
            if (before := lines.setdefault((*place, row.get("subject", "")), line)) != line:
                raise RnngError(
                    f"item {word.item}, position {word.position}, is in line {before} as well: leave one out, or name "
                    "the column of the subjects"
                )
            times.append(_number(row["time"], named["time"]))
    if not times:
        raise InputError("no reading times in this table", path)
    rank = {item: i for i, item in enumerate(in_order([item for item, _ in words]))}
    places = sorted(words, key=lambda place: (rank[place[0]], place[1]))
    index = {place: i for i, place in enumerate(places)}
    return Times(
        path,
        [words[place] for place in places],
        np.array(times),
        np.array([index[item, position] for item, position, _ in lines]),
        [subject for *_, subject in lines],
    )


def in_order(items: Sequence[str]) -> list[str]:
    """Return different items: sorted if all are whole numbers, else as they come."""
    found = list(dict.fromkeys(items))
    return sorted(found, key=int) if all(map(is_whole_number, found)) else found


def _word(
    row: Mapping[str, str],
    named: Mapping[str, str],
    frequencies: Mapping[str, float] | None,
    line: int,
) -> Word:
    text = row["word"]
    if not text.strip():
        raise RnngError(f"column {named['word']!r}: no word")
    position = _number(row["position"], named["position"])
    if not position.is_integer():
        raise RnngError(f"column {named['position']!r}: {row['position']!r} is no whole number")
    count = math.nan
    if frequencies is not None:
        core = without_marks(text)
        count = frequencies.get(core, frequencies.get(core.lower(), math.nan))
    elif row.get("frequency", "") not in MISSING:
        count = _number(row["frequency"], named["frequency"], 0, "count")
    return Word(row["item"], int(position), one_word(text), line, count)


def read_frequencies(path: str) -> dict[str, float]:
    """Return the counts of a table with the columns `word` and `count`; equal words are added up."""
    counts: dict[str, float] = {}
    for line, (word, count) in read_columns(path, ["word", "count"]):
        with placed(path, line):
            counts[word] = counts.get(word, 0.0) + _number(count, "count", 0, "count")
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
        with placed(path, line):
            value = math.nan if bits in (*MISSING, "inf") else _number(bits, "surprisal")
        before, after = (rows[k][-1] if 0 <= k < len(rows) else () for k in (i - 1, i + 1))
        found.append(
            Reading(
                one_word(token), value, known != "0", before != sentence, after != sentence, line
            )
        )
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


def _number(text: str, column: str, least: float = -math.inf, what: str = "number") -> float:
    with suppress(ValueError):
        if math.isfinite(number := float(text)) and number >= least:
            return number
    raise RnngError(f"column {column!r}: {text!r} is no {what}")


def align(
    times: Times, readings: Sequence[Reading], path: str
) -> tuple[list[Reading | None], list[str]]:
    """Return each word's row in the table of surprisals `path`, None for none, and reports of the differences.

    Words are aligned only if they are equal, character by character, and in the same order.
    """
    words = [(word.line, word.text) for word in times.words]
    texts = [(reading.line, reading.text) for reading in readings]
    found: list[Reading | None] = [None] * len(words)
    reports, here, there = [], 0, 0
    ends = len(words), len(texts), 0
    for i, j, size in [*_equal_runs([w for _, w in words], [t for _, t in texts]), ends]:
        if (i, j) != (here, there):
            read, measured = _listed(words[here:i]), _listed(texts[there:j])
            reports.append(f"{times.path}:{read} against {path}:{measured}")
        found[i : i + size] = readings[j : j + size]
        here, there = i + size, j + size
    return found, reports


def _equal_runs(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the place in both sequences, and the length, of equal words in order.

    After a difference the next ANCHOR equal words are looked for nearby. `difflib` aligns the words before them, and
    all the rest if there are none; for whole texts it would take the square of the time.
    """
    i = j = 0
    while i < len(a) and j < len(b):
        size = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a[i:], b[j:], strict=False))
        )
        if size:
            yield i, j, size
            i, j = i + size, j + size
            continue
        window = a[i : i + WINDOW], b[j : j + WINDOW]
        anchor = SequenceMatcher(None, *window, autojunk=False).find_longest_match()
        end = (i + anchor.a, j + anchor.b) if anchor.size >= ANCHOR else (len(a), len(b))
        # without junk, which would leave out frequent words
        matcher = SequenceMatcher(None, a[i : end[0]], b[j : end[1]], autojunk=False)
        for block in matcher.get_matching_blocks()[:-1]:
            yield i + block.a, j + block.b, block.size
        i, j = end


def _listed(rows: Sequence[tuple[int, str]]) -> str:
    """Return the words of a difference after the line of the first one."""
    shown = " ".join(text for _, text in rows[:SHOWN]) + (" …" if len(rows) > SHOWN else "")
    return f"{rows[0][0]}: {shown!r}" if rows else " nothing"


def require_aligned(reports: Sequence[str]) -> None:
    """Raise InputError that lists the first differences, if there are any."""
    if reports:
        first, *more = reports[:SHOWN]
        rest = [f"and {len(reports) - SHOWN} more"] if len(reports) > SHOWN else []
        message = (
            f"{first}: the words with surprisals differ from those that were read; {len(reports)} differences "
            "in all; correct a table, or leave out the words that differ by --allow-missing"
        )
        raise InputError("\n".join([message, *more, *rest]))
