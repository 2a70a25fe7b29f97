"""The generative model p(x, y) (Dyer et al. 2016, section 4; the original's `nt-parser-gen.cc`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from oracle.transitions import SHIFT
from rnng_dy.engine import dy
from rnng_dy.models.configuration import Configuration, Decision, Derivation, WordPrefix
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.network import Rnng, Step
from rnng_dy.models.parser_state import GENERATOR_STATES, WORDS
from rnng_dy.models.softmax import ClassFactoredSoftmax
from rnng_dy.models.vectors import Losses, pick
from rnng_dy.models.word_input import WORD_INPUTS, Word
from rnng_dy.settings import Sizes
from rnng_dy.vocabulary import GeneratorVocabulary


class GeneratorExample(NamedTuple):
    """A sentence and its tree as ids."""

    words: Sequence[int]
    actions: Sequence[int]


class GeneratorStep(Step):
    """A step that also has probabilities of the next word, from the same u as its SHIFT."""

    def word_log_probs(self, members: Sequence[int], words: Sequence[int]) -> np.ndarray:
        """Return log p(words[i] | SHIFT, configuration members[i]), and that of its cluster.

        The shape is (2, members), in nats, float64.
        """
        losses, owners = self._network.softmax.negative_log_probs(pick(self._u, members), words)
        log_probs = -dy.concatenate_to_batch(losses).npvalue().ravel().astype(np.float64)
        # those of the clusters come first
        return np.stack([np.bincount(owners, log_probs), log_probs[: len(words)]])

    def every_word_log_prob(self, members: Sequence[int]) -> np.ndarray:
        """Return log p(word | SHIFT, configuration) in nats for every word id.

        The shape is (members, words), float64. `<s>`, which is never generated, has -inf.
        """
        return self._network.softmax.every_log_prob(pick(self._u, members))


class GeneratorNetwork(Rnng):
    """The generative model as a network over word ids."""

    states = GENERATOR_STATES
    step_type = GeneratorStep

    def __init__(
        self,
        vocabulary: GeneratorVocabulary,
        sizes: Sizes,
        word_input: str = WORD_INPUTS.default,
        **parts: Any,
    ):
        """Create the network of some parts (see `Rnng`).

        Raises RnngError for an input that reads the sentence.
        """
        if WORD_INPUTS[word_input].reads_sentence:
            what = f"the word input {word_input} reads the whole sentence"
            raise RnngError(f"{what}, also the words that the model predicts: it is for parsers")
        # the original's composition has one layer here, however many the other LSTMs have
        super().__init__(vocabulary, sizes, 1, **parts)
        store, inputs = self.store, sizes.lstm_input
        self._lstms[WORDS] = Lstm(store, "terms", sizes.layers, inputs, sizes.hidden)
        self.word_input = WORD_INPUTS[word_input](store, vocabulary.words.symbols, inputs)
        self.softmax = ClassFactoredSoftmax(store, sizes.hidden, vocabulary.clusters)

    def start(self, sentence: object = None) -> Configuration:
        """Return the configuration before the first action, which is the same for all sentences."""
        # `<s>` has id 0
        context = LstmState(self._lstms[WORDS].start, self.word_input.sentence([self._word(0)])[0])
        return self._root(WordPrefix(0, context, None), None)

    def _word(self, number: int) -> Word:
        return Word(number, self.vocabulary.words.symbols[number])

    def _next_word(self, words: WordPrefix, word: int | None) -> WordPrefix:
        if word is None:
            raise ValueError("a generator's SHIFT needs a word")
        if word not in words.following:
            vector = self.word_input.next_word(self._word(word))
            context = LstmState(words.context, vector)
            words.following[word] = WordPrefix(words.position + 1, context, vector)
        return words.following[word]

    def _decision_losses(self, u: dy.Expression, decisions: Sequence[Decision]) -> Losses:
        losses, owners = super()._decision_losses(u, decisions)
        if shifts := [i for i, decision in enumerate(decisions) if decision.action == SHIFT]:
            words = [decisions[i].word for i in shifts]
            word_losses, of_shift = self.softmax.negative_log_probs(pick(u, shifts), words)
            losses += word_losses
            owners = np.concatenate([owners, np.array(shifts)[of_shift]])
        return losses, owners

    def derivation(self, example: GeneratorExample) -> Derivation:
        """Return the derivation of a training example."""
        return Derivation(None, [example.actions], example.words)
