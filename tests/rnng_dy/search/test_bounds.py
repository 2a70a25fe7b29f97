"""What a beam finds of a probability is never more than the sum over all trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.search.surprisal import SearchOptions, measure

from ..models.test_distributions import (
    COMPOSITIONS,
    WORDS,
    all_trees,
    make_tiny_generator,
    make_tiny_parser,
)

SIZES = [(2, 1, 1), (6, 2, 3), (30, 4, 20), (3000, 1, 3000)]


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_beams_bound_the_exact_marginal_and_reach_it(composition):
    model = make_tiny_generator(composition, max_open=1)
    trees = all_trees(make_tiny_parser(composition, 1).transitions, 3)
    sentences = list(product(WORDS, repeat=3))[::5]
    exact = []
    for words in sentences:
        joint = joint_log_probs(model, model.vocabulary.word_ids(words), trees)
        exact.append(np.logaddexp.reduce(joint))
    below = []
    for size in SIZES:
        found = {
            sum_all: [
                m.log_mass
                for m in measure(model, sentences, SearchOptions("beam", *size, sum_all), end=True)
            ]
            for sum_all in (False, True)
        }
        # all that reaches the end is at least what is kept of it
        assert all(a >= b - 1e-5 for a, b in zip(found[True], found[False], strict=True))
        assert all(a <= b + 1e-4 for a, b in zip(found[True], exact, strict=True))
        below.append(np.mean(np.subtract(exact, found[False])))
    assert below == sorted(below, reverse=True)
    assert below[0] > 0.5
    assert found[False] == pytest.approx(exact, abs=1e-4)
