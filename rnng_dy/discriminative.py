"""The discriminative parser q(y | x) (Dyer et al. 2016, section 3; `nt-parser.cc` of the original)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import nltk
import numpy as np
from nltk.parse.api import ParserI

from oracle.errors import RnngError
from oracle.files import OracleSentence
from oracle.transitions import actions_of, tree_of
from oracle.treebank import tags as tags_of
from oracle.treebank import words as words_of
from rnng_dy import checkpoint, sampler
from rnng_dy.batches import as_fits
from rnng_dy.engine import dy
from rnng_dy.lstm import Lstm
from rnng_dy.parameters import ParameterStore
from rnng_dy.rnng import Configuration, Rnng, Sentence, Sizes, touched_action_rows
from rnng_dy.vocabulary import NO_TAG, ParserVocabulary, UnseenSymbolError


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


class DiscriminativeParser(Rnng, ParserI):
    """A parser: `parse`, `sample` and `log_prob` for users, the rest for training and search.

    Tokens are words, or (word, tag) pairs where the model uses POS tags; log probabilities are in nats.
    """

    kind = "discriminative"

    def __init__(
        self,
        vocabulary: ParserVocabulary,
        sizes: ParserSizes = ParserSizes(),
        composition: str = "corrected",
        vectors: np.ndarray | None = None,
        seed: int = 1,
    ):
        """`vectors` are the pretrained ones, constants, a row for each word of `vocabulary.pretrained`."""
        store = ParameterStore(seed)
        super().__init__(
            store, sizes, len(vocabulary.actions.nonterminals), composition, sizes.layers
        )
        self.vocabulary = vocabulary
        self.composition = composition
        self.vectors = vectors
        self._context_lstm = Lstm(store, "buffer", sizes.layers, sizes.lstm_input, sizes.hidden)
        self._buffer_guard = store.vector("buffer_guard", sizes.lstm_input)
        self._word_table = store.lookup("word", len(vocabulary.words), sizes.word)
        self._input_bias = store.vector("input_bias", sizes.lstm_input)
        self._input_word = store.matrix("input_word", sizes.lstm_input, sizes.word)
        if vocabulary.tags is not None:
            self._tag_table = store.lookup("tag", len(vocabulary.tags), sizes.tag)
            self._input_tag = store.matrix("input_tag", sizes.lstm_input, sizes.tag)
        if vectors is not None:
            self._vector_table = store.constant(vectors)
            self._input_vector = store.matrix("input_vector", sizes.lstm_input, vectors.shape[1])

    # sentences as ids

    def encode(
        self,
        tokens: Sequence[str],
        tags: Sequence[str] | None,
        unkified: Sequence[str] | None = None,
    ) -> Tokens:
        """A sentence to parse. Raises RnngError where the model needs POS tags and gets none."""
        v = self.vocabulary
        if v.tags is not None and tags is None:
            raise RnngError(
                "this parser was trained with POS tags: give it word_TAG tokens or trees"
            )
        if unkified is None:
            unkified = v.unknown.unkify(tokens)
        return Tokens(
            v.word_ids(unkified),
            None if v.tags is None else v.tag_ids(tags),
            None if v.pretrained is None else v.pretrained_rows(tokens),
        )

    def encode_training(self, sentence: OracleSentence) -> ParserExample:
        """A sentence of the training oracle."""
        tokens = self.encode(sentence.tokens, sentence.tags, sentence.tokens)
        classes = self.vocabulary.word_ids(sentence.unkified)
        return ParserExample(tokens, classes, self.vocabulary.actions.encode(sentence.actions))

    # graphs

    def _unknown_tag(self) -> dy.Expression:
        """What an unseen tag counts as: the mean of the tags' embeddings, weighted by how often training has them."""
        return dy.inputVector(self.vocabulary.tag_distribution() @ self._tag_table.as_array())

    def _input(self, word: int, tag: int | None, vector: int | None) -> dy.Expression:
        terms = [self._input_bias, self._input_word, dy.lookup(self._word_table, word)]
        if self.vocabulary.tags is not None:
            x = self._unknown_tag() if tag is None else dy.lookup(self._tag_table, tag)
            terms += [self._input_tag, x]
        if vector is not None:
            terms += [self._input_vector, dy.lookup(self._vector_table, vector, update=False)]
        return dy.rectify(dy.affine_transform(terms))

    def start(self, tokens: Tokens, dropout: float = 0.0) -> Configuration:
        """The configuration before the first action of a sentence, in the current graph."""
        absent = [None] * len(tokens.words)
        vectors = [
            self._input(*ids)
            for ids in zip(
                tokens.words, tokens.tags or absent, tokens.vectors or absent, strict=True
            )
        ]
        sentence = Sentence()
        sentence.vectors = vectors
        state = self._context_lstm.step(self._context_lstm.start(), self._buffer_guard, dropout)
        sentence.contexts.append(state)
        for x in reversed(vectors):
            state = self._context_lstm.step(state, x, dropout)
            sentence.contexts.append(state)
        sentence.contexts.reverse()
        return self._root(sentence, len(vectors), dropout)

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

    def training_loss(self, examples: Sequence[ParserExample], dropout: float) -> dy.Expression:
        """The sum of -log q(y | x) in nats over a minibatch, as one graph."""
        decisions = []
        for example in examples:
            root = self.start(example.tokens, dropout)
            decisions += self.trace(root, [example.actions], dropout).decisions
        losses, _ = self.decision_losses(decisions, dropout)
        return dy.sum_batches(losses[0])

    @staticmethod
    def length(example: ParserExample) -> int:
        """Words of an example."""
        return len(example.classes)

    def touched_rows(self, examples: Iterable[ParserExample]) -> Mapping[str, set[int]]:
        """The lookup rows that the original looks up for these examples."""
        examples = list(examples)
        rows = touched_action_rows(e.actions for e in examples)
        rows["word"] = {word for e in examples for word in e.tokens.words}
        if self.vocabulary.tags is not None:
            rows["tag"] = {tag for e in examples for tag in e.tokens.tags}
        return rows

    # use

    def parse_batch(self, sentences: Sequence[Tokens]) -> list[tuple[list[int], float]]:
        """The greedy action ids and their log q in nats of each sentence; ties go to the lowest id."""
        dy.renew_cg()
        frontier = [self.start(tokens) for tokens in sentences]
        results = [([], 0.0) for _ in sentences]
        unfinished = list(range(len(sentences)))
        while unfinished:
            table = self.action_log_probs([frontier[i] for i in unfinished])
            for i, log_probs, action in zip(unfinished, table, table.argmax(axis=1), strict=True):
                actions, log_q = results[i]
                results[i] = ([*actions, int(action)], log_q + log_probs[action])
                if not frontier[i].state.after(action).is_finished:
                    frontier[i] = self.advance(frontier[i], int(action))
                else:
                    frontier[i] = None
            unfinished = [i for i in unfinished if frontier[i] is not None]
        return results

    def parse_all_batches(
        self, sentences: Sequence[Tokens], batch_size: int = 32
    ) -> list[tuple[list[int], float] | None]:
        """`parse_batch` for any number of sentences, those of like length together; None for one too large."""
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i].words))
        results = {}
        for start in range(0, len(order), batch_size):
            part = order[start : start + batch_size]
            parsed = as_fits(self.parse_batch, [sentences[i] for i in part])
            results.update(zip(part, parsed, strict=True))
        return [results[i] for i in range(len(sentences))]

    def parse(self, tokens: Sequence[str | tuple[str, str]]) -> nltk.Tree:
        """The greedy tree; its tags are those of the tokens, XX where they have none."""
        words, tags = _split(tokens)
        [(actions, _)] = self.parse_batch([self.encode(words, tags)])
        return tree_of(
            self.vocabulary.actions.decode(actions), words, tags or [NO_TAG] * len(words)
        )

    def parse_one(self, sent: Sequence[str | tuple[str, str]]) -> nltk.Tree:
        """The same as `parse`."""
        return self.parse(sent)

    def parse_all(self, sent: Sequence[str | tuple[str, str]]) -> list[nltk.Tree]:
        """A list of the one greedy tree."""
        return [self.parse(sent)]

    def parse_sents(self, sents: Iterable[Sequence], *args, **kwargs) -> Iterator[nltk.Tree]:
        """The greedy tree of each sentence."""
        return (self.parse(sent) for sent in sents)

    def sample(
        self,
        tokens: Sequence[str | tuple[str, str]],
        n: int = 100,
        alpha: float = 0.8,
        seed: int = 1,
    ) -> list[tuple[nltk.Tree, float]]:
        """n trees drawn from q flattened by alpha, each with the log probability in nats it was drawn with."""
        words, tags = _split(tokens)
        [drawn] = sampler.sample_batch(self, [self.encode(words, tags)], n, alpha, [[seed]])
        decode = self.vocabulary.actions.decode
        tags = tags or [NO_TAG] * len(words)
        return [(tree_of(decode(actions), words, tags), log_q) for actions, log_q in drawn]

    def log_prob(self, tree: nltk.Tree) -> float:
        """log q(tree | its words) in nats; -inf for a tree with a nonterminal unseen in training."""
        try:
            actions = self.vocabulary.actions.encode(actions_of(tree))
        except UnseenSymbolError:
            return float("-inf")
        tokens = self.encode(words_of(tree), tags_of(tree) if self.vocabulary.tags else None)
        dy.renew_cg()
        try:
            trace = self.trace(self.start(tokens), [actions])
        except ValueError:
            return float("-inf")
        return float(self.trace_log_probs(trace)[0])

    def save(self, folder: str) -> None:
        """Write a model folder (see `checkpoint`)."""
        checkpoint.save(self, folder)

    @classmethod
    def load(cls, folder: str) -> DiscriminativeParser:
        """Read a model folder. Raises RnngError naming the file where it is none, or of a generative model."""
        return checkpoint.load(folder, cls.kind)


def _split(tokens: Sequence[str | tuple[str, str]]) -> tuple[list[str], list[str] | None]:
    """Words and tags of plain or tagged tokens."""
    if not tokens:
        raise RnngError("a sentence without words cannot be parsed")
    if all(isinstance(token, str) for token in tokens):
        return list(tokens), None
    words, tags = zip(*tokens, strict=True)
    return list(words), list(tags)
