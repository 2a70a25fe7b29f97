"""The discriminative parser q(y | x) (Dyer et al. 2016, section 3; `nt-parser.cc` of the original)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import nltk
import numpy as np
from nltk.parse.api import ParserI

from oracle.errors import ImpossibleError, RnngError
from oracle.files import OracleSentence
from oracle.tagging import tags_by
from oracle.tokens import Token, split_tokens
from oracle.transitions import DEFAULT
from oracle.treebank import NO_TAG, has_preterminals
from oracle.treebank import tags as tags_of
from oracle.treebank import words as words_of
from rnng_dy.engine import dy, one_graph
from rnng_dy.execution.batches import as_fits
from rnng_dy.models.configuration import Configuration, WordPrefix
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.network import Rnng, Sizes
from rnng_dy.models.parser_state import PARSER_STATES, WORDS
from rnng_dy.models.vectors import Embedding, LookupTable, SingleVector, value_of
from rnng_dy.models.vocabulary import ParserVocabulary
from rnng_dy.parameters import ParameterStore
from rnng_dy.search.found import TOO_LONG, Found
from rnng_dy.search.greedy import BATCH_SIZE, parse_batch
from rnng_dy.search.model import Derived
from rnng_dy.search.nbest import nbest_batch
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.scoring import log_probs


@dataclass(frozen=True)
class ParserSizes(Sizes):
    """The paper's dimensions, with POS tags or without."""

    layers: int = 2
    lstm_input: int = 128
    hidden: int = 128
    action: int = 16
    word: int = 32
    tag: int = 12


class Tokens(NamedTuple):
    """A sentence as ids; None stands for a tag or a pretrained vector that is not there."""

    words: Sequence[int]
    tags: Sequence[int | None] | None
    vectors: Sequence[int | None] | None


class ParserExample(NamedTuple):
    """A training sentence: its words are replaced by `classes` at random where they occur only once."""

    tokens: Tokens
    classes: Sequence[int]
    actions: Sequence[int]


class InputLayer:
    """Words as stack and buffer read them: relu(bias + W word + T tag + V pretrained vector)."""

    def __init__(
        self,
        store: ParameterStore,
        sizes: ParserSizes,
        vocabulary: ParserVocabulary,
        vectors: np.ndarray | None,
    ):
        size, self._counts = sizes.lstm_input, vocabulary.tag_counts
        self._words = LookupTable(store, "word", len(vocabulary.words), sizes.word)
        self._bias = store.vector("input_bias", size)
        self._word_weights = store.matrix("input_word", size, sizes.word)
        self._tags = self._vectors = None
        if vocabulary.tags is not None:
            self._tags = LookupTable(store, "tag", len(vocabulary.tags), sizes.tag)
            self._tag_weights = store.matrix("input_tag", size, sizes.tag)
            self._unknown_tag = Embedding(SingleVector(self._mean_tag))
        if vectors is not None:
            # a word without a vector has one of zeros, after the others
            self._vectors = store.constant(vectors, len(vocabulary.pretrained), blank=True)
            self._blank = len(vectors)
            self._vector_weights = store.matrix("input_vector", size, vectors.shape[1])

    def _mean_tag(self) -> dy.Expression:
        """What an unseen tag counts as: the mean of the tags' embeddings, weighted by how often training has them."""
        counts = np.array(self._counts, np.float32)
        return dy.inputVector(counts / counts.sum() @ self._tags.parameters.as_array())

    def read(self, tokens: Tokens) -> list[Embedding]:
        """The words of a sentence."""
        words = [self._words[word] for word in tokens.words]
        tags = vectors = [None] * len(words)
        if self._tags is not None:
            tags = [self._unknown_tag if tag is None else self._tags[tag] for tag in tokens.tags]
        if self._vectors is not None:
            vectors = [self._blank if row is None else row for row in tokens.vectors]
        return [Embedding(self, row) for row in zip(words, tags, vectors, strict=True)]

    def vectors(self, rows: Sequence[tuple]) -> dy.Expression:
        """See `Source`: shape (lstm_input,)."""
        words, tags, vectors = zip(*rows, strict=True)
        terms = [self._bias, self._word_weights, value_of(words)]
        if self._tags is not None:
            terms += [self._tag_weights, value_of(tags)]
        if self._vectors is not None:
            looked_up = dy.lookup_batch(self._vectors, vectors, update=False)
            terms += [self._vector_weights, looked_up]
        return dy.rectify(dy.affine_transform(terms))


