"""Several models as one: means of probabilities, by the searches that walk single models."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import rnng_dy
from oracle.errors import RnngError
from rnng_dy.baselines.lstm_lm import LstmLanguageModel
from rnng_dy.search import sampling, side_by_side
from rnng_dy.search.particles import ParticleFilter
from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.sizes import Sizes

from ..conftest import make_generator, make_parser, sentences_of
from ..models.test_distributions import limited

WIDE = SearchOptions(beam=5000, word_beam=5000, sum_all=True, fast_track=5000)


@pytest.fixture(scope="module")
def parsers(sentences):
    """Two parsers, of which the second has its labels in another order and other words."""
    return [
        limited(make_parser(part, seed=seed), 2)
        for part, seed in ((sentences, 1), (sentences[::-1], 2))
    ]


@pytest.fixture(scope="module")
def generators(generative_sentences):
    return [limited(make_generator(generative_sentences, seed=seed), 1) for seed in (1, 2)]


@pytest.fixture(scope="module")
def tokens(sentences):
    short = min(sentences, key=lambda s: len(s.tokens))
    return list(zip(short.tokens, short.tags, strict=True))


def test_the_second_parser_has_its_labels_in_another_order(parsers):
    first, second = (parser.transitions.nonterminals for parser in parsers)
    assert first != second
    assert set(first) == set(second)
    assert parsers[0].vocabulary.words.symbols != parsers[1].vocabulary.words.symbols


def test_a_parser_twice_is_that_parser(parsers, sentences):
    # an equal parser: one that is there twice would share states of its compositions with itself
    again, alone = limited(make_parser(sentences, seed=1), 2), parsers[0]
    twice = rnng_dy.ensemble(alone, again)
    some = [list(zip(s.tokens, s.tags, strict=True)) for s in sentences[:3]]
    assert twice(some) == alone(some)
    assert twice.sample(some[0], 5, alpha=1.0) == alone.sample(some[0], 5, alpha=1.0)
    assert twice.nbest(some[0], 3) == alone.nbest(some[0], 3)
    tree = alone.parse_one(some[1])
    assert twice.log_prob(tree) == alone.log_prob(tree)


def step_of(parser, tokens, actions, alpha=1.0):
    """Probabilities of the next action after some actions, by name."""
    names = parser.transitions.names
    rnng_dy.engine.dy.renew_cg()
    c = parser.start(parser.encode(*zip(*tokens, strict=True)))
    for action in actions:
        parser.step([c])
        c = parser.advance(c, names.index(action))
    return dict(zip(names, np.exp(parser.step([c], alpha).action_log_probs()[0]), strict=True))


@pytest.mark.parametrize("actions", [[], ["NT(S)"], ["NT(S)", "SHIFT"]])
def test_the_probability_of_an_action_is_the_mean(parsers, tokens, actions):
    one, two = (step_of(parser, tokens, actions) for parser in parsers)
    both = step_of(rnng_dy.ensemble(*parsers), tokens, actions)
    assert both == pytest.approx({name: (one[name] + two[name]) / 2 for name in one}, rel=1e-6)
    assert sum(both.values()) == pytest.approx(1)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_the_mean_is_flattened(parsers, tokens, alpha):
    mean = step_of(rnng_dy.ensemble(*parsers), tokens, ["NT(S)", "SHIFT"])
    powers = {name: p**alpha if p else 0.0 for name, p in mean.items()}
    flat = step_of(rnng_dy.ensemble(*parsers), tokens, ["NT(S)", "SHIFT"], alpha)
    assert flat == pytest.approx({name: p / sum(powers.values()) for name, p in powers.items()})


def test_log_prob_of_a_tree_is_that_of_a_search(parsers, tokens):
    """Steps of a search, of which some are in later graphs, against one computation."""
    both = rnng_dy.ensemble(*parsers)
    for tree, log_q in both.sample(tokens, 8, alpha=1.0) + both.nbest(tokens, 3):
        assert both.log_prob(tree) == pytest.approx(log_q, rel=1e-5)
    assert both.log_prob(tree) != pytest.approx(parsers[0].log_prob(tree), rel=1e-3)


def test_samples_do_not_depend_on_graphs(parsers, tokens, monkeypatch):
    both = rnng_dy.ensemble(*parsers)
    expected = both.sample(tokens, 10)
    monkeypatch.setattr(sampling, "MAX_STATES", 5)
    found = both.sample(tokens, 10)
    assert [tree for tree, _ in found] == [tree for tree, _ in expected]
    assert [q for _, q in found] == pytest.approx([q for _, q in expected], rel=1e-5)


def test_an_ensemble_tags_by_its_first_parser(parsers, tagger):
    first, second = map(copy.copy, parsers)
    first.transitions, second.transitions = (parser.transitions for parser in parsers)
    first.tagger = tagger
    both = rnng_dy.ensemble(first, second)
    assert [tag for _, tag in both.parse_one(["the", "time"]).pos()] == first.tags_for(
        ["the", "time"]
    )


def mean(log_ps):
    return np.logaddexp.reduce(log_ps) - math.log(len(log_ps))


def test_joint_log_probs_are_means_of_joint_probabilities(generative_sentences):
    generators = [make_generator(generative_sentences, seed=seed) for seed in (1, 2)]
    both = rnng_dy.ensemble(*generators)
    for sentence in generative_sentences[:3]:
        example = both.encode_training(sentence)
        arguments = example.words, [example.actions]
        found = [joint_log_probs(model, *arguments)[0] for model in (both, *generators)]
        assert found[0] == pytest.approx(mean(found[1:]), rel=1e-12)
        assert found[1] != pytest.approx(found[2], rel=1e-3)


@pytest.mark.parametrize("options", [WIDE, SearchOptions("particles", particles=20)])
def test_a_generative_model_twice_has_its_surprisals(generators, options):
    words = ["the", "time", "."]
    found = [
        model.surprisals(words, options, end=True)
        for model in (rnng_dy.ensemble(generators[0], generators[0]), generators[0])
    ]
    for one, other in zip(*found, strict=True):
        assert one.surprisal == pytest.approx(other.surprisal, rel=1e-5)


def prefix_log_probs(model, words):
    """log p of the first words, of the first two, ..., in nats, by a search that keeps every tree."""
    return -np.cumsum([r.surprisal for r in model.surprisals(words, WIDE, end=True)]) * math.log(2)


def test_prefix_probabilities_are_the_means_if_no_tree_is_lost(generators, monkeypatch):
    """At a limit of one open nonterminal a beam can hold all trees."""
    words = ["the", "time"]
    both, *alone = [
        prefix_log_probs(model, words) for model in (rnng_dy.ensemble(*generators), *generators)
    ]
    assert both == pytest.approx([mean(column) for column in zip(*alone, strict=True)], rel=1e-5)
    assert alone[0] != pytest.approx(alone[1], rel=1e-3)
    monkeypatch.setattr(side_by_side, "MAX_STATES", 10)
    assert prefix_log_probs(rnng_dy.ensemble(*generators), words) == pytest.approx(both, rel=1e-5)


def test_scores_of_a_search_are_joint_log_probs(generators):
    """The weights of the models follow the words and the actions."""
    both = rnng_dy.ensemble(*generators)
    reader = both.reader(SearchOptions(beam=10, word_beam=3, fast_track=2))
    for word in ("the", "time", "."):
        reader.push(word)
    ids = both.vocabulary.word_ids(both.vocabulary.unkify(["the", "time", "."]))
    _, trees = reader.end()
    assert trees
    for tree in trees:
        sequence = both.transitions.encode(tree.actions)
        [log_p] = joint_log_probs(both, ids, [sequence])
        assert tree.log_prob == pytest.approx(log_p, rel=1e-5)


def test_next_words_are_of_the_weighted_models(generators):
    """The reader, whose beam holds everything, gives words in the ratio of their prefix probabilities."""
    both = rnng_dy.ensemble(*generators)
    reader = both.reader(WIDE)
    reader.push("the")
    found = dict(reader.next_words(len(both.vocabulary.words)))
    assert sum(found.values()) == pytest.approx(1, rel=1e-5)
    words = both.vocabulary.unkify(["time", "."])
    bits = [both.surprisals(["the", word], WIDE)[1].surprisal for word in words]
    ratio = found[words[0]] / found[words[1]]
    assert ratio == pytest.approx(2 ** (bits[1] - bits[0]), rel=1e-4)


def test_generated_trees_have_their_log_prob(generators):
    both = rnng_dy.ensemble(*generators)
    for tree, log_p in both.generate(3, seed=2):
        assert both.log_prob(tree) == pytest.approx(log_p, rel=1e-5)


def test_particles_of_ensembles_have_a_seed(generators):
    both = rnng_dy.ensemble(*generators)
    options = SearchOptions(ParticleFilter.name, particles=30)
    found = [[r.surprisal for r in both.surprisals(["the", "time"], options)] for _ in range(2)]
    assert found[0] == found[1]


def test_models_that_do_not_fit_are_refused(parsers, generators, sentences, trees):
    in_order = make_parser(sentences_of(trees, False, "in-order"))
    fewer = make_parser(sentences[:1])
    other_words = make_generator(sentences_of(trees[::-1], True))
    words = LstmLanguageModel(generators[0].vocabulary, Sizes(1, 4, 4))
    for models, message in (
        ([], "one kind, not: none"),
        ([parsers[0], generators[0]], "one kind, not: discriminative, generative"),
        ([*parsers, in_order], "models 1 and 3 of an ensemble differ in their transition systems"),
        ([parsers[0], fewer], "differ in their nonterminals: only one has"),
        ([generators[0], other_words], "differ in their words: train them with the same clusters"),
        ([words, words], "LSTM language models cannot be an ensemble"),
    ):
        with pytest.raises(RnngError, match=message):
            rnng_dy.ensemble(*models)


def test_an_ensemble_is_shown_pickled_and_not_saved(parsers, tokens, tmp_path):
    both = rnng_dy.ensemble(*parsers)
    assert repr(both).startswith("<ParserEnsemble: <DiscriminativeParser: ")
    with pytest.raises(RnngError, match="no folder of its own: save its `models`"):
        both.save(tmp_path / "m")
    with pytest.raises(RnngError, match="no attention weights"):
        both.attention(both.parse_one(tokens))
    assert list(tmp_path.iterdir()) == []
    again = pickle.loads(pickle.dumps(rnng_dy.ensemble(make_parser_without_limits())))
    assert again.transitions.name == "top-down"


def make_parser_without_limits():
    from ..models.test_distributions import make_tiny_parser

    return make_tiny_parser("corrected", 2)
