"""Presets: settings by the number of training sentences."""

import itertools

import pytest

from rnng_dy.training.presets import NAMES, PRESETS, settings_for, sizes_for

KINDS = ("discriminative", "generative", "lstm-lm")
COUNTS = [1, 2, 20, 500, 1500, 3396, 10205, 39832, 2_000_000]


@pytest.mark.parametrize("kind", KINDS)
def test_the_papers_settings_are_those_of_any_treebank(kind):
    assert {settings_for("paper", kind, n) for n in COUNTS} == {PRESETS["paper", kind]}
    assert {len(sizes_for("paper", kind, n)) for n in COUNTS} == {0}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("preset", ["fast", "quick"])
def test_more_sentences_mean_larger_batches_and_no_more_epochs(preset, kind):
    for small, large in itertools.pairwise([settings_for(preset, kind, n) for n in COUNTS]):
        assert small.batch_size <= large.batch_size
        assert small.epochs >= large.epochs
        assert small.evaluate_every <= large.evaluate_every


def test_a_quick_generative_model_is_small_where_the_papers_would_take_too_long():
    small = {"lstm_input": 128, "hidden": 128}
    found = [sizes_for("quick", "generative", n) for n in (500, 1799, 1800, 10205)]
    assert found == [{}, {}, small, small]


def test_quick_training_ends_after_some_thousand_sentences_or_an_epoch():
    for kind, epochs in (("discriminative", [12, 4, 1, 1]), ("generative", [5, 4, 1, 1])):
        assert [settings_for("quick", kind, n).epochs for n in (500, 3396, 10205, 39832)] == epochs


def test_minibatches_of_large_treebanks_are_those_that_experiments_chose():
    """docs/performance.md."""
    chosen = {"paper": [1, 1, 1], "fast": [32, 16, 16], "quick": [16, 16, 16]}
    assert chosen == {
        preset: [settings_for(preset, kind, 40_000).batch_size for kind in KINDS]
        for preset in NAMES
    }
