"""Searches of many sentences: the model answers the requests of all of them as one batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np

from oracle.transitions import SHIFT, TransitionSystem
from rnng_dy.engine import dy, one_graph
from rnng_dy.models.configuration import Configuration
from rnng_dy.search.word_search import Expansion, ExpansionRequest, Search, T

SEARCHED_STATES = 1500
"""Configurations per graph; a new graph takes over those that are still needed."""


class BatchedModel(Protocol):
    """A model as searches see it: its network, what its actions do, and the ids of its symbols.

    A search calls the network's `start`, then `step` and `advance` in turn until a state
    `is_finished` (see `models.network.Rnng`).
    """

    network: Any
    transitions: TransitionSystem
    vocabulary: Any


class Graphs:
    """The graphs of a search, one after another, each of a bounded number of configurations."""

    def __init__(self, model: BatchedModel, most: int):
        """Begin the first graph; `most` bounds the configurations of each."""
        self._network, self._most, self._configurations = model.network, most, 0
        dy.renew_cg(derivatives=False)

    def make_room(
        self, following: Sequence[Configuration], others: Iterable[Configuration] = ()
    ) -> None:
        """Begin a new graph if the successors of configurations would make this one too large.

        The configurations `following`, and the `others` that the search still needs, are carried
        over.
        """
        self._configurations += len(following)
        if self._configurations > self._most:
            self._network.keep(dict.fromkeys([*following, *others]))
            dy.renew_cg(derivatives=False)
            self._configurations = len(following)


@one_graph
def run(model: BatchedModel, searches: Sequence[Search[T]]) -> list[T]:
    """Return the results of searches, which must not have begun: they begin in a new graph."""
    graphs = Graphs(model, SEARCHED_STATES)
    requests: dict[int, ExpansionRequest] = {}
    results: dict[int, T] = {}

    def send(i: int, answer: Expansion | None) -> None:
        try:
            requests[i] = searches[i].send(answer)
        except StopIteration as stopped:
            results[i] = stopped.value

    for i in range(len(searches)):
        send(i, None)
    while requests:
        asked, requests = requests, {}
        following = [h.configuration for r in asked.values() for h in r.hypotheses]
        graphs.make_room(following, [h.configuration for r in asked.values() for h in r.held])
        for i, answer in zip(asked, answers(model, list(asked.values())), strict=True):
            send(i, answer)
    return [results[i] for i in range(len(searches))]


def answers(model: BatchedModel, requests: Sequence[ExpansionRequest]) -> list[Expansion]:
    """Return the answers to all requests, from one batch."""
    hypotheses = [h for request in requests for h in request.hypotheses]
    advance = model.network.advance
    configurations = [
        h.configuration if h.action is None else advance(h.configuration, h.action, h.word)
        for h in hypotheses
    ]
    system = model.transitions
    valid = system.masks[[system.mask_number(c.state) for c in configurations]]
    words = [request.word for request in requests for _ in request.hypotheses]
    members = [i for i, word in enumerate(words) if word is not None and valid[i, SHIFT]]
    step = model.network.step(configurations)
    log_words, log_clusters = np.full((2, len(words)), -np.inf)
    if members:
        # before the actions: one run of the graph computes both
        following = [words[i] for i in members]
        log_words[members], log_clusters[members] = step.word_log_probs(members, following)
    table = np.where(valid, step.action_log_probs(), -np.inf)
    columns = configurations, table, log_words, log_clusters
    ends = accumulate((len(request.hypotheses) for request in requests), initial=0)
    return [Expansion(*(column[a:b] for column in columns)) for a, b in pairwise(ends)]
