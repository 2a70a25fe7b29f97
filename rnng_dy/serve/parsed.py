"""Trees of one or two models: as pictures of the page, and as files."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from oracle.brackets import format_tree, parse_line
from oracle.lazy import nltk
from rnng_dy.drawing.latex import forest, qtree
from rnng_dy.drawing.sections import attended, section
from rnng_dy.drawing.surprisal_page import percent
from rnng_dy.drawing.svg_file import svg_file
from rnng_dy.drawing.trees import Weights, draw_tree
from rnng_dy.evaluation.marking import mark
from rnng_dy.search.posterior import Posterior
from rnng_dy.serve.answers import TreesOf
from rnng_dy.serve.requests import ServedModel
from rnng_dy.serve.view import Answered, texts

STYLES = {"svg": "SVG", "tex": "LaTeX", "txt": "brackets", "json": "JSON"}
"""Formats of files, by the ending of their names."""


def shown_sentences(
    found: Sequence[Answered], models: Mapping[str, ServedModel]
) -> list[dict[str, Any]]:
    """Return the values of the page's template per sentence: its words with tags, and pictures of trees."""
    # models may split a text differently
    count = max(len(answers) for _, answers in found)
    return [_sentence(found, i, models) for i in range(count)]


def _sentence(
    found: Sequence[Answered], number: int, models: Mapping[str, ServedModel]
) -> dict[str, Any]:
    of_models = [(w.model, answers[number]) for w, answers in found if number < len(answers)]
    first: TreesOf = of_models[0][1]
    firsts = [parse_line(trees.trees[0].tree) if trees.trees else None for _, trees in of_models]
    pictures = []
    for (name, trees), tree, other in zip(of_models, firsts, reversed(firsts), strict=True):
        marked = frozenset()
        if len(of_models) > 1 and tree is not None and other is not None:
            marked = mark(other, tree).wrong
        named = f"{name}, " if len(of_models) > 1 else ""
        pictures += _pictures(named, trees, marked, models[name].kind.generates_words)
    return {
        "tokens": first.tokens,
        "tagged": list(zip(first.tokens, first.tags or (), strict=False)),
        "pictures": pictures,
        "problem": first.problem,
    }


def _pictures(
    named: str, found: TreesOf, marked: frozenset[int], is_joint: bool
) -> Iterator[dict[str, Any]]:
    """Yield the pictures of a model's trees, the marked first one first; then the tree of highest expected F1."""
    for rank, each in enumerate(found.trees, 1):
        said = f"{named}{rank}: log probability {each.log_prob:.2f}"
        if not is_joint:
            said += f", {percent(math.exp(min(0.0, each.log_prob)))}"
        tree, weights = parse_line(each.tree), None
        if found.weights is not None:
            weights = attended(rank, tree, found.weights[rank - 1]).pictures[0].weights
        yield _picture(said, tree, found.posterior, marked if rank == 1 else (), weights)
    if found.posterior is not None:
        yield _picture(f"{named}{texts()['mbr']}", found.posterior.decode(), found.posterior, ())


def _picture(
    said: str,
    tree: nltk.Tree,
    posterior: Posterior | None,
    marked: Collection[int],
    weights: Weights | None = None,
) -> dict[str, Any]:
    # comes with Jinja2
    from markupsafe import Markup

    posteriors = None if posterior is None else posterior.of_constituents(tree)
    svg = draw_tree(tree, marked, texts()["not_in_other"], weights, posteriors)
    return {"caption": said, "svg": Markup(svg), "tree": tree, "brackets": format_tree(tree)}


def written(style: str, found: Sequence[Answered]) -> tuple[str, str]:
    """Return the media type and the text of a file with all trees."""
    of_sentences = [(w.model, trees) for w, answers in found for trees in answers]
    if style == "svg":
        sections = [
            section(number, trees.trees) for number, (_, trees) in enumerate(of_sentences, 1)
        ]
        return "image/svg+xml", "".join(svg_file(sections))
    trees = [tree.tree for _, of in of_sentences for tree in of.trees]
    if style == "tex":
        drawn = (f"{forest(tree)}\n% {qtree(tree)}" for tree in map(parse_line, trees))
        return "text/plain", "\n\n".join([*drawn, ""])
    return "text/plain", "".join(f"{tree}\n" for tree in trees)
