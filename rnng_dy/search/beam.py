"""Word-synchronous beam search with fast-track (Stern et al. 2017, as used by Hale et al. 2018).

Analyses compete only with others that have generated as many words. `like_reference` reproduces the
published program, its quirks included.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oracle.transitions import SHIFT
from rnng_dy.search import word_search
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
        log_mass = word_search.log_sum(scores)
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
