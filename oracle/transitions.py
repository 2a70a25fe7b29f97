"""Trees as sequences of actions (Dyer et al. 2016, section 3).

The parser's SHIFT and the generator's GEN(word) are both written SHIFT, as in the original's files.
"""

from __future__ import annotations

from collections.abc import Sequence

from nltk import Tree

from oracle.errors import RnngError
from oracle.treebank import has_preterminals, is_preterminal, words

REDUCE = "REDUCE"
SHIFT = "SHIFT"


def nt(label: str) -> str:
    """The action that opens a constituent.

    >>> nt("NP")
    'NT(NP)'
    """
    return f"NT({label})"


def label_of(action: str) -> str | None:
    """The label that an NT action opens, None for another action.

    >>> label_of("NT(NP)"), label_of("SHIFT")
    ('NP', None)
    """
    is_nt = action.startswith("NT(") and action.endswith(")") and len(action) > 4
    return action[3:-1] if is_nt else None


def actions_of(tree: Tree, preterminals: bool | None = None) -> list[str]:
    """The actions that build the tree, top down and from left to right.

    `preterminals` says whether words have POS tags above them; None looks whether every word stands
    alone. A tree without POS tags whose words all stand alone, `(S (NP it) (VP ran))`, needs False.
    Raises RnngError for a tree that is only a preterminal or has a constituent without a label.

    >>> actions_of(Tree.fromstring("(S (NP (DT The) (NN cat)) (VBZ sleeps))"))
    ['NT(S)', 'NT(NP)', 'SHIFT', 'SHIFT', 'REDUCE', 'SHIFT', 'REDUCE']
    """
    if preterminals is None:
        # a lone word under the root is its child, since a root cannot be a POS tag
        preterminals = has_preterminals(tree) and not is_preterminal(tree)
    if preterminals and is_preterminal(tree):
        raise RnngError(f"({tree.label()} {tree[0]}) is only a preterminal: it has no actions")
    actions = []
    stack: list[Tree | str | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            actions.append(REDUCE)
        elif isinstance(node, str) or (preterminals and is_preterminal(node)):
            actions.append(SHIFT)
        else:
            if not node.label():
                raise RnngError("a constituent without a label: `rnng-dy prepare` takes it out")
            actions.append(nt(node.label()))
            stack.append(None)
            stack.extend(reversed(node))
    return actions


def tree_of(
    actions: Sequence[str], words: Sequence[str], tags: Sequence[str] | None = None
) -> Tree:
    """The tree that the actions build; with tags every word gets its preterminal.

    Raises RnngError, saying which action, where they build no tree over exactly these words.

    >>> print(tree_of(["NT(S)", "SHIFT", "REDUCE"], ["Go"], ["VB"]))
    (S (VB Go))
    """
    check_actions(actions, len(words))
    if tags is not None and len(tags) != len(words):
        raise RnngError(f"{len(tags)} POS tags for {len(words)} words")
    leaves = iter(words) if tags is None else map(_preterminal, tags, words)
    stack: list[Tree] = [Tree("", [])]
    for action in actions:
        if action == SHIFT:
            stack[-1].append(next(leaves))
        elif action == REDUCE:
            stack.pop()
        else:
            constituent = Tree(action[3:-1], [])
            stack[-1].append(constituent)
            stack.append(constituent)
    return stack[0][0]


def check_actions(actions: Sequence[str], length: int) -> None:
    """Raise RnngError unless the actions build one tree over `length` words."""
    depth = shifted = 0
    previous = None
    for number, action in enumerate(actions, 1):
        problem = None
        if depth == 0 and number > 1:
            problem = "comes after the tree is complete"
        elif action == SHIFT:
            shifted += 1
            if depth == 0:
                problem = "puts a word outside all constituents"
            elif shifted > length:
                problem = f"needs one word more than the {length} there are"
        elif action == REDUCE:
            depth -= 1
            if depth < 0:
                problem = "finds no open constituent"
            elif label_of(previous) is not None:
                problem = "would close an empty constituent"
        elif label_of(action) is not None:
            depth += 1
        else:
            problem = "is none of NT(X), SHIFT and REDUCE"
        if problem:
            raise RnngError(f"action {number}, {action!r}, {problem}")
        previous = action
    if depth or not actions:
        raise RnngError(
            f"the actions end with {depth} constituents open" if depth else "no actions"
        )
    if shifted != length:
        raise RnngError(f"{shifted} SHIFT actions for {length} words")


def strip_preterminals(tree: Tree) -> Tree:
    """The tree with its words directly under constituents.

    >>> print(strip_preterminals(Tree.fromstring("(S (NP (DT The) (NN cat)) (VBZ sleeps))")))
    (S (NP The cat) sleeps)
    """
    return tree_of(actions_of(tree, preterminals=True), words(tree))


def _preterminal(tag: str, word: str) -> Tree:
    return Tree(tag, [word])
