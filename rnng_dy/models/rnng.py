"""What parser and generator share: stack and action LSTMs, composition, and the distribution over valid actions.

A model turns a configuration (stack, action history, buffer or terms) into expressions of the current DyNet graph; it
knows nothing of files, commands or searches. Configurations are immutable, so training, scoring and every search branch
from them freely, and every distribution is computed for many configurations at once (`step`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, NamedTuple

import numpy as np

from oracle.errors import named
from oracle.transitions import REDUCE, SHIFT, SYSTEMS, State
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS, Reduction
from rnng_dy.models.distributions import as_rows, log_softmax
from rnng_dy.models.lstm import Lstm, LstmState, StackCell
from rnng_dy.parameters import ParameterStore
from rnng_dy.saved import SavedModel
from rnng_dy.search.trace import Decision

INVALID = np.float32(-1e30)
"""Added to the logit of an invalid action: exp gives exactly 0, and no NaN as -inf can."""


@dataclass(frozen=True)
class Sizes:
    """Dimensions of a model; `layers` holds for the stack, action, buffer and terms LSTMs."""

    layers: int
    lstm_input: int
    hidden: int
    action: int


class SentenceGraph:
    """What all configurations of a sentence share in the current graph: its constituents, each computed once.

    Where a constituent's vector depends on label and children alone, the many trees of a sentence that are sampled or
    scored together share most of them.
    """

    def __init__(self):
        self.constituents: dict[tuple, tuple[int, dy.Expression]] = {}
        """Name and vector of each constituent, by its label and the names of its children."""
        self._names = count()

    def new_name(self) -> int:
        """What tells a word or constituent from all others of the sentence."""
        return next(self._names)


class Words:
    """The words before a configuration, generated or taken off the buffer; those with the same ones share it."""

    __slots__ = ("context", "following", "name", "position", "vector")

    def __init__(self, position: int, context: LstmState, vector: dy.Expression | None, name: int):
        self.position = position
        """How many they are."""
        self.context = context
        """Of the context LSTM: it reads what is left on the buffer (parser) or what was generated (generator)."""
        self.vector, self.name = vector, name
        """The last word's vector for the stack, None before the first, and its name there."""
        self.following: dict[int | None, Words] = {}
        """By the id of the next word; the parser's only next one has None."""


class Configuration(NamedTuple):
    """A state of the transition system with the model's view of it."""

    graph: SentenceGraph
    state: State
    stack: StackCell
    actions: LstmState
    words: Words
    u: dy.Expression | None = None
    """The parser state, shape (hidden,), where a composition depends on it; else it is computed in batches."""


class Step:
    """What a model says of the next action of some configurations; a number that is asked for runs the graph."""

    def __init__(self, model: Rnng, configurations: Sequence[Configuration], alpha: float = 1.0):
        self._u = model.hidden(configurations)
        states = [c.state for c in configurations]
        self._logits = model.action_logits(self._u, states, alpha)

    def action_log_probs(self) -> np.ndarray:
        """In nats, shape (configurations, actions), float64; about -1e30 for an action that is not valid."""
        return log_softmax(as_rows(self._logits))


