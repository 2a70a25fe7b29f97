"""Top-down transition system (Dyer et al. 2016, section 3): NT(X) opens a constituent before its first child.

The parser's SHIFT and the generator's GEN(word) are both written SHIFT, as in the original's files.
"""

from __future__ import annotations

from typing import NamedTuple

from oracle.transitions.base import REDUCE, SHIFT, TransitionSystem


class TopDownState(NamedTuple):
    """Words left on the buffer (None in the generator, which has no buffer), open nonterminals n, the last action."""

    words_left: int | None
    open: int = 0
    started: bool = False
    after_nt: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether the stack holds one complete tree, which then covers all words."""
        return self.started and self.open == 0

    def after(self, action: int) -> TopDownState:
        """Return the state that a valid action leads to."""
        if action == REDUCE:
            return TopDownState(self.words_left, self.open - 1, True, False)
        if action == SHIFT:
            left = None if self.words_left is None else self.words_left - 1
            return TopDownState(left, self.open, True, False)
        return TopDownState(self.words_left, self.open + 1, True, True)


class TopDown(TransitionSystem):
    """The transition system of the paper, with the valid actions A_D of the parser and A_G of the generator.

    >>> TopDown(["S", "NP"]).names
    ('REDUCE', 'SHIFT', 'NT(S)', 'NT(NP)')
    >>> from oracle.brackets import parse_line
    >>> TopDown().actions_of(parse_line("(S (NP (DT The) (NN cat)) (VBZ sleeps))"))
    ['NT(S)', 'NT(NP)', 'SHIFT', 'SHIFT', 'REDUCE', 'SHIFT', 'REDUCE']
    """

    name = "top-down"

    def start(self, words: int | None) -> TopDownState:
        """Return the state before the first action."""
        return TopDownState(words)

    def mask_number(self, state: TopDownState) -> int:
        """Return the mask of valid actions; bits: REDUCE, SHIFT, NT (sections 3.1, 3.2, 4.2; the original's limits)."""
        words, opened = state.words_left, state.open
        nt = (opened > 0 or not state.started) and opened <= self.max_open
        shift = opened > 0
        reduce = opened > 0 and not state.after_nt
        if words is not None:
            nt = nt and words > 0
            shift = shift and words > 0
            # the root may be closed only when every word is in the tree
            reduce = reduce and not (opened == 1 and words > 0)
        return reduce | shift << 1 | nt << 2

    def why_not(self, state: TopDownState, action: int | None) -> str:
        """See `TransitionSystem`."""
        if action is None:
            return f"with {state.open} constituents open"
        if state.is_finished:
            return "comes after the tree is complete"
        if action == SHIFT:
            if not state.open:
                return "puts a word outside all constituents"
            return "needs one word more than there are"
        if action == REDUCE:
            if not state.open:
                return "finds no open constituent"
            if state.after_nt:
                return "would close an empty constituent"
            return "would close the tree before its last word"
        if state.words_left == 0:
            return "opens a constituent when no word is left for it"
        return f"opens one constituent more than the {self.max_open + 1} that can be open"
