"""What models generate is drawn as often as they say: frequencies of sentences against their probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest

from oracle.errors import RnngError
from oracle.treebank import words
from rnng_dy.baselines.lstm_lm import LanguageModelExample, LanguageModelSizes, LstmLanguageModel
from rnng_dy.search.generation import MAX_THROWN_AWAY, until_drawn
from rnng_dy.search.scoring import joint_log_probs

from ..models.test_distributions import WORDS, all_trees, make_tiny_generator, make_tiny_parser


def assert_drawn_as_often(drawn: Mapping[tuple, int], probs: Mapping[tuple, float]) -> None:
    """Chi-square of counts against some of the probabilities; all that is rare or has none given is one class."""
    n = sum(drawn.values())
    expected = {one: n * p for one, p in probs.items() if n * p >= 5}
    pairs = [(drawn[one], e) for one, e in expected.items()]
    pairs.append((n - sum(o for o, _ in pairs), n - sum(e for _, e in pairs)))
    statistic = sum((o - e) ** 2 / e for o, e in pairs)
    freedom = len(expected)
    assert freedom > 10
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize(
    ("composition", "n"), [("gated-attention", 3000), ("corrected/in-order", 2000)]
)
def test_a_generator_draws_each_tree_as_often_as_its_probability_says(composition, n):
    model = make_tiny_generator(composition, max_open=1)
    system, probs = model.transitions, {}
    for length in (1, 2):
        trees = all_trees(make_tiny_parser(composition, 1).transitions, length)
        for sentence in product(WORDS, repeat=length):
            log_p = joint_log_probs(model, model.vocabulary.word_ids(sentence), trees)
            probs.update(zip(((sentence, tree) for tree in trees), np.exp(log_p), strict=True))
    drawn = Counter(
        (tuple(words(tree)), tuple(system.encode(system.actions_of(tree))))
        for tree, _ in model.generate(n, seed=1)
    )
    assert_drawn_as_often(drawn, probs)


def test_a_language_model_draws_each_sentence_as_often_as_its_probability_says():
    vocabulary = make_tiny_generator("corrected", 1).vocabulary
    model = LstmLanguageModel(vocabulary, LanguageModelSizes(1, 4, 5), seed=1)
    sentences = [words for length in (1, 2, 3) for words in product(WORDS, repeat=length)]
    ids = [tuple(vocabulary.word_ids(words)) for words in [(), *sentences]]
    log_probs = model.log_probs([LanguageModelExample(words) for words in ids])
    empty, *probs = np.exp(log_probs.sum(axis=1))
    drawn = Counter(map(tuple, model.generate(2000, seed=1)))
    # an empty sentence is drawn anew
    assert_drawn_as_often(drawn, dict(zip(sentences, probs / (1 - empty), strict=True)))


def test_a_model_is_given_up_after_so_many_sentences_in_a_row_that_are_too_long():
    thrown_away = []

    def too_long(randoms):
        thrown_away.extend(randoms)
        return [None] * len(randoms)

    with pytest.raises(RnngError, match="no sentence of at most 9 words"):
        list(until_drawn(4, 1, 9, too_long))
    assert len(thrown_away) == MAX_THROWN_AWAY


def test_a_sentence_that_fits_begins_the_count_anew():
    rounds, half = [], MAX_THROWN_AWAY // 2

    def hardly_ever(randoms):
        rounds.append(len(randoms))
        fits = len(rounds) % half == 0
        return [len(rounds) if fits else None, *[None] * (len(randoms) - 1)]

    assert list(until_drawn(2, 1, 9, hardly_ever)) == [half, 2 * half]
