"""Suites as tokens, from files of suites or from tables of stimuli with predictions."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from oracle.errors import InputError, placed
from oracle.numerals import is_whole_number
from rnng_dy.evaluation.formula import Formula
from rnng_dy.evaluation.suite_files import read_suites, tokens_of
from rnng_dy.evaluation.suites import Condition, Item, Prediction, Region, Suite
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import RawText
from rnng_dy.text.stimuli import read_stimuli
from rnng_dy.text.tokens import running_text

_log = logging.getLogger(__name__)


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
            "sum",
            {number: "" if is_whole_number(of) else of for of, number in numbers.items()},
            tuple(Prediction(str(i), formula) for i, formula in enumerate(predictions, 1)),
            tuple(
                Item(int(item) if own else i, tuple(conditions))
                for i, (item, conditions) in enumerate(items.items(), 1)
            ),
        )


def _plain_tokens(segmenter: Segmenter, text: str) -> list[str]:
    return [token for of in segmenter.sentences(text, one_per_line=True) for token in of.tokens]
