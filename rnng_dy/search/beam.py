"""Word-synchronous beam search with fast-track (Stern et al. 2017, as used by Hale et al. 2018).

Analyses compete only with others that have generated as many words. `like_reference` reproduces the published
program, its quirks included.
"""

from __future__ import annotations

import numpy as np

from oracle.errors import RnngError
from oracle.transitions import SHIFT, TransitionSystem
from rnng_dy.search.incremental import (
    Expansion,
    ExpansionRequest,
    Hypothesis,
    Search,
    SearchOptions,
    SearchState,
    WordSearch,
    carried_out,
    finishing,
    log_sum,
)


class BeamSearch(WordSearch):
    """The word-synchronous beam; see `search.incremental.WordSearch`."""

    name = "beam"
    options = ("beam", "fast_track", "word_beam", "sum_all", "like_reference")

    @classmethod
    def open(cls, system: TransitionSystem, options: SearchOptions, index: int) -> BeamSearch:
        """See `WordSearch`."""
        return cls(system, options)

    def __init__(self, system: TransitionSystem, options: SearchOptions):
        """Raise RnngError for impossible sizes."""
        o = options
        if min(o.beam, o.word_beam) < 1 or o.fast_track < 0:
            raise RnngError(
                f"beam {o.beam}, fast track {o.fast_track}, word beam {o.word_beam}: beam and word beam from 1 on, "
                "fast track from 0 on"
            )
        self._system, self._options = system, options

    def read(self, reading: SearchState, word: int | None) -> Search[SearchState]:
        """See `WordSearch`."""
        begun = [h._replace(at_word=h.score) for h in reading.hypotheses]
        return self._search(begun, word)

    def ready(self, reading: SearchState) -> Search[SearchState]:
        """Return the partial trees that are about to generate a word, whichever it is."""
        return self._search(reading.hypotheses, None, any_word=True)

    def _search(
        self, begun: list[Hypothesis], word: int | None, any_word: bool = False
    ) -> Search[SearchState]:
        following, reached = begun, _Reached(self._options.word_beam)
        rounds = done = 0
        while following:
            answer = yield ExpansionRequest(following, word, reached.best)
            rounds += 1
            scores, goal, dropped = self._scores(following, answer, word, any_word)
            items = self._select(scores, goal)
            done += len(items)
            wanted = goal.ravel()[items]
            lexical = answer.word if word is not None else np.zeros(len(following))
            reached.add(
                [
                    h._replace(word=word, lexical=float(lexical[row]))
                    for row, h in carried_out(following, answer, scores, items[wanted])
                ]
            )
            others = items[~(wanted | dropped.ravel()[items])]
            hopeful = others[scores.ravel()[others] > self._bound(reached)]
            following = [h for _, h in carried_out(following, answer, scores, hopeful)]
        return self._reading(reached, rounds, done)

    def _scores(
        self, hypotheses: list[Hypothesis], answer: Expansion, word: int | None, any_word: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return scores of the actions, which actions reach the goal, and which are dropped once carried out."""
        scores = np.array([h.score for h in hypotheses])[:, None] + answer.actions
        closing = finishing(self._system, answer)
        goal = np.zeros(scores.shape, bool)
        dropped = closing
        if word is None and not any_word:
            goal, dropped = closing, goal
            scores[:, SHIFT] = -np.inf
            if self._system.opening_needs_word:
                scores[:, self._system.first_open :] = -np.inf
        else:
            if word is not None:
                scores[:, SHIFT] += answer.word
            goal[:, SHIFT] = True
            if not self._options.like_reference:
                # no word can follow, so the action must not take another's place
                scores[closing] = -np.inf
        return scores, goal, dropped

    def _select(self, scores: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Return the best actions, then the fast-tracked ones: indices in row-major order of scores.

        Ties go to the better partial tree, then to the lower action id.
        """
        flat = scores.ravel()
        possible = np.flatnonzero(flat > -np.inf)
        order = possible[np.argsort(-flat[possible], kind="stable")]
        kept, behind = order[: self._options.beam], order[self._options.beam :]
        fast = behind[goal.ravel()[behind]][: self._options.fast_track]
        return np.concatenate([kept, fast])

    def _bound(self, reached: _Reached) -> float:
        """Return the score that an open partial tree must exceed for the search for a word to continue with it.

        Scores only fall, so the others cannot enter the word beam. If all that reach the word count, a beam of them
        counts first. The published program stops at that number.
        """
        if self._options.sum_all or self._options.like_reference:
            if len(reached.scores) < self._options.beam:
                return -np.inf
            if self._options.like_reference:
                return np.inf
        return reached.bound

    def _reading(self, reached: _Reached, rounds: int, done: int) -> SearchState:
        beam = reached.best
        scores = np.array([h.score for h in beam])
        summed, before_word = scores, scores - [h.lexical for h in beam]
        if self._options.sum_all:
            summed = np.array(reached.scores)
            before_word = summed - reached.lexical
        return SearchState(
            beam,
            np.array([log_sum(summed)]),
            np.exp(scores - log_sum(scores)) if beam else scores,
            log_sum(before_word),
            rounds,
            done,
        )


class _Reached:
    """The partial trees that have reached a word: the best ones, and the scores of all in nats."""

    def __init__(self, size: int):
        self._size = size
        self.best: list[Hypothesis] = []
        """At most `size` partial trees, best first."""
        self.scores: list[float] = []
        self.lexical: list[float] = []
        """log p(word | u) of all partial trees, in nats."""

    @property
    def bound(self) -> float:
        """The score that another partial tree must exceed to be among the best."""
        return self.best[-1].score if len(self.best) == self._size else -np.inf

    def add(self, found: list[Hypothesis]) -> None:
        """Add partial trees."""
        self.scores += [h.score for h in found]
        self.lexical += [h.lexical for h in found]
        self.best = sorted(self.best + found, key=lambda h: -h.score)[: self._size]
