"""Trees as LaTeX, for the packages forest and tikz-qtree."""

from __future__ import annotations

from oracle.lazy import nltk

_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def forest(tree: nltk.Tree) -> str:
    r"""Return a tree as an environment of the package forest.

    >>> print(forest(nltk.Tree("S", [nltk.Tree("NP", ["it"]), nltk.Tree("VP", ["costs", "$"])])))
    \begin{forest}
    [{S} [{NP} [{it}]] [{VP} [{costs}] [{\$}]]]
    \end{forest}
    """
    return f"\\begin{{forest}}\n{_nested(tree, '[', ']')}\n\\end{{forest}}"


def qtree(tree: nltk.Tree) -> str:
    r"""Return a tree as a command of the package tikz-qtree.

    >>> print(qtree(nltk.Tree("S", [nltk.Tree("NP", ["it"]), nltk.Tree("VP", ["works"])])))
    \Tree [.{S} [.{NP} {it} ] [.{VP} {works} ] ]
    """
    return f"\\Tree {_nested(tree, '[.', ' ]', ('', ''))}"


def _nested(tree: nltk.Tree, before: str, after: str, of_word: tuple[str, str] = ("[", "]")) -> str:
    parts: list[str] = []
    agenda: list[nltk.Tree | str | None] = [tree]
    while agenda:
        node = agenda.pop()
        if node is None:
            parts.append(after)
        elif isinstance(node, str):
            parts.append(f" {of_word[0]}{{{node.translate(_SPECIAL)}}}{of_word[1]}")
        else:
            parts.append(f" {before}{{{node.label().translate(_SPECIAL)}}}")
            agenda += [None, *reversed(node)]
    return "".join(parts)[1:]
