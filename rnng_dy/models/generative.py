"""The generative model p(x, y) (Dyer et al. 2016, section 4; `nt-parser-gen.cc` of the original)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import nltk
import numpy as np

from oracle.errors import ImpossibleError, UnseenSymbolError
from oracle.files import OracleSentence
from oracle.tokens import Token, split_tokens
from oracle.transitions import DEFAULT, SHIFT
from oracle.treebank import words as words_of
from rnng_dy.engine import dy
from rnng_dy.models.configuration import Configuration, Decision, WordPrefix
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.network import Rnng, Sizes, Step
from rnng_dy.models.parser_state import GENERATOR_STATES, WORDS
from rnng_dy.models.vectors import LookupTable
from rnng_dy.models.vocabulary import GeneratorVocabulary
from rnng_dy.models.word_softmax import ClassFactoredSoftmax
from rnng_dy.parameters import ParameterStore
from rnng_dy.search.found import Found
from rnng_dy.search.generation import generate_trees
from rnng_dy.search.model import Derived
from rnng_dy.search.reader import Reader
from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.search.surprisal import DEFAULT_OPTIONS, SearchOptions, best_trees, measure
from rnng_dy.search.words import WordRecord


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


class GeneratorStep(Step):
    """Also what it says of the next words; they come of the same u as the SHIFT that generates them."""

    def __init__(self, model: GenerativeModel, configurations: Sequence[Configuration]):
        super().__init__(model, configurations)
        self._softmax = model.softmax

    def word_log_probs(self, members: Sequence[int], words: Sequence[int]) -> np.ndarray:
        """log p(words[i] | SHIFT, configuration members[i]) in nats, float64: shape (members,)."""
        u = dy.pick_batch_elems(self._u, list(members))
        losses, owners = self._softmax.negative_log_probs(u, words)
        values = dy.concatenate_to_batch(losses).npvalue().ravel().astype(np.float64)
        return -np.bincount(owners, values, len(words))

    def every_word_log_prob(self, members: Sequence[int]) -> np.ndarray:
        """log p(word | SHIFT, configuration) in nats for every word id: shape (members, words), float64.

        -inf for `<s>`, which is never generated.
        """
        return self._softmax.every_log_prob(dy.pick_batch_elems(self._u, list(members)))


class GenerativeModel(Rnng):
    """A language model over sentences and trees; log probabilities are in nats."""

    kind = "generative"
    sizes_type = GeneratorSizes
    vocabulary_type = GeneratorVocabulary
    states = GENERATOR_STATES

    def __init__(
        self,
        vocabulary: GeneratorVocabulary,
        sizes: GeneratorSizes = GeneratorSizes(),
        composition: str = "corrected",
        seed: int = 1,
        transitions: str = DEFAULT,
        state: str = "full",
    ):
        store = ParameterStore(seed)
        super().__init__(store, sizes, vocabulary.nonterminals, composition, 1, transitions, state)
        self.vocabulary = vocabulary
        self._lstms[WORDS] = Lstm(store, "terms", sizes.layers, sizes.lstm_input, sizes.hidden)
        self._word_table = LookupTable(store, "word", len(vocabulary.words), sizes.lstm_input)
        self.softmax = ClassFactoredSoftmax(store, sizes.hidden, vocabulary.clusters)

    # sentences as ids

    def encode(self, unkified: Sequence[str], actions: Sequence[str]) -> GeneratorExample:
        """A sentence and its actions. Raises ImpossibleError for what has p = 0."""
        unseen: list[str] = []
        ids = []
        for encode, symbols in (
            (self.vocabulary.word_ids, unkified),
            (self.transitions.encode, actions),
        ):
            try:
                ids.append(encode(symbols))
            except UnseenSymbolError as error:
                unseen += error.symbols
        if unseen:
            raise UnseenSymbolError(unseen)
        self.transitions.check(actions, len(unkified))
        return GeneratorExample(*ids)

    def encode_training(self, sentence: OracleSentence) -> GeneratorExample:
        """A sentence of the training oracle. Raises ImpossibleError for what has p = 0."""
        return self.encode(sentence.unkified, sentence.actions)

    def example_of(self, tree: nltk.Tree, preterminals: bool | None = None) -> GeneratorExample:
        """A tree, whose words that are not known are first made UNK classes. Raises ImpossibleError for p = 0.

        `preterminals` says whether words have POS tags above them; None looks.
        """
        actions = self.transitions.actions_of(tree, preterminals)
        return self.encode(self.vocabulary.unkify(split_tokens(words_of(tree))[0]), actions)

    # graphs

    def start(self, sentence: object = None) -> Configuration:
        """The configuration before the first action, whatever sentence is to be generated."""
        context = LstmState(self._lstms[WORDS].start, self._word_table[0])
        return self._root(WordPrefix(0, context, None), None)

    def _next_word(self, words: WordPrefix, word: int) -> WordPrefix:
        if word not in words.following:
            vector = self._word_table.occurrence(word)
            context = LstmState(words.context, vector)
            words.following[word] = WordPrefix(words.position + 1, context, vector)
        return words.following[word]

    def step(self, configurations: Sequence[Configuration]) -> GeneratorStep:
        """What comes next in each configuration."""
        return GeneratorStep(self, configurations)

    def _decision_losses(
        self, u: dy.Expression, decisions: Sequence[Decision]
    ) -> tuple[list[dy.Expression], np.ndarray]:
        losses, owners = super()._decision_losses(u, decisions)
        shifts = [i for i, decision in enumerate(decisions) if decision.action == SHIFT]
        if shifts:
            words = [decisions[i].word for i in shifts]
            word_losses, of_shift = self.softmax.negative_log_probs(
                dy.pick_batch_elems(u, shifts), words
            )
            losses += word_losses
            owners = np.concatenate([owners, np.array(shifts)[of_shift]])
        return losses, owners

    def derived(self, example: GeneratorExample) -> Derived:
        """The tree of a training example."""
        return Derived(None, [example.actions], example.words)

    # training

    @staticmethod
    def length(example: GeneratorExample) -> int:
        """Words of an example."""
        return len(example.words)

    # use

    def log_prob(self, tree: nltk.Tree) -> float:
        """log p(words, tree) in nats; words that are not known are first made UNK classes.

        -inf where the tree has a nonterminal, or a word class, that training has not, or cannot be derived.
        """
        try:
            example = self.example_of(tree)
        except ImpossibleError:
            return float("-inf")
        return float(joint_log_probs(self, example.words, [example.actions])[0])

    def generate(
        self, n: int, seed: int = 1, max_length: int = 200
    ) -> list[tuple[nltk.Tree, float]]:
        """n trees drawn from the model, tags XX, each with log p(x, y) in nats (see `search.generation`)."""
        return list(generate_trees(self, n, seed, max_length))

    def best_trees(self, sentences: Sequence[Sequence[Token]]) -> Iterator[Found]:
        """See `SavedModel`."""
        return best_trees(self, sentences)

    def surprisals(
        self, tokens: Sequence[str], options: SearchOptions = DEFAULT_OPTIONS, end: bool = False
    ) -> list[WordRecord]:
        """What the model says of each word of a sentence and, where asked for, of its end (see `search.surprisal`)."""
        [found] = measure(self, [tokens], options, end)
        return found.records

    def surprisals_of(
        self, sentences: Sequence[Sequence[str]] | str, options: SearchOptions = DEFAULT_OPTIONS
    ) -> list[list[WordRecord]]:
        """`surprisals` of many sentences, or of those of a text, some of them searched together."""
        return [found.records for found in measure(self, self.tokens_of(sentences), options)]

    def reader(self, options: SearchOptions = DEFAULT_OPTIONS) -> Reader:
        """A reader of one sentence, word by word."""
        return Reader(self, options)
