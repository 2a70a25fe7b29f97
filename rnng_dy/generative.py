"""The generative model p(x, y) (Dyer et al. 2016, section 4; `nt-parser-gen.cc` of the original)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import nltk
import numpy as np

from oracle.errors import RnngError
from oracle.files import OracleSentence
from oracle.transitions import actions_of, tree_of
from oracle.treebank import words as words_of
from rnng_dy import checkpoint
from rnng_dy.batches import batches
from rnng_dy.engine import dy
from rnng_dy.lstm import Lstm
from rnng_dy.parameters import ParameterStore
from rnng_dy.rnng import (
    Configuration,
    Decision,
    Rnng,
    Sentence,
    Sizes,
    log_softmax,
    touched_action_rows,
)
from rnng_dy.state import SHIFT
from rnng_dy.vocabulary import NO_TAG, GeneratorVocabulary, UnseenSymbolError
from rnng_dy.word_softmax import ClassFactoredSoftmax

MAX_STATES = 4000
"""Configurations in one scoring graph; more would need gigabytes at the paper's sizes."""

MAX_THROWN_AWAY = 200
"""Sentences in a row that are too long."""


@dataclass(frozen=True)
class GeneratorSizes(Sizes):
    """The paper's dimensions; a word's embedding goes onto the stack as it is, so it has `lstm_input` values."""

    layers: int = 2
    lstm_input: int = 256
    hidden: int = 256
    action: int = 16


class GeneratorExample(NamedTuple):
    """A sentence and its tree as ids."""

    words: Sequence[int]
    actions: Sequence[int]


class Draw(NamedTuple):
    """A sentence being generated."""

    configuration: Configuration
    actions: list[int]
    log_p: float


class GeneratedSentence(Sentence):
    """A sentence of the current graph whose words are given, or appended as they are drawn."""

    def __init__(self, words: Sequence[int]):
        super().__init__()
        self.words = words


