"""Check that Chinese text has blanks between its words, which nothing else separates."""

from __future__ import annotations

import re

from oracle.errors import InputError
from rnng_dy.text.characters import HAN
from rnng_dy.text.conventions import Conventions

_RUN = re.compile(f"[{HAN}]+")
_TIMES_THE_MEAN = 2


def require_words(text: str, conventions: Conventions) -> None:
    """Raise InputError, with the line, if a clean Chinese text has no blanks between its words.

    It has none if no Chinese character is beside a blank, or if runs of characters are on average over twice as long
    as training words. It also has none if one run is longer than every training word.
    """
    if conventions.han != "words":
        return
    runs = list(_RUN.finditer(text))
    if all(len(run[0]) == 1 for run in runs):
        return
    longest = conventions.longest_han
    mean = sum(len(run[0]) for run in runs) / len(runs)
    if mean > _TIMES_THE_MEAN * conventions.mean_han or not any(
        _is_beside_blank(text, r) for r in runs
    ):
        longest = 1
    found = next((run for run in runs if len(run[0]) > longest), None)
    if found is not None:
        raise InputError(
            f"no blank tells where the words of {found[0]!r:.20} end, and this model was trained on Chinese words: "
            "put blanks between words, or train a model on single characters",
            line=text.count("\n", 0, found.start()) + 1,
        )


def _is_beside_blank(text: str, run: re.Match) -> bool:
    beside = text[max(0, run.start() - 1) : run.start()] + text[run.end() : run.end() + 1]
    return " " in beside
