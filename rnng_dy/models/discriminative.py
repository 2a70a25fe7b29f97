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
from rnng_dy.models.word_input import WORD_INPUTS, Word, WordInput
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


class ParserNetwork(Rnng):
    """The parser as a network over sentences of ids.

    The vector of a word on stack and buffer is relu(bias + W word + T tag + V pretrained).
    """

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
        self.word_input = WORD_INPUTS[word_input](store, vocabulary.words.symbols, sizes.word)
        parameters = [store.vector("input_bias", inputs)]
        parameters.append(store.matrix("input_word", inputs, sizes.word))
        # a source does not hold the network, which would then outlive its last use
        self._inputs = partial(_inputs, self.word_input, sizes.word, parameters)
        if vocabulary.tags is not None:
            self._tags = LookupTable(store, "tag", len(vocabulary.tags), sizes.tag)
            parameters.append(store.matrix("input_tag", inputs, sizes.tag))
            mean = partial(_mean_tag, vocabulary.tag_counts, self._tags.parameters)
            self._unknown_tag = Embedding(mean)
        if vectors is not None:
            # the blank row after the others, all zeros, is for words without a pretrained vector
            table = store.constant(np.pad(vectors, ((0, 1), (0, 0))))
            self._pretrained = partial(dy.lookup_batch, table, update=False)
            parameters.append(store.matrix("input_vector", inputs, vectors.shape[1]))

    def _words(self, tokens: Tokens) -> list[Embedding]:
        """Return the vectors of a sentence's words."""
        columns = [self.word_input.sentence([*map(Word, tokens.words, tokens.forms)])]
        if tokens.tags is not None:
            tags = [self._unknown_tag if tag is None else self._tags[tag] for tag in tokens.tags]
            columns.append(tags)
        if tokens.vectors is not None:
            rows = (len(self.vectors) if row is None else row for row in tokens.vectors)
            columns.append([Embedding(self._pretrained, row) for row in rows])
        return [Embedding(self._inputs, word) for word in zip(*columns, strict=True)]

    def start(self, tokens: Tokens) -> Configuration:
        """Return the configuration before the first action over a sentence."""
        read = self._words(tokens)
        contexts = self._lstms[WORDS].read([self._buffer_guard, *reversed(read)])
        root = last = WordPrefix(0, contexts.pop(), None)
        for position, vector in enumerate(read, 1):
            last.following[None] = last = WordPrefix(position, contexts.pop(), vector)
        return self._root(root, len(read))

    def derivation(self, example: ParserExample) -> Derivation:
        """Return the derivation of a training example."""
        return Derivation(example.tokens, [example.actions], None)


def _inputs(
    word_input: WordInput, size: int, parameters: list[Any], words: Sequence[tuple[Embedding, ...]]
) -> dy.Expression:
    """Return the vectors, shape (lstm_input,), of words from their embeddings."""
    terms = parameters[:1]
    for weights, column in zip(parameters[1:], zip(*words, strict=True), strict=True):
        terms += [weights, value_of(column)]
    require_shape(word_input, terms[2], size, len(words))
    return dy.rectify(dy.affine_transform(terms))


def _mean_tag(counts: Sequence[int], tags: dy.LookupParameters, _: object = None) -> dy.Expression:
    """Return the embedding of an unseen tag: the mean of all, weighted by training counts."""
    shares = np.array(counts, np.float32)
    return dy.inputVector(shares / shares.sum() @ tags.as_array())
