"""Distributions over the next word, and their entropy (Hale 2006; Roark et al. 2009)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.model import Model
from rnng_dy.search.word_search import Search, SearchOptions, SearchState, WordSearch, log_sum


def beam_of(model: Model, options: SearchOptions) -> BeamSearch:
    """Return the beam that looks for next words, whichever search reads the words so far."""
    return BeamSearch(model.transitions, replace(options, like_reference=False))


def word_probabilities(model: Model, ready: SearchState) -> np.ndarray:
    """Return the probabilities of all word ids, shape (words,), if a partial tree of a state generates a word next.

    They are means over the partial trees, weighted by their probabilities, and add up to 1.
    """
    step = model.network.step([h.configuration for h in ready.hypotheses])
    return ready.shares @ np.exp(step.every_word_log_prob(range(len(ready.hypotheses))))


def with_next_word_entropy(
    model: Model, options: SearchOptions, state: SearchState
) -> Search[SearchState]:
    """Return a search's state with the entropy of the next word in bits, if the options ask for it.

    The end of the sentence counts as a word. The entropy is None if no partial tree reaches a word or the end.
    """
    if not options.next_word or not state.hypotheses or state.next_word_entropy is not None:
        return state
    search = beam_of(model, options)
    ready = yield from search.ready(state)
    words = word_probabilities(model, ready) if ready.hypotheses else np.zeros(0)
    ended = yield from search.read(state, None)
    log_masses = np.array([ready.mean_log_mass, ended.mean_log_mass])
    if not np.isfinite(log_masses).any():
        return state
    of_word, of_end = np.exp(log_masses - log_sum(log_masses))
    return replace(state, next_word_entropy=entropy(np.append(of_word * words, of_end)))


def read_word(
    model: Model, search: WordSearch, state: SearchState, word: int | None
) -> Search[tuple[SearchState, SearchState]]:
    """Return the states before and after a word, with the entropies of the next words if the options ask for them.

    The word None is the end of the sentence, which no word follows.
    """
    before = yield from with_next_word_entropy(model, search.options, state)
    after = yield from search.read(before, word)
    if word is not None:
        after = yield from with_next_word_entropy(model, search.options, after)
    return before, after


def entropy(probabilities: np.ndarray) -> float:
    """Return the entropy of a distribution in bits."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0
