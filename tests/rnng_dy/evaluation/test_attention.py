"""Measures of attention against what can be counted by hand."""

from __future__ import annotations

import random
from itertools import product

import nltk
import numpy as np
import pytest

from rnng_dy.evaluation.attention import AttentionAnalysis, perplexity
from rnng_dy.evaluation.dependencies import ROOT, chances, constituents_of, governors
from rnng_dy.evaluation.head_rules import collins

TREE = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))")
WEIGHTS = [np.array(w) for w in ([0.9, 0.1], [1.0], [0.5, 0.5], [0.2, 0.5, 0.3])]
"""Of the inner NP, the other one, VP and S."""


def test_constituents_come_as_they_are_completed():
    assert [(c.label, c.children, c.parts) for c in constituents_of(TREE)] == [
        ("NP", ("DT", "NN"), (0, 1)),
        ("NP", ("PRP",), (3,)),
        ("VP", ("VBZ", "NP"), (2, -2)),
        ("S", ("NP", "VP", "."), (-1, -3, 4)),
    ]


def test_words_depend_on_the_head_word_of_their_constituent():
    assert governors(constituents_of(TREE), [1, 0, 0, 1]) == [1, 2, ROOT, 2, 2]
    assert governors(constituents_of(TREE), [0, 0, 1, 2]) == [4, 0, 3, 4, ROOT]


def test_perplexity_is_the_number_of_children_that_share_attention():
    assert perplexity(np.full(5, 0.2)) == pytest.approx(5)
    assert perplexity(np.array([0.5, 0.5, 0.0])) == pytest.approx(2)
    assert perplexity(np.array([1.0])) == 1


def test_chances_are_those_of_all_choices_of_heads_counted_up():
    constituents = constituents_of(TREE)
    expected = governors(constituents, [1, 0, 0, 1])
    every = list(product(*(range(len(c.children)) for c in constituents)))
    right = np.mean(
        [np.array(governors(constituents, heads)) == expected for heads in every], axis=0
    )
    assert chances(constituents, expected) == pytest.approx(right)


def test_analysis_of_a_tree():
    """Rules: cat, it, sees, VP. Attention: the, it, sees (the first of equals), VP."""
    analysis = AttentionAnalysis(collins())
    analysis.add(TREE, WEIGHTS)
    found = analysis.to_json()
    assert (found["trees"], found["unary_constituents"]) == (1, 1)
    assert found["labels"]["NP"]["heads"] == {"attention": 0, "first": 0, "last": 100, "random": 50}
    assert found["labels"]["VP"]["perplexity"] == pytest.approx(2)
    s = found["labels"]["S"]
    assert s["uniform_perplexity"] == 3 and s["heads"]["attention"] == 100
    assert s["perplexity"] == pytest.approx(np.exp(-sum(w * np.log(w) for w in WEIGHTS[3])))
    assert found["all"]["constituents"] == 3
    # the, cat, sees, it, the stop: attention is wrong for the first two, first for all but the verb's
    assert found["attachment"]["with punctuation"]["attention"] == pytest.approx(60)
    assert found["attachment"]["without punctuation"]["words"] == 4
    assert found["attachment"]["without punctuation"]["attention"] == pytest.approx(50)


def test_rules_agree_with_themselves_and_random_heads_with_their_expectation(trees):
    """On real trees: attention on the rules' heads has 100; drawn heads come near the exact expectation."""
    analysis, drawn = AttentionAnalysis(collins()), AttentionAnalysis(collins())
    rng = random.Random(1)
    for located in trees:
        constituents = constituents_of(located.tree)
        heads = [collins().head(c.label, c.children) for c in constituents]
        analysis.add(
            located.tree,
            [np.eye(len(c.children))[h] for c, h in zip(constituents, heads, strict=True)],
        )
        for _ in range(20):
            sizes = [len(c.children) for c in constituents]
            drawn.add(located.tree, [np.eye(n)[rng.randrange(n)] for n in sizes])
    found = analysis.to_json()["attachment"]["with punctuation"]
    assert found["attention"] == 100 > max(found["first"], found["last"])
    of_drawn = drawn.to_json()
    for part in (of_drawn["attachment"]["without punctuation"], of_drawn["all"]["heads"]):
        assert part["attention"] == pytest.approx(part["random"], abs=1.5)
