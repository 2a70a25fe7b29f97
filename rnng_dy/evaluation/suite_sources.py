"""Suites as tokens, from files of suites or from tables of stimuli with predictions."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rnng_dy.evaluation.formula import Formula
from rnng_dy.evaluation.suite_files import read_suites, tokens_of
from rnng_dy.evaluation.suites import Suite, suite_of_sentences
from rnng_dy.evaluation.unknown_words import LocatedSentence
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
        _warn_of_running_text(suites)
    return suites


def located_sentences(suites: Sequence[Suite]) -> Iterator[LocatedSentence]:
    """Yield the sentences of suites with their places."""
    for suite in suites:
        for item, condition in suite.sentences():
            part = "" if item.line else f"item {item.number}, condition {condition.name!r}"
            yield LocatedSentence(suite.path, item.line, condition.tokens, part=part)


def _of_stimuli(source: str, predictions: Sequence[Formula], segmenter: Segmenter | None) -> Suite:
    stimuli = read_stimuli(source)
    named = [*stimuli.conditions()]
    if segmenter:
        read = stimuli.tokenised(segmenter, RawText())
        regions = [of.tokens_by_region(r) for (_, _, of), r in zip(named, read, strict=True)]
    else:
        regions = [
            [(name, tokens_of(text)) for name, text in of.region_texts] for _, _, of in named
        ]
    sentences = (
        (item, condition, of.line, found)
        for (item, condition, of), found in zip(named, regions, strict=True)
    )
    return suite_of_sentences(Path(source).stem, source, sentences, predictions)


def _plain_tokens(segmenter: Segmenter, text: str) -> list[str]:
    return [token for of in segmenter.sentences(text, one_per_line=True) for token in of.tokens]


def _warn_of_running_text(suites: Sequence[Suite]) -> None:
    for suite in suites:
        sentences = [condition.tokens for _, condition in suite.sentences()]
        if stuck := running_text(sentences):
            _log.warning(
                f"{suite.name}: running text? {stuck[0][1]!r:.80} ends in a mark ({len(stuck)} of {len(sentences)} "
                "sentences): add --text, or put blanks around marks"
            )
