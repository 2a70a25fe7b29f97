"""The parser state u of equation 3, its ablations, and the computation of its inputs.

The ablations are those of Kuncoro et al. (2017), section 3. `Computation` computes constituents
level by level, LSTM states by schedules, then u.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import ClassVar

from oracle.common.plugins import Registry
from rnng_dy.engine import dy
from rnng_dy.models.composition import Composition
from rnng_dy.models.configuration import Configuration, Constituent, StackCell
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.vectors import Vector, dropped, keep, pending, set_computed, usable_graphs
from rnng_dy.parameters import ParameterStore
from rnng_dy.settings import Sizes

STACK, HISTORY, WORDS = PARTS = ("stack", "action", "context")
"""The parts of u: the LSTMs over the stack, the actions, and the buffer or the words so far."""


class ParserState:
    """The full parser state: u = relu(bias + S stack + A history + W words); subclasses omit parts.

    The parameters of omitted parts exist and decay, as in the original.
    """

    name: ClassVar[str] = "full"
    """Name in config.json and on the command line."""
    parts: ClassVar[tuple[str, ...]] = PARTS
    """The parts that u reads; the others are not computed for it."""
    words_in_history: ClassVar[bool] = False
    """Whether the LSTM over actions reads the word that is shifted, not the embedding of SHIFT."""

    def __init__(self, store: ParameterStore, hidden: int):
        """Create the parameters; u and the output of each part's LSTM have `hidden` values."""
        self._bias = store.vector("hidden_bias", hidden)
        self._weights = {part: store.matrix(f"hidden_{part}", hidden, hidden) for part in PARTS}

    def __call__(self, summaries: Mapping[str, dy.Expression]) -> dy.Expression:
        """Return u, shape (hidden,), from the output of each part's LSTM; batched as they are."""
        terms = chain(*((self._weights[part], h) for part, h in summaries.items()))
        return dy.rectify(dy.affine_transform([self._bias, *terms]))


class StackAlone(ParserState):
    """A state of the stack alone."""

    name = "stack"
    parts = (STACK,)


class NoStack(ParserState):
    """A state without the stack."""

    name = "no-stack"
    parts = (HISTORY, WORDS)


class NoHistory(ParserState):
    """A state without the actions so far."""

    name = "no-history"
    parts = (STACK, WORDS)


class NoBuffer(ParserState):
    """A parser's state without the buffer."""

    name = "no-buffer"
    parts = (STACK, HISTORY)


class NoTerms(NoBuffer):
    """A generative model's state without the words so far."""

    name = "no-terms"


class History(ParserState):
    """The ActionLSTM: u of one LSTM over actions and words, with neither stack nor composition.

    It is a language model of linearised trees, as in Choe and Charniak (2016), with the actions of
    an RNNG.
    """

    name = "history"
    parts = (HISTORY,)
    words_in_history = True


class HistoryAndBuffer(History):
    """A parser's ActionLSTM, which also reads the buffer, to see words before their SHIFT."""

    parts = (HISTORY, WORDS)


_OF_BOTH = ParserState, StackAlone, NoStack, NoHistory
States = Registry[type[ParserState]]
PARSER_STATES: States = Registry("parser state", ParserState, *_OF_BOTH, NoBuffer, HistoryAndBuffer)
GENERATOR_STATES: States = Registry("parser state", ParserState, *_OF_BOTH, NoTerms, History)

STATES_OF = {
    STACK: attrgetter("stack"),
    HISTORY: attrgetter("history"),
    WORDS: attrgetter("words.context"),
}
"""The LSTM states of a configuration, by part of u."""


class Computation:
    """A function that computes parser states, and their missing inputs, in a few large batches."""

    def __init__(
        self, lstms: Mapping[str, Lstm], compose: Composition, state: ParserState, sizes: Sizes
    ):
        """Store the parts: `lstms` are the LSTMs that u reads, by part of u."""
        self._lstms, self._composition, self._state, self._sizes = lstms, compose, state, sizes

    def __call__(self, configurations: Iterable[Configuration], dropout: float = 0.0) -> None:
        """Compute u of configurations, and inputs of u that the graph lacks.

        The LSTMs over words and actions need nothing else. The stack LSTM needs constituents, which
        are computed first. If constituents read u themselves, the stack is computed as far as each
        of them needs it.
        """
        waiting = pending(configurations)
        # the stack comes last, because constituents that read u need the other parts
        for part in reversed(self._state.parts):
            lstm, states = self._lstms[part], list(map(STATES_OF[part], waiting))
            schedule = lstm.schedule(states)
            if part == STACK:
                self._compose((cell.reads for level in schedule for cell in level), dropout)
                if self._composition.reads_state:
                    # composing has computed some of the stack states already
                    schedule = lstm.schedule(states)
            lstm.compute(schedule, dropout)
        if waiting := pending(waiting):
            summaries = {}
            for part in self._state.parts:
                h = self._lstms[part].outputs(list(map(STATES_OF[part], waiting)))
                summaries[part] = dropped(h, dropout)
            set_computed(waiting, self._state, self._state(summaries), self._sizes.hidden)

    def _compose(self, vectors: Iterable[Vector], dropout: float) -> None:
        """Compute constituents: first all that wait for no other, then the rest level by level."""
        usable = usable_graphs()
        levels: dict[int, list[Constituent]] = defaultdict(list)
        agenda, visited = list(vectors), set()
        while agenda:
            c = agenda.pop()
            if not c.level or c.batch.graph in usable or c in visited:
                continue
            visited.add(c)
            inner = [v for v in c.children if v.level and v.batch.graph not in usable]
            agenda += inner
            waits = inner if c.configuration is None else c.configuration.batch.graph not in usable
            levels[c.level if waits else 0].append(c)
        for level in sorted(levels):
            constituents = sorted(levels[level], key=lambda c: len(c.children))
            if self._composition.reads_state:
                self([c.configuration for c in constituents], dropout)
            composed, size = self._composition(constituents, dropout), self._sizes.lstm_input
            set_computed(constituents, self._composition, composed, size)

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Let configurations outlive the graph, with the states that their successors need."""
        configurations = list(configurations)
        self(configurations)
        kept: list[Vector] = list(configurations)
        for part in self._state.parts:
            states = list(map(STATES_OF[part], configurations))
            kept += _below(states) if part == STACK else states
        keep(kept)
        for vector in kept:
            # stack cells keep their link to the state before, because they are still popped
            if type(vector) is LstmState:
                vector.before = vector.reads = None
            elif type(vector) is Constituent:
                vector.children, vector.configuration = (), None


def _below(stacks: Sequence[StackCell]) -> Iterator[Vector]:
    """Yield the cells of stacks from the top down, each once, and the constituents in them."""
    visited: set[StackCell] = set()
    for cell in stacks:
        while isinstance(cell, StackCell) and cell not in visited:
            visited.add(cell)
            yield cell
            if cell.reads.level:
                yield cell.reads
            cell = cell.below
