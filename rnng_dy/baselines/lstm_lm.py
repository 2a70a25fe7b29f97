"""A sequential LSTM language model, with the generative model's vocabulary and training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from oracle.blocks import OracleSentence
from rnng_dy.engine import dy, one_graph
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.model import Model
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.softmax import ClassFactoredSoftmax
from rnng_dy.models.vectors import LookupTable, Losses, dropped, keep, owned_log_probs
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.parameters import ParameterStore
from rnng_dy.scorer import Scorer, Sentences, Unkified
from rnng_dy.search.beam import entropy
from rnng_dy.settings import LanguageModelSizes
from rnng_dy.vocabulary import GeneratorVocabulary

MAX_WORDS = 2000
"""Maximal number of words in one graph."""
ENTROPIES = 100
"""Distributions over the whole vocabulary that are in memory at a time."""


class LanguageModelExample(NamedTuple):
    """A training sentence as ids."""

    words: Sequence[int]


class LstmNetwork:
    """An LSTM over words and the softmax of the next word, with a class for the sentence's end."""

    parts: ClassVar[dict[str, Any]] = {}

    def __init__(
        self, vocabulary: GeneratorVocabulary, sizes: LanguageModelSizes, seed: int | None = 1
    ):
        self.store = store = ParameterStore(seed)
        self.end = len(vocabulary.words)
        self.lstm = Lstm(store, "words", sizes.layers, sizes.lstm_input, sizes.hidden)
        self.words = LookupTable(store, "word", len(vocabulary.words), sizes.lstm_input)
        clusters = [*vocabulary.clusters, (self.end,)]
        self.softmax = ClassFactoredSoftmax(store, sizes.hidden, clusters)

    def states(self, words: Sequence[int]) -> list[LstmState]:
        """Return the states before each word of a sentence and before its end."""
        # <s> has id 0
        return self.lstm.read(map(self.words.__getitem__, (0, *words)))

    def every_log_prob(self, states: Sequence[LstmState]) -> np.ndarray:
        """Return log p in nats of every word, and of the end, after some states; runs the graph."""
        return self.softmax.every_log_prob(self.lstm.outputs(states))

    def example_losses(self, examples: Sequence[LanguageModelExample], dropout: float) -> Losses:
        """Return -log p in nats, whose owners are the words and ends of all examples in order."""
        states = [state for example in examples for state in self.states(example.words)]
        targets = [word for example in examples for word in (*example.words, self.end)]
        u = self.lstm.outputs(states, dropout)
        return self.softmax.negative_log_probs(dropped(u, dropout), targets)


class LstmLanguageModel(Model, Scorer):
    """A language model of p(words and sentence end) with the generative model's softmax.

    The end of a sentence is a word in its own class, the last one.
    """

    kind = "lstm-lm"
    has_trees = False
    sizes_type = LanguageModelSizes
    vocabulary_type = GeneratorVocabulary
    network_type = LstmNetwork

    def encode(self, unkified: Iterable[str]) -> LanguageModelExample:
        """Encode a sentence as ids. Raises UnseenSymbolError if it has p = 0."""
        return LanguageModelExample(self.vocabulary.word_ids(unkified))

    def encode_training(self, sentence: OracleSentence) -> LanguageModelExample:
        """Encode a sentence of the training oracle as ids."""
        return self.encode(sentence.unkified)

    # use

    def example_log_probs(self, examples: Sequence[LanguageModelExample]) -> np.ndarray:
        """Return log p in nats of the words and of the end: shape (sentences, 2), float64.

        NaN for a sentence that does not fit into memory.
        """
        # reduceat adds in order, so that a row has the same sum in every batch
        rows = [(np.add.reduceat(row, [0])[0] - row[-1], row[-1]) for row in self._read(examples)]
        return np.array(rows, np.float64).reshape(-1, 2)

    def log_prob(self, tokens: Sequence[str], open_vocabulary: bool = False) -> float:
        """Return log p(words and end) in nats.

        Args:
            tokens: The words of a sentence.
            open_vocabulary: Whether unknown words count as strings, whose spelling has a
                probability.

        Returns:
            The log probability; -inf if the model lacks the class of an unknown word.

        Raises:
            RnngError: `open_vocabulary` is true, and the model has no spelling model.
        """
        records = self.surprisals(tokens, end=True, open_vocabulary=open_vocabulary)
        return -math.log(2) * math.fsum(record.surprisal for record in records)

    def records_of(self, sentences: Sentences, unkified: Unkified = None) -> list[list[WordRecord]]:
        """Return a record per token and one for the end.

        Surprisals are NaN in a sentence that does not fit into memory.
        """
        pairs = list(self._as_read(sentences, unkified))
        ids = [[self.vocabulary.ids.get(word) for word in words] for _, words in pairs]
        examples = [LanguageModelExample([i for i in row if i is not None]) for row in ids]
        records = []
        for pair, row, log_probs in zip(pairs, ids, self._read(examples), strict=True):
            bits = iter((-log_probs / math.log(2)).tolist())
            surprisals = [math.inf if i is None else next(bits) for i in row]
            end = WordRecord(None, None, next(bits))
            records.append([*map(WordRecord, *pair, surprisals), end])
        return records

    def next_word_entropies(self, sentences: Sentences) -> list[list[float]]:
        """Return the entropy of the next word in bits before each word and before each end."""
        return [self._entropies(self.encode(words)) for words in sentences]

    @one_graph
    def _entropies(self, example: LanguageModelExample) -> list[float]:
        entropies: list[float] = []
        states = self.network.states(example.words)
        for i in range(0, len(states), ENTROPIES):
            dy.renew_cg(derivatives=False)
            chunk = states[i : i + ENTROPIES]
            entropies += map(entropy, np.exp(self.network.every_log_prob(chunk)))
            keep(chunk[-1:])
        return entropies

    def _read(self, examples: Sequence[LanguageModelExample]) -> Iterator[np.ndarray]:
        """Yield log p of each word and the end; NaN in a sentence that does not fit into memory."""
        for batch in batches(examples, lambda example: len(example.words), MAX_WORDS):
            rows = split_on_memory_error(self._word_log_probs, batch)
            for example, row in zip(batch, rows, strict=True):
                yield np.full(len(example.words) + 1, math.nan) if row is None else row

    @one_graph
    def _word_log_probs(self, examples: Sequence[LanguageModelExample]) -> list[np.ndarray]:
        """Return log p in nats of each word and the end, per sentence."""
        dy.renew_cg(derivatives=False)
        log_probs = owned_log_probs(*self.network.example_losses(examples, 0.0))
        # the end of the sentence counts as one more position
        return np.split(log_probs, np.cumsum([len(e.words) + 1 for e in examples])[:-1])
