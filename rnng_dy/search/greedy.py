"""Greedy parsing: the most probable action at each step; ties go to the lowest action id, as in the original."""

from __future__ import annotations

from collections.abc import Sequence

from rnng_dy.engine import dy, one_graph
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.model import Model

BATCH_SIZE = 32
"""Sentences per graph."""

Parsed = tuple[list[int], float]
"""Action ids of a tree and their log q in nats."""


@one_graph
def parse_batch(parser: Model, sentences: Sequence) -> list[Parsed]:
    """Return the greedy parse of each sentence, which is given as ids of the parser; all share one graph."""
    dy.renew_cg(derivatives=False)
    configurations = list(map(parser.network.start, sentences))
    results: list[Parsed] = [([], 0.0) for _ in sentences]
    unfinished = list(range(len(sentences)))
    while unfinished:
        table = parser.network.step([configurations[i] for i in unfinished]).action_log_probs()
        going_on = []
        for i, row, action in zip(unfinished, table, table.argmax(axis=1).tolist(), strict=True):
            actions, log_q = results[i]
            actions.append(action)
            results[i] = (actions, log_q + row[action])
            configurations[i] = parser.network.advance(configurations[i], action)
            if not configurations[i].state.is_finished:
                going_on.append(i)
        unfinished = going_on
    return results


def parse_all(
    parser: Model, sentences: Sequence, lengths: Sequence[int], batch_size: int = BATCH_SIZE
) -> list[Parsed | None]:
    """Return `parse_batch` of any number of sentences, batched by length; None for a sentence too large for memory."""
    order = sorted(range(len(sentences)), key=lengths.__getitem__)
    results = {}
    for part in batches(order, lambda _: 1, batch_size):
        parsed = split_on_memory_error(parse_batch, parser, [sentences[i] for i in part])
        results.update(zip(part, parsed, strict=True))
    return [results[i] for i in range(len(sentences))]
