"""The probabilities of the next word after the words so far."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from rnng_dy.search.batched_search import BatchedModel
from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.word_search import Search, SearchOptions, SearchState, log_sum


def beam_of(model: BatchedModel, options: SearchOptions) -> BeamSearch:
    """Return the beam that looks for next words, whichever search reads the words so far."""
    return BeamSearch(model.transitions, replace(options, like_reference=False))


def word_probabilities(
    model: BatchedModel, options: SearchOptions, state: SearchState
) -> Search[tuple[float, np.ndarray]]:
    """Return log p(the words so far and one more), and the probability of each word id if so.

    The probabilities are means over the partial trees that are about to generate a word, weighted
    by theirs. They have shape (words,) and add up to 1; there are none if no partial tree leads to
    a word.
    """
    ready = yield from beam_of(model, options).ready(state)
    if not ready.hypotheses:
        return -math.inf, np.zeros(0)
    step = model.network.step([h.configuration for h in ready.hypotheses])
    every = step.every_word_log_prob(range(len(ready.hypotheses)))
    return ready.log_mass, ready.shares @ np.exp(every)


def with_next_word_entropy(
    model: BatchedModel, options: SearchOptions, state: SearchState
) -> Search[SearchState]:
    """Return a search's state with the entropy of the next word in bits, if the options ask for it.

    The end of the sentence counts as a word. The entropy is None if no partial tree reaches a word
    or the end.
    """
    if not options.next_word or not state.hypotheses:
        return state
    log_mass, words = yield from word_probabilities(model, options, state)
    ended = yield from beam_of(model, options).read(state, None)
    log_masses = np.array([log_mass, ended.log_mass])
    if not np.isfinite(log_masses).any():
        return state
    of_word, of_end = np.exp(log_masses - log_sum(log_masses))
    bits = entropy(np.append(of_word * words, of_end))
    return replace(state, next_word_entropy=bits, next_words=most_probable(model, words, 10))


def entropy(probabilities: np.ndarray) -> float:
    """Return the entropy of a distribution in bits."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0


def most_probable(model: BatchedModel, probs: np.ndarray, k: int) -> list[tuple[str, float]]:
    """Return the k most probable words, by word id, with their probabilities."""
    symbols, best = model.vocabulary.words.symbols, np.argsort(-probs, kind="stable")[:k]
    return [(symbols[i], float(probs[i])) for i in best if probs[i] > 0]
