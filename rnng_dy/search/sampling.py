"""Draws: trees from q(y | x) flattened by alpha, and sentences from a generative model.

The trees are those of Dyer et al. (2016), section 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.lazy import nltk
from oracle.transitions import SHIFT
from rnng_dy.engine import one_graph
from rnng_dy.models.configuration import Configuration
from rnng_dy.search.batched_search import SEARCHED_STATES, BatchedModel, Graphs
from rnng_dy.search.word_search import unlinked
from rnng_dy.settings import require_whole

TOGETHER, TOGETHER_WORDS = 100, 20_000
"""Limits of a batch: sentences, and the words that all of them together may have."""
MAX_THROWN_AWAY = 200
"""Number of discarded sentences in a row after which drawing fails."""
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
    parser: BatchedModel, sentences: Sequence, n: int, alpha: float, seeds: Sequence[Sequence[int]]
) -> list[list[Drawn]]:
    """Return n independent samples per sentence of ids, in exchangeable order.

    Equal prefixes are computed once. The number of a prefix's samples that take each action is
    multinomial, the same distribution as drawing them one by one. log q is the log probability of
    the flattened distribution over valid actions, from which samples are drawn. Every sentence
    draws from its own seed, independent of the batch. Raises RnngError if n is below 1 or alpha is
    negative.
    """
    require_whole(1, n=n)
    if not 0 <= alpha < math.inf:
        raise RnngError(f"alpha: {alpha} is no number from 0 on")
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


# sentences from a generative model


class Draw(NamedTuple):
    """A sentence that is being drawn; its words and actions are added one by one."""

    index: int
    configuration: Configuration
    words: list[int]
    actions: list[int]
    log_p: float = 0.0


def draw(log_probs: np.ndarray, random: np.random.Generator) -> int:
    """Return an index drawn from log probabilities in nats, shape (n,)."""
    probabilities = np.exp(log_probs)
    # they add up to 1 but for rounding
    return int(random.choice(len(probabilities), p=probabilities / probabilities.sum()))


def until_drawn(model: BatchedModel, n: int, seed: int, max_length: int) -> Iterator[Draw]:
    """Yield n sentences, in batches of some dozens; those that `_generate` discards are redrawn.

    Each has its own random generator, seeded by `seed` and its number, whatever else is drawn in
    the batch. Raises RnngError for impossible numbers, and if hundreds in a row are discarded, as
    with hardly trained models.
    """
    require_whole(1, n=n, max_length=max_length)
    require_whole(0, seed=seed)
    together = max(1, min(TOGETHER, TOGETHER_WORDS // max_length))
    for start in range(0, n, together):
        numbers = range(start, min(start + together, n))
        randoms = {i: np.random.default_rng([seed, i]) for i in numbers}
        sentences: dict[int, Draw] = {}
        thrown_away = 0
        while missing := [i for i in numbers if i not in sentences]:
            drawn = _generate(model, [randoms[i] for i in missing], max_length)
            new = {i: d for i, d in zip(missing, drawn, strict=True) if d is not None}
            sentences |= new
            thrown_away = 0 if new else thrown_away + len(missing)
            if thrown_away >= MAX_THROWN_AWAY:
                raise RnngError(f"no sentence of at most {max_length} words comes of this model")
        yield from (sentences[i] for i in numbers)


def generate_trees(
    model: BatchedModel, n: int, seed: int, max_length: int
) -> Iterator[tuple[nltk.Tree, float]]:
    """Yield n trees drawn from a generative model, tags XX, each with log p(x, y) in nats.

    A sentence of more than `max_length` words, or of more than ten actions per word of that length,
    is discarded and redrawn. Raises RnngError as `until_drawn` does.
    """
    symbols = model.vocabulary.words.symbols
    for d in until_drawn(model, n, seed, max_length):
        actions, words = model.transitions.decode(d.actions), [symbols[word] for word in d.words]
        yield model.transitions.tagged_tree(actions, words), d.log_p


@one_graph
def _generate(
    model: BatchedModel, randoms: Sequence[np.random.Generator], max_length: int
) -> list[Draw | None]:
    """Return a sentence per random generator, None for a sentence that is too long."""
    graphs = Graphs(model, SEARCHED_STATES)
    finished: list[Draw | None] = [None] * len(randoms)
    frontier = [Draw(i, model.network.start(), [], []) for i in range(len(randoms))]
    while frontier:
        configurations = [d.configuration for d in frontier]
        graphs.make_room(configurations)
        step = model.network.step(configurations)
        table = step.action_log_probs()
        actions = [draw(row, randoms[d.index]) for row, d in zip(table, frontier, strict=True)]
        shifts = [b for b, action in enumerate(actions) if action == SHIFT]
        rows = step.every_word_log_prob(shifts) if shifts else ()
        word_log_probs = dict(zip(shifts, rows, strict=True))
        grown = []
        for b, (d, action) in enumerate(zip(frontier, actions, strict=True)):
            word, log_p = None, d.log_p + float(table[b, action])
            if b in word_log_probs:
                word = draw(word_log_probs[b], randoms[d.index])
                d.words.append(word)
                log_p += float(word_log_probs[b][word])
            d.actions.append(action)
            c = model.network.advance(d.configuration, action, word)
            taken = d._replace(configuration=c, log_p=log_p)
            if c.state.is_finished:
                finished[d.index] = taken
            elif len(d.words) <= max_length and len(d.actions) <= 10 * max_length:
                grown.append(taken)
        frontier = grown
    return finished
