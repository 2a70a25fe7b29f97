"""The trees of a parser: the greedy one, and the most probable ones by beam search over actions.

Greedy parsing takes the most probable action at each step, of equals that with the lowest id.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from rnng_dy.engine import dy, one_graph
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search import word_search
from rnng_dy.search.batched_search import BatchedModel, run
from rnng_dy.search.word_search import ExpansionRequest, Hypothesis, Search, best_first
from rnng_dy.settings import require_whole

BATCH_SIZE = 32
"""Sentences per graph."""
BEAM = 20
"""Partial trees kept after each action, or twice the number of trees, if that is more."""

Parsed = tuple[list[int], float]
"""Action ids of a tree and their log q in nats."""


@one_graph
def parse_batch(parser: BatchedModel, sentences: Sequence) -> list[Parsed]:
    """Return the greedy parse of each sentence of ids; all share one graph."""
    dy.renew_cg(derivatives=False)
    configurations = list(map(parser.network.start, sentences))
    results: list[Parsed] = [([], 0.0) for _ in sentences]
    unfinished = list(range(len(sentences)))
    while unfinished:
        table = parser.network.step([configurations[i] for i in unfinished]).action_log_probs()
        for i, row, action in zip(unfinished, table, table.argmax(axis=1).tolist(), strict=True):
            actions, log_q = results[i]
            actions.append(action)
            results[i] = (actions, log_q + row[action])
            configurations[i] = parser.network.advance(configurations[i], action)
        unfinished = [i for i in unfinished if not configurations[i].state.is_finished]
    return results


def parse_all(
    parser: BatchedModel, sentences: Sequence, lengths: Sequence[int]
) -> list[Parsed | None]:
    """Return the greedy parse of each sentence, None for one that does not fit into memory.

    Sentences of similar lengths share a graph.
    """
    order = sorted(range(len(sentences)), key=lengths.__getitem__)
    results = {}
    for batch in batches(order, lambda _: 1, BATCH_SIZE):
        parsed = split_on_memory_error(partial(parse_batch, parser), [sentences[i] for i in batch])
        results.update(zip(batch, parsed, strict=True))
    return [results[i] for i in range(len(sentences))]


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
    require_whole(1, k=k, beam=BEAM if beam is None else beam)
    beam = max(BEAM, 2 * k) if beam is None else beam
    return run(parser, [_search(parser, sentence, k, beam) for sentence in sentences])


def _search(parser: BatchedModel, sentence: object, k: int, beam: int) -> Search[list[Parsed]]:
    complete: list[Hypothesis] = []
    following = [Hypothesis(parser.network.start(sentence))]
    # the row of the greedy derivation; none when it is complete or dropped
    greedy = [0]
    while following:
        answer = yield ExpansionRequest(following, None)
        scores = np.array([h.score for h in following])[:, None] + answer.actions
        closing = word_search.completes_tree(parser.transitions, answer)
        _, closed = word_search.expand(following, answer, scores, np.flatnonzero(closing))
        # sorted is stable: ties go to the tree completed first
        complete = sorted(complete + closed, key=lambda h: -h.score)[:k]
        bound = complete[-1].score if len(complete) == k else -np.inf
        best = best_first(np.where(closing, -np.inf, scores), bound)
        kept, behind = best[:beam], best[beam:]
        taken = [row * scores.shape[1] + answer.actions[row].argmax() for row in greedy]
        items = np.concatenate([kept, behind[np.isin(behind, taken)]])
        greedy = np.flatnonzero(np.isin(items, taken)).tolist()
        _, following = word_search.expand(following, answer, scores, items)
    return [(h.action_ids(), h.score) for h in complete]
