"""Distributions over the next word, and their entropy (Hale 2006; Roark et al. 2009)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.model import Model
from rnng_dy.search.word_search import Search, SearchOptions, SearchState, log_sum


def beam_of(model: Model, options: SearchOptions) -> BeamSearch:
    """Return the beam that looks for next words, whichever search reads the words so far."""
    return BeamSearch(model.transitions, replace(options, like_reference=False))


def word_probabilities(
    model: Model, options: SearchOptions, state: SearchState
) -> Search[tuple[float, np.ndarray]]:
    """Return the log probability that a word comes next, with the words so far, and those of all word ids if so.

    The probabilities are means over the partial trees that are about to generate a word, weighted by theirs. They have
    shape (words,) and add up to 1; there are none if no partial tree leads to a word.
    """
    ready = yield from beam_of(model, options).ready(state)
    if not ready.hypotheses:
        return -math.inf, np.zeros(0)
    step = model.network.step([h.configuration for h in ready.hypotheses])
    every = step.every_word_log_prob(range(len(ready.hypotheses)))
    return ready.log_mass, ready.shares @ np.exp(every)


def with_next_word_entropy(
    model: Model, options: SearchOptions, state: SearchState
) -> Search[SearchState]:
    """Return a search's state with the entropy of the next word in bits, if the options ask for it.

    The end of the sentence counts as a word. The entropy is None if no partial tree reaches a word or the end.
    """
    if not options.next_word or not state.hypotheses:
        return state
    log_mass, words = yield from word_probabilities(model, options, state)
    ended = yield from beam_of(model, options).read(state, None)
    log_masses = np.array([log_mass, ended.log_mass])
    if not np.isfinite(log_masses).any():
        return state
    of_word, of_end = np.exp(log_masses - log_sum(log_masses))
    return replace(state, next_word_entropy=entropy(np.append(of_word * words, of_end)))


def entropy(probabilities: np.ndarray) -> float:
    """Return the entropy of a distribution in bits."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0