class GenerativeModel(Rnng):
    """A language model over sentences and trees; log probabilities are in nats.

    In a configuration, `source` is the list of word ids, which `generate` lengthens as it draws.
    """

    kind = "generative"

    def __init__(
        self,
        vocabulary: GeneratorVocabulary,
        sizes: GeneratorSizes = GeneratorSizes(),
        composition: str = "corrected",
        seed: int = 1,
    ):
        store = ParameterStore(seed)
        super().__init__(store, sizes, len(vocabulary.actions.nonterminals), composition, 1)
        self.vocabulary = vocabulary
        self.composition = composition
        self._context_lstm = Lstm(store, "terms", sizes.layers, sizes.lstm_input, sizes.hidden)
        self._word_table = store.lookup("word", len(vocabulary.words), sizes.lstm_input)
        self._softmax = ClassFactoredSoftmax(store, sizes.hidden, vocabulary.clusters)

    # sentences as ids

    def encode(self, unkified: Iterable[str], actions: Sequence[str]) -> GeneratorExample:
        """A sentence and its actions. Raises UnseenSymbolError for what has no probability: then p = 0."""
        unseen: list[str] = []
        ids = []
        for encode, symbols in (
            (self.vocabulary.word_ids, unkified),
            (self.vocabulary.actions.encode, actions),
        ):
            try:
                ids.append(encode(symbols))
            except UnseenSymbolError as error:
                unseen += error.symbols
        if unseen:
            raise UnseenSymbolError(unseen)
        return GeneratorExample(*ids)

    def encode_training(self, sentence: OracleSentence) -> GeneratorExample:
        """A sentence of the training oracle."""
        return self.encode(sentence.unkified, sentence.actions)

    # graphs

    def start(self, words: Sequence[int], dropout: float = 0.0) -> Configuration:
        """The configuration before the first action, in the current graph."""
        sentence = GeneratedSentence(words)
        first = dy.lookup(self._word_table, 0)
        sentence.contexts.append(
            self._context_lstm.step(self._context_lstm.start(), first, dropout)
        )
        return self._root(sentence, None, dropout)

    def _shift(self, sentence: GeneratedSentence, position: int, dropout: float) -> dy.Expression:
        if position == len(sentence.vectors):
            vector = dy.lookup(self._word_table, sentence.words[position])
            sentence.vectors.append(vector)
            context = self._context_lstm.step(sentence.contexts[position], vector, dropout)
            sentence.contexts.append(context)
        return super()._shift(sentence, position, dropout)

    def decision_losses(
        self, decisions: Sequence[Decision], dropout: float = 0.0
    ) -> tuple[list[dy.Expression], np.ndarray]:
        """Losses in nats of the actions and of the words that they generate; see the base class.

        A word is predicted from the same u as the SHIFT that generates it.
        """
        u = self.hidden([d.configuration for d in decisions], dropout)
        logits = self.action_logits(u, [d.configuration.state for d in decisions])
        losses = [dy.pickneglogsoftmax_batch(logits, [d.action for d in decisions])]
        owners = np.arange(len(decisions))
        shifts = [i for i, d in enumerate(decisions) if d.action == SHIFT]
        if shifts:
            words = [
                c.sentence.words[c.position] for c in (decisions[i].configuration for i in shifts)
            ]
            word_losses, of_shift = self._softmax.negative_log_probs(
                dy.pick_batch_elems(u, shifts), words
            )
            losses += word_losses
            owners = np.concatenate([owners, np.array(shifts)[of_shift]])
        return losses, owners

    # training

    def with_unknowns(
        self, example: GeneratorExample, probability: float, random: np.random.Generator
    ) -> GeneratorExample:
        """The example as it is: the generative oracle has the UNK classes already."""
        return example

    def training_loss(self, examples: Sequence[GeneratorExample], dropout: float) -> dy.Expression:
        """The sum of -log p(x, y) in nats over a minibatch, as one graph."""
        decisions = []
        for example in examples:
            root = self.start(example.words, dropout)
            decisions += self.trace(root, [example.actions], dropout).decisions
        losses, _ = self.decision_losses(decisions, dropout)
        return dy.esum([dy.sum_batches(loss) for loss in losses])

    @staticmethod
    def length(example: GeneratorExample) -> int:
        """Words of an example."""
        return len(example.words)

    def touched_rows(self, examples: Iterable[GeneratorExample]) -> Mapping[str, set[int]]:
        """The lookup rows that the original looks up for these examples."""
        examples = list(examples)
        rows = touched_action_rows(e.actions for e in examples)
        rows["word"] = {0} | {word for e in examples for word in e.words}
        return rows

    # use

    def joint_log_probs(
        self, words: Sequence[int], sequences: Sequence[Sequence[int]]
    ) -> np.ndarray:
        """log p(x, y) in nats of several trees of one sentence; equal prefixes are computed once."""
        values = []
        for part in batches(sequences, len, MAX_STATES):
            dy.renew_cg()
            values.append(self.trace_log_probs(self.trace(self.start(words), part)))
        return np.concatenate(values)

    def log_prob(self, tree: nltk.Tree) -> float:
        """log p(words, tree) in nats; words that are not known are first made UNK classes.

        -inf where the tree has a nonterminal, or a word class, that training has not.
        """
        try:
            unkified = self.vocabulary.unkify(words_of(tree))
            example = self.encode(unkified, actions_of(tree))
            return float(self.joint_log_probs(example.words, [example.actions])[0])
        except (UnseenSymbolError, ValueError):
            return float("-inf")

    def generate(
        self, n: int, seed: int = 1, max_length: int = 200
    ) -> list[tuple[nltk.Tree, float]]:
        """n trees drawn from the model, tags XX, each with log p(x, y) in nats.

        A sentence that grows longer than `max_length` words, or than ten actions a word of those, is thrown away and
        drawn anew. Raises RnngError where hundreds in a row are, as of a model that is hardly trained.
        """
        random = np.random.default_rng(seed)
        trees: list[tuple[nltk.Tree, float]] = []
        failures = 0
        while len(trees) < n:
            together = min(n - len(trees), 100)
            finished = self._generate_batch(together, random, max_length)
            failures = 0 if finished else failures + together
            if failures >= MAX_THROWN_AWAY:
                raise RnngError(f"no sentence of at most {max_length} words comes of this model")
            for words, actions, log_p in finished:
                symbols = [self.vocabulary.words.symbols[word] for word in words]
                actions = self.vocabulary.actions.decode(actions)
                trees.append((tree_of(actions, symbols, [NO_TAG] * len(words)), log_p))
        return trees

    def _generate_batch(
        self, n: int, random: np.random.Generator, max_length: int
    ) -> list[tuple[list[int], list[int], float]]:
        """Words, actions and log p of up to n sentences drawn side by side."""
        dy.renew_cg()
        frontier = [Draw(self.start([]), [], 0.0) for _ in range(n)]
        finished = []
        while frontier:
            configurations = [draw.configuration for draw in frontier]
            u = self.hidden(configurations)
            logits = self.action_logits(u, [c.state for c in configurations])
            table = log_softmax(logits.npvalue().reshape(self.transitions.actions, -1).T)
            chosen = [_draw(row, random) for row in table]
            shifts = [b for b, (action, _) in enumerate(chosen) if action == SHIFT]
            words = dict(zip(shifts, self._draw_words(u, shifts, random), strict=True))
            grown = []
            for b, ((c, actions, log_p), (action, log_action)) in enumerate(
                zip(frontier, chosen, strict=True)
            ):
                word, log_word = words.get(b, (None, 0.0))
                if word is not None:
                    c.sentence.words.append(word)
                draw = Draw(c, [*actions, action], log_p + log_action + log_word)
                if c.state.after(action).is_finished:
                    finished.append((c.sentence.words, draw.actions, draw.log_p))
                elif len(c.sentence.words) <= max_length and len(draw.actions) <= 10 * max_length:
                    grown.append(draw._replace(configuration=self.advance(c, action)))
            frontier = grown
        return finished

    def _draw_words(
        self, u: dy.Expression, members: list[int], random: np.random.Generator
    ) -> list[tuple[int, float]]:
        """A word id and its log probability for each of the given batch elements of u."""
        if not members:
            return []
        logits = self._softmax.class_logits(dy.pick_batch_elems(u, members))
        table = log_softmax(logits.npvalue().reshape(len(self.vocabulary.clusters), -1).T)
        classes = [_draw(row, random) for row in table]
        word_logits = [
            self._softmax.word_logits(k, dy.pick_batch_elem(u, b))
            for b, (k, _) in zip(members, classes, strict=True)
        ]
        drawn = []
        # from the last expression back: the first read runs the graph for all of them
        for (k, log_class), logits in zip(reversed(classes), reversed(word_logits), strict=True):
            place, log_word = (
                (0, 0.0) if logits is None else _draw(log_softmax(logits.npvalue()), random)
            )
            drawn.append((self.vocabulary.clusters[k][place], log_class + log_word))
        return drawn[::-1]

    def save(self, folder: str) -> None:
        """Write a model folder (see `checkpoint`)."""
        checkpoint.save(self, folder)

    @classmethod
    def load(cls, folder: str) -> GenerativeModel:
        """Read a model folder. Raises RnngError naming the file where it is none, or of a parser."""
        return checkpoint.load(folder, cls.kind)


def _draw(log_probs: np.ndarray, random: np.random.Generator) -> tuple[int, float]:
    """An index drawn from log probabilities, and its own."""
    i = int(random.choice(len(log_probs), p=np.exp(log_probs)))
    return i, float(log_probs[i])
