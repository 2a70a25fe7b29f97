"""The generative model without the parser: its trees and its perplexities as the report has them."""

from __future__ import annotations

import math

import pytest

from oracle.brackets import parse_line
from oracle.errors import InputError
from rnng_dy.evaluation import evalb
from rnng_dy.reproduce.alone import process_seconds, read_trees_alone, several_ways

GOLDS = [
    parse_line("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))"),
    parse_line("(S (NP (PRP it)) (VP (VBZ works)))"),
]


def test_a_sentence_without_a_tree_counts_as_one_without_constituents(tmp_path):
    """Three gold brackets each: of the first all are found, of the second none; EVALB would skip an empty line."""
    (tmp_path / "trees").write_text("(S (NP (XX the) (XX cat)) (VP (XX sleeps)))\n\n")
    trees, missing = read_trees_alone(tmp_path / "trees", GOLDS)
    assert missing == 1
    assert trees[0] == GOLDS[0]
    found = evalb.score(GOLDS, trees)
    assert (found.valid, found.precision, found.recall) == (2, 100, 50)


def test_a_line_too_few_is_an_error(tmp_path):
    (tmp_path / "trees").write_text("(S (XX the) (XX cat) (XX sleeps))\n")
    with pytest.raises(InputError, match="1 lines for 2 sentences"):
        read_trees_alone(tmp_path / "trees", GOLDS)


def test_ways_are_compared_on_sentences_that_all_give_probability(tmp_path):
    """Words 2, 4, 4; the second sentence is left out, since the particles have p = 0."""
    (tmp_path / "a-1.beam.likelihoods").write_text("2\t7\n4\t8\n4\t15\n")
    (tmp_path / "a-1.particles.likelihoods").write_text("2\t6\n4\tinf\n4\t16\n")
    found = several_ways(tmp_path, "a-1", [-6.0, -8.0, -15.5], [2, 4, 4])
    assert (found["sentences"], found["of"], found["words"]) == (2, 3, 6)
    assert found["samples"]["perplexity"] == pytest.approx(math.exp(21.5 / 6))
    assert found["beam"]["perplexity"] == pytest.approx(math.exp(22 / 6))
    assert found["beam"]["a_sentence"] == pytest.approx(0.25)
    assert found["beam"]["above"] == 1
    assert found["particles"]["a_word"] == pytest.approx(0.5 / 6)
    assert found["particles"]["above"] == 0


def test_the_samplers_seconds_are_of_drawing_and_scoring():
    stages = [
        {"name": "sample a-1", "seconds": 2.0, "processes": 2},
        {"name": "score a-1", "seconds": 3.0, "processes": 1},
        {"name": "perplexity a-1 beam", "seconds": 10.0, "processes": 4},
        {"name": "perplexity a-1 particles", "seconds": 10.0, "processes": None},
    ]
    found = process_seconds("a-1", "a-1", stages)
    assert (found["samples"], found["beam"]) == (7.0, 40.0)
    assert math.isnan(found["particles"])
