"""The most probable trees of a parser, by beam search over its actions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from oracle.errors import RnngError
from oracle.transitions import TransitionSystem
from rnng_dy.search.greedy import Parsed
from rnng_dy.search.incremental import (
    ExpansionRequest,
    Hypothesis,
    Search,
    carried_out,
    finishing,
    run,
    start_hypothesis,
)
from rnng_dy.search.model import Configuration, Model

BEAM = 20
"""Partial trees that are kept after each action, at least; twice as many as trees are wanted."""


def nbest_batch(parser: Model, sentences: Sequence, k: int, beam: int = BEAM) -> list[list[Parsed]]:
    """The k best trees that the search finds of each sentence, given as the parser's ids, best first.

    After each action the `beam` most probable partial trees of as many actions go on, and besides them the greedy one:
    the first tree is at least as probable as the greedy parse. Complete trees stand aside. A partial tree that is no
    more probable than the k-th of them is given up, since an action can only make it less probable; the search ends
    when none is left. With a beam that nothing falls out of, the trees are the k best of all. There are fewer than k
    where the sentence has no more, or a narrow beam finds no more. Raises RnngError for no tree, or no beam.
    """
    beam = max(BEAM, 2 * k) if beam is None else beam
    if k < 1 or beam < 1:
        raise RnngError(f"{k} best trees in a beam of {beam}: both from 1 on")
    searches = [partial(_open, parser, sentence, k, beam) for sentence in sentences]
    return [[(h.action_ids(), h.score) for h in best] for best in run(parser, searches)]


def _open(parser: Model, sentence: object, k: int, beam: int) -> Search[list[Hypothesis]]:
    return _search(parser.transitions, parser.start(sentence), k, beam)


def _search(
    system: TransitionSystem, root: Configuration, k: int, beam: int
) -> Search[list[Hypothesis]]:
    complete: list[Hypothesis] = []
    following = [start_hypothesis(root)]
    # the row of the greedy derivation, until it is complete or given up
    greedy: int | None = 0
    while following:
        answer = yield ExpansionRequest(following, None)
        scores = np.array([h.score for h in following])[:, None] + answer.actions
        taken = None if greedy is None else (greedy, int(answer.actions[greedy].argmax()))
        closing = finishing(system, answer)
        found = [h for _, h in carried_out(following, answer, scores, np.flatnonzero(closing))]
        # sorted is stable: ties go to what was complete first
        complete = sorted(complete + found, key=lambda h: -h.score)[:k]
        bound = complete[-1].score if len(complete) == k else -np.inf
        items = _select(np.where(closing, -np.inf, scores), bound, beam, taken)
        grown = list(carried_out(following, answer, scores, items))
        following = [h for _, h in grown]
        positions = [i for i, (row, h) in enumerate(grown) if (row, h.action) == taken]
        greedy = positions[0] if positions else None
    return complete


def _select(
    scores: np.ndarray, bound: float, beam: int, greedy: tuple[int, int] | None
) -> np.ndarray:
    """The best actions above the bound and the greedy one, as indices in row-major order of the scores.

    Ties go to the better partial tree, then to the lower action id.
    """
    flat = scores.ravel()
    possible = np.flatnonzero(flat > bound)
    kept = possible[np.argsort(-flat[possible], kind="stable")][:beam]
    if greedy is not None:
        item = int(np.ravel_multi_index(greedy, scores.shape))
        if flat[item] > bound and item not in kept:
            kept = np.append(kept, item)
    return kept
