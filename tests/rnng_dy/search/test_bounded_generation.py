"""Sentences are drawn in bounded memory, whatever their number and length, and the bounds change none of them."""

from __future__ import annotations

import select
import subprocess
from collections import Counter
from itertools import islice

import pytest

from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel
from rnng_dy.engine import dy
from rnng_dy.generator import GenerativeModel
from rnng_dy.search import generation
from tests.commands import COMMAND, started
from tests.conftest import DATA


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
    monkeypatch.setattr(generation, "MAX_STATES", 30)
    assert model.generate(12, seed=4) == expected
    assert max(sizes.values()) <= 30 < sum(sizes.values())


def test_a_graph_of_the_language_model_has_one_word(generator, monkeypatch):
    model = LstmLanguageModel(generator.vocabulary, LanguageModelSizes(2, 7, 9), seed=3)
    sizes = with_graphs(
        monkeypatch, model.network.lstm, "compute", lambda schedule, dropout=0.0: len(schedule)
    )
    sentences = model.generate(3, seed=4, max_length=60)
    assert sum(map(len, sentences)) > 3
    assert set(sizes.values()) == {1}


def test_long_sentences_are_drawn_a_few_at_a_time():
    asked = []

    def draw_batch(randoms):
        asked.append(len(randoms))
        return [random.random() for random in randoms]

    def drawn(max_length):
        return list(generation.until_drawn(250, 1, max_length, draw_batch))

    short = drawn(200)
    assert asked == [100, 100, 50]
    asked.clear()
    assert drawn(10_000) == short and set(asked) == {2}
    asked.clear()
    assert drawn(10**9) == short and set(asked) == {1}


def test_any_number_can_be_asked_for():
    def draw_batch(randoms):
        return [random.random() for random in randoms]

    endless = generation.until_drawn(10**15, 1, 200, draw_batch)
    assert list(islice(endless, 3)) == list(generation.until_drawn(3, 1, 200, draw_batch))


@pytest.mark.parametrize("model", ["generator", "lm"])
def test_the_command_prints_sentences_before_all_are_drawn(model):
    command = [*COMMAND, "generate", "-n", 10**9, "--model", DATA / "models-0.1.0" / model]
    with started(*command, stdout=subprocess.PIPE) as process:
        assert select.select([process.stdout], [], [], 120)[0]
        assert process.stdout.readline().endswith(b"\n")
