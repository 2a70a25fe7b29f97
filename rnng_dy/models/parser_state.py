"""The parser state u of equation 3, or what an ablation leaves of it (Kuncoro et al. 2017, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from oracle.errors import named
from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore

STACK, HISTORY, WORDS = PARTS = ("stack", "action", "context")
"""What u reads: the LSTMs over the stack, the actions, and the buffer (parser) or the words so far (generator)."""


def _states(without_words: str) -> dict[str, tuple[str, ...]]:
    return {
        "full": PARTS,
        "stack": (STACK,),
        "no-stack": (HISTORY, WORDS),
        "no-history": (STACK, WORDS),
        without_words: (STACK, HISTORY),
    }


PARSER_STATES, GENERATOR_STATES = _states("no-buffer"), _states("no-terms")
"""The parts of each state by its name, the default first."""
DEFAULT = next(iter(PARSER_STATES))


class ParserState:
    """u = relu(bias + S stack + A history + W words), or some of it.

    The parameters of parts that are left out exist and decay, as in the original.
    """

    def __init__(
        self, store: ParameterStore, hidden: int, name: str, states: Mapping[str, Sequence[str]]
    ):
        """Raises RnngError for a name that is none of the `states`."""
        self.parts = named("parser state", name, states)
        """What u reads; nothing else is computed for it."""
        self.name = name
        self._bias = store.vector("hidden_bias", hidden)
        self._weights = {part: store.matrix(f"hidden_{part}", hidden, hidden) for part in PARTS}

    def __call__(self, summaries: Mapping[str, dy.Expression]) -> dy.Expression:
        """u, shape (hidden,), from the output of each part's LSTM; batched as they are."""
        terms = chain(*((self._weights[part], summaries[part]) for part in self.parts))
        return dy.rectify(dy.affine_transform([self._bias, *terms]))
