"""Two systems with the same seed side by side: are they different, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from oracle.lazy import nltk
from oracle.treebank import format_tree
from rnng_dy.evaluation import comparison, significance
from rnng_dy.reproduce.plan import Experiment
from rnng_dy.reproduce.systems import System
from rnng_dy.reproduce.trial import Trial

DIFFERENT = 5
"""Sentences whose trees are shown."""


def pairs(e: Experiment) -> Iterator[tuple[System, System]]:
    """The systems that are compared with each other."""
    if e.compare == "pairs":
        return combinations(e.systems, 2)
    first, *others = e.systems
    return ((first, other) for other in others)


def compare(golds: Sequence[nltk.Tree], first: Trial, second: Trial) -> dict:
    """Of one seed, the second system less the first."""
    names = first.system.name, second.system.name
    marginals = [trial.log_marginals for trial in (first, second)]
    found: dict[str, object] = {
        "seed": first.seed,
        "names": list(names),
        "perplexity": vars(significance.perplexity_difference(*marginals, first.lengths)),
    }
    have_one_parser = first.system.proposal == second.system.proposal
    for kind in ("generative",) if have_one_parser else ("discriminative", "generative"):
        scores = first.scores[kind], second.scores[kind]
        trees = [trial.trees[kind] for trial in (first, second)]
        found[kind] = {
            "f1": vars(significance.f1_difference(*scores)),
            "by_length": _rows(comparison.by_length(golds, *trees)),
            "by_label": _rows(comparison.by_label(golds, *trees)),
            "most_different": [
                {
                    "sentence": i + 1,
                    "gold": format_tree(golds[i]),
                    **{
                        n: format_tree(of_system[i])
                        for n, of_system in zip(names, trees, strict=True)
                    },
                }
                for i in comparison.most_different(*scores, DIFFERENT)
            ],
        }
    return found


def _rows(rows: Sequence[comparison.Row]) -> list[dict]:
    return [
        {"kind": row.kind, "gold": row.first.gold, "first": row.first.f1, "second": row.second.f1}
        for row in rows
    ]
