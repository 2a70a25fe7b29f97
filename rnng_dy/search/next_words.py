"""Distributions over the next word, and their entropy (Hale 2006; Roark et al. 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.incremental import Hypothesis, Search, SearchOptions, SearchState, log_sum
from rnng_dy.search.model import Model


def beam_of(model: Model, options: SearchOptions) -> BeamSearch:
    """Return the beam that looks for next words, whichever search reads the words so far."""
    options = replace(options, sum_all=False, like_reference=False)
    return BeamSearch(model.transitions, options)


def word_probabilities(model: Model, ready: Sequence[Hypothesis]) -> np.ndarray:
    """Return the probabilities of all word ids, shape (words,), if one of some partial trees generates a word next.

    They are means over the partial trees, weighted by their probabilities, and add up to 1.
    """
    step = model.network.step([h.configuration for h in ready])
    log_probs = step.every_word_log_prob(range(len(ready)))
    scores = np.array([h.score for h in ready])
    return np.exp(scores - log_sum(scores)) @ np.exp(log_probs)


def with_next_word(
    model: Model, options: SearchOptions, reading: SearchState
) -> Search[SearchState]:
    """Return a search's state with the entropy of the next word in bits; the end of the sentence counts as a word.

    It is None if no partial tree reaches a word or the end.
    """
    if not reading.hypotheses or reading.next_word_entropy is not None:
        return reading
    search = beam_of(model, options)
    ready = yield from search.ready(reading)
    words = word_probabilities(model, ready.hypotheses) if ready.hypotheses else np.zeros(0)
    ended = yield from search.read(reading, None)
    log_masses = np.array([ready.mean_log_mass, ended.mean_log_mass])
    if not np.isfinite(log_masses).any():
        return reading
    of_word, of_end = np.exp(log_masses - log_sum(log_masses))
    return replace(reading, next_word_entropy=entropy(np.append(of_word * words, of_end)))


def entropy(probabilities: np.ndarray) -> float:
    """Return the entropy of a distribution in bits."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0
