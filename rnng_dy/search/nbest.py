"""The most probable trees of a parser, by beam search over its actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oracle.common.errors import RnngError
from rnng_dy.search import word_search
from rnng_dy.search.batched_search import BatchedModel, run
from rnng_dy.search.greedy import Parsed
from rnng_dy.search.word_search import ExpansionRequest, Hypothesis, Search, best_first

BEAM = 20
"""Partial trees kept after each action, or twice the number of trees, if that is more."""


def nbest_batch(
    parser: BatchedModel, sentences: Sequence, k: int, beam: int | None = None
) -> list[list[Parsed]]:
    """Return the k best trees that the search finds per sentence of ids, best first.

    After each action the search keeps the `beam` most probable partial trees of that many actions
    and the greedy one. The first tree is therefore at least as probable as the greedy parse.
    Complete trees are set aside. A partial tree no more probable than the k-th complete one is
    dropped, since an action can only make it less probable. The search ends when no partial tree is
    left. If nothing falls out of the beam, the trees are the k best of all. A result has fewer than
    k trees if the sentence has no more or a narrow beam finds no more. Raises RnngError if `k` or
    `beam` is below 1.
    """
    beam = max(BEAM, 2 * k) if beam is None else beam
    if k < 1 or beam < 1:
        raise RnngError(f"{k} best trees in a beam of {beam}: both from 1 on")
    return run(parser, [_search(parser, sentence, k, beam) for sentence in sentences])


def _search(parser: BatchedModel, sentence: object, k: int, beam: int) -> Search[list[Parsed]]:
    complete: list[Hypothesis] = []
    following = [Hypothesis(parser.network.start(sentence))]
    # the row of the greedy derivation, until it is complete or dropped
    greedy: int | None = 0
    while following:
        answer = yield ExpansionRequest(following, None)
        scores = np.array([h.score for h in following])[:, None] + answer.actions
        taken = None if greedy is None else (greedy, int(answer.actions[greedy].argmax()))
        closing = word_search.completes_tree(parser.transitions, answer)
        _, closed = word_search.expand(following, answer, scores, np.flatnonzero(closing))
        # sorted is stable: ties go to the tree completed first
        complete = sorted(complete + closed, key=lambda h: -h.score)[:k]
        bound = complete[-1].score if len(complete) == k else -np.inf
        items = _select(np.where(closing, -np.inf, scores), bound, beam, taken)
        rows, following = word_search.expand(following, answer, scores, items)
        kept = [(row, h.action) for row, h in zip(rows, following, strict=True)]
        greedy = kept.index(taken) if taken in kept else None
    return [(h.action_ids(), h.score) for h in complete]


def _select(
    scores: np.ndarray, bound: float, beam: int, greedy: tuple[int, int] | None
) -> np.ndarray:
    """Return the best actions above the bound, and the greedy one: indices of flattened scores."""
    kept = best_first(scores, bound)[:beam]
    if greedy is not None:
        item = int(np.ravel_multi_index(greedy, scores.shape))
        if scores[greedy] > bound and item not in kept:
            kept = np.append(kept, item)
    return kept
