"""The parser state u of equation 3, or what an ablation leaves of it (Kuncoro et al. 2017, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import ClassVar

from oracle.registries import Registry
from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

STACK, HISTORY, WORDS = PARTS = ("stack", "action", "context")
"""What u reads: the LSTMs over the stack, the actions, and the buffer (parser) or the words so far (generator)."""


class ParserState:
    """u = relu(bias + S stack + A history + W words), or some of it.

    The parameters of parts that are left out exist and decay, as in the original.
    """

    name: ClassVar[str] = "full"
    """In config.json and on the command line."""
    other_name: ClassVar[str] = ""
    """What the other kind of model calls such a state, where that is not `name`."""
    parts: ClassVar[tuple[str, ...]] = PARTS
    """What u reads; nothing else is computed for it."""

    def __init__(self, store: ParameterStore, hidden: int):
        """u has `hidden` values, and so has the output of each part's LSTM."""
        self._bias = store.vector("hidden_bias", hidden)
        self._weights = {part: store.matrix(f"hidden_{part}", hidden, hidden) for part in PARTS}

    def __call__(self, summaries: Mapping[str, dy.Expression]) -> dy.Expression:
        """u, shape (hidden,), from the output of each part's LSTM; batched as they are."""
        terms = chain(*((self._weights[part], summaries[part]) for part in self.parts))
        return dy.rectify(dy.affine_transform([self._bias, *terms]))


class StackAlone(ParserState):
    """The stack, and nothing else."""

    name = "stack"
    parts = (STACK,)


class NoStack(ParserState):
    """All but the stack."""

    name = "no-stack"
    parts = (HISTORY, WORDS)


class NoHistory(ParserState):
    """All but the actions so far."""

    name = "no-history"
    parts = (STACK, WORDS)


class NoBuffer(ParserState):
    """All of a parser's but its buffer."""

    name = "no-buffer"
    other_name = "no-terms"
    parts = (STACK, HISTORY)


class NoTerms(ParserState):
    """All of a generative model's but the words so far."""

    name = "no-terms"
    other_name = "no-buffer"
    parts = (STACK, HISTORY)


_OF_BOTH = ParserState, StackAlone, NoStack, NoHistory
States = Registry[type[ParserState]]
PARSER_STATES: States = Registry("parser state", ParserState, *_OF_BOTH, NoBuffer)
GENERATOR_STATES: States = Registry("parser state", ParserState, *_OF_BOTH, NoTerms)
DEFAULT = PARSER_STATES.default
