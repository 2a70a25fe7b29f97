"""Word-by-word reading for programs that do not have the whole sentence yet."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from oracle.errors import RnngError, UnseenSymbolError
from oracle.tokens import split_tokens
from rnng_dy.engine import one_graph
from rnng_dy.search.beam import BeamSearch, BeamSizes
from rnng_dy.search.incremental import Search, SearchState, keep, log_sum, run
from rnng_dy.search.model import Model
from rnng_dy.search.surprisal import (
    DEFAULT_OPTIONS,
    SearchOptions,
    analysis,
    open_search,
    record,
)
from rnng_dy.search.words import Analysis, WordRecord


class Reader:
    """A reader of one sentence, word by word; a copy continues independently from the same point."""

    def __init__(self, model: Model, options: SearchOptions = DEFAULT_OPTIONS):
        self._model = model
        self._options = options
        self._search = open_search(model, options)
        self._reading: SearchState | None = None
        self.tokens: tuple[str, ...] = ()
        """The words so far."""

    def __repr__(self) -> str:
        return f"<Reader after {' '.join(self.tokens) or 'no word'!r}>"

    @one_graph
    def copy(self) -> Reader:
        """Return an independent reader after the same words."""
        return copy.copy(self)

    @property
    def beam(self) -> list[Analysis]:
        """The partial trees of the words so far, best first."""
        reading = self._reading
        return [] if reading is None else [analysis(self._model, h) for h in reading.hypotheses]

    @one_graph
    def push(self, token: str) -> WordRecord:
        """Read a word and return its measures.

        Args:
            token: The word.

        Raises:
            UnseenSymbolError: The model knows neither the word nor its class of unknown words.
            RnngError: The search cannot reach the word. After any error the reader stays in place.
        """
        [token], _ = split_tokens([token])
        [unk] = self._model.vocabulary.unkify([token])
        word = self._model.vocabulary.ids.get(unk)
        if word is None:
            raise UnseenSymbolError([unk])
        found = self._go_on(lambda reading: self._search.read(reading, word), token, unk)
        self.tokens = (*self.tokens, token)
        return found

    @one_graph
    def end(self) -> tuple[WordRecord, list[Analysis]]:
        """Return the measures of the sentence's ending here, and its complete trees, best first.

        The reader itself does not move.

        Raises:
            RnngError: No word has been read, or the search cannot end the sentence here.
        """
        if not self.tokens:
            raise RnngError("no word has been read")
        after = self.copy()
        return after._go_on(after._search.finish, None, None), after.beam

    @one_graph
    def next_words(self, k: int = 10) -> list[tuple[str, float]]:
        """Return the k most probable next words with their probabilities.

        Probabilities are means over the partial trees that reach a word, weighted by their probabilities.
        Classes of unknown words count as words. The probabilities of all words add up to 1.

        Args:
            k: Number of words.

        Raises:
            RnngError: k is below 1, or no partial tree reaches a word.
        """
        if k < 1:
            raise RnngError(f"{k} next words: from 1 on")
        model, options = self._model, self._options
        sizes = BeamSizes(options.beam, options.fast_track, options.word_beam)
        search = BeamSearch(model.transitions, sizes)
        [ready] = run(model, [lambda: search.ready(self._start())])
        if not ready.hypotheses:
            raise RnngError("no partial tree leads to a next word")
        step = model.step([h.configuration for h in ready.hypotheses])
        log_probs = step.every_word_log_prob(range(len(ready.hypotheses)))
        scores = np.array([h.score for h in ready.hypotheses])
        probs = np.exp(scores - log_sum(scores)) @ np.exp(log_probs)
        best = np.argsort(-probs, kind="stable")[:k]
        symbols = model.vocabulary.words.symbols
        return [(symbols[i], float(probs[i])) for i in best if probs[i] > 0]

    def _start(self) -> SearchState:
        """Return the reader's state; before the first word, a state in the current graph."""
        return self._reading or self._search.start(self._model.start())

    def _go_on(
        self, search: Callable[[SearchState], Search[Any]], token: str | None, unk: str | None
    ) -> WordRecord:
        before: list[SearchState] = []

        def opened() -> Search[Any]:
            before.append(self._start())
            return search(before[0])

        [after] = run(self._model, [opened])
        if not after.hypotheses:
            place = "the end" if token is None else repr(token)
            raise RnngError(f"no partial tree that the search kept leads to {place}")
        keep(self._model, after.hypotheses)
        self._reading = after
        return record(self._model, token, unk, before[0], after)
