"""Searches that run side by side: the model answers the requests of all of them as one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic

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


class SideBySide(Generic[T]):
    """Searches that run side by side; other graphs may be built between calls of `go_on`."""

    def __init__(self, model: Model, open_searches: Sequence[Callable[[], Search[T]]]):
        """Take functions that open the searches, which the first call of `go_on` does in its graph."""
        self._model, self._opening = model, open_searches
        self._searches: list[Search[T]] = []
        self._requests: dict[int, ExpansionRequest] = {}
        self._results: dict[int, T] = {}

    @one_graph
    def go_on(self, is_due: Callable[[], bool] = lambda: False) -> list[T] | None:
        """Answer requests, and return the results of all searches; None if `is_due` is true before the end."""
        dy.renew_cg(derivatives=False)
        if not self._searches:
            self._searches = [open_search() for open_search in self._opening]
            for i in range(len(self._searches)):
                self._ask(i, None)
        states = 0
        while self._requests:
            asked, self._requests = self._requests, {}
            states += sum(len(request.hypotheses) for request in asked.values())
            if states > MAX_STATES:
                self._keep(asked)
                dy.renew_cg(derivatives=False)
                states = 0
            for i, answer in zip(asked, expand(self._model, list(asked.values())), strict=True):
                self._ask(i, answer)
            if self._requests and is_due():
                self._keep(self._requests)
                return None
        return [self._results[i] for i in range(len(self._searches))]

    def _ask(self, i: int, answer: Expansion | None) -> None:
        try:
            request = self._searches[i].send(answer)
            if not isinstance(request, ExpansionRequest):
                # raised inside the search, so that the traceback shows its yield
                self._searches[i].throw(
                    TypeError(f"yields {request!r:.60}, and no ExpansionRequest")
                )
            self._requests[i] = request
        except StopIteration as stopped:
            self._results[i] = stopped.value

    def _keep(self, requests: Mapping[int, ExpansionRequest]) -> None:
        keep(self._model, [h for r in requests.values() for h in (*r.hypotheses, *r.held)])


def run(model: Model, open_searches: Sequence[Callable[[], Search[T]]]) -> list[T]:
    """Return the results of searches, which run side by side; each is opened in the new graph."""
    results = SideBySide(model, open_searches).go_on()
    assert results is not None
    return results


def keep(model: Model, hypotheses: Iterable[Hypothesis]) -> None:
    """Let hypotheses outlive the current graph."""
    model.keep({id(h.configuration): h.configuration for h in hypotheses}.values())


def expand(model: Model, requests: Sequence[ExpansionRequest]) -> list[Expansion]:
    """Return the answers to all requests, from one batch."""
    hypotheses = [h for request in requests for h in request.hypotheses]
    configurations = [
        h.configuration if h.action is None else model.advance(h.configuration, h.action, h.word)
        for h in hypotheses
    ]
    system = model.transitions
    valid = system.masks[[system.mask_number(c.state) for c in configurations]]
    words = [request.word for request in requests for _ in request.hypotheses]
    members = [i for i, word in enumerate(words) if word is not None and valid[i, SHIFT]]
    step = model.step(configurations)
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
