"""What parser and generator share: stack and action LSTMs, composition, and the distribution over valid actions.

A model turns a configuration (stack, action history, buffer or terms) into expressions of the current DyNet graph; it
knows nothing of files, commands or searches. Configurations are immutable, so training, scoring and every search branch
from them freely, and every distribution is computed for many configurations at once (`step`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import nltk
import numpy as np

from oracle.errors import named
from oracle.transitions import REDUCE, SHIFT, SYSTEMS
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS, LABELS
from rnng_dy.models.configurations import (
    Configuration,
    Push,
    SentenceGraph,
    StackCell,
    Words,
    rows_of,
)
from rnng_dy.models.constituents import Constituents
from rnng_dy.models.derivations import NEW, START, Choice, Derivations, Forest
from rnng_dy.models.distributions import log_softmax
from rnng_dy.models.lstm import Lstm
from rnng_dy.models.parser_state import HISTORY, STACK, WORDS, ParserState
from rnng_dy.parameters import ParameterStore
from rnng_dy.rows import Block, Row, as_rows, gather, join, keep_rows, numbered
from rnng_dy.saved import SavedModel
from rnng_dy.search.attention import Attended, attention_weights
from rnng_dy.search.model import Derived, Losses
from rnng_dy.search.trace import FIRST, Beginnings, Trace, Walk, beginnings, trace

INVALID = np.float32(-1e30)
"""Added to the logit of an invalid action: exp gives exactly 0, and no NaN as -inf can."""


@dataclass(frozen=True)
class Sizes:
    """Dimensions of a model; `layers` holds for the stack, action, buffer and terms LSTMs."""

    layers: int
    lstm_input: int
    hidden: int
    action: int


class Step:
    """What a model says of the next action of some configurations; a number that is asked for runs the graph."""

    def __init__(self, model: Rnng, configurations: Sequence[Configuration], alpha: float = 1.0):
        self._u = model.hidden(configurations)
        self._logits = model.action_logits(self._u, model.masks(configurations), alpha)

    def action_log_probs(self) -> np.ndarray:
        """In nats, shape (configurations, actions), float64; about -1e30 for an action that is not valid."""
        return log_softmax(as_rows(self._logits))


class Rnng(SavedModel):
    """The part of an RNNG that does not depend on where the words come from."""

    config_defaults: ClassVar = {
        "composition": "corrected",
        "transitions": "top-down",
        "state": "full",
    }
    states: ClassVar[Mapping[str, Sequence[str]]]
    """The parts of u in each of the states that there are of it, by name."""

    _context_lstm: Lstm
    """Reads the words of the buffer from its end (parser) or those generated so far (generator)."""
    _reads_backwards: ClassVar[bool]

    def __init__(
        self,
        store: ParameterStore,
        sizes: Sizes,
        nonterminals: Sequence[str],
        composition: str,
        composition_layers: int,
        transitions: str,
        state: str,
    ):
        """Raises RnngError for an unknown composition, transition system or state."""
        self.store = store
        self.sizes = sizes
        self.transitions = named("transition system", transitions, SYSTEMS)(nonterminals)
        actions, inputs, hidden = len(self.transitions), sizes.lstm_input, sizes.hidden
        self._opened = [self.transitions.label(action) for action in range(actions)]
        self._penalties = store.constant(np.where(self.transitions.masks, np.float32(0), INVALID))
        self._stack_lstm = Lstm(store, "stack", sizes.layers, inputs, hidden)
        self._action_lstm = Lstm(store, "action", sizes.layers, sizes.action, hidden)
        compose = named("composition", composition, COMPOSITIONS)
        self.compose = compose(store, composition_layers, inputs, hidden, len(nonterminals))
        self._stack_guard = store.vector("stack_guard", inputs)
        self._action_start = store.vector("action_start", sizes.action)
        self.state = ParserState(store, hidden, state, self.states)
        self._logit_weights = store.matrix("action_weights", actions, hidden)
        self._logit_bias = store.vector("action_bias", actions)
        self._open_table = store.lookup("open_nonterminal", len(nonterminals), inputs)
        labels = store.lookup(LABELS, len(nonterminals), inputs * compose.label_width)
        self.constituents = Constituents(self.transitions, self.compose, labels)
        self._action_table = store.lookup("action", actions, sizes.action)

    def config(self) -> dict[str, object]:
        """See `SavedModel`."""
        systems = {"composition": self.compose.name, "transitions": self.transitions.name}
        return super().config() | systems | {"state": self.state.name}

    # configurations

    def _first(self, dropout: float) -> tuple[StackCell, Row | None]:
        """The stack and the state of the action LSTM before the first action."""
        stack = self.state.first(STACK, self._stack_lstm, self._stack_guard, dropout)
        actions = self.state.first(HISTORY, self._action_lstm, self._action_start, dropout)
        return StackCell(None, stack, Row(Block([self._stack_guard]), 0)), actions

    def _roots(
        self, trees: Sequence[Derived], histories: Mapping[int, Row], dropout: float
    ) -> list[Configuration]:
        """The configurations before the first actions of sentences whose words are known, all read at once."""
        vectors = self._word_vectors([tree.sentence for tree in trees])
        numbers = range(sum(tree.length for tree in trees))
        forest, chains, left = Forest(), [], iter(numbers)
        for tree in trees:
            words = list(islice(left, tree.length))
            read = words[::-1] if self._reads_backwards else words
            chain = forest.add_chain([START, *read])
            chains.append((words, chain[::-1] if self._reads_backwards else chain))
        rows = numbered(numbers, vectors)
        states: Sequence[Row | None] = [None] * len(forest.inputs)
        if self.state.reads(WORDS):
            first = {START: Row(Block([self._context_start()]), 0)}
            every = range(len(forest.inputs))
            states = self._context_lstm.states(forest, every, rows | first, dropout)
        # without dropout all begin alike
        firsts = [self._first(dropout) for _ in trees[: None if dropout else 1]]
        roots = []
        for i, (tree, (words, contexts)) in enumerate(zip(trees, chains, strict=True)):
            stack, actions = firsts[i % len(firsts)]
            graph = SentenceGraph()
            begin = last = Words(0, states[contexts[0]], None, graph.new_name())
            names = [None] * tree.length if tree.generated is None else tree.generated
            for k, (name, number) in enumerate(zip(names, words, strict=True), 1):
                following = Words(k, states[contexts[k]], rows[number], graph.new_name())
                last.following[name] = last = following
            start = self.transitions.start(tree.length if tree.generated is None else None)
            actions = histories.get(FIRST - i, actions)
            roots.append(Configuration(graph, start, stack, actions, begin))
        return self._with_u(roots, dropout)

    def _histories(self, found: Beginnings, groups: int, dropout: float) -> dict[int, Row]:
        """The states of the action LSTM after beginnings of sequences, and before the first action of each group.

        Nothing where u is made without them.
        """
        if not self.state.reads(HISTORY):
            return {}
        forest = Forest()
        numbers = {FIRST - i: forest.add(NEW, START) for i in range(groups)}
        for i in sorted(found.followed()):
            if i >= 0:
                numbers[i] = forest.add(numbers[found.before[i]], found.actions[i])
        vectors = self._action_vectors(forest)
        states = self._action_lstm.states(forest, numbers.values(), vectors, dropout)
        return dict(zip(numbers, states, strict=True))

    def _action_vectors(self, forest: Forest) -> dict[int, Row]:
        """What the action LSTM reads, by the numbers in a forest."""
        taken = [action for action in dict.fromkeys(forest.inputs) if action != START]
        vectors = numbered(taken, dy.lookup_batch(self._action_table, taken)) if taken else {}
        return vectors | {START: Row(Block([self._action_start]), 0)}

    def advance(
        self,
        configurations: Sequence[Configuration],
        actions: Sequence[int],
        words: Sequence[int | None] | None = None,
        dropout: float = 0.0,
        histories: Sequence[Row] | None = None,
    ) -> list[Configuration]:
        """The configurations that valid actions lead to, computed together.

        words[i] is the id of what the generator's SHIFT generates. `histories` are the states of the action LSTM after
        the actions, where they are known.
        """
        read = histories
        if not read:
            x = dy.lookup_batch(self._action_table, actions)
            before = [c.actions for c in configurations]
            read = self.state.after(HISTORY, self._action_lstm, before, x, dropout)
        read_words = [c.words for c in configurations]
        shifts = [i for i, action in enumerate(actions) if action == SHIFT]
        if shifts:
            nexts = [None if words is None else words[i] for i in shifts]
            shifted = self._next_words([configurations[i] for i in shifts], nexts, dropout)
            for i, following in zip(shifts, shifted, strict=True):
                read_words[i] = following
        stacks = [c.stack for c in configurations]
        if self.state.reads(STACK):
            stacks = self._push(configurations, actions, read_words, dropout)
        after = [
            Configuration(c.graph, c.state.after(action), *rows)
            for c, action, *rows in zip(
                configurations, actions, stacks, read, read_words, strict=True
            )
        ]
        return self._with_u(after, dropout)

    def _push(
        self,
        configurations: Sequence[Configuration],
        actions: Sequence[int],
        words: Sequence[Words],
        dropout: float,
    ) -> list[StackCell]:
        """The stacks after the actions; `words` are those read then."""
        opens = [i for i, action in enumerate(actions) if self._opened[action] is not None]
        pushes, vectors = [], []
        if opens:
            labels = [self._opened[actions[i]] for i in opens]
            vectors.append(dy.lookup_batch(self._open_table, labels))
            block = Block(vectors[:], len(opens))
            pushes += [
                Push(i, configurations[i].stack, Row(block, k), label, None)
                for k, (i, label) in enumerate(zip(opens, labels, strict=True))
            ]
        others = [
            Push(i, configurations[i].stack, words[i].vector, None, words[i].name)
            for i, action in enumerate(actions)
            if action == SHIFT
        ]
        reduces = [i for i, action in enumerate(actions) if action == REDUCE]
        if reduces:
            others += self.constituents.reduce(configurations, reduces, dropout)
        if others:
            vectors += gather([push.vector for push in others])
            pushes += others
        stacks = [c.stack for c in configurations]
        if pushes:
            below = gather([push.below.lstm for push in pushes])
            block = Block(self._stack_lstm.step(below, join(vectors), dropout), len(pushes))
            for k, push in enumerate(pushes):
                stacks[push.owner] = StackCell(push.below, Row(block, k), *push[2:])
        return stacks

    def _next_words(
        self, configurations: Sequence[Configuration], words: Sequence[int | None], dropout: float
    ) -> list[Words]:
        """The words of each configuration and the next one."""
        return [c.words.following[word] for c, word in zip(configurations, words, strict=True)]

    def _with_u(self, configurations: list[Configuration], dropout: float) -> list[Configuration]:
        if not self.compose.depends_on_state:
            return configurations
        block = Block([self._hidden(configurations, dropout)], len(configurations))
        return [c._replace(u=Row(block, i)) for i, c in enumerate(configurations)]

    @staticmethod
    def keep(configurations: Iterable[Configuration]) -> None:
        """Let configurations outlive the current graph, with what they go on from."""
        keep_rows(rows_of(configurations))

    # distributions

    def hidden(
        self, configurations: Sequence[Configuration], dropout: float = 0.0
    ) -> dy.Expression:
        """u of equation 3: shape (hidden,), one batch element a configuration."""
        if self.compose.depends_on_state:
            return gather([c.u for c in configurations])[0]
        return self._hidden(configurations, dropout)

    def _hidden(self, configurations: Sequence[Configuration], dropout: float) -> dy.Expression:
        lstms = {
            STACK: (self._stack_lstm, [c.stack.lstm for c in configurations]),
            HISTORY: (self._action_lstm, [c.actions for c in configurations]),
            WORDS: (self._context_lstm, [c.words.context for c in configurations]),
        }
        return self.state(lstms, dropout)

    def action_logits(
        self, u: dy.Expression, masks: Sequence[int], alpha: float = 1.0
    ) -> dy.Expression:
        """Logits times alpha, -1e30 and less for what a mask does not allow: shape (actions,), batched as the masks."""
        logits = dy.affine_transform([self._logit_bias, self._logit_weights, u])
        if alpha != 1.0:
            logits = alpha * logits
        return logits + dy.lookup_batch(self._penalties, masks, update=False)

    def masks(self, configurations: Iterable[Configuration]) -> list[int]:
        """The numbers of the masks of valid actions."""
        return [self.transitions.mask_number(c.state) for c in configurations]

    def step(self, configurations: Sequence[Configuration], alpha: float = 1.0) -> Step:
        """What comes next in each configuration, with action logits multiplied by alpha."""
        return Step(self, configurations, alpha)

    # trees that are known

    def losses(self, trees: Iterable[Derived], dropout: float = 0.0) -> Losses:
        """What the actions over some sentences, and the words that they generate, cost: in the current graph.

        Raises ValueError where an action is not valid.
        """
        trees = list(trees)
        if self.compose.together is None:
            return self.walked_losses(trees, dropout)
        known = Derivations(self.transitions)
        for tree in trees:
            known.add(tree.length, tree.sequences, tree.generated, self._reads_backwards)
        u = self._known_hidden(known, [tree.sentence for tree in trees], dropout)
        return Losses(*self._choice_losses(u, known.choices), known.paths)

    def walked_losses(self, trees: Iterable[Derived], dropout: float = 0.0) -> Losses:
        """`losses` by advancing configurations, as needed where a constituent depends on that in which it is made."""
        found = self.walked(trees, dropout)
        u = self.hidden([d.configuration for d in found.decisions], dropout)
        masks = self.masks(d.configuration for d in found.decisions)
        choices = [Choice(m, d.action, d.word) for m, d in zip(masks, found.decisions, strict=True)]
        return Losses(*self._choice_losses(u, choices), found.paths)

    def walked(self, trees: Iterable[Derived], dropout: float = 0.0) -> Trace:
        """The configurations on the way along the actions over some sentences, all together: in the current graph."""
        trees = list(trees)
        found = beginnings(tree.sequences for tree in trees)
        histories = self._histories(found, len(trees), dropout)
        roots = self._roots(trees, histories, dropout)
        walks = [
            Walk(root, tree.sequences, tree.generated)
            for root, tree in zip(roots, trees, strict=True)
        ]
        return trace(self, walks, dropout, found, histories)

    def _known_hidden(
        self, known: Derivations, sentences: Sequence, dropout: float
    ) -> dy.Expression:
        """u before each choice."""
        words = numbered(known.words, self._word_vectors(sentences))
        stacks = words
        if self.state.reads(STACK):
            opened = dy.lookup_batch(self._open_table, [*known.opened])
            stacks = words | numbered(known.opened.values(), opened)
            stacks |= self.constituents.known(known, stacks, dropout)
        actions = self._action_vectors(known.actions)
        lstms = {
            STACK: (self._stack_lstm, known.stacks, stacks, self._stack_guard),
            HISTORY: (self._action_lstm, known.actions, actions, self._action_start),
            WORDS: (self._context_lstm, known.contexts, words, self._context_start()),
        }
        read = {}
        for (part, (lstm, forest, vectors, start)), places in zip(
            lstms.items(), zip(*known.read, strict=True), strict=True
        ):
            if self.state.reads(part):
                first = {START: Row(Block([start]), 0)}
                read[part] = (lstm, lstm.states(forest, places, vectors | first, dropout))
        return self.state(read, dropout)

    def _choice_losses(
        self, u: dy.Expression, choices: Sequence[Choice]
    ) -> tuple[list[dy.Expression], np.ndarray]:
        """Losses in nats as batched expressions, and the index of the choice that each batch element belongs to."""
        logits = self.action_logits(u, [choice.mask for choice in choices])
        losses = dy.pickneglogsoftmax_batch(logits, [choice.action for choice in choices])
        return [losses], np.arange(len(choices))

    def derived(self, example) -> Derived:
        """The tree of a training example."""
        raise NotImplementedError

    def _word_vectors(self, sentences: Sequence) -> dy.Expression:
        """The vectors of the words of all sentences, one batch element each."""
        raise NotImplementedError

    def _context_start(self) -> dy.Expression:
        """What the LSTM over words reads first."""
        raise NotImplementedError

    # training

    def with_unknowns(self, example, probability: float, random: np.random.Generator):
        """The example with rare words as UNK classes: as it is, since a generative oracle has them already."""
        return example

    def training_loss(self, examples: Sequence, dropout: float) -> dy.Expression:
        """The sum of the negative log probabilities in nats of a minibatch, as one graph."""
        losses = self.losses(map(self.derived, examples), dropout).losses
        return dy.esum([dy.sum_batches(loss) for loss in losses])

    def touched_rows(self, examples: Iterable) -> Mapping[str, set[int]]:
        """The lookup rows that the original looks up for these examples.

        It looks up the label of every constituent, the root's too, and the embedding of every action, the last one
        too, though neither can influence the loss; all of them decay.
        """
        actions = {action for example in examples for action in example.actions}
        labels = {self.transitions.label(action) for action in actions} - {None}
        of_compositions = dict.fromkeys(self.compose.label_tables, labels)
        return {"open_nonterminal": labels, **of_compositions, "action": actions}

    # use

    @property
    def has_attention(self) -> bool:
        """Whether constituents are made by attention to their children, and have any influence."""
        return hasattr(self.compose, "weights") and self.state.reads(STACK)

    def attention(self, tree: nltk.Tree, preterminals: bool | None = None) -> list[Attended]:
        """The constituents of a tree, inner ones before outer ones: label and weights of the children.

        `preterminals` says whether words have POS tags above them; None looks. Raises ImpossibleError for a tree that
        the model cannot derive, RnngError for a model without such weights.
        """
        [found] = attention_weights(self, [self.example_of(tree, preterminals)])
        return found
