"""Marking of the wrong constituents of a tree, and of the missed ones of the gold tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from oracle.lazy import nltk
from rnng_dy.evaluation.evalb import SCORED, SentenceScore, score_read_off
from rnng_dy.evaluation.evalb_params import COLLINS
from rnng_dy.evaluation.evalb_sentence import matches, read_off


class Marked(NamedTuple):
    """A comparison of two trees of a sentence; constituents are numbered from 0, from the top down."""

    score: SentenceScore
    missed: frozenset[int]
    """Constituents of the gold tree that the system's tree lacks."""
    wrong: frozenset[int]
    """Constituents of the system's tree that the gold tree lacks."""


def mark(gold: nltk.Tree, system: nltk.Tree) -> Marked:
    """Score a tree and mark the constituents that lower its score. Raises InputError for a word without a tag.

    Nothing is marked if the trees cannot be scored because their words differ. Constituents that do not count in
    evaluation, such as TOP, are not marked either.

    >>> gold = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .))")
    >>> marked = mark(gold, nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (NP (NNS sleeps)) (. .))"))
    >>> sorted(marked.missed), sorted(marked.wrong), round(marked.score.f1, 1)
    ([2], [2], 66.7)
    """
    read = read_off(gold, COLLINS), read_off(system, COLLINS)
    score = score_read_off(*read, COLLINS)
    if score.status != SCORED:
        return Marked(score, frozenset(), frozenset())
    golds, systems = (sentence.counted_brackets(COLLINS) for sentence in read)
    pairs = matches(list(golds.values()), list(systems.values()), COLLINS)
    return Marked(
        score,
        _others(golds, {position for position, _ in pairs}),
        _others(systems, {position for _, position in pairs}),
    )


def _others(numbers: Iterable[int], positions: set[int]) -> frozenset[int]:
    """Return the numbers that are not at these positions."""
    return frozenset(number for position, number in enumerate(numbers) if position not in positions)
