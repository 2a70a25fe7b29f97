"""Pairwise comparisons of systems with the same seed: whether and where they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from oracle.lazy import nltk
from oracle.treebank import format_tree
from rnng_dy.evaluation import comparison, significance
from rnng_dy.reproduce.plan import Experiment
from rnng_dy.reproduce.systems import System
from rnng_dy.reproduce.trial import Trial

DIFFERENT = 5
"""Number of sentences whose trees are shown."""


def pairs(e: Experiment) -> Iterator[tuple[System, System]]:
    """Return the pairs of systems to compare."""
    if e.compare == "pairs":
        return combinations(e.systems, 2)
    first, *others = e.systems
    return ((first, other) for other in others)


def compare_all(
    golds: Sequence[nltk.Tree], e: Experiment, trials: Mapping[tuple[System, int], Trial]
) -> list[dict]:
    """Return the comparison of each pair per seed; `p_holm` is p corrected for all pairs of a seed and measure."""
    compared = [
        _compare(golds, trials[first, seed], trials[second, seed])
        for first, second in pairs(e)
        for seed in e.seeds
    ]
    families: dict[tuple[int, str], list[dict]] = defaultdict(list)
    for pair in compared:
        families[pair["seed"], "perplexity"].append(pair["perplexity"])
        for kind in pair.keys() & {"discriminative", "generative"}:
            families[pair["seed"], kind].append(pair[kind]["f1"])
    for family in families.values():
        for found, p in zip(family, significance.holm([d["p"] for d in family]), strict=True):
            found["p_holm"] = p
    return compared


def _compare(golds: Sequence[nltk.Tree], first: Trial, second: Trial) -> dict:
    """Return the differences of one seed, second system minus first."""
    names = first.system.name, second.system.name
    marginals = [trial.log_marginals for trial in (first, second)]
    found: dict[str, object] = {
        "seed": first.seed,
        "names": list(names),
        "perplexity": vars(significance.perplexity_difference(*marginals, first.lengths)),
    }
    have_one_parser = first.system.proposal == second.system.proposal
    for kind in ("generative",) if have_one_parser else ("discriminative", "generative"):
        trees = [trial.trees[kind] for trial in (first, second)]
        scores = [trial.scores[kind] for trial in (first, second)]
        common = comparison.on_common_sentences(golds, trees, scores)
        found[kind] = {
            "f1": vars(significance.f1_difference(*common.scores)),
            "by_length": _rows(comparison.by_length(common.golds, common.trees)),
            "by_label": _rows(comparison.by_label(common.golds, common.trees)),
            "most_different": [
                {
                    "sentence": common.indices[i] + 1,
                    "gold": format_tree(common.golds[i]),
                    **{
                        name: format_tree(of_system[i])
                        for name, of_system in zip(names, common.trees, strict=True)
                    },
                }
                for i in comparison.most_different(common.scores, DIFFERENT)
            ],
        }
    return found


def _rows(rows: Sequence[comparison.Row]) -> list[dict]:
    return [
        {"kind": row.kind, "gold": first.gold, "first": first.f1, "second": second.f1}
        for row in rows
        for first, second in [row.systems]
    ]
