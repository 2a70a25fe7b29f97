"""The network of parser and generator: LSTMs, composition, distribution over actions.

`advance` returns the configuration after an action, whose vectors are pending. `step` and `losses`
compute the pending vectors of some configurations, batched by kind and level. The network is
independent of files, searches and commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from oracle.common.errors import RnngError
from oracle.transitions import REDUCE, SHIFT, SYSTEMS
from rnng_dy.engine import dy
from rnng_dy.models import configuration
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.configuration import Configuration, Constituent, Decision, Derivation, StackCell
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.parser_state import HISTORY, PARSER_STATES, STACK, Computation
from rnng_dy.models.vectors import Embedding, LookupTable, Losses, as_rows, log_softmax, value_of
from rnng_dy.models.word_input import WordInput
from rnng_dy.parameters import ParameterStore
from rnng_dy.settings import Sizes
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

INVALID = np.float32(-1e30)
"""Added to the logit of an invalid action: exp gives exactly 0, and no NaN as -inf can."""

DEFAULT_PARTS = {
    "composition": "corrected",
    "transitions": "top-down",
    "state": "full",
    "word_input": "table",
}
"""The parts of a network whose config.json does not name them, as in older folders."""


class Step:
    """Probabilities of the next actions of configurations; a new graph ends them."""

    def __init__(self, network: Rnng, configurations: Sequence[Configuration], alpha: float = 1.0):
        self._network, self._u = network, network.parser_states(configurations)
        masks = [network.transitions.mask_number(c.state) for c in configurations]
        self._logits = network.action_logits(self._u, masks, alpha)

    def action_log_probs(self) -> np.ndarray:
        """Return log probabilities in nats, about -1e30 for invalid actions.

        The shape is (configurations, actions), float64.
        """
        return log_softmax(as_rows(self._logits))


class Rnng:
    """The network of parsers and generative models.

    A subclass has the words. It defines `start`, which returns the configuration before the first
    action over a sentence, and `derivation`, which returns that of a training example.
    """

    states: ClassVar[Mapping[str, Any]]
    """The possible states u, by name."""
    step_type: ClassVar[type[Step]] = Step
    word_input: WordInput
    """The vectors of words, which a subclass creates after the network's other parameters."""

    def __init__(
        self,
        vocabulary: ParserVocabulary | GeneratorVocabulary,
        sizes: Sizes,
        composition_layers: int,
        composition: str = COMPOSITIONS.default,
        transitions: str = SYSTEMS.default,
        state: str = PARSER_STATES.default,
        seed: int | None = 1,
    ):
        """Create the parameters, in an order that decides their random values for a seed.

        Raises RnngError for an unknown composition, transition system or state.
        """
        self.store = store = ParameterStore(seed)
        self.vocabulary, self.sizes = vocabulary, sizes
        self.transitions = SYSTEMS[transitions](vocabulary.nonterminals)
        actions, labels = len(self.transitions), len(vocabulary.nonterminals)
        inputs, hidden = sizes.lstm_input, sizes.hidden
        # one LSTM reads words and actions, so both have as many values
        action = inputs if self.states[state].words_in_history else sizes.action
        self._penalties = store.constant(np.where(self.transitions.masks, np.float32(0), INVALID))
        # a kind of model adds that of WORDS
        self._lstms = {STACK: Lstm(store, "stack", sizes.layers, inputs, hidden)}
        self._lstms[HISTORY] = Lstm(store, "action", sizes.layers, action, hidden)
        of_constituents = COMPOSITIONS[composition]
        self.composition = of_constituents(store, composition_layers, inputs, hidden, labels)
        self._stack_guard = Embedding.of_parameter(store.vector("stack_guard", inputs))
        self._action_start = Embedding.of_parameter(store.vector("action_start", action))
        self.state = self.states[state](store, hidden)
        self._logit_weights = store.matrix("action_weights", actions, hidden)
        self._logit_bias = store.vector("action_bias", actions)
        self._opened = LookupTable(store, "open_nonterminal", labels, inputs)
        self.composition.add_labels(store, labels, inputs)
        self._actions = LookupTable(store, "action", actions, action)
        self.compute = Computation(self._lstms, self.composition, self.state, sizes)

    @property
    def parts(self) -> dict[str, Any]:
        """The parts that can be chosen, by the names of the constructor's arguments."""
        return {name: getattr(self, name) for name in DEFAULT_PARTS}

    # configurations

    def _root(self, words: configuration.WordPrefix, length: int | None) -> Configuration:
        stack = StackCell(self._lstms[STACK].start, self._stack_guard)
        history = LstmState(self._lstms[HISTORY].start, self._action_start)
        return Configuration(self.transitions.start(length), stack, history, words, {})

    def advance(self, c: Configuration, action: int, word: int | None = None) -> Configuration:
        """Return the configuration after a valid action.

        A generator's SHIFT needs the id of a `word`. Validity is not checked: ask `transitions`, or
        take actions that `step` allows.
        """
        stack, words = c.stack, c.words
        if action == SHIFT:
            words = self._next_word(words, word)
            stack = StackCell(stack, words.vector)
        elif action == REDUCE:
            opened, cells, below = self.transitions.constituent(stack)
            label, children = opened.label, [cell.reads for cell in cells]
            reader = c if self.composition.reads_state else None
            embeddings = self.composition.embeddings(label)
            constituent = Constituent(label, embeddings, opened.reads, children, reader)
            if reader is None:
                # equal constituents of a sentence are composed once
                constituent = c.constituents.setdefault((label, *children), constituent)
            stack = StackCell(below, constituent)
        elif (label := self.transitions.label(action)) is not None:
            stack = StackCell(stack, self._opened[label], label)
        as_word = action == SHIFT and self.state.words_in_history
        history = LstmState(c.history, words.vector if as_word else self._actions[action])
        return Configuration(c.state.after(action), stack, history, words, c.constituents)

    def _next_word(self, words: configuration.WordPrefix, word: int | None) -> Any:
        return words.following[word]

    def walk(self, trees: Iterable[Derivation]) -> tuple[list[Decision], list[list[int]]]:
        """Advance along the action sequences of some sentences.

        Sequences of a sentence share their equal prefixes. Returns the decisions of all sentences,
        and the indices of those of each sequence. Raises ValueError if an action is not valid or a
        word is missing.
        """
        decisions: list[Decision] = []
        paths: list[list[int]] = []
        for tree in trees:
            root, following = self.start(tree.sentence), {}
            for actions in tree.sequences:
                c, last, path = root, None, []
                for action in actions:
                    last = following.setdefault((last, action), len(decisions))
                    if last == len(decisions):
                        decisions.append(self._decide(c, action, tree.generated))
                    c = decisions[last].after
                    path.append(last)
                paths.append(path)
        return decisions, paths

    def _decide(self, c: Configuration, action: int, generated: Sequence[int] | None) -> Decision:
        mask = self.transitions.mask_number(c.state)
        if not self.transitions.allows(mask, action):
            raise ValueError(f"action {action} is not valid in {c.state}")
        word = None
        if generated is not None and action == SHIFT:
            if c.words.position == len(generated):
                raise ValueError(f"a word is missing after {len(generated)}")
            word = generated[c.words.position]
        return Decision(c, mask, action, word, self.advance(c, action, word))

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Let configurations outlive the current graph, with all their possible successors.

        Kept values do not follow later changes of the parameters.
        """
        self.compute.keep(configurations)

    # distributions

    def parser_states(
        self, configurations: Sequence[Configuration], dropout: float = 0.0
    ) -> dy.Expression:
        """Return u of equation 3: shape (hidden,), one batch element per configuration."""
        self.compute(configurations, dropout)
        return value_of(configurations)

    def action_logits(
        self, u: dy.Expression, masks: Sequence[int], alpha: float = 1.0
    ) -> dy.Expression:
        """Return logits times alpha, -1e30 and less for invalid actions: shape (actions,)."""
        logits = dy.affine_transform([self._logit_bias, self._logit_weights, u])
        if alpha != 1.0:
            logits = alpha * logits
        return logits + dy.lookup_batch(self._penalties, masks, update=False)

    def step(self, configurations: Sequence[Configuration], alpha: float = 1.0) -> Step:
        """Return probabilities of the next actions, whose logits are multiplied by alpha."""
        return self.step_type(self, configurations, alpha)

    def losses(
        self, trees: Iterable[Derivation], dropout: float = 0.0
    ) -> tuple[list[dy.Expression], np.ndarray, list[list[int]]]:
        """Return the losses of actions, and of the words that they generate, in the current graph.

        The losses are batched expressions of scalars, in nats. With them come the index of the
        decision that each batch element, in order, belongs to, and the indices of the decisions of
        each sequence. Raises as `walk` does.
        """
        decisions, paths = self.walk(trees)
        u = self.parser_states([decision.configuration for decision in decisions], dropout)
        return *self._decision_losses(u, decisions), paths

    def _decision_losses(self, u: dy.Expression, decisions: Sequence[Decision]) -> Losses:
        """Return losses in nats, whose owners are the decisions."""
        logits = self.action_logits(u, [d.mask for d in decisions])
        losses = dy.pickneglogsoftmax_batch(logits, [d.action for d in decisions])
        return [losses], np.arange(len(decisions))

    def example_losses(self, examples: Sequence[Any], dropout: float) -> tuple[Any, ...]:
        """Return the losses of training examples, and what else `losses` returns."""
        return self.losses(map(self.derivation, examples), dropout)

    def attention(self, example: Any) -> list[tuple[str, np.ndarray]]:
        """Return the attention weights of a training example, in the current graph.

        Each constituent, in order of completion, has its label and the weights of its children,
        shape (children,), which sum to 1. Raises RnngError if the network has no such weights.
        """
        # without the stack, weights influence nothing
        if not self.composition.has_weights or STACK not in self.state.parts:
            how = "train one with --composition gated-attention and with the stack"
            raise RnngError(f"this model has no attention weights: {how}")
        decisions, [path] = self.walk([self.derivation(example)])
        reduced = [decisions[i].after for i in path if decisions[i].action == REDUCE]
        constituents = [c.stack.reads for c in reduced]
        by_children = sorted(constituents, key=lambda constituent: len(constituent.children))
        self.compute(reduced)
        weights = dict(zip(by_children, self.composition.weights(by_children), strict=True))
        return [(self.transitions.nonterminals[c.label], weights[c]) for c in constituents]