class Rnng(SavedModel):
    """The part of an RNNG that does not depend on where the words come from."""

    config_defaults: ClassVar = {"composition": "corrected", "transitions": "top-down"}

    _context_lstm: Lstm
    """Reads the words of the buffer from its end (parser) or those generated so far (generator)."""

    def __init__(
        self,
        store: ParameterStore,
        sizes: Sizes,
        nonterminals: Sequence[str],
        composition: str,
        composition_layers: int,
        transitions: str,
    ):
        """Raises RnngError for an unknown composition or transition system."""
        self.store = store
        self.sizes = sizes
        self.transitions = named("transition system", transitions, SYSTEMS)(nonterminals)
        actions, inputs, hidden = len(self.transitions), sizes.lstm_input, sizes.hidden
        self._opened = [self.transitions.label(action) for action in range(actions)]
        self._penalties = store.constant(np.where(self.transitions.masks, np.float32(0), INVALID))
        self._stack_lstm = Lstm(store, "stack", sizes.layers, inputs, hidden)
        self._action_lstm = Lstm(store, "action", sizes.layers, sizes.action, hidden)
        compose = named("composition", composition, COMPOSITIONS)
        self.compose = compose(store, composition_layers, inputs)
        self._stack_guard = store.vector("stack_guard", inputs)
        self._action_start = store.vector("action_start", sizes.action)
        self._hidden_bias = store.vector("hidden_bias", hidden)
        self._stack_weights = store.matrix("hidden_stack", hidden, hidden)
        self._action_weights = store.matrix("hidden_action", hidden, hidden)
        self._context_weights = store.matrix("hidden_context", hidden, hidden)
        self._logit_weights = store.matrix("action_weights", actions, hidden)
        self._logit_bias = store.vector("action_bias", actions)
        self._open_table = store.lookup("open_nonterminal", len(nonterminals), inputs)
        self._label_table = store.lookup("nonterminal", len(nonterminals), inputs)
        self._action_table = store.lookup("action", actions, sizes.action)

    def config(self) -> dict[str, object]:
        """See `SavedModel`."""
        own = {"composition": self.compose.name, "transitions": self.transitions.name}
        return super().config() | own

    # configurations

    def _root(self, graph: SentenceGraph, words: Words, left: int | None, dropout: float):
        """The configuration before the first action, with `left` words on the buffer."""
        stack = StackCell(None, self._stack_lstm.start(), None, None, None)
        actions = self._action_lstm.step(self._action_lstm.start(), self._action_start, dropout)
        stack = self._push(stack, self._stack_guard, dropout)
        start = self.transitions.start(left)
        return self._with_u(Configuration(graph, start, stack, actions, words), dropout)

    def _push(
        self,
        stack: StackCell,
        vector: dy.Expression,
        dropout: float,
        label: int | None = None,
        name: int | None = None,
    ) -> StackCell:
        state = self._stack_lstm.step(stack.lstm, vector, dropout)
        return StackCell(stack, state, vector, label, name)

    def advance(
        self, c: Configuration, action: int, word: int | None = None, dropout: float = 0.0
    ) -> Configuration:
        """The configuration that a valid action leads to; `word` is what the generator's SHIFT generates."""
        stack, words = c.stack, c.words
        if action == SHIFT:
            words = self._next_words(c, word, dropout)
            stack = self._push(stack, words.vector, dropout, name=words.name)
        elif action == REDUCE:
            stack = self._reduce(c, dropout)
        elif (label := self._opened[action]) is not None:
            stack = self._push(stack, dy.lookup(self._open_table, label), dropout, label)
        x = dy.lookup(self._action_table, action)
        actions = self._action_lstm.step(c.actions, x, dropout)
        after = Configuration(c.graph, c.state.after(action), stack, actions, words)
        return after if c.u is None else self._with_u(after, dropout)

    def _next_words(self, c: Configuration, word: int | None, dropout: float) -> Words:
        """The words of a configuration and the next one."""
        return c.words.following[word]

    def _reduce(self, c: Configuration, dropout: float) -> StackCell:
        opened, children, below = self.transitions.constituent(c.stack)
        known = c.graph.constituents
        key = (opened.label, *(child.name for child in children))
        # a vector that depends on the state below is this configuration's own
        if c.u is not None or key not in known:
            label = dy.lookup(self._label_table, opened.label)
            vectors = [child.vector for child in children]
            vector = self.compose(Reduction(label, opened.vector, vectors, c.u), dropout)
            known[key] = (c.graph.new_name(), vector)
        name, vector = known[key]
        return self._push(below, vector, dropout, name=name)

    def _with_u(self, c: Configuration, dropout: float) -> Configuration:
        return c._replace(u=self._hidden([c], dropout)) if self.compose.depends_on_state else c

    # distributions

    def hidden(
        self, configurations: Sequence[Configuration], dropout: float = 0.0
    ) -> dy.Expression:
        """u of equation 3: shape (hidden,), one batch element a configuration."""
        if self.compose.depends_on_state:
            return dy.concatenate_to_batch([c.u for c in configurations])
        return self._hidden(configurations, dropout)

    def _hidden(self, configurations: Sequence[Configuration], dropout: float) -> dy.Expression:
        summaries = [
            self._stack_lstm.outputs([c.stack.lstm for c in configurations]),
            self._action_lstm.outputs([c.actions for c in configurations]),
            self._context_lstm.outputs([c.words.context for c in configurations]),
        ]
        if dropout:
            summaries = [dy.dropout(summary, dropout) for summary in summaries]
        weights = (self._stack_weights, self._action_weights, self._context_weights)
        products = [x for pair in zip(weights, summaries, strict=True) for x in pair]
        return dy.rectify(dy.affine_transform([self._hidden_bias, *products]))

    def action_logits(
        self, u: dy.Expression, states: Iterable[State], alpha: float = 1.0
    ) -> dy.Expression:
        """Logits times alpha, invalid actions pushed to -1e30: shape (actions,), one batch element a state."""
        logits = dy.affine_transform([self._logit_bias, self._logit_weights, u])
        if alpha != 1.0:
            logits = alpha * logits
        numbers = [self.transitions.mask_number(state) for state in states]
        return logits + dy.lookup_batch(self._penalties, numbers, update=False)

    def step(self, configurations: Sequence[Configuration], alpha: float = 1.0) -> Step:
        """What comes next in each configuration, with action logits multiplied by alpha."""
        return Step(self, configurations, alpha)

    def decision_losses(
        self, decisions: Sequence[Decision], dropout: float = 0.0
    ) -> tuple[list[dy.Expression], np.ndarray]:
        """Losses in nats as batched expressions, and the index of the decision that each batch element belongs to."""
        losses, _ = self._action_losses(decisions, dropout)
        return [losses], np.arange(len(decisions))

    def _action_losses(
        self, decisions: Sequence[Decision], dropout: float
    ) -> tuple[dy.Expression, dy.Expression]:
        """Losses of the actions, one batch element a decision, and the u that they came from."""
        u = self.hidden([d.configuration for d in decisions], dropout)
        logits = self.action_logits(u, [d.configuration.state for d in decisions])
        return dy.pickneglogsoftmax_batch(logits, [d.action for d in decisions]), u

    # training

    def with_unknowns(self, example, probability: float, random: np.random.Generator):
        """The example with rare words as UNK classes: as it is, since a generative oracle has them already."""
        return example

    def decisions_of(self, example, dropout: float) -> list[Decision]:
        """Those of a training example's tree, in the current graph."""
        raise NotImplementedError

    def training_loss(self, examples: Sequence, dropout: float) -> dy.Expression:
        """The sum of the negative log probabilities in nats of a minibatch, as one graph."""
        decisions = [d for example in examples for d in self.decisions_of(example, dropout)]
        losses, _ = self.decision_losses(decisions, dropout)
        return dy.esum([dy.sum_batches(loss) for loss in losses])

    def touched_rows(self, examples: Iterable) -> Mapping[str, set[int]]:
        """The lookup rows that the original looks up for these examples.

        It looks up the label of every constituent, the root's too, and the embedding of every action, the last one
        too, though neither can influence the loss; all of them decay.
        """
        actions = {action for example in examples for action in example.actions}
        labels = {self.transitions.label(action) for action in actions} - {None}
        return {"open_nonterminal": labels, "nonterminal": labels, "action": actions}
