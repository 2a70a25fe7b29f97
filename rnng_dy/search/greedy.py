"""Greedy parsing: the most probable action at each step, of equals that with the lowest id."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rnng_dy.engine import dy, one_graph
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.batched_search import BatchedModel

BATCH_SIZE = 32
"""Sentences per graph."""

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
