"""Word-by-word reading for programs that do not have the whole sentence yet."""

from __future__ import annotations

import copy

import numpy as np

from oracle.errors import RnngError, UnseenSymbolError
from oracle.tokens import split_tokens
from rnng_dy.engine import one_graph
from rnng_dy.evaluation.records import Analysis, WordRecord
from rnng_dy.search.batched_search import run
from rnng_dy.search.model import Model
from rnng_dy.search.next_words import beam_of, read_word, word_probabilities
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SEARCHES, SearchOptions, analysis, record
from rnng_dy.search.word_search import Search, SearchState


class Reader:
    """A reader of one sentence, word by word; a copy continues independently from the same point."""

    def __init__(self, model: Model, options: SearchOptions = DEFAULT_OPTIONS):
        """Begin a sentence. Raises RnngError for impossible options."""
        self._model, self._options = model, options
        self._search = SEARCHES[options.search](model.transitions, options)
        self._state: SearchState | None = None
        self.tokens: tuple[str, ...] = ()
        """The words so far."""

    @one_graph
    def copy(self) -> Reader:
        """Return an independent reader after the same words."""
        return copy.copy(self)

    @property
    def beam(self) -> list[Analysis]:
        """The partial trees of the words so far, best first."""
        state = self._state
        return [] if state is None else [analysis(self._model, h) for h in state.hypotheses]

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
        found = self._read(token, unk, word)
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
        return after._read(None, None, None), after.beam

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

        def search() -> Search[np.ndarray | None]:
            ready = yield from beam_of(self._model, self._options).ready(self._start())
            return word_probabilities(self._model, ready) if ready.hypotheses else None

        [probs] = run(self._model, [search()])
        if probs is None:
            raise RnngError("no partial tree leads to a next word")
        symbols = self._model.vocabulary.words.symbols
        best = np.argsort(-probs, kind="stable")[:k]
        return [(symbols[i], float(probs[i])) for i in best if probs[i] > 0]

    def _start(self) -> SearchState:
        return self._state or self._search.start(self._model.network.start())

    def _read(self, token: str | None, unk: str | None, word: int | None) -> WordRecord:
        """Read a word, or the end of the sentence if it is None."""
        search = read_word(self._model, self._search, self._start(), word)
        [(before, after)] = run(self._model, [search])
        if not after.hypotheses:
            place = "the end" if token is None else repr(token)
            raise RnngError(f"no partial tree that the search kept leads to {place}")
        self._model.network.keep(dict.fromkeys(h.configuration for h in after.hypotheses))
        self._state = after
        return record(self._model, token, unk, before, after)
