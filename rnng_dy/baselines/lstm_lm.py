"""A sequential LSTM language model over the words of the generative model, trained in the same way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oracle.errors import RnngError
from oracle.files import OracleSentence
from rnng_dy import checkpoint
from rnng_dy.batches import as_fits, batches
from rnng_dy.engine import dy
from rnng_dy.lstm import Lstm
from rnng_dy.parameters import ParameterStore
from rnng_dy.rnng import log_softmax
from rnng_dy.vocabulary import GeneratorVocabulary
from rnng_dy.word_softmax import ClassFactoredSoftmax

MAX_WORDS = 2000
"""Words in one graph."""

MAX_THROWN_AWAY = 200
"""Sentences in a row that are too long, or empty."""


@dataclass(frozen=True)
class LanguageModelSizes:
    """The paper's dimensions."""

    layers: int = 2
    lstm_input: int = 256
    hidden: int = 256


class LanguageModelExample(NamedTuple):
    """A training sentence as ids."""

    words: Sequence[int]


class LstmLanguageModel:
    """p(words and the end of the sentence), with the class-factored softmax of the generative model.

    The end of a sentence is a word of a class of its own, the last one.
    """

    kind = "lstm-lm"
    composition = None

    def __init__(
        self,
        vocabulary: GeneratorVocabulary,
        sizes: LanguageModelSizes = LanguageModelSizes(),
        composition: str | None = None,
        seed: int = 1,
    ):
        """There is nothing to compose; the argument is there for all models to be made alike."""
        store = ParameterStore(seed)
        self.store, self.vocabulary, self.sizes = store, vocabulary, sizes
        self._end = len(vocabulary.words)
        self._lstm = Lstm(store, "words", sizes.layers, sizes.lstm_input, sizes.hidden)
        self._word_table = store.lookup("word", len(vocabulary.words), sizes.lstm_input)
        clusters = [*vocabulary.clusters, (self._end,)]
        self._softmax = ClassFactoredSoftmax(store, sizes.hidden, clusters)

    def encode(self, unkified: Iterable[str]) -> LanguageModelExample:
        """A sentence. Raises UnseenSymbolError: it has p = 0."""
        return LanguageModelExample(self.vocabulary.word_ids(unkified))

    def encode_training(self, sentence: OracleSentence) -> LanguageModelExample:
        """A sentence of the training oracle."""
        return self.encode(sentence.unkified)

    def _losses(
        self, examples: Sequence[LanguageModelExample], dropout: float
    ) -> tuple[list[dy.Expression], np.ndarray]:
        """See `ClassFactoredSoftmax.negative_log_probs`, for the words and ends of all examples in order."""
        states, targets = [], []
        for example in examples:
            state = self._lstm.start()
            # <s> has id 0
            for word, target in zip((0, *example.words), (*example.words, self._end), strict=True):
                state = self._lstm.step(state, dy.lookup(self._word_table, word), dropout)
                states.append(state)
                targets.append(target)
        u = self._lstm.outputs(states)
        return self._softmax.negative_log_probs(dy.dropout(u, dropout) if dropout else u, targets)

    # training

    def with_unknowns(
        self, example: LanguageModelExample, probability: float, random: np.random.Generator
    ) -> LanguageModelExample:
        """The example as it is: the generative oracle has the UNK classes already."""
        return example

    def training_loss(
        self, examples: Sequence[LanguageModelExample], dropout: float
    ) -> dy.Expression:
        """The sum of -log p(words, end) in nats over a minibatch, as one graph."""
        losses, _ = self._losses(examples, dropout)
        return dy.esum([dy.sum_batches(loss) for loss in losses])

    @staticmethod
    def length(example: LanguageModelExample) -> int:
        """Words of an example."""
        return len(example.words)

    def touched_rows(self, examples: Iterable[LanguageModelExample]) -> Mapping[str, set[int]]:
        """The lookup rows of these examples."""
        return {"word": {0} | {word for e in examples for word in e.words}}

    # use

    def log_probs(self, examples: Sequence[LanguageModelExample]) -> np.ndarray:
        """log p in nats of the words and of the end of each sentence: shape (sentences, 2), float64.

        NaN for a sentence that does not fit into memory.
        """
        rows = [
            (math.nan, math.nan) if row is None else row
            for part in batches(examples, self.length, MAX_WORDS)
            for row in as_fits(self._log_probs, part)
        ]
        return np.array(rows, np.float64).reshape(-1, 2)

    def _log_probs(self, examples: Sequence[LanguageModelExample]) -> list[np.ndarray]:
        dy.renew_cg()
        losses, owners = self._losses(examples, 0.0)
        values = dy.concatenate_to_batch(losses).npvalue().ravel()
        # every sentence has its words and its end
        ends = np.cumsum([len(e.words) + 1 for e in examples])
        of_position = -np.bincount(owners, values.astype(np.float64), ends[-1])
        end = of_position[ends - 1]
        total = np.add.reduceat(of_position, np.concatenate([[0], ends[:-1]]))
        return list(np.stack([total - end, end], axis=1))

    def generate(self, n: int, seed: int = 1, max_length: int = 200) -> list[list[str]]:
        """n sentences drawn from the model; one that grows longer than `max_length` words is drawn anew.

        Raises RnngError where hundreds in a row do.
        """
        random = np.random.default_rng(seed)
        sentences: list[list[str]] = []
        failures = 0
        while len(sentences) < n:
            drawn = self._generate(random, max_length)
            failures = 0 if drawn else failures + 1
            if failures == MAX_THROWN_AWAY:
                raise RnngError(f"no sentence of at most {max_length} words comes of this model")
            if drawn is not None:
                sentences.append([self.vocabulary.words.symbols[word] for word in drawn])
        return sentences

    def _generate(self, random: np.random.Generator, max_length: int) -> list[int] | None:
        dy.renew_cg()
        words: list[int] = []
        state = self._lstm.step(self._lstm.start(), dy.lookup(self._word_table, 0))
        while len(words) <= max_length:
            u = self._lstm.output(state)
            k = _draw(self._softmax.class_logits(u).npvalue(), random)
            if k == len(self.vocabulary.clusters):
                if words:
                    return words
                # an empty sentence is none
                return None
            logits = self._softmax.word_logits(k, u)
            place = 0 if logits is None else _draw(logits.npvalue(), random)
            words.append(self.vocabulary.clusters[k][place])
            state = self._lstm.step(state, dy.lookup(self._word_table, words[-1]))
        return None

    def save(self, folder: str) -> None:
        """Write a model folder (see `checkpoint`)."""
        checkpoint.save(self, folder)

    @classmethod
    def load(cls, folder: str) -> LstmLanguageModel:
        """Read a model folder. Raises RnngError naming the file where it is none, or of another kind."""
        return checkpoint.load(folder, cls.kind)


def _draw(logits: np.ndarray, random: np.random.Generator) -> int:
    return int(random.choice(len(logits), p=np.exp(log_softmax(logits))))
