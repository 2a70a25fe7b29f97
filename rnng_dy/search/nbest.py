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
    start_hypothesis,
)
from rnng_dy.search.model import Configuration, Model
from rnng_dy.search.side_by_side import run

BEAM = 20
"""Partial trees kept after each action, at least; twice the number of trees asked for, if that is more."""


def nbest_batch(
    parser: Model, sentences: Sequence, k: int, beam: int | None = None
) -> list[list[Parsed]]:
    """Return the k best trees that the search finds per sentence, best first; sentences are ids of the parser.

    After each action the search keeps the `beam` most probable partial trees of that many actions and the greedy one.
    The first tree is therefore at least as probable as the greedy parse. Complete trees are set aside. A partial tree
    no more probable than the k-th complete one is dropped, since an action can only make it less probable. The search
    ends when no partial tree is left. If nothing falls out of the beam, the trees are the k best of all. A result has
    fewer than k trees if the sentence has no more or a narrow beam finds no more. Raises RnngError if `k` or `beam` is
    below 1.
    """
    beam = max(BEAM, 2 * k) if beam is None else beam
    if k < 1 or beam < 1:
        raise RnngError(f"{k} best trees in a beam of {beam}: both from 1 on")
    searches = [partial(_open, parser, sentence, k, beam) for sentence in sentences]
    return [[(h.action_ids(), h.score) for h in best] for best in run(parser, searches)]


def _open(parser: Model, sentence: object, k: int, beam: int) -> Search[list[Hypothesis]]:
    return _search(parser.transitions, parser.network.start(sentence), k, beam)


def _search(
    system: TransitionSystem, root: Configuration, k: int, beam: int
) -> Search[list[Hypothesis]]:
    complete: list[Hypothesis] = []
    following = [start_hypothesis(root)]
    # the row of the greedy derivation, until it is complete or dropped
    greedy: int | None = 0
    while following:
        answer = yield ExpansionRequest(following, None)
        scores = np.array([h.score for h in following])[:, None] + answer.actions
        taken = None if greedy is None else (greedy, int(answer.actions[greedy].argmax()))
        closing = finishing(system, answer)
        found = [h for _, h in carried_out(following, answer, scores, np.flatnonzero(closing))]
        # sorted is stable: ties go to the tree completed first
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
    """Return the best actions above the bound and the greedy one, as indices in row-major order of the scores.

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
