"""Readers of reading times and of surprisals, and the alignment of their words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from oracle.errors import InputError, RnngError
from oracle.files import placed
from oracle.tables import is_whole_number, number_of, read_columns
from rnng_dy.evaluation.records import END, one_word, surprisal_of

NEEDED, OPTIONAL = ("item", "position", "word", "time"), ("subject", "frequency", "condition")
"""The columns of a table of reading times."""
_SURPRISALS = ("known", "sentence_id", "item", "condition")
"""The columns that a table of surprisals may have."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2},\d{3}")
"""What is a thousand in some languages, and has three decimals in others."""
SHOWN = 10
"""The most differences that an error lists."""


class Word(NamedTuple):
    """A word that was read."""

    item: str
    position: float
    """Its number in the item; the word before it has the number before."""
    text: str
    line: int
    """1-based line of the table."""
    count: float
    """Its frequency as a count; NaN if it has none."""
    condition: str = ""
    """The variant of the item that was read; empty if the table has none."""


@dataclass(frozen=True)
class Times:
    """A table of reading times."""

    path: str
    words: Sequence[Word]
    """In the order in which they were read: by items, which are sorted if all are numbers, and positions."""
    times: np.ndarray
    """In ms, NaN for a missing one, shape (rows,)."""
    word_of: np.ndarray
    """Per row, the index of its word, shape (rows,)."""
    subjects: Sequence[str]
    """Per row, the subject; empty texts if the table has no subjects."""


class SurprisalRow(NamedTuple):
    """A row of a table of surprisals."""

    text: str
    bits: float
    """Its surprisal; NaN if the model gives none, or an infinite one."""
    is_known: bool
    is_first: bool
    """Whether it begins a sentence."""
    is_last: bool
    line: int
    variant: tuple[str, str] | None = None
    """Its item and condition; None if the table has no such columns."""


def read_times(path: str, columns: Mapping[str, str] = {}) -> Times:
    """Return a table of reading times: a row per word, or per subject and word.

    `columns` maps NEEDED and OPTIONAL to names of columns; NEEDED have these names by default. Raises InputError, with
    the line, for a missing column, a position or time that is no number, a repeated row, and rows of one item and
    position with different words. An empty time, NA or NaN is a missing one.
    """
    named = {role: columns.get(role, role) for role in NEEDED}
    named |= {role: columns[role] for role in OPTIONAL if role in columns}
    words: dict[tuple[str, str, float], Word] = {}
    times: dict[tuple[tuple[str, str, float], str], float] = {}
    for line, cells in read_columns(path, [*named.values()]):
        row = {**dict.fromkeys(OPTIONAL, ""), **dict(zip(named, cells, strict=True))}
        with placed(path, line):
            position = _number(row, named, "position")
            count = _number(row, named, "frequency", 0, "count", missing=True)
            place = row["item"], row["condition"], position
            word = Word(row["item"], position, one_word(row["word"]), line, count, row["condition"])
            known = words.setdefault(place, word)
            if known.text != word.text:
                other = f"line {known.line} has {known.text!r} at the same item and position"
                raise RnngError(f"{word.text!r}, but {other}")
            of_subject = (place, row["subject"])
            if of_subject in times:
                raise RnngError(
                    f"item {row['item']}, position {row['position']}, is in a line before as well: leave one out, or "
                    "name the column of the subjects"
                )
            times[of_subject] = _number(row, named, "time", missing=True)
    if all(map(math.isnan, times.values())):
        raise InputError("no reading times in this table", path)
    rank = {item: i for i, item in enumerate(in_order([item for item, *_ in words]))}
    variants = {variant: i for i, variant in enumerate(dict.fromkeys(key[:2] for key in words))}
    places = sorted(words, key=lambda place: (rank[place[0]], variants[place[:2]], place[2]))
    index = {place: i for i, place in enumerate(places)}
    return Times(
        path,
        [words[place] for place in places],
        np.array([*times.values()]),
        np.array([index[place] for place, _ in times]),
        [subject for _, subject in times],
    )