class DiscriminativeParser(Rnng, ParserI):
    """A parser: `parse`, `sample` and `log_prob` for users, the rest for training and search.

    Tokens are words, or tuples of word and tag; words alone are tagged by the model's own tagger if it reads tags.
    Log probabilities are in nats.
    """

    kind = "discriminative"
    sizes_type = ParserSizes
    vocabulary_type = ParserVocabulary
    states = PARSER_STATES

    def __init__(
        self,
        vocabulary: ParserVocabulary,
        sizes: ParserSizes = ParserSizes(),
        composition: str = "corrected",
        vectors: np.ndarray | None = None,
        seed: int = 1,
        transitions: str = DEFAULT,
        state: str = "full",
    ):
        """`vectors` are the pretrained ones, constants, a row for each word of `vocabulary.pretrained`."""
        store = ParameterStore(seed)
        super().__init__(
            store, sizes, vocabulary.nonterminals, composition, sizes.layers, transitions, state
        )
        self.vocabulary = vocabulary
        self.vectors = vectors
        self._lstms[WORDS] = Lstm(store, "buffer", sizes.layers, sizes.lstm_input, sizes.hidden)
        self._buffer_guard = Embedding.of_parameter(store.vector("buffer_guard", sizes.lstm_input))
        self._input = InputLayer(store, sizes, vocabulary, vectors)

    @staticmethod
    def constants_of(vocabulary: ParserVocabulary) -> tuple[str, ...]:
        """The pretrained vectors."""
        return () if vocabulary.pretrained is None else ("vectors",)

    # sentences as ids

    def encode(
        self,
        tokens: Sequence[str],
        tags: Sequence[str] | None,
        unkified: Sequence[str] | None = None,
    ) -> Tokens:
        """A sentence to parse. Raises RnngError where the model needs POS tags, gets none and has no tagger."""
        v = self.vocabulary
        return Tokens(
            v.word_ids(v.unknown.unkify(tokens) if unkified is None else unkified),
            None if v.tags is None else v.tag_ids(tags or self.tags_for(tokens)),
            None if v.pretrained is None else v.pretrained_rows(tokens),
        )

    def tags_for(self, words: Sequence[str]) -> list[str]:
        """POS tags of words by the model's own tagger. Raises RnngError where it has none."""
        if self.tagger is None:
            raise RnngError(
                "this parser was trained with POS tags and has no tagger: give it word_TAG tokens or trees, "
                "or a tagger (`rnng-dy tag --train TREES --into MODEL`)"
            )
        return tags_by(self.tagger, words)

    def tags_read(self, words: Sequence[str], given: Sequence[str] | None) -> Sequence[str] | None:
        """The tags that the model reads words with: those given, else its own tagger's, where it reads tags at all.

        XX alone, as trees without tags have it, is read as none by a model with a tagger, unless training has XX.
        """
        known = self.vocabulary.tags
        if known is None:
            return given
        all_xx = self.tagger is not None and NO_TAG not in known and set(given or ()) == {NO_TAG}
        return self.tags_for(words) if given is None or all_xx else given

    def encode_training(self, sentence: OracleSentence) -> ParserExample:
        """A sentence of the training oracle. Raises UnderivableError for a tree that has q = 0."""
        self.transitions.check(sentence.actions, len(sentence.tokens))
        classes = self.vocabulary.word_ids(sentence.unkified)
        # a parser that goes on from other data has not all of the words: they are their classes
        words = list(map(self.vocabulary.words.get, sentence.tokens, classes))
        tokens = self.encode(sentence.tokens, sentence.tags, ())._replace(words=words)
        return ParserExample(tokens, classes, self.transitions.encode(sentence.actions))

    def example_of(self, tree: nltk.Tree, preterminals: bool | None = None) -> ParserExample:
        """A tree, its tags given or the model's own. Raises ImpossibleError for q = 0.

        `preterminals` says whether words have POS tags above them; None looks.
        """
        actions = self.transitions.actions_of(tree, preterminals)
        words, _ = split_tokens(words_of(tree))
        if preterminals is None:
            preterminals = has_preterminals(tree)
        self.transitions.check(actions, len(words))
        ids = self.transitions.encode(actions)
        tags = tags_of(tree) if preterminals else None
        tokens = self.encode(words, self.tags_read(words, tags))
        return ParserExample(tokens, tokens.words, ids)

    # graphs

    def start(self, tokens: Tokens) -> Configuration:
        """The configuration before the first action over a sentence."""
        read = self._input.read(tokens)
        states = [LstmState(self._lstms[WORDS].start, self._buffer_guard)]
        for vector in reversed(read):
            states.append(LstmState(states[-1], vector))
        root = last = WordPrefix(0, states.pop(), None)
        for position, vector in enumerate(read, 1):
            last.following[None] = last = WordPrefix(position, states.pop(), vector)
        return self._root(root, len(read))

    # training

    def with_unknowns(
        self, example: ParserExample, probability: float, random: np.random.Generator
    ) -> ParserExample:
        """The example with words seen once replaced by their UNK class, each with the given probability."""
        draws = random.random(len(example.classes))
        words = [
            unk if word in self.vocabulary.singletons and draw < probability else word
            for word, unk, draw in zip(example.tokens.words, example.classes, draws, strict=True)
        ]
        return example._replace(tokens=example.tokens._replace(words=words))

    def derived(self, example: ParserExample) -> Derived:
        """The tree of a training example."""
        return Derived(example.tokens, [example.actions], None)

    @staticmethod
    def length(example: ParserExample) -> int:
        """Words of an example."""
        return len(example.classes)

    # use

    def _read(self, tokens: Sequence[Token], max_length: int | None = None):
        """Words, and the tags that the model reads them with."""
        words, tags = split_tokens(tokens, max_length)
        return words, self.tags_read(words, tags)

    def parse(self, tokens: Sequence[Token]) -> Iterator[nltk.Tree]:
        """The trees of a sentence, best first: the greedy one. Its tags are those that were read, XX where none are."""
        return next(self.parse_sents([tokens]))

    def parse_one(self, sent: Sequence[Token]) -> nltk.Tree | None:
        """The greedy tree; None where the sentence does not fit into memory."""
        return next(self.parse(sent), None)

    def parse_sents(
        self, sents: Iterable[Sequence[Token]], *args, **kwargs
    ) -> Iterator[Iterator[nltk.Tree]]:
        """What `parse` gives, for each sentence: as they come, some dozens at a time."""
        sents = iter(sents)
        while batch := [self._read(tokens) for tokens in islice(sents, BATCH_SIZE)]:
            encoded = [self.encode(*sentence) for sentence in batch]
            results = as_fits(lambda part: parse_batch(self, part), encoded)
            for (words, tags), result in zip(batch, results, strict=True):
                found = [] if result is None else [self.tree_of(result[0], words, tags)]
                yield iter(found)

    def best_trees(self, sentences: Sequence[Sequence[Token]]) -> Iterator[Found]:
        """See `SavedModel`."""
        return ((next(trees, None), TOO_LONG) for trees in self.parse_sents(sentences))

    def tree_of(
        self, ids: Iterable[int], words: Sequence[str], tags: Sequence[str] | None
    ) -> nltk.Tree:
        """The tree of action ids; its tags are XX where there are none."""
        actions = self.transitions.decode(ids)
        return self.transitions.tree_of(actions, words, tags or [NO_TAG] * len(words))

    def nbest(
        self,
        tokens: Sequence[Token],
        k: int,
        beam: int | None = None,
        max_length: int | None = None,
    ) -> list[tuple[nltk.Tree, float]]:
        """The k best trees that a beam, 20 or 2k wide, finds, best first, with log q in nats; see `nbest_batch`."""
        words, tags = self._read(tokens, max_length)
        [found] = nbest_batch(self, [self.encode(words, tags)], k, beam)
        return [(self.tree_of(ids, words, tags), log_q) for ids, log_q in found]

    def sample(
        self,
        tokens: Sequence[Token],
        n: int = 100,
        alpha: float = 0.8,
        seed: int = 1,
        max_length: int | None = None,
    ) -> list[tuple[nltk.Tree, float]]:
        """n trees drawn from q flattened by alpha, each with the log probability in nats it was drawn with.

        Raises RnngError for more than `max_length` tokens.
        """
        words, tags = self._read(tokens, max_length)
        [drawn] = sample_batch(self, [self.encode(words, tags)], n, alpha, [[seed]])
        return [(self.tree_of(ids, words, tags), log_q) for ids, log_q in drawn]

    @one_graph
    def log_prob(self, tree: nltk.Tree) -> float:
        """log q(tree | its words) in nats; -inf where training has not its nonterminals, or it cannot be derived."""
        try:
            example = self.example_of(tree)
        except ImpossibleError:
            return float("-inf")
        dy.renew_cg()
        return float(log_probs(self, [self.derived(example)])[0])
