"""The parser state u of equation 3, and its ablations (Kuncoro et al. 2017, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import ClassVar

from oracle.registries import Registry
from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

STACK, HISTORY, WORDS = PARTS = ("stack", "action", "context")
"""The parts of u: the LSTMs over the stack, the actions, and the buffer (parser) or the words so far (generator)."""


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
        terms = chain(*((self._weights[part], summaries[part]) for part in self.parts))
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

    It is a language model of linearised trees, as in Choe and Charniak (2016), with the actions of an RNNG.
    """

    name = "history"
    parts = (HISTORY,)
    words_in_history = True


class HistoryAndBuffer(History):
    """A parser's ActionLSTM, which reads the buffer, too: without it, no word is seen before its SHIFT."""

    parts = (HISTORY, WORDS)


_OF_BOTH = ParserState, StackAlone, NoStack, NoHistory
States = Registry[type[ParserState]]
PARSER_STATES: States = Registry("parser state", ParserState, *_OF_BOTH, NoBuffer, HistoryAndBuffer)
GENERATOR_STATES: States = Registry("parser state", ParserState, *_OF_BOTH, NoTerms, History)
DEFAULT = PARSER_STATES.default
