"""The parser state u of equation 3, or what an ablation leaves of it (Kuncoro et al. 2017, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from oracle.errors import named
from rnng_dy.engine import dy
from rnng_dy.models.lstm import Lstm
from rnng_dy.parameters import ParameterStore
from rnng_dy.rows import Block, Row, gather, rows_of_block

STACK, HISTORY, WORDS = PARTS = ("stack", "action", "context")
"""What the stack LSTM, the action LSTM and that of the buffer (parser) or the terms (generator) say, in this order."""


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

    The parameters of what is left out are there, as in the original, and decay.
    """

    def __init__(
        self, store: ParameterStore, hidden: int, name: str, states: Mapping[str, Sequence[str]]
    ):
        """Raises RnngError for a name that is none of the `states`."""
        self._parts = named("parser state", name, states)
        self.name = name
        self._bias = store.vector("hidden_bias", hidden)
        self._weights = {part: store.matrix(f"hidden_{part}", hidden, hidden) for part in PARTS}

    def reads(self, part: str) -> bool:
        """Whether u is made of a part; what nothing else needs is not computed."""
        return part in self._parts

    def first(self, part: str, lstm: Lstm, x: dy.Expression, dropout: float = 0.0) -> Row | None:
        """The state of a part's LSTM after its first input; None where it is left out."""
        if not self.reads(part):
            return None
        return Row(Block(lstm.step(lstm.start(), x, dropout)), 0)

    def after(
        self, part: str, lstm: Lstm, rows: Sequence[Row], x: dy.Expression, dropout: float = 0.0
    ) -> Sequence[Row | None]:
        """The states of a part's LSTM after one more input each; None where it is left out."""
        if not self.reads(part):
            return [None] * len(rows)
        return rows_of_block(lstm.step(gather(rows), x, dropout), len(rows))

    def __call__(
        self, lstms: Mapping[str, tuple[Lstm, Sequence[Row]]], dropout: float = 0.0
    ) -> dy.Expression:
        """u of some configurations, shape (hidden,), from each part's LSTM and its state in each of them."""
        read = [lstms[part] for part in self._parts]
        summaries = [lstm.outputs(rows) for lstm, rows in read]
        if dropout:
            summaries = [dy.dropout(summary, dropout) for summary in summaries]
        products = zip(map(self._weights.get, self._parts), summaries, strict=True)
        return dy.rectify(dy.affine_transform([self._bias, *chain(*products)]))
