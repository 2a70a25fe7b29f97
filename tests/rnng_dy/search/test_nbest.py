"""The k best trees of a parser."""

from itertools import product

import numpy as np
import pytest

from oracle.common.errors import RnngError
from rnng_dy.search import batched_search
from rnng_dy.search.parsing import nbest_batch, parse_batch

from ..conftest import make_parser
from ..tiny_models import COMPOSITIONS, WORDS, all_trees, exact_log_q, make_tiny_parser, tokens_of


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_a_wide_beam_finds_the_k_best_of_all_trees(composition):
    parser = make_tiny_parser(composition, max_open=1)
    trees = all_trees(parser.transitions, 3)
    for words in product(WORDS, repeat=3):
        exact = exact_log_q(parser, words, trees, 1.0)
        best = np.argsort(-exact, kind="stable")[:7]
        [found] = nbest_batch(parser, [tokens_of(parser, words)], 7, len(trees))
        assert [tuple(actions) for actions, _ in found] == [trees[i] for i in best]
        assert [q for _, q in found] == pytest.approx(exact[best], rel=1e-5)
    [found] = nbest_batch(parser, [tokens_of(parser, WORDS)], 10_000, 10_000)
    assert {tuple(actions) for actions, _ in found} == set(trees)
    assert sum(np.exp(q) for _, q in found) == pytest.approx(1, abs=1e-4)


@pytest.fixture
def parser(sentences):
    """Without training it would open all that can be open, again and again."""
    parser = make_parser(sentences)
    parser.transitions.max_open = 1
    return parser


@pytest.fixture
def encoded(parser, sentences):
    short = [s for s in sentences if len(s.tokens) < 9][:5]
    return [parser.encode(s.tokens, s.tags, s.unkified) for s in short]


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_the_first_is_at_least_as_probable_as_the_greedy_tree(beam):
    parser, better = make_tiny_parser("corrected", max_open=1), 0
    ids = [tokens_of(parser, words) for words in product(WORDS, repeat=3)]
    for [(_, first), *_], (_, greedy) in zip(
        nbest_batch(parser, ids, 3, beam), parse_batch(parser, ids), strict=True
    ):
        assert first > greedy - 1e-5
        better += first > greedy + 1e-3
    assert better or beam == 1


def test_sentences_beside_it_and_new_graphs_on_the_way_change_nothing(parser, encoded, monkeypatch):
    alone = [nbest_batch(parser, [one], 4, 6)[0] for one in encoded]
    monkeypatch.setattr(batched_search, "SEARCHED_STATES", 40)
    for expected, found in zip(alone, nbest_batch(parser, encoded, 4, 6), strict=True):
        assert [actions for actions, _ in found] == [actions for actions, _ in expected]
        assert [q for _, q in found] == pytest.approx([q for _, q in expected], abs=1e-4)


def test_the_parser_gives_trees_whose_log_prob_is_log_q(parser, sentences):
    tokens = list(zip(sentences[0].tokens, sentences[0].tags, strict=True))
    found = parser.nbest(tokens, 5, beam=10)
    assert len({str(tree) for tree, _ in found}) == 5
    scores = [q for _, q in found]
    assert scores == sorted(scores, reverse=True)
    assert all(tree.pos() == tokens for tree, _ in found)
    assert scores == pytest.approx([parser.log_prob(t) for t, _ in found], abs=1e-4)


@pytest.mark.parametrize(("k", "beam"), [(0, 5), (5, 0)])
def test_nothing_is_no_number_of_trees(parser, k, beam):
    with pytest.raises(RnngError, match="from 1 on"):
        nbest_batch(parser, [], k, beam)
