"""What parser and generator share: stack and action LSTMs, composition, and the distribution over valid actions.

A model turns a configuration (stack, action history, buffer or terms) into expressions of the current DyNet graph; it
knows nothing of files, commands or progress. Configurations are immutable, so training, greedy search, sampling and
scoring branch from them freely, and every distribution is computed for many configurations at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnng_dy.composition import COMPOSITIONS
from rnng_dy.engine import dy
from rnng_dy.lstm import Lstm, LstmState, StackCell
from rnng_dy.parameters import ParameterStore
from rnng_dy.state import FIRST_NT, REDUCE, SHIFT, State, TransitionSystem


@dataclass(frozen=True)
class Sizes:
    """Dimensions of a model; `layers` holds for the stack, action, buffer and terms LSTMs."""

    layers: int
    lstm_input: int
    hidden: int
    action: int


class Sentence:
    """A sentence in the current graph: what all its configurations share, each computed once.

    A constituent's vector depends on its words and structure alone, not on the stack below it, so that the many trees
    of a sentence that are sampled or scored together share most of them.
    """

    def __init__(self):
        self.vectors: list[dy.Expression] = []
        """Each word's vector for the stack; words have their positions as names there."""
        self.contexts: list[LstmState] = []
        """Of the context LSTM, before word i: what is on the buffer (parser) or what has been generated (generator)."""
        self.constituents: dict[tuple, tuple[int, dy.Expression]] = {}
        """Name and vector of each constituent, by its label and the names of its children; names are negative."""


class Configuration(NamedTuple):
    """A state of the transition system with the model's view of it."""

    sentence: Sentence
    state: State
    stack: StackCell
    actions: LstmState
    position: int
    """Words shifted or generated so far."""


class Decision(NamedTuple):
    """An action taken in a configuration."""

    configuration: Configuration
    action: int


class Trace(NamedTuple):
    """The decisions of some action sequences, equal prefixes once; `paths[i]` indexes those of sequence i."""

    decisions: list[Decision]
    paths: list[list[int]]


