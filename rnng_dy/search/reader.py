"""Word-by-word reading for programs that do not have the whole sentence yet."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from oracle.errors import RnngError, UnseenSymbolError
from oracle.tokens import split_tokens
from rnng_dy.engine import one_graph
from rnng_dy.evaluation.records import Analysis, WordRecord, with_spellings
from rnng_dy.open_vocabulary import read_words, required_spelling
from rnng_dy.search.incremental import Search, SearchState
from rnng_dy.search.model import Model
from rnng_dy.search.next_words import beam_of, with_next_word, word_probabilities
from rnng_dy.search.side_by_side import keep, run
from rnng_dy.search.surprisal import (
    DEFAULT_OPTIONS,
    SearchOptions,
    analysis,
    open_search,
    record,
)


class Reader:
    """A reader of one sentence, word by word; a copy continues independently from the same point."""

    def __init__(
        self,
        model: Model,
        options: SearchOptions = DEFAULT_OPTIONS,
        open_vocabulary: bool = False,
    ):
        """Raises RnngError if `open_vocabulary` is true and the model has no spelling model."""
        if open_vocabulary:
            required_spelling(model, "this model")
        self._model, self._open = model, open_vocabulary
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
        [unk], spelling = read_words(self._model, [token], self._open)
        word = self._model.vocabulary.ids.get(unk)
        if word is None:
            raise UnseenSymbolError([unk])
        found = self._go_on(lambda reading: self._search.read(reading, word), token, unk, spelling)
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

        The probabilities are estimates: means over the partial trees of the word beam, weighted by their probabilities.
        Classes of unknown words count as words, and the end of the sentence does not. All of them add up to 1.

        Args:
            k: Number of words.

        Raises:
            RnngError: k is below 1, or no partial tree reaches a word.
        """
        if k < 1:
            raise RnngError(f"{k} next words: from 1 on")
        model, search = self._model, beam_of(self._model, self._options)
        [ready] = run(model, [lambda: search.ready(self._start())])
        if not ready.hypotheses:
            raise RnngError("no partial tree leads to a next word")
        probs = word_probabilities(model, ready.hypotheses)
        best = np.argsort(-probs, kind="stable")[:k]
        symbols = model.vocabulary.words.symbols
        return [(symbols[i], float(probs[i])) for i in best if probs[i] > 0]

    def _start(self) -> SearchState:
        """Return the reader's state; before the first word, a state in the current graph."""
        return self._reading or self._search.start(self._model.network.start())

    def _go_on(
        self,
        search: Callable[[SearchState], Search[Any]],
        token: str | None,
        unk: str | None,
        spelling: float = 0.0,
    ) -> WordRecord:
        def opened() -> Search[Any]:
            before = self._start()
            if not self._options.next_word:
                return before, (yield from search(before))
            before = yield from with_next_word(self._model, self._options, before)
            after = yield from search(before)
            if token is not None:
                after = yield from with_next_word(self._model, self._options, after)
            return before, after

        [(before, after)] = run(self._model, [opened])
        if not after.hypotheses:
            place = "the end" if token is None else repr(token)
            raise RnngError(f"no partial tree that the search kept leads to {place}")
        keep(self._model, after.hypotheses)
        self._reading = after
        found = record(self._model, token, unk, before, after)
        return with_spellings([found], [spelling])[0] if self._open else found
