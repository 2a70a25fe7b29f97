"""The transition system: which actions are valid after which (Dyer et al. 2016, sections 3.1, 3.2 and 4.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

REDUCE, SHIFT, FIRST_NT = 0, 1, 2
"""Action ids: REDUCE, SHIFT (GEN in the generator), then one NT action for each nonterminal."""

MAX_OPEN = 100
"""NT is valid while at most this many nonterminals are open, so 101 can be (the paper writes n < 100)."""

INVALID = np.float32(-1e30)
"""Added to the logit of an invalid action: exp gives exactly 0, and no NaN as -inf can."""


class State(NamedTuple):
    """What decides the valid actions: open nonterminals n, words left on the buffer, the last action.

    `words_left` is None in the generator, which has no buffer.
    """

    words_left: int | None
    open: int = 0
    started: bool = False
    after_nt: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether one complete tree stands on the stack; it then covers all words."""
        return self.started and self.open == 0

    def after(self, action: int) -> State:
        """The state that a valid action leads to."""
        if action == REDUCE:
            return State(self.words_left, self.open - 1, True, False)
        if action == SHIFT:
            left = None if self.words_left is None else self.words_left - 1
            return State(left, self.open, True, False)
        return State(self.words_left, self.open + 1, True, True)


class TransitionSystem:
    """The valid actions A_D of the parser and A_G of the generator, as one of eight masks a state."""

    def __init__(self, nonterminals: int, max_open: int = MAX_OPEN):
        self.actions = FIRST_NT + nonterminals
        self.max_open = max_open
        flags = (np.arange(8)[:, None] >> np.minimum(np.arange(self.actions), FIRST_NT)) & 1
        self.masks = flags.astype(bool)
        """Shape (8, actions): the actions that mask number i allows; bits of i are REDUCE, SHIFT, NT."""
        self.penalties = np.where(self.masks, np.float32(0), INVALID)
        """Shape (8, actions), float32: what to add to the logits."""

    def mask_number(self, state: State) -> int:
        """The row of `masks` that holds in a state."""
        words = state.words_left
        if words is None:
            nt = (state.open > 0 or not state.started) and state.open <= self.max_open
            shift = state.open > 0
            reduce = state.open > 0 and not state.after_nt
        else:
            nt = words > 0 and state.open <= self.max_open
            shift = words > 0 and state.open > 0
            # the root may be closed only when every word is in the tree
            reduce = state.open > 0 and not state.after_nt and not (state.open == 1 and words > 0)
        return reduce | shift << 1 | nt << 2

    def is_valid(self, state: State, action: int) -> bool:
        """Whether the action may be taken in the state."""
        return bool(self.masks[self.mask_number(state), action])