class Rnng:
    """The part of an RNNG that does not depend on where the words come from."""

    _context_lstm: Lstm
    """Reads the words of the buffer from its end (parser) or those generated so far (generator)."""

    def __init__(
        self,
        store: ParameterStore,
        sizes: Sizes,
        nonterminals: int,
        composition: str,
        composition_layers: int,
    ):
        self.store = store
        self.sizes = sizes
        self.transitions = TransitionSystem(nonterminals)
        self._penalties = store.constant(self.transitions.penalties)
        inputs, hidden = sizes.lstm_input, sizes.hidden
        self._stack_lstm = Lstm(store, "stack", sizes.layers, inputs, hidden)
        self._action_lstm = Lstm(store, "action", sizes.layers, sizes.action, hidden)
        self.compose = COMPOSITIONS[composition](store, composition_layers, inputs)
        self._stack_guard = store.vector("stack_guard", inputs)
        self._action_start = store.vector("action_start", sizes.action)
        self._hidden_bias = store.vector("hidden_bias", hidden)
        self._stack_weights = store.matrix("hidden_stack", hidden, hidden)
        self._action_weights = store.matrix("hidden_action", hidden, hidden)
        self._context_weights = store.matrix("hidden_context", hidden, hidden)
        self._logit_weights = store.matrix("action_weights", self.transitions.actions, hidden)
        self._logit_bias = store.vector("action_bias", self.transitions.actions)
        self._open_table = store.lookup("open_nonterminal", nonterminals, inputs)
        self._label_table = store.lookup("nonterminal", nonterminals, inputs)
        self._action_table = store.lookup("action", self.transitions.actions, sizes.action)

    # configurations

    def _root(self, sentence: Sentence, words: int | None, dropout: float) -> Configuration:
        """The configuration before the first action."""
        stack = StackCell(None, self._stack_lstm.start(), None, None, None)
        actions = self._action_lstm.step(self._action_lstm.start(), self._action_start, dropout)
        stack = self._push(stack, self._stack_guard, dropout)
        return Configuration(sentence, State(words), stack, actions, 0)

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

    def advance(self, c: Configuration, action: int, dropout: float = 0.0) -> Configuration:
        """The configuration that a valid action leads to."""
        stack, position = c.stack, c.position
        if action == SHIFT:
            vector = self._shift(c.sentence, position, dropout)
            stack = self._push(stack, vector, dropout, name=position)
            position += 1
        elif action == REDUCE:
            stack = self._reduce(c.sentence, stack, dropout)
        else:
            label = action - FIRST_NT
            stack = self._push(stack, dy.lookup(self._open_table, label), dropout, label)
        x = dy.lookup(self._action_table, action)
        actions = self._action_lstm.step(c.actions, x, dropout)
        return Configuration(c.sentence, c.state.after(action), stack, actions, position)

    def _shift(self, sentence: Sentence, position: int, dropout: float) -> dy.Expression:
        """The vector of the next word."""
        return sentence.vectors[position]

    def _reduce(self, sentence: Sentence, stack: StackCell, dropout: float) -> StackCell:
        children = []
        while stack.label is None:
            children.append(stack)
            stack = stack.below
        children.reverse()
        key = (stack.label, *(child.name for child in children))
        if key not in sentence.constituents:
            label = dy.lookup(self._label_table, stack.label)
            vectors = [child.vector for child in children]
            vector = self.compose(label, stack.vector, vectors, dropout)
            sentence.constituents[key] = (-1 - len(sentence.constituents), vector)
        name, vector = sentence.constituents[key]
        return self._push(stack.below, vector, dropout, name=name)

    # distributions

    def hidden(
        self, configurations: Sequence[Configuration], dropout: float = 0.0
    ) -> dy.Expression:
        """u of equation 3: shape (hidden,), one batch element a configuration."""
        summaries = [
            self._stack_lstm.outputs([c.stack.lstm for c in configurations]),
            self._action_lstm.outputs([c.actions for c in configurations]),
            self._context_lstm.outputs([c.sentence.contexts[c.position] for c in configurations]),
        ]
        if dropout:
            summaries = [dy.dropout(summary, dropout) for summary in summaries]
        stack, actions, context = summaries
        return dy.rectify(
            dy.affine_transform(
                [
                    self._hidden_bias,
                    self._stack_weights,
                    stack,
                    self._action_weights,
                    actions,
                    self._context_weights,
                    context,
                ]
            )
        )

    def action_logits(
        self, u: dy.Expression, states: Iterable[State], alpha: float = 1.0
    ) -> dy.Expression:
        """Logits times alpha, invalid actions pushed to -1e30: shape (actions,), one batch element a state."""
        logits = dy.affine_transform([self._logit_bias, self._logit_weights, u])
        if alpha != 1.0:
            logits = alpha * logits
        numbers = [self.transitions.mask_number(state) for state in states]
        return logits + dy.lookup_batch(self._penalties, numbers, update=False)

    def action_log_probs(
        self, configurations: Sequence[Configuration], alpha: float = 1.0
    ) -> np.ndarray:
        """Log probabilities in nats, shape (configurations, actions), float64; runs the graph."""
        states = [c.state for c in configurations]
        logits = self.action_logits(self.hidden(configurations), states, alpha)
        return log_softmax(logits.npvalue().reshape(self.transitions.actions, -1).T)

    def trace(
        self, root: Configuration, sequences: Iterable[Sequence[int]], dropout: float = 0.0
    ) -> Trace:
        """Walk action sequences from one root. Raises ValueError where an action is not valid."""
        trace = Trace([], [])
        top = _Node(-1, root)
        for actions in sequences:
            node, path = top, []
            for action in actions:
                child = node.children.get(action)
                if child is None:
                    child = self._branch(trace, node, action, dropout)
                path.append(child.decision)
                node = child
            trace.paths.append(path)
        return trace

    def _branch(self, trace: Trace, node: _Node, action: int, dropout: float) -> _Node:
        if node.configuration is None:
            # put off until here: nothing is computed for the end of a sequence
            before = trace.decisions[node.decision]
            node.configuration = self.advance(before.configuration, before.action, dropout)
        if not self.transitions.is_valid(node.configuration.state, action):
            raise ValueError(f"action {action} is not valid in {node.configuration.state}")
        node.children[action] = child = _Node(len(trace.decisions), None)
        trace.decisions.append(Decision(node.configuration, action))
        return child

    def decision_losses(
        self, decisions: Sequence[Decision], dropout: float = 0.0
    ) -> tuple[list[dy.Expression], np.ndarray]:
        """Losses in nats as batched expressions, and the index of the decision that each batch element belongs to."""
        u = self.hidden([d.configuration for d in decisions], dropout)
        logits = self.action_logits(u, [d.configuration.state for d in decisions])
        losses = dy.pickneglogsoftmax_batch(logits, [d.action for d in decisions])
        return [losses], np.arange(len(decisions))

    def trace_log_probs(self, trace: Trace) -> np.ndarray:
        """The log probability in nats of each sequence of a trace, float64; runs the graph once."""
        losses, owners = self.decision_losses(trace.decisions)
        values = dy.concatenate_to_batch(losses).npvalue().ravel()
        of_decision = np.bincount(owners, values.astype(np.float64), len(trace.decisions))
        return np.array([-of_decision[path].sum() for path in trace.paths])


class _Node:
    """A prefix of action sequences; `decision` is the index of its last decision."""

    __slots__ = ("children", "configuration", "decision")

    def __init__(self, decision: int, configuration: Configuration | None):
        self.decision = decision
        self.configuration = configuration
        self.children: dict[int, _Node] = {}


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Log softmax over the last axis in float64; logits pushed down to -1e30 get -1e30 or so, never NaN."""
    logits = logits.astype(np.float64)
    logits -= logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def touched_action_rows(sequences: Iterable[Sequence[int]]) -> dict[str, set[int]]:
    """The rows of the shared tables that the original looks up for these complete action sequences.

    It looks up the label of every constituent, the root's too, and the embedding of every action, the last one too,
    though neither can influence the loss; both decay.
    """
    actions = {action for sequence in sequences for action in sequence}
    labels = {action - FIRST_NT for action in actions if action >= FIRST_NT}
    return {"open_nonterminal": labels, "nonterminal": labels, "action": actions}
