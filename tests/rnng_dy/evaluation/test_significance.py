"""The permutation test, the bootstrap and means against what is known of simple cases."""

import itertools
import math

import numpy as np
import pytest

from rnng_dy.evaluation import significance
from rnng_dy.evaluation.evalb import Scores, SentenceScore, Status
from rnng_dy.evaluation.significance import (
    f1_difference,
    f1_of,
    holm,
    mean_interval,
    permutation_p,
    sign_flip_p,
)


def scores(matched):
    return Scores(tuple(SentenceScore(0, 20, int(m), 10, 10) for m in matched))


def test_equal_systems_do_not_differ():
    same = scores([9, 7, 10, 3] * 20)
    d = f1_difference(same, same)
    assert (d.value, d.low, d.high) == (0, 0, 0) and math.isnan(d.p)


def test_sentences_count_that_both_systems_have_scored():
    whole = scores([9, 7, 10, 3] * 5)
    error = SentenceScore(1, 20, 0, 0, 0, Status.ERROR)
    first, last = (list(whole.per_sentence) for _ in range(2))
    first[0] = last[-1] = error
    d = f1_difference(*(Scores(tuple(of)) for of in (first, last)))
    assert (d.value, d.low, d.high) == (0, 0, 0)


def test_a_clear_difference_is_clear_and_its_sign_right():
    random = np.random.default_rng(1)
    worse, better = random.integers(5, 9, 200), random.integers(6, 11, 200)
    d = f1_difference(scores(worse), scores(better))
    assert d.value == pytest.approx(10 * (better.mean() - worse.mean()))
    assert 0 < d.low < d.value < d.high
    assert d.p < 0.001
    assert f1_difference(scores(better), scores(worse)).value == pytest.approx(-d.value)
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
    assert (first, third) == (0.04, 0.5) and math.isnan(second)


def test_perplexity_differences_leave_out_impossible_sentences():
    first, second = [-10.0, -20.0, -math.inf] * 30, [-12.0, -20.0, -5.0] * 30
    d = significance.perplexity_difference(first, second, [5, 10, 4] * 30)
    assert d.value == pytest.approx(math.exp(32 / 15) - math.exp(30 / 15))
    assert d.low > 0
    assert d.p < 0.01


def test_nothing_to_compare_is_not_a_number():
    d = significance.perplexity_difference([-math.inf], [-1.0], [4])
    assert all(math.isnan(x) for x in (d.value, d.low, d.high, d.p))


def test_the_p_of_sign_flips_is_that_of_all_choices():
    # of 64 choices, those with all signs alike are as far from 0 as the sum of all
    assert sign_flip_p([1, 2, 4, 8, 16, 32]) == 2 / 64
    # 32 less the others is the least sum
    assert sign_flip_p([32, -1, -2, -4, -8, -16]) == 1
    # the sum of all is 63, the next one 61
    assert sign_flip_p([-1, 2, 4, 8, 16, 32]) == 4 / 64
    # sums that differ by rounding alone are equal: 0.1 + 0.2 is not 0.3
    tenths = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -0.7]
    assert sign_flip_p(tenths) == sign_flip_p([10 * x for x in (1, 2, 3, 4, 5, 6, -7)]) < 1


def test_the_p_of_f1_is_that_of_all_swaps_within_sentences():
    random = np.random.default_rng(3)
    first, second = (random.integers((3, 9, 7), (8, 12, 13), (7, 3)) for _ in range(2))
    gaps = []
    for swaps in itertools.product([False, True], repeat=7):
        chosen = np.array(swaps)[:, None]
        sums = (np.where(chosen, *of).sum(axis=0) for of in ((first, second), (second, first)))
        one, two = (200 * matched / (gold + system) for matched, gold, system in sums)
        gaps.append(abs(one - two))
    assert 0.1 < permutation_p(first, second, f1_of) < 0.9
    assert permutation_p(first, second, f1_of) == np.mean(np.array(gaps) >= gaps[0] - 1e-9)


@pytest.mark.parametrize("differing", [0, 1, 5])
def test_fewer_than_six_units_that_differ_have_no_p(differing):
    equal = [0.0] * 40
    assert math.isnan(sign_flip_p(equal + [1.0] * differing))
    assert sign_flip_p(equal + [1.0] * 6) == 2 / 64
    few = f1_difference(scores([3] * 5), scores([5] * 5))
    assert few.value == 20 and all(map(math.isnan, (few.low, few.high, few.p)))
    assert math.isnan(sign_flip_p([math.nan] * 20))


@pytest.mark.slow
@pytest.mark.parametrize("sentences", [6, 7, 8, 9, 10, 12, 14, 20, 40, 100])
def test_of_equal_systems_one_in_twenty_is_significant(sentences):
    """2,000 pairs of systems with equal chances of a bracket, and of equal losses without ties."""
    random = np.random.default_rng(sentences)
    shares = np.zeros(2)
    for _ in range(2000):
        matched = random.binomial(20, random.random(sentences), (2, sentences))
        first, second = (
            np.stack([m, m * 0 + 20, random.integers(18, 23, sentences)], 1) for m in matched
        )
        losses = random.gamma(1, 1, sentences) * random.normal(size=sentences)
        by_f1 = permutation_p(first, second, f1_of, permutations=2000)
        ps = by_f1, sign_flip_p(losses, permutations=2000)
        shares += np.array(ps) <= 0.05
    shares /= 2000
    print(f"{sentences} sentences: {shares[0]:.1%} by F1, {shares[1]:.1%} by loss")
    assert max(shares) <= 0.07
    assert min(shares) >= 0.03 * (sentences >= 10)


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
    _, deviation = significance.mean_and_deviation(values)
    half = t * deviation / math.sqrt(items)
    assert (mean - low, high - mean) == pytest.approx((half, half), rel=1e-4)


def test_one_value_has_no_interval():
    assert mean_interval([2.0])[0] == 2 and all(map(math.isnan, mean_interval([2.0])[1:]))
    assert all(map(math.isnan, mean_interval([])))
