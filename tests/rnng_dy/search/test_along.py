"""Measures along given trees: against all steps of tiny models, and counts of nodes by hand."""

import math

import numpy as np
import pytest

from oracle.brackets import parse_line
from oracle.transitions import SHIFT
from rnng_dy.search.scoring import TreeSentence, measure_along, node_counts

from ..tiny_models import COMPOSITIONS, make_tiny_generator, next_steps

WORDS = ("a", "b", "c")
TREES = ["(S (t a) (X (t b) (t c)))", "(X (S (t a) (t b)) (t c))"]


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_shares_along_a_tree_are_those_of_its_own_actions_and_words(composition):
    model = make_tiny_generator(composition, max_open=3)
    trees = [parse_line(text) for text in TREES]
    sentences = [TreeSentence(WORDS, None, None, 1, tree=tree) for tree in trees]
    for tree, found in zip(trees, measure_along(model, sentences, end=True), strict=True):
        example, expected, structure = model.example_of(tree), [], 0.0
        for i, action in enumerate(example.actions):
            before = example.actions[:i]
            words = example.words[: before.count(SHIFT)]
            steps = [s for s in next_steps(model, words, before) if s[1] == action]
            log_p = np.logaddexp.reduce([step for *_, step in steps])
            structure -= log_p
            if action == SHIFT:
                word = example.words[len(words)]
                [cluster] = [of for of in model.vocabulary.clusters if word in of]
                of_cluster = np.logaddexp.reduce([p for w, _, p in steps if w in cluster])
                [of_word] = [p for w, _, p in steps if w == word]
                expected.append((structure, log_p - of_cluster, of_cluster - of_word))
                structure = 0.0
        expected.append((structure, 0.0, 0.0))
        shares = [(r.structure, r.cluster, r.word_in_cluster) for r in found.records]
        assert np.array(shares) == pytest.approx(np.array(expected) / math.log(2), abs=1e-5)
        total = sum(record.surprisal for record in found.records) * math.log(2)
        assert -total == pytest.approx(model.log_prob(tree), abs=1e-5)
        assert found.records[-1].beam[0].log_prob == found.log_mass == pytest.approx(-total)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)))", "2012 0112 1212"),
        ("(S (NP (PRP He)) (VP (VBD ran)))", "2122 1212"),
        ("(S (VP (VB Go)))", "2222"),
        ("(NP (NNS dogs))", "1111"),
        (
            "(S (NP (NP (DT the) (NN man)) (PP (IN in) (NP (NN town)))) (VP (VBD left)))",
            "3013 0113 1013 1324 1212",
        ),
        (
            "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))) (. .))",
            "2012 0112 1012 1013 0203 0101",
        ),
        ("(A (t a) (B (t b) (C (t c) (D (t d) (t e)))))", "1011 1012 1013 1014 0404"),
        ("(D (C (B (A (t a) (t b)) (t c)) (t d)) (t e))", "4014 0114 0113 0112 0101"),
        (
            "(S (NP (DT the) (NN rat) (SBAR (S (NP (DT the) (NN cat)) (VP (VBD chased)))))"
            " (VP (VBD died)))",
            "2012 0002 3015 0115 1435 1212",
        ),
        ("(NP (DT the) (JJ big) (JJ red) (NN ball))", "1011 0001 0001 0101"),
    ],
)
def test_nodes_top_down_bottom_up_and_left_corner_and_depth(tree, expected):
    """Counted by hand."""
    counts = node_counts(parse_line(tree))
    assert counts == [tuple(map(int, digits)) for digits in expected.split()]
    by_strategy = [sum(column) for column in zip(*counts, strict=True)][:3]
    assert len(set(by_strategy)) == 1, "each strategy visits each constituent once"
