"""Comparisons of a report, from trees and log marginals that stand for those of models."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
from nltk import Tree

from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.significance import f1_difference, holm, perplexity_difference
from rnng_dy.reproduce.comparisons import compare_all
from rnng_dy.reproduce.plan import Experiment
from rnng_dy.reproduce.systems import System

GOLD = Tree.fromstring("(S (NP (D the) (N cat)) (VP (V sees) (NP (D a) (N dog))))")
POOR = Tree.fromstring("(S (NP (D the)) (VP (N cat) (V sees) (NP (D a) (N dog))))")
SYSTEMS = System("buggy"), System("corrected"), System("corrected", "stack")
SENTENCES = 30


def trial(system, seed, wrong):
    trees = [POOR] * wrong + [GOLD] * (SENTENCES - wrong)
    scores = evalb.score([GOLD] * SENTENCES, trees)
    return SimpleNamespace(
        system=system,
        seed=seed,
        log_marginals=[-10.0 - (i < wrong) for i in range(SENTENCES)],
        lengths=[5] * SENTENCES,
        trees={"discriminative": trees, "generative": trees},
        scores={"discriminative": scores, "generative": scores},
    )


@pytest.mark.parametrize(("way", "pairs"), [("pairs", 3), ("first", 2)])
def test_p_is_corrected_for_the_pairs_of_a_seed_and_a_measure(way, pairs):
    e = Experiment("trees", seeds=(1, 2), systems=SYSTEMS, compare=way)
    trials = {
        (system, seed): trial(system, seed, wrong + seed)
        for system, wrong in zip(SYSTEMS, (0, 2, 9), strict=True)
        for seed in e.seeds
    }
    found = compare_all([GOLD] * SENTENCES, e, trials)
    pooled = [pair for pair in found if pair["seed"] == "all"]
    assert len(found) == 2 * pairs + len(pooled) and len(pooled) == pairs
    for seed in e.seeds:
        of_seed = [pair for pair in found if pair["seed"] == seed]
        for kind in ("discriminative", "generative"):
            # corrected and corrected/stack have one parser
            rows = [pair[kind]["f1"] for pair in of_seed if kind in pair]
            assert len(rows) == (2 if kind == "discriminative" else pairs)
            assert [row["p_holm"] for row in rows] == holm([row["p"] for row in rows])
        rows = [pair["perplexity"] for pair in of_seed]
        assert [row["p_holm"] for row in rows] == holm([row["p"] for row in rows])
        assert any(row["p_holm"] > row["p"] for row in rows)
    first, second = (trials[system, 1] for system in SYSTEMS[:2])
    expected = f1_difference(*(t.scores["generative"] for t in (first, second)))
    assert found[0]["generative"]["f1"]["value"] == expected.value
    marginals = [t.log_marginals for t in (first, second)]
    assert found[0]["perplexity"]["p"] == perplexity_difference(*marginals, first.lengths).p
    # with seed 1 the first system has one wrong tree, the second three
    assert [s["sentence"] for s in found[0]["generative"]["most_different"]] == [2, 3]


def test_seeds_are_pooled_by_sentence():
    e = Experiment("trees", seeds=(1, 2), systems=SYSTEMS[:2])
    wrong = {(SYSTEMS[0], 1): 2, (SYSTEMS[0], 2): 4, (SYSTEMS[1], 1): 5, (SYSTEMS[1], 2): 9}
    trials = {key: trial(*key, number) for key, number in wrong.items()}
    *of_seeds, pooled = compare_all([GOLD] * SENTENCES, e, trials)
    assert [of["seed"] for of in (*of_seeds, pooled)] == [1, 2, "all"]
    for kind in ("discriminative", "generative"):
        mean = sum(of[kind]["f1"]["value"] for of in of_seeds) / 2
        # all trees have as many brackets
        assert pooled[kind]["f1"]["value"] == pytest.approx(mean)
        assert pooled[kind].keys() == {"f1"}
    # of log p -10, or -11 if wrong, in 30 sentences of 5 words
    means = [2 + (a + b) / 300 for a, b in ((2, 4), (5, 9))]
    assert pooled["perplexity"]["value"] == pytest.approx(math.exp(means[1]) - math.exp(means[0]))


def test_seeds_that_agree_are_no_more_evidence_than_one():
    e = Experiment("trees", seeds=(1, 2), systems=SYSTEMS[:2])
    trials = {
        (system, s): trial(system, s, 2 + 3 * i)
        for i, system in enumerate(SYSTEMS[:2])
        for s in (1, 2)
    }
    first, _, pooled = compare_all([GOLD] * SENTENCES, e, trials)
    for name in ("value", "low", "high", "p"):
        assert pooled["generative"]["f1"][name] == first["generative"]["f1"][name]
        assert pooled["perplexity"][name] == pytest.approx(first["perplexity"][name])


def test_one_seed_is_not_pooled():
    e = Experiment("trees", seeds=(3,), systems=SYSTEMS[:2])
    trials = {(system, 3): trial(system, 3, 2 + i) for i, system in enumerate(SYSTEMS[:2])}
    assert [pair["seed"] for pair in compare_all([GOLD] * SENTENCES, e, trials)] == [3]
