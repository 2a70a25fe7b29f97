"""The sampler: trees drawn from q(y | x) flattened by alpha (Dyer et al. 2016, section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from rnng_dy.engine import one_graph
from rnng_dy.models.configuration import Configuration
from rnng_dy.search.batched_search import BatchedModel, Graphs
from rnng_dy.search.word_search import unlinked

SAMPLED_STATES = 8000
"""Configurations per graph; later ones are computed in a new graph. Smaller graphs are slower."""
FLATTENED = 0.8
"""The alpha of the paper's samples, which a generative model judges."""

Drawn = tuple[list[int], float]
"""Action ids of a tree, and the log probability in nats with which it was drawn."""


class Prefix(NamedTuple):
    """A prefix of `count` samples of a sentence; `actions` is a linked list, last action first."""

    sentence: int
    configuration: Configuration
    count: int
    log_q: float
    actions: tuple | None


@one_graph
def sample_batch(
    parser: BatchedModel,
    sentences: Sequence,
    n: int,
    alpha: float,
    seeds: Sequence[Sequence[int]],
) -> list[list[Drawn]]:
    """Return n independent samples per sentence of ids, in exchangeable order.

    Equal prefixes are computed once. The number of a prefix's samples that take each action is
    multinomial, the same distribution as drawing them one by one. log q is the log probability of
    the flattened distribution over valid actions, from which samples are drawn. Every sentence
    draws from its own seed, independent of the batch. Raises RnngError if n is below 1 or alpha is
    negative.
    """
    if n < 1 or not 0 <= alpha < math.inf or min(chain(*seeds), default=0) < 0:
        raise RnngError(
            f"{n} samples at alpha {alpha}: samples are from 1 on, alpha and seeds from 0 on"
        )
    graphs = Graphs(parser, SAMPLED_STATES)
    network, randoms = parser.network, [np.random.default_rng(seed) for seed in seeds]
    frontier = [Prefix(i, c, n, 0.0, None) for i, c in enumerate(map(network.start, sentences))]
    drawn: list[list[Drawn]] = [[] for _ in sentences]
    while frontier:
        configurations = [prefix.configuration for prefix in frontier]
        graphs.make_room(configurations)
        table = network.step(configurations, alpha).action_log_probs()
        grown = []
        for prefix, action, count, log_q in _taken(frontier, table, randoms):
            c, actions = network.advance(prefix.configuration, action), (prefix.actions, action)
            if c.state.is_finished:
                drawn[prefix.sentence] += [(unlinked(actions), log_q)] * count
            else:
                grown.append(Prefix(prefix.sentence, c, count, log_q, actions))
        frontier = grown
    # samples of one prefix are adjacent: shuffled, so that the first k are k independent draws
    return [
        [samples[i] for i in random.permutation(n)]
        for samples, random in zip(drawn, randoms, strict=True)
    ]


def _taken(
    frontier: Sequence[Prefix], table: np.ndarray, randoms: Sequence[np.random.Generator]
) -> Iterator[tuple[Prefix, int, int, float]]:
    """Yield the actions that samples of prefixes take, how many take each, and log q after it."""
    samples = np.array([prefix.count for prefix in frontier])
    probs, counts = np.exp(table), np.empty(table.shape, int)
    begin = 0
    # prefixes of a sentence are adjacent
    for sentence, prefixes in groupby(prefix.sentence for prefix in frontier):
        end = begin + len(list(prefixes))
        drawn = randoms[sentence].multinomial(samples[begin:end], probs[begin:end])
        counts[begin:end], begin = drawn, end
    rows, actions = counts.nonzero()
    log_qs = np.array([prefix.log_q for prefix in frontier])[rows] + table[rows, actions]
    columns = (actions, counts[rows, actions], log_qs)
    drawn_from = map(frontier.__getitem__, rows.tolist())
    return zip(drawn_from, *(column.tolist() for column in columns), strict=True)
