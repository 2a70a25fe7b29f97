"""Searches of many sentences: the model answers the requests of all of them as one batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oracle.transitions import SHIFT
from rnng_dy.engine import one_graph
from rnng_dy.search.model import Graphs, Model
from rnng_dy.search.word_search import Expansion, ExpansionRequest, Search, T

MAX_STATES = 1500
"""Configurations per graph; beyond that, the configurations still needed are carried into a new graph."""


@one_graph
def run(model: Model, searches: Sequence[Search[T]]) -> list[T]:
    """Return the results of searches, which must not have begun: they begin in a new graph."""
    graphs = Graphs(model, MAX_STATES)
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
        held = [h.configuration for r in asked.values() for h in r.held]
        graphs.make_room(following, held)
        for i, found in zip(asked, answers(model, list(asked.values())), strict=True):
            send(i, found)
    return [results[i] for i in range(len(searches))]


def answers(model: Model, requests: Sequence[ExpansionRequest]) -> list[Expansion]:
    """Return the answers to all requests, from one batch."""
    hypotheses = [h for request in requests for h in request.hypotheses]
    configurations = [
        h.configuration
        if h.action is None
        else model.network.advance(h.configuration, h.action, h.word)
        for h in hypotheses
    ]
    system = model.transitions
    valid = system.masks[[system.mask_number(c.state) for c in configurations]]
    words = [request.word for request in requests for _ in request.hypotheses]
    members = [i for i, word in enumerate(words) if word is not None and valid[i, SHIFT]]
    step = model.network.step(configurations)
    of_word = np.full(len(words), -np.inf)
    if members:
        # before the actions: one run of the graph computes both
        of_word[members] = step.word_log_probs(members, [words[i] for i in members])
    table = np.where(valid, step.action_log_probs(), -np.inf)
    found, begin = [], 0
    for request in requests:
        part = slice(begin, begin + len(request.hypotheses))
        found.append(Expansion(configurations[part], table[part], of_word[part]))
        begin = part.stop
    return found
