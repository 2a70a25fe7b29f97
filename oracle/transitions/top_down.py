"""Trees from the top down (Dyer et al. 2016, section 3): NT(X) opens a constituent before its first child.

The parser's SHIFT and the generator's GEN(word) are both written SHIFT, as in the original's files.
"""

from __future__ import annotations

from typing import NamedTuple

from oracle.errors import RnngError
from oracle.lazy import nltk
from oracle.transitions.base import REDUCE, SHIFT, Item, TransitionSystem
from oracle.treebank import has_preterminals, is_preterminal


class TopDownState(NamedTuple):
    """Open nonterminals n, words left on the buffer (None in the generator, which has no buffer), the last action."""

    words_left: int | None
    open: int = 0
    started: bool = False
    after_nt: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether one complete tree stands on the stack; it then covers all words."""
        return self.started and self.open == 0

    def after(self, action: int) -> TopDownState:
        """The state that a valid action leads to."""
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
    """

    name = "top-down"

    def actions_of(self, tree: nltk.Tree, preterminals: bool | None = None) -> list[str]:
        """The actions that build the tree, top down and from left to right.

        `preterminals` says whether words have POS tags above them; None looks whether every word stands
        alone. A tree without POS tags whose words all stand alone, `(S (NP it) (VP ran))`, needs False.
        Raises RnngError for a tree that is only a preterminal or has a constituent without a label.

        >>> TopDown().actions_of(nltk.Tree.fromstring("(S (NP (DT The) (NN cat)) (VBZ sleeps))"))
        ['NT(S)', 'NT(NP)', 'SHIFT', 'SHIFT', 'REDUCE', 'SHIFT', 'REDUCE']
        """
        if not isinstance(tree, nltk.Tree) or not len(tree):
            raise RnngError(f"{tree!r:.60} is no tree over words")
        if preterminals is None:
            # a lone word under the root is its child, since a root cannot be a POS tag
            preterminals = has_preterminals(tree) and not is_preterminal(tree)
        if preterminals and is_preterminal(tree):
            raise RnngError(f"({tree.label()} {tree[0]}) is only a preterminal: it has no actions")
        actions = []
        stack: list[nltk.Tree | str | None] = [tree]
        while stack:
            node = stack.pop()
            if node is None:
                actions.append("REDUCE")
            elif isinstance(node, str) or (preterminals and is_preterminal(node)):
                actions.append("SHIFT")
            else:
                if not node.label():
                    raise RnngError("a constituent without a label: `rnng-dy prepare` takes it out")
                actions.append(self.open_action(node.label()))
                stack.append(None)
                stack.extend(reversed(node))
        return actions

    def start(self, words: int | None) -> TopDownState:
        """The state before the first action."""
        return TopDownState(words)

    def mask_number(self, state: TopDownState) -> int:
        """Bits: REDUCE, SHIFT, NT (sections 3.1, 3.2 and 4.2, with the limits of the original program)."""
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
        """What is wrong with an action that is not valid, to follow its name; None for ending here."""
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

    def constituent(self, stack: Item) -> tuple[Item, list[Item], Item | None]:
        """All that stands above the topmost open nonterminal."""
        children = []
        while stack.label is None:
            children.append(stack)
            stack = stack.below
        children.reverse()
        return stack, children, stack.below