def in_order(items: Sequence[str]) -> list[str]:
    """Return different items: sorted if all are whole numbers, else as they come."""
    found = list(dict.fromkeys(items))
    return sorted(found, key=int) if all(map(is_whole_number, found)) else found


def read_surprisals(path: str) -> list[SurprisalRow]:
    """Return the rows of a table with the columns `token` and `surprisal`, without ends of sentences.

    `known` and `sentence_id` may be missing: then all words are known, or those of an item and condition one sentence.

    Raises InputError, with the line, for a missing column and a surprisal that is no number.
    """
    rows = [
        (line, *cells)
        for line, cells in read_columns(path, ["token", "surprisal"], _SURPRISALS)
        if cells[0] != END
    ]
    if not rows:
        raise InputError("no surprisals in this table", path)
    # no sentence is before the first, or after the last
    sentences = [(), *(row[4:] for row in rows), ()]
    found = []
    for i, (line, token, bits, known, _, *variant) in enumerate(rows):
        with placed(path, line):
            value = surprisal_of(bits)
        ends = sentences[i] != sentences[i + 1], sentences[i + 1] != sentences[i + 2]
        of = None if None in variant else tuple(variant)
        value = value if math.isfinite(value) else math.nan
        found.append(SurprisalRow(one_word(token), value, known != "0", *ends, line, of))
    return found


def _number(
    row: Mapping[str, str],
    named: Mapping[str, str],
    role: str,
    least: float = -math.inf,
    what: str = "number",
    missing: bool = False,
) -> float:
    """Return the number in the column of a role. Raises RnngError for any other text."""
    if _THOUSANDS.fullmatch(row[role].strip()):
        message = (
            f"{row[role]!r} may have thousands or decimals: write it with a point or without a mark"
        )
        raise RnngError(f"column {named[role]!r}: {message}")
    with suppress(ValueError):
        number = number_of(row[role])
        if (missing and math.isnan(number)) or (math.isfinite(number) and number >= least):
            return number
    raise RnngError(f"column {named[role]!r}: {row[role]!r} is no {what}")


def align(
    times: Times,
    rows: Sequence[SurprisalRow],
    path: str,
    by_letters: bool = False,
    allow_missing: bool = True,
) -> tuple[list[SurprisalRow | None], list[str]]:
    """Return each word's row in the table of surprisals `path`, None for none, and reports of the differences.

    Words are aligned only if they are equal, character by character, and in the same order (by Python's difflib). With
    `by_letters`, only letters and digits count, in either case. If both tables have conditions, rows come in the order
    in which the times have the variants of items. Unless `allow_missing`, raises InputError that lists the first
    differences, if there are any.
    """
    if any(word.condition for word in times.words):
        variants = dict.fromkeys((word.item, word.condition) for word in times.words)
        order = {variant: i for i, variant in enumerate(variants)}
        rows = sorted(rows, key=lambda row: order.get(row.variant, len(order)))
    key = _letters if by_letters else str
    words, tokens = ([key(word.text) for word in of] for of in (times.words, rows))
    found: list[SurprisalRow | None] = [None] * len(words)
    reports = []
    matcher = SequenceMatcher(None, words, tokens, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            found[i:i_end] = rows[j:j_end]
        else:
            read = f"{times.path}:{_listed(times.words[i:i_end])}" if i < i_end else times.path
            measured = f"{path}:{_listed(rows[j:j_end])}" if j < j_end else path
            verb = "against" if kind == "replace" else "lacks"
            both = (measured, read) if kind == "delete" else (read, measured)
            reports.append(f" {verb} ".join(both))
    if reports and not allow_missing:
        first, *more = reports[:SHOWN]
        message = (
            f"{first}: the words with surprisals differ from those that were read; {len(reports)} differences "
            "in all; correct a table, compare letters and digits alone by --by-letters, or leave out the words that "
            "differ by --allow-missing"
        )
        raise InputError("\n".join([message, *more]))
    return found, reports


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word)).casefold() or word


def _listed(words: Sequence[Word | SurprisalRow]) -> str:
    """Return the words of a difference after the line of the first one."""
    shown = " ".join(word.text for word in words[:SHOWN]) + " …" * (len(words) > SHOWN)
    return f"{words[0].line}: {shown!r}"
