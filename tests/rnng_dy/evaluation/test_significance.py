"""Bootstrap and growth with samples against what is known of simple cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rnng_dy.evaluation.evalb import Scores, SentenceScore
from rnng_dy.evaluation.significance import (
    f1_difference,
    holm,
    mean_and_deviation,
    mean_interval,
    perplexity_difference,
    sign_flip_p,
)


def scores(matched):
    return Scores(tuple(SentenceScore(0, 20, int(m), 10, 10) for m in matched))


def test_equal_systems_do_not_differ():
    same = scores([9, 7, 10, 3] * 20)
    d = f1_difference(same, same)
    assert (d.value, d.low, d.high, d.p) == (0, 0, 0, 1)


def test_a_clear_difference_is_clear_and_its_sign_right():
    random = np.random.default_rng(1)
    worse, better = random.integers(5, 9, 200), random.integers(6, 11, 200)
    d = f1_difference(scores(worse), scores(better))
    assert d.value == pytest.approx(10 * (better.mean() - worse.mean()))
    assert 0 < d.low < d.value < d.high
    assert d.p < 0.001
    back = f1_difference(scores(better), scores(worse))
    assert back.value == pytest.approx(-d.value)
    # the interval of a mean difference, which F1 is here
    spread = 10 * (better - worse).std() / math.sqrt(200)
    assert d.high - d.low == pytest.approx(2 * 1.96 * spread, rel=0.1)


def test_holms_correction_is_stepwise_monotone_and_at_most_one():
    # by hand: 4 of 0.005, 3 of 0.01, 2 of 0.03, and 0.04 is not below its predecessor
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.2, 0.2, 0.9]) == pytest.approx([0.6, 0.6, 0.9])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([0.03]) == [0.03]
    assert holm([]) == []
    first, second, third = holm([0.02, math.nan, 0.5])
    assert (first, third) == (0.04, 0.5)
    assert math.isnan(second)


def test_perplexity_differences_leave_out_impossible_sentences():
    first, second = [-10.0, -20.0, -math.inf] * 30, [-12.0, -20.0, -5.0] * 30
    lengths = [5, 10, 4] * 30
    d = perplexity_difference(first, second, lengths)
    assert d.value == pytest.approx(math.exp(32 / 15) - math.exp(30 / 15))
    assert d.low > 0
    assert d.p < 0.01


def test_nothing_to_compare_is_not_a_number():
    d = perplexity_difference([-math.inf], [-1.0], [4])
    assert all(math.isnan(x) for x in (d.value, d.low, d.high, d.p))


def test_the_p_of_sign_flips_is_that_of_all_choices():
    # of 8 choices, those with all signs alike are as far from 0 as 1 + 2 + 4
    assert sign_flip_p(np.array([1.0, 2.0, 4.0])) == 2 / 8
    # 4 - 1 - 2 = 1 is the least sum
    assert sign_flip_p(np.array([4.0, -1.0, -2.0])) == 1
    # -1 + 2 + 4 = 5 and 1 + 2 + 4 = 7
    assert sign_flip_p(np.array([-1.0, 2.0, 4.0])) == 4 / 8
    assert sign_flip_p(np.zeros(3)) == 1


def test_drawn_sign_flips_are_near_all_choices_and_repeat():
    differences = np.random.default_rng(4).normal(0.5, 1, 12)
    exact = sign_flip_p(differences, permutations=2**12)
    drawn = sign_flip_p(differences, permutations=4000)
    assert 0.01 < exact < 0.3
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact / 4000))
    assert drawn != exact and drawn == sign_flip_p(differences, permutations=4000)
    assert drawn != sign_flip_p(differences, permutations=4000, seed=2)
    # the observed choice is one of those that count
    assert sign_flip_p(np.ones(100), permutations=999) == 1 / 1000


@pytest.mark.parametrize(("items", "t"), [(2, 12.7062), (3, 4.3027), (12, 2.2010), (1001, 1.9623)])
def test_intervals_of_means_have_the_quantiles_of_tables(items, t):
    values = [float(i % 2) for i in range(items)]
    mean, low, high = mean_interval(values)
    _, deviation = mean_and_deviation(values)
    half = t * deviation / math.sqrt(items)
    assert (mean - low, high - mean) == pytest.approx((half, half), rel=1e-4)


def test_one_value_has_no_interval():
    assert mean_interval([2.0])[0] == 2 and all(map(math.isnan, mean_interval([2.0])[1:]))
    assert all(map(math.isnan, mean_interval([])))
