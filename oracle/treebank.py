"""Operations on trees of treebanks: words, tags, copies, and the cleaning before training."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence, Sized

from oracle.common.errors import RnngError
from oracle.common.lazy import nltk

NO_TAG = "XX"
"""The tag of trees without tags, as the original prints it."""

LONGEST = 10_000
"""Words of the longest sentence that is read; parsing one takes seconds and a gigabyte."""

ROOT = "S"
"""The label of the root of a tree that keeps some labels alone."""

WRAPPERS = frozenset(["", "TOP", "ROOT", "VROOT", "S1"])
"""The labels of roots that treebanks and parsers put around trees."""

_TRACE = "-NONE-"
_BASE_LABEL = re.compile(r"[^-=]+|.*")
"""NP of NP-SBJ-1 and NP=2; -LRB- as it is."""
# markup of the Penn Parsed Corpora of Historical English, and of IcePaHC with a lemma after each
# word
_BESIDE_THE_TEXT = frozenset(["ID", "CODE", "METADATA", "-DFL-"])
_NUMERALS = ("NUM", "CD")
_MARKUP = re.compile(
    r"\*(?:T|ICH|EXP|RNR|PPA|PRO|OP|pro|con|exp|arb)\*(?:-\d+)?|<[A-Z]+_\S*>|\{[A-Z]+:\S*\}|"
    r"Speaker[A-Z]\d+|[EN]_S|\\[\[\]+]"
)
"""What corpora write where a word is meant: bare traces, pages, comments."""
_POSITION = re.compile(r"([0-9]{1,9})(=.+)?")
_BINARISED = re.compile(r"@[A-Za-z]|.+\|<")
"""The label of a node that binarisation by NLTK or by the parsers of Stanford and Berkeley adds."""


def is_preterminal(tree: nltk.Tree | str) -> bool:
    """Return whether it is a POS tag over one word."""
    return isinstance(tree, nltk.Tree) and len(tree) == 1 and isinstance(tree[0], str)


def subtrees(tree: nltk.Tree) -> Iterator[nltk.Tree | str]:
    """Yield the tree, its subtrees and its words, top down and from left to right, at any depth."""
    stack: list[nltk.Tree | str] = [tree]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, str):
            stack.extend(reversed(node))


def words(tree: nltk.Tree) -> list[str]:
    """Return the words, from left to right."""
    return [node for node in subtrees(tree) if isinstance(node, str)]


def has_preterminals(tree: nltk.Tree) -> bool:
    """Return whether every word is an only child.

    That also holds for a tree without POS tags if all its words happen to be only children.
    """
    return all(
        isinstance(node, str) or len(node) == 1 or not any(isinstance(child, str) for child in node)
        for node in subtrees(tree)
    )


def has_tags(tree: nltk.Tree) -> bool:
    """Return whether words count as tagged: each is an only child, but not of the root."""
    return has_preterminals(tree) and not is_preterminal(tree)


def tags(tree: nltk.Tree) -> list[str]:
    """Return the POS tags, from left to right. Raises RnngError for a tree without preterminals."""
    if not has_preterminals(tree):
        raise RnngError("a tree without POS tags: give each word its preterminal, (TAG word)")
    return [node.label() for node in subtrees(tree) if is_preterminal(node)]


def copied(
    tree: nltk.Tree,
    word_of: Callable[[str], object] = str,
    label_of: Callable[[str], str] = str,
    is_left_out: Callable[[nltk.Tree], bool] = lambda node: False,
    is_spliced: Callable[[nltk.Tree], bool] = lambda node: False,
) -> nltk.Tree:
    """Return a deep copy of the tree, at any depth, with other leaves and labels.

    Below the root, it lacks nodes that are left out, and constituents without words. The children
    of a copied node that is spliced go up to its parent.
    """
    root = nltk.Tree(label_of(tree.label()), [])
    frames = [(root, iter(tree))]
    while frames:
        node, children = frames[-1]
        child = next(children, None)
        if isinstance(child, str):
            node.append(word_of(child))
        elif child is None:
            frames.pop()
            if frames and len(node):
                frames[-1][0].extend(node if is_spliced(node) else [node])
        elif not is_left_out(child):
            frames.append((nltk.Tree(label_of(child.label()), []), iter(child)))
    return root


def with_words(tree: nltk.Tree, words: Sequence[str], tags: Sequence[str]) -> nltk.Tree:
    """Return a copy of a tree without preterminals over other, tagged words.

    Raises ValueError if the numbers differ.

    >>> from oracle.brackets import parse_line
    >>> tree = parse_line("(S (NP UNK UNK) sleeps)")
    >>> print(with_words(tree, ["The", "cat", "sleeps"], ["DT", "NN", "VB"]))
    (S (NP (DT The) (NN cat)) (VB sleeps))
    """
    leaves = [nltk.Tree(tag, [word]) for word, tag in zip(words, tags, strict=True)]
    if len(leaves) != sum(isinstance(node, str) for node in subtrees(tree)):
        raise ValueError(f"{len(leaves)} words for a tree over another number of words")
    remaining = iter(leaves)
    return copied(tree, word_of=lambda _: next(remaining))


def with_tags(tree: nltk.Tree, new_tags: Sequence[str]) -> nltk.Tree:
    """Return a copy of the tree with other tags.

    Raises ValueError if there are not as many tags as words.
    """
    copy = copied(tree)
    preterminals = [node for node in subtrees(copy) if is_preterminal(node)]
    for node, tag in zip(preterminals, new_tags, strict=True):
        node.set_label(tag)
    return copy


def require_length(words: Sized) -> None:
    """Raise RnngError for more words than a sentence has."""
    if len(words) > LONGEST:
        raise RnngError(f"a sentence of {len(words)} words: divide it, {LONGEST} are the most")


def require_words(tree: nltk.Tree) -> None:
    """Raise RnngError for a tree that is too long, discontinuous (0=Das) or binarised."""
    leaves = words(tree)
    require_length(leaves)
    positions = [*map(_POSITION.fullmatch, leaves)] if leaves[0][0].isdigit() else [None]
    numbers = sorted(int(position[1]) for position in positions if position)
    are_positions = len(leaves) > 1 and numbers == [*range(len(leaves))]
    if all(position and position[2] for position in positions) or are_positions:
        tools = "discodop treetransforms, treetools"
        raise RnngError(f"discontinuous trees: make them continuous first ({tools})")
    for node in subtrees(tree):
        if isinstance(node, nltk.Tree) and _BINARISED.match(node.label()):
            how = "undo that first (nltk: un_chomsky_normal_form)"
            raise RnngError(f"{node.label()!r} is a node of a binarised tree: {how}")


def is_trace(tree: nltk.Tree) -> bool:
    """Return whether it is an empty element of the PTB."""
    return tree.label() == _TRACE


def untraced(tree: nltk.Tree) -> nltk.Tree:
    """Return the tree itself. Raises RnngError if it has an empty element or markup."""
    if any(not isinstance(node, str) and is_trace(node) for node in subtrees(tree)):
        how = "`rnng-dy prepare --from trees` takes traces out"
        raise RnngError(f"a trace (-NONE-), which is no word: {how}")
    return _without_markup(tree)


def _without_markup(tree: nltk.Tree) -> nltk.Tree:
    """Return the tree itself. Raises RnngError for markup of a corpus in place of a word."""
    ids = [child for child in tree if is_preterminal(child) and child.label() == "ID"]
    if markup := next(filter(_MARKUP.fullmatch, words(tree)), None) or (ids and ids[0][0]):
        raise RnngError(f"{markup!r} is no word: `rnng-dy prepare --strip-ids` leaves it out")
    return tree


def clean(
    tree: nltk.Tree,
    is_left_out: Callable[[nltk.Tree], bool] = is_trace,
    word_of: Callable[[str], str] = str,
    marks: str = "",
    labels: Container[str] | None = None,
) -> nltk.Tree | None:
    """Return the tree without function tags, indices, traces and outer wrapper.

    A root over several children is renamed TOP if it has no label, or that of a wrapper. Returns
    None if nothing is left. For other treebanks, `is_left_out` selects the nodes to drop, `word_of`
    turns a leaf into its word, and a label ends before any of the characters `marks`, unless it
    begins with it. With `labels`, the tree keeps the constituents of these alone (`keep_labels`).

    >>> from oracle.brackets import parse_line
    >>> print(clean(parse_line("( (S (NP-SBJ-1 (-NONE- *)) (VP (VB go))) )")))
    (S (VP (VB go)))
    """
    if is_left_out(tree):
        return None
    ends = re.compile(f"(?<=.)[{re.escape(marks)}]" if marks else "(?!)")

    def base_label(label: str) -> str:
        return _BASE_LABEL.match(ends.split(label)[0])[0]

    root = copied(tree, word_of, base_label, is_left_out)
    while root.label() in WRAPPERS and len(root) == 1 and isinstance(root[0], nltk.Tree):
        root = root[0]
    if root.label() in WRAPPERS:
        root.set_label("TOP")
    if is_left_out is is_trace and len(root):
        _without_markup(root)
    if not len(root):
        return None
    return keep_labels(root, labels) if labels else root


def labels_of(tree: nltk.Tree) -> set[str]:
    """Return the labels of the constituents, which are not POS tags."""
    return {n.label() for n in subtrees(tree) if not (isinstance(n, str) or is_preterminal(n))}


def keep_labels(tree: nltk.Tree, labels: Container[str]) -> nltk.Tree:
    """Return the tree with the constituents of some labels alone, below a root S.

    The children of the other constituents go up to their parent. A lone preterminal stays as it is.

    >>> from oracle.brackets import parse_line
    >>> print(keep_labels(parse_line("(NP (NP (DT a)) (VP (VB go) (NP (NN x))))"), ["NP"]))
    (S (NP (NP (DT a)) (VB go) (NP (NN x))))
    """
    if is_preterminal(tree):
        return tree
    root = copied(tree, is_spliced=lambda n: not is_preterminal(n) and n.label() not in labels)
    return nltk.Tree(ROOT, [root] if root.label() in labels and root.label() != ROOT else [*root])


def is_no_text(tree: nltk.Tree) -> bool:
    """Return whether a node holds none of the text's words.

    Such nodes are (ID ...), (CODE ...), (METADATA ...), comments such as {COM:torn}, traces and
    other empty elements. Empty elements are words that begin with *, and 0 unless it is a numeral.
    """
    label = tree.label()
    if label in _BESIDE_THE_TEXT or is_trace(tree):
        return True
    if not is_preterminal(tree):
        return False
    word = tree[0]
    if word == "0":
        return not label.startswith(_NUMERALS)
    return word.startswith("*") or (word.startswith("{") and word.endswith("}"))


def without_lemma(token: str) -> str:
    """Return the word of word-lemma: all before the last hyphen, or a half of equal ones.

    >>> [without_lemma(token) for token in ("hestinum-hestur", ",-,", "---", "á-fram-á-fram", "og")]
    ['hestinum', ',', '-', 'á-fram', 'og']
    """
    half = len(token) // 2
    if half and token == f"{token[:half]}-{token[:half]}":
        return token[:half]
    word, _, lemma = token.rpartition("-")
    return word if word and lemma else token
