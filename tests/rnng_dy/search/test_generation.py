"""What models generate is drawn as often as they say, in bounded memory."""

import select
import subprocess
from collections import Counter
from collections.abc import Mapping
from itertools import islice, product

import numpy as np
import pytest

from oracle.common.errors import RnngError
from oracle.treebank import words
from rnng_dy.engine import dy
from rnng_dy.generator import GenerativeModel
from rnng_dy.search import sampling
from rnng_dy.search.sampling import MAX_THROWN_AWAY, until_drawn
from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.search.surprisal import SearchOptions
from tests.commands import COMMAND, started
from tests.conftest import DATA

from ..tiny_models import WORDS, all_trees, make_tiny_generator, make_tiny_parser


def assert_drawn_as_often(drawn: Mapping[tuple, int], probs: Mapping[tuple, float]) -> None:
    """Chi-square of counts against probabilities; rare outcomes are one class with the rest."""
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


def test_a_sentence_may_have_as_many_words_as_the_limit_says():
    model = make_tiny_generator("corrected", max_open=1)
    assert {len(words(tree)) for tree, _ in model.generate(200, seed=1, max_length=2)} == {1, 2}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda model: model.generate(-3), "n: -3 is no whole number from 1 on"),
        (lambda model: model.generate(1, -1), "seed: -1 is no whole number from 0 on"),
        (lambda model: model.next_words(["a"], -2), "k: -2 is no whole number from 1 on"),
        (lambda model: model.surprisals(["a"], SearchOptions("particles", seed=None)), "seed: N"),
        (lambda model: model.surprisals(["a"], SearchOptions("particles", runs=0)), "runs: 0 is"),
    ],
)
def test_impossible_numbers_are_errors_of_ours(call, says):
    with pytest.raises(RnngError, match=f"^{says}"):
        call(make_tiny_generator("corrected", max_open=1))


def test_a_model_is_given_up_after_so_many_sentences_in_a_row_that_are_too_long(monkeypatch):
    thrown_away = []

    def too_long(model, randoms, max_length):
        thrown_away.extend(randoms)
        return [None] * len(randoms)

    monkeypatch.setattr(sampling, "_generate", too_long)
    with pytest.raises(RnngError, match="no sentence of at most 9 words"):
        list(until_drawn(None, 4, 1, 9))
    assert len(thrown_away) == MAX_THROWN_AWAY


def with_graphs(monkeypatch, owner, name, size_of):
    """How much each graph has been asked for by calls of a method, by the graphs' versions."""
    sizes, method = Counter(), getattr(owner, name)

    def counted(*args, **kwargs):
        sizes[dy.cg_version()] += size_of(*args)
        return method(*args, **kwargs)

    monkeypatch.setattr(owner, name, counted)
    return sizes


def test_a_graph_has_a_bounded_number_of_configurations(monkeypatch):
    model = GenerativeModel.load(DATA / "models-0.1.0" / "generator")
    sizes = with_graphs(monkeypatch, model.network, "step", len)
    expected = model.generate(12, seed=4)
    # one is enough for so few
    assert len(sizes) == 1
    sizes.clear()
    monkeypatch.setattr(sampling, "SEARCHED_STATES", 30)
    assert model.generate(12, seed=4) == expected
    assert max(sizes.values()) <= 30 < sum(sizes.values())


def test_long_sentences_are_drawn_a_few_at_a_time_and_any_number_of_them(monkeypatch):
    asked = []

    def draw_batch(model, randoms, max_length):
        asked.append(len(randoms))
        return [random.random() for random in randoms]

    monkeypatch.setattr(sampling, "_generate", draw_batch)
    short = list(until_drawn(None, 250, 1, 200))
    assert asked == [100, 100, 50]
    for max_length, together in (10_000, 2), (10**9, 1):
        asked.clear()
        assert list(islice(until_drawn(None, 10**15, 1, max_length), 250)) == short
        assert set(asked) == {together}


def test_the_command_prints_sentences_before_all_are_drawn():
    model = DATA / "models-0.1.0" / "generator"
    command = [*COMMAND, "generate", "-n", 10**9, "--model", model]
    with started(*command, stdout=subprocess.PIPE) as process:
        assert select.select([process.stdout], [], [], 120)[0]
        assert process.stdout.readline().endswith(b"\n")
