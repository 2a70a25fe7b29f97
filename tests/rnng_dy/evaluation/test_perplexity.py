"""Likelihood and perplexity over sentences."""

import math

import pytest

from oracle.sentences import SourceSentence
from rnng_dy.evaluation.perplexity import likelihood, rates, report, written


def test_perplexity_is_nats_per_word():
    found = likelihood([-3 * math.log(7), -1 * math.log(7)], [3, 1])
    assert (round(found.perplexity, 9), found.words, found.sentences) == (7, 4, 2)
    assert found.llh == pytest.approx(-4 * math.log(7))


def test_sentences_without_probability_do_not_count():
    assert likelihood([-6.0, -math.inf, math.nan], [3, 100, 100]) == likelihood([-6.0], [3])


def test_there_is_no_perplexity_of_nothing():
    assert likelihood([-math.inf], [4]) == pytest.approx((0, math.nan, 0, 0), nan_ok=True)


def test_characters_are_those_of_running_text():
    sentences = [("-LCB-", "a", "-RSB-"), ("1\\/2", "-LRB-")]
    found = rates([-1.0, -1.0], [written(SourceSentence(s, None, None, 1)) for s in sentences])
    assert (found["characters"], found["bytes"]) == (7, 7)


def test_two_estimates_are_compared_on_the_sentences_with_probability_by_both():
    """Sentences of 2, 3 and 5 words: two bounds below the estimate, one above; two have p = 0."""
    sentences = [["a"] * n for n in (2, 3, 5, 1, 4)]
    own, other = [-7.0, -9.0, -20.0, -math.inf, -5.0], [-6.0, -9.5, -18.0, -4.0, -math.inf]
    _, figures = report(own, sentences, others=other)
    found = figures["against"]
    assert (found["first"]["llh"], found["second"]["llh"]) == (-36.0, -33.5)
    assert found["nats_per_sentence"] == pytest.approx(2.5 / 3)
    assert found["difference"]["value"] == pytest.approx(math.exp(3.6) - math.exp(3.35))
    _, figures = report(own[3:4], sentences[3:4], others=other[3:4])
    assert math.isnan(figures["against"]["nats_per_sentence"])
