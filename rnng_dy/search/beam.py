"""Word-synchronous beam search with fast-track (Stern et al. 2017, as used by Hale et al. 2018).

Analyses compete only with others that have generated as many words. `like_reference` reproduces the
published program, its quirks included. The beam also finds the probabilities of the next word after
the words so far, whichever search has read them.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oracle.transitions import SHIFT
from rnng_dy.search import word_search
from rnng_dy.search.batched_search import BatchedModel
from rnng_dy.search.word_search import Expansion, Hypothesis, Search, SearchState, WordSearch


class BeamSearch(WordSearch):
    """The word-synchronous beam."""

    name = "beam"
    reads = ("beam", "fast_track", "word_beam", "like_reference")
    width = "beam"

    def read(self, state: SearchState, word: int | None) -> Search[SearchState]:
        """Return the state after one more word, or at the end: the best that reach it."""
        return self._search(state.hypotheses, word, at_end=word is None)

    def ready(self, state: SearchState) -> Search[SearchState]:
        """Return the partial trees that are about to generate a word, whichever it is."""
        return self._search(state.hypotheses, None, at_end=False)

    def _search(
        self, beam: Sequence[Hypothesis], word: int | None, at_end: bool
    ) -> Search[SearchState]:
        """Take action after action until the word beam is full, and nothing better can enter it.

        The goal is the end of the sentence, or else the next word: any one if `word` is None.
        """
        word_beam: list[Hypothesis] = []
        rounds = done = reached = 0
        while beam:
            answer = yield word_search.ExpansionRequest(beam, word, word_beam)
            rounds += 1
            scores, goal, closing = self._scores(beam, answer, word, at_end)
            order = word_search.best_first(scores)
            kept, behind = order[: self.options.beam], order[self.options.beam :]
            fast_tracked = behind[goal.ravel()[behind]][: self.options.fast_track]
            items = np.concatenate([kept, fast_tracked])
            done += len(items)
            at_goal = goal.ravel()[items]
            rows, arrived = word_search.expand(beam, answer, scores, items[at_goal])
            if word is not None:
                of_rows = zip(arrived, rows, strict=True)
                arrived = [h.generating(word, answer, row) for h, row in of_rows]
            reached += len(arrived)
            best = sorted([*word_beam, *arrived], key=lambda h: -h.score)
            word_beam = best[: self.options.word_beam]
            others = items[~(at_goal | closing.ravel()[items])]
            hopeful = others[scores.ravel()[others] > self._bound(word_beam, reached)]
            _, beam = word_search.expand(beam, answer, scores, hopeful)
        scores = np.array([h.score for h in word_beam])
        log_mass = float(np.logaddexp.reduce(scores))
        return SearchState(word_beam, log_mass, np.exp(scores - log_mass), rounds, done)

    def _scores(
        self, beam: Sequence[Hypothesis], answer: Expansion, word: int | None, at_end: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the scores of all actions, which reach the goal, and which complete a tree."""
        scores = np.array([h.score for h in beam])[:, None] + answer.actions
        closing = word_search.completes_tree(self.system, answer)
        if at_end:
            return word_search.without_words(self.system, scores), closing, closing
        if word is not None:
            scores[:, SHIFT] += answer.word
        if not self.options.like_reference:
            # no word can follow, so the action must not take another's place
            scores[closing] = -np.inf
        goal = np.zeros(scores.shape, bool)
        goal[:, SHIFT] = True
        return scores, goal, closing

    def _bound(self, word_beam: Sequence[Hypothesis], reached: int) -> float:
        """Return the score that an open partial tree must exceed to stay in the search.

        Scores only fall, so the others cannot enter the word beam. The published program stops when
        a beam of partial trees has reached the word.
        """
        if self.options.like_reference:
            return -np.inf if reached < self.options.beam else np.inf
        return word_beam[-1].score if len(word_beam) == self.options.word_beam else -np.inf


def beam_of(model: BatchedModel, options: word_search.SearchOptions) -> BeamSearch:
    """Return the beam that looks for next words, whichever search reads the words so far."""
    return BeamSearch(model.transitions, replace(options, like_reference=False, runs=1))


def word_probabilities(
    model: BatchedModel, options: word_search.SearchOptions, state: SearchState
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
    model: BatchedModel, options: word_search.SearchOptions, state: SearchState
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
    of_word, of_end = np.exp(log_masses - np.logaddexp.reduce(log_masses))
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
