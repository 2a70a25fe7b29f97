"""Likelihood and perplexity over sentences."""

import math

import pytest

from rnng_dy.evaluation.perplexity import likelihood


def test_perplexity_is_a_word():
    found = likelihood([-3 * math.log(7), -1 * math.log(7)], [3, 1])
    assert (round(found.perplexity, 9), found.words, found.sentences) == (7, 4, 2)
    assert found.llh == pytest.approx(-4 * math.log(7))


def test_sentences_without_probability_do_not_count():
    with_them = likelihood([-6.0, -math.inf, math.nan], [3, 100, 100])
    assert with_them == likelihood([-6.0], [3])


def test_there_is_no_perplexity_of_nothing():
    found = likelihood([-math.inf], [4])
    assert math.isnan(found.perplexity)
    assert found[2:] == (0, 0)
