"""Searches that run side by side: the model answers the requests of all of them as one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from oracle.transitions import SHIFT
from rnng_dy.engine import dy, one_graph
from rnng_dy.search.incremental import (
    Expansion,
    ExpansionRequest,
    Hypothesis,
    Search,
    T,
)
from rnng_dy.search.model import Model

MAX_STATES = 1500
"""Configurations per graph; beyond that, the configurations still needed are carried into a new graph."""


@one_graph
def run(model: Model, open_searches: Sequence[Callable[[], Search[T]]]) -> list[T]:
    """Return the results of searches, which run side by side; each is opened in the new graph."""
    dy.renew_cg(derivatives=False)
    searches = [open_search() for open_search in open_searches]
    requests: dict[int, ExpansionRequest] = {}
    results: dict[int, T] = {}

    def ask(i: int, answer: Expansion | None) -> None:
        try:
            request = searches[i].send(answer)
            if not isinstance(request, ExpansionRequest):
                # raised inside the search, so that the traceback shows its yield
                searches[i].throw(TypeError(f"yields {request!r:.60}, and no ExpansionRequest"))
            requests[i] = request
        except StopIteration as stopped:
            results[i] = stopped.value

    for i in range(len(searches)):
        ask(i, None)
    states = 0
    while requests:
        asked, requests = requests, {}
        states += sum(len(request.hypotheses) for request in asked.values())
        if states > MAX_STATES:
            keep(model, [h for r in asked.values() for h in (*r.hypotheses, *r.held)])
            dy.renew_cg(derivatives=False)
            states = 0
        for i, answer in zip(asked, expand(model, list(asked.values())), strict=True):
            ask(i, answer)
    return [results[i] for i in range(len(searches))]


def keep(model: Model, hypotheses: Iterable[Hypothesis]) -> None:
    """Let hypotheses outlive the current graph."""
    model.network.keep({id(h.configuration): h.configuration for h in hypotheses}.values())


def expand(model: Model, requests: Sequence[ExpansionRequest]) -> list[Expansion]:
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
    answers, begin = [], 0
    for request in requests:
        part = slice(begin, begin + len(request.hypotheses))
        answers.append(Expansion(configurations[part], table[part], of_word[part]))
        begin = part.stop
    return answers
