"""Alignment of the words that were read with the words of a table of surprisals."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from oracle.errors import InputError
from rnng_dy.evaluation.reading_times.tables import Reading, Times

SHOWN = 10
"""The most differences that an error lists."""


def align(
    times: Times, readings: Sequence[Reading], path: str
) -> tuple[list[Reading | None], list[str]]:
    """Return each word's row in the table of surprisals `path`, None for none, and reports of the differences.

    Words are aligned only if they are equal, character by character, and in the same order.
    """
    words, texts = [word.text for word in times.words], [reading.text for reading in readings]
    found: list[Reading | None] = [None] * len(words)
    reports = []
    if words == texts:
        return list(readings), []
    # without junk, which would leave out frequent words
    matcher = SequenceMatcher(None, words, texts, autojunk=False)
    for kind, begin, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            found[begin:end] = readings[first:last]
            continue
        read = _listed(times.path, [(w.line, w.text) for w in times.words[begin:end]])
        measured = _listed(path, [(r.line, r.text) for r in readings[first:last]])
        reports.append(
            f"{read or times.path + ': nothing'} against {measured or path + ': nothing'}"
        )
    return found, reports


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


def _listed(path: str, rows: Sequence[tuple[int, str]]) -> str:
    """Return the words of a difference with the line of the first one."""
    shown = " ".join(text for _, text in rows[:SHOWN]) + (" …" if len(rows) > SHOWN else "")
    return f"{path}:{rows[0][0]}: {shown!r}" if rows else ""
