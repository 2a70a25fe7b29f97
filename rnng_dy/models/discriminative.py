"""The parser q(y | x) (Dyer et al. 2016, section 3; `nt-parser.cc` of the original)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rnng_dy.engine import dy
from rnng_dy.models.configuration import Configuration, Derivation, WordPrefix
from rnng_dy.models.lstm import Lstm
from rnng_dy.models.network import Rnng
from rnng_dy.models.parser_state import PARSER_STATES, WORDS
from rnng_dy.models.vectors import Embedding, LookupTable, require_shape, value_of
from rnng_dy.models.word_input import WORD_INPUTS, Word
from rnng_dy.parameters import ParameterStore
from rnng_dy.settings import ParserSizes
from rnng_dy.vocabulary import ParserVocabulary


class Tokens(NamedTuple):
    """A sentence as ids; a missing tag or pretrained vector is None."""

    words: Sequence[int]
    tags: Sequence[int | None] | None
    vectors: Sequence[int | None] | None
    forms: Sequence[str] = ()
    """The words as they are written."""


class ParserExample(NamedTuple):
    """A training sentence; at random, its words that occur once become their UNK `classes`."""

    tokens: Tokens
    classes: Sequence[int]
    actions: Sequence[int]

    @property
    def words(self) -> Sequence[int]:
        """The words as ids."""
        return self.tokens.words


class InputLayer:
    """The vectors of words on stack and buffer: relu(bias + W word + T tag + V pretrained)."""

    def __init__(
        self,
        store: ParameterStore,
        sizes: ParserSizes,
        vocabulary: ParserVocabulary,
        vectors: np.ndarray | None,
        word_input: str,
    ):
        size, self._counts = sizes.lstm_input, vocabulary.tag_counts
        self.words = WORD_INPUTS[word_input](store, vocabulary.words.symbols, sizes.word)
        self._bias = store.vector("input_bias", size)
        self._weights = [store.matrix("input_word", size, sizes.word)]
        self._word_size = sizes.word
        self._tags = self._vectors = None
        if vocabulary.tags is not None:
            self._tags = LookupTable(store, "tag", len(vocabulary.tags), sizes.tag)
            self._weights.append(store.matrix("input_tag", size, sizes.tag))
            self._unknown_tag = Embedding(lambda _: self._mean_tag())
        if vectors is not None:
            # the blank row after the others, all zeros, is for words without a pretrained vector
            table = store.constant(vectors, len(vocabulary.pretrained), blank=True)
            self._vectors = partial(dy.lookup_batch, table, update=False)
            self._blank = len(vectors)
            self._weights.append(store.matrix("input_vector", size, vectors.shape[1]))

    def _mean_tag(self) -> dy.Expression:
        """Return the embedding of an unseen tag: the mean of all, weighted by training counts."""
        counts = np.array(self._counts, np.float32)
        return dy.inputVector(counts / counts.sum() @ self._tags.parameters.as_array())

    def read(self, tokens: Tokens) -> list[Embedding]:
        """Return the vectors of a sentence's words."""
        columns = [self.words.sentence([*map(Word, tokens.words, tokens.forms)])]
        if self._tags is not None:
            columns.append(
                [self._unknown_tag if tag is None else self._tags[tag] for tag in tokens.tags]
            )
        if self._vectors is not None:
            rows = (self._blank if row is None else row for row in tokens.vectors)
            columns.append([Embedding(self._vectors, row) for row in rows])
        return [Embedding(self, word) for word in zip(*columns, strict=True)]

    def __call__(self, words: Sequence[tuple[Embedding, ...]]) -> dy.Expression:
        """Return the vectors, shape (lstm_input,), of words from their embeddings."""
        terms = [self._bias]
        for weights, column in zip(self._weights, zip(*words, strict=True), strict=True):
            terms += [weights, value_of(column)]
        require_shape(self.words, terms[2], self._word_size, len(words))
        return dy.rectify(dy.affine_transform(terms))


class ParserNetwork(Rnng):
    """The parser as a network over sentences of ids."""

    states = PARSER_STATES

    def __init__(
        self,
        vocabulary: ParserVocabulary,
        sizes: ParserSizes,
        vectors: np.ndarray | None = None,
        word_input: str = WORD_INPUTS.default,
        **parts: Any,
    ):
        """Create the network of some parts (see `Rnng`).

        `vectors` are constants, shape (words of `vocabulary.pretrained`, dimension).
        """
        super().__init__(vocabulary, sizes, sizes.layers, **parts)
        self.vectors = vectors
        store, inputs = self.store, sizes.lstm_input
        self._lstms[WORDS] = Lstm(store, "buffer", sizes.layers, inputs, sizes.hidden)
        self._buffer_guard = Embedding.of_parameter(store.vector("buffer_guard", inputs))
        self._input = InputLayer(store, sizes, vocabulary, vectors, word_input)
        self.word_input = self._input.words

    def start(self, tokens: Tokens) -> Configuration:
        """Return the configuration before the first action over a sentence."""
        read = self._input.read(tokens)
        contexts = self._lstms[WORDS].read([self._buffer_guard, *reversed(read)])
        root = last = WordPrefix(0, contexts.pop(), None)
        for position, vector in enumerate(read, 1):
            following = WordPrefix(position, contexts.pop(), vector)
            last.following[None] = last = following
        return self._root(root, len(read))

    def derivation(self, example: ParserExample) -> Derivation:
        """Return the derivation of a training example."""
        return Derivation(example.tokens, [example.actions], None)
