"""The sampler draws from the flattened distribution and writes the log q that it drew with."""

import numpy as np
import pytest

from rnng_dy.search import sampling
from rnng_dy.search.sampling import sample_batch

from ..conftest import log_q, make_parser


@pytest.fixture
def parser(sentences):
    """A parser with random parameters, and a low limit against endless trees."""
    parser = make_parser(sentences)
    parser.transitions.max_open = 2
    return parser


@pytest.fixture
def short(sentences):
    return min(sentences, key=lambda s: len(s.tokens))


def encode(parser, sentence):
    return parser.encode(sentence.tokens, sentence.tags, sentence.unkified)


def draw(parser, sentence, n, alpha, seed):
    [samples] = sample_batch(parser, [encode(parser, sentence)], n, alpha, [[seed]])
    return samples


@pytest.mark.parametrize("alpha", [1.0, 0.8, 0.3, 0.0])
def test_log_q_is_that_of_the_distribution_drawn_from(parser, sentences, alpha):
    samples = draw(parser, sentences[0], 30, alpha, 1)
    assert len(samples) == 30
    sequences, written = zip(*samples, strict=True)
    expected = log_q(parser, encode(parser, sentences[0]), sequences, alpha)
    assert written == pytest.approx(expected, rel=1e-4)


def test_a_seed_gives_the_same_samples(parser, sentences):
    assert draw(parser, sentences[0], 20, 0.8, 3) == draw(parser, sentences[0], 20, 0.8, 3)
    assert draw(parser, sentences[0], 20, 0.8, 3) != draw(parser, sentences[0], 20, 0.8, 4)


def test_sentences_draw_from_their_own_streams(parser, sentences):
    alone = draw(parser, sentences[1], 15, 0.8, 7)
    tokens = [encode(parser, s) for s in sentences[:3]]
    together = sample_batch(parser, tokens, 15, 0.8, [[1], [7], [9]])
    assert [actions for actions, _ in together[1]] == [actions for actions, _ in alone]


def test_order_is_exchangeable(parser, short):
    """The samples of one prefix must not stand together: the first half is a fair half."""
    first = np.array([actions[0] for actions, _ in draw(parser, short, 1000, 0.3, 5)])
    common = np.bincount(first).argmax()
    halves = (first[:500] == common).sum(), (first[500:] == common).sum()
    assert abs(halves[0] - halves[1]) < 6 * np.sqrt(500 * 0.5)


@pytest.mark.parametrize("states", [1, 150])
def test_samples_are_the_same_in_graphs_of_any_size(parser, sentences, states, monkeypatch):
    whole = draw(parser, sentences[0], 40, 0.8, 1)
    monkeypatch.setattr(sampling, "SAMPLED_STATES", states)
    parts = draw(parser, sentences[0], 40, 0.8, 1)
    assert [actions for actions, _ in parts] == [actions for actions, _ in whole]
    assert [log_q for _, log_q in parts] == pytest.approx([log_q for _, log_q in whole], rel=1e-5)
