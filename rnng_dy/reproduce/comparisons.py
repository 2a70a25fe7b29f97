"""Pairwise comparisons of systems with the same seeds: whether and where they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from oracle.brackets import format_tree
from oracle.lazy import nltk
from rnng_dy.evaluation import comparison, evalb, significance
from rnng_dy.reproduce.plan import Experiment
from rnng_dy.reproduce.systems import System
from rnng_dy.reproduce.trial import Trial

DIFFERENT = 5
"""Number of sentences whose trees are shown."""
POOLED = "all"
"""Stands for the seed in a comparison that pools all seeds."""


def pairs(e: Experiment) -> Iterator[tuple[System, System]]:
    """Return the pairs of systems to compare."""
    if e.compare == "pairs":
        return combinations(e.systems, 2)
    first, *others = e.systems
    return ((first, other) for other in others)


def compare_all(
    golds: Sequence[nltk.Tree], e: Experiment, trials: Mapping[tuple[System, int], Trial]
) -> list[dict]:
    """Return the comparison of each pair per seed and, of several seeds, with the seeds pooled.

    `p_holm` is p corrected for all pairs of a seed and measure.
    """
    compared = []
    for pair in pairs(e):
        by_system = [[trials[system, seed] for seed in e.seeds] for system in pair]
        for first, second in zip(*by_system, strict=True):
            compared.append(_compare(golds, [first], [second]))
        if len(e.seeds) > 1:
            compared.append(_compare(golds, *by_system))
    families: dict[tuple[object, str], list[dict]] = defaultdict(list)
    for pair in compared:
        families[pair["seed"], "perplexity"].append(pair["perplexity"])
        for kind in pair.keys() & {"discriminative", "generative"}:
            families[pair["seed"], kind].append(pair[kind]["f1"])
    for family in families.values():
        for found, p in zip(family, significance.holm([d["p"] for d in family]), strict=True):
            found["p_holm"] = p
    return compared


def _compare(golds: Sequence[nltk.Tree], first: Sequence[Trial], second: Sequence[Trial]) -> dict:
    """Return the differences, second system minus first, of one seed, or over the sums of several seeds."""
    seeds = len(first)
    names = first[0].system.name, second[0].system.name
    marginals = [
        [sum(of_seeds) for of_seeds in zip(*(t.log_marginals for t in of), strict=True)]
        for of in (first, second)
    ]
    lengths = [seeds * length for length in first[0].lengths]
    found: dict[str, object] = {
        "seed": first[0].seed if seeds == 1 else POOLED,
        "names": list(names),
        "perplexity": vars(significance.perplexity_difference(*marginals, lengths)),
    }
    have_one_parser = first[0].system.proposal == second[0].system.proposal
    for kind in ("generative",) if have_one_parser else ("discriminative", "generative"):
        trees = [trial.trees[kind] for trial in (*first, *second)]
        scores = [trial.scores[kind] for trial in (*first, *second)]
        common = comparison.on_common_sentences(golds, trees, scores)
        sums = (evalb.summed(of) for of in (common.scores[:seeds], common.scores[seeds:]))
        found[kind] = {"f1": vars(significance.f1_difference(*sums))}
        if seeds == 1:
            found[kind] |= _details(names, common)
    return found


def _details(names: Sequence[str], common: comparison.CommonSentences) -> dict:
    """Return where two systems differ: by length and label of constituents, and in which sentences."""
    return {
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


def _rows(rows: Sequence[comparison.Row]) -> list[dict]:
    return [
        {"kind": row.kind, "gold": first.gold, "first": first.f1, "second": second.f1}
        for row in rows
        for first, second in [row.systems]
    ]
