"""Marginal likelihood, MAP tree and perplexity from samples."""

import math

import pytest

from rnng_dy.search.importance import estimate


def test_marginal_is_the_mean_weight_with_repeats_counted():
    log_q = [math.log(x) for x in (0.5, 0.5, 0.25)]
    log_p = [math.log(x) for x in (0.1, 0.1, 0.2)]
    expected = math.log((0.1 / 0.5 + 0.1 / 0.5 + 0.2 / 0.25) / 3)
    assert estimate(log_q, log_p).log_marginal == pytest.approx(expected)


def test_no_underflow_far_below_zero():
    assert estimate([-10.0] * 2, [-5000.0] * 2).log_marginal == pytest.approx(-4990.0)


def test_map_tree_is_the_first_of_equals():
    assert estimate([-1.0] * 3, [-5.0, -2.0, -2.0]).best == 1


def test_equal_weights_make_every_sample_effective():
    e = estimate([-1.0] * 4, [-3.0] * 4)
    assert (e.effective_sample_size, e.standard_error) == pytest.approx((4, 0))


def test_one_dominant_weight_leaves_one_effective_sample():
    e = estimate([-1.0] * 4, [-3.0, -500.0, -500.0, -500.0])
    # the standard deviation of weights 1, 0, 0, 0 over their mean, divided by the root of 4
    assert (e.effective_sample_size, e.standard_error) == pytest.approx((1, math.sqrt(3) / 2))


def test_trees_without_probability():
    e = estimate([-1.0, -2.0], [-math.inf, -math.inf])
    assert (e.log_marginal, e.effective_sample_size, e.best) == (-math.inf, 0, 0)
    assert estimate([-2.0, -1.0], [-math.inf, -math.inf]).best == 1
    mixed = estimate([-1.0, -1.0], [-math.inf, -2.0])
    assert (mixed.log_marginal, mixed.best) == pytest.approx((-1 + math.log(0.5), 1))


def test_a_sample_has_a_probability_by_its_proposal():
    with pytest.raises(ValueError, match="q = 0"):
        estimate([-math.inf, -2.0], [-1.0, -2.0])


@pytest.mark.parametrize(("log_q", "log_p"), [([], []), ([-1.0], [-1.0, -2.0])])
def test_samples_and_likelihoods_must_match(log_q, log_p):
    with pytest.raises(ValueError, match="proposal"):
        estimate(log_q, log_p)
