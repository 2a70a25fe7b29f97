"""Searches through the generative model against everything that can happen, counted up."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from oracle.common.errors import RnngError
from rnng_dy.engine import dy
from rnng_dy.search.batched_search import answers, run
from rnng_dy.search.beam import BeamSearch
from rnng_dy.search.particles import ParticleFilter
from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.search.surprisal import SEARCHES, SearchOptions, measure

from ..tiny_models import COMPOSITIONS, complete_trees, every_derivation, make_tiny_generator

SENTENCE = ("a", "b", "c")
SIZES = [(2, 1, 1), (6, 2, 3), (30, 4, 20), (10**6, 0, 10**6)]


def log_masses(model, words, options):
    """log p of each prefix and of the sentence, as a search has them."""
    [found] = measure(model, [words], options, end=True)
    return -np.cumsum([record.surprisal for record in found.records]) * math.log(2)


# searches do not see how a composition is computed, but what it reads
@pytest.fixture(scope="module", params=[name for name in COMPOSITIONS if name != "buggy"])
def model(request):
    return make_tiny_generator(request.param, max_open=1)


@pytest.fixture(scope="module")
def exact(model):
    """log p of each prefix, and of the sentence, from single derivations."""
    ids = model.vocabulary.word_ids(SENTENCE)
    prefixes = list(every_derivation(model, ids))
    found = [*prefixes, complete_trees(model, ids, prefixes[-1])]
    return np.array([np.logaddexp.reduce([log_p for _, log_p in reached]) for reached in found])


def test_wider_beams_are_tighter_bounds_and_an_unlimited_one_is_exact(model, exact):
    below = []
    for size in SIZES:
        found = log_masses(model, SENTENCE, SearchOptions("beam", *size))
        assert (found <= exact + 1e-4).all()
        below.append(np.mean(exact - found))
    assert below == sorted(below, reverse=True)
    assert below[0] > 0.5
    assert found == pytest.approx(exact, rel=1e-5)


def test_a_beam_and_a_variable_beam_are_lower_bounds(model, exact):
    beam = log_masses(model, SENTENCE, SearchOptions(beam=4, fast_track=1, word_beam=2))
    variable = log_masses(model, SENTENCE, SearchOptions("variable", particles=20))
    wide = log_masses(model, SENTENCE, SearchOptions("variable", particles=10**7))
    assert (beam < exact).all() and (variable[1:] < exact[1:]).all()
    # 20 particles may hold all that can precede the first word: equal but for rounding
    assert variable[0] < exact[0] + 1e-6
    assert wide == pytest.approx(exact, abs=1e-3)


def test_some_of_a_variable_beam_reach_the_end(model, exact):
    at_end = log_masses(model, SENTENCE, SearchOptions("variable", particles=100))[-1]
    assert -math.inf < at_end < exact[-1]


def states(search, model):
    """The readings before the first word, and after each word and the end."""
    found = [search.start(model.network.start())]
    for word in [*model.vocabulary.word_ids(SENTENCE), None]:
        found.append((yield from search.read(found[-1], word)))
    return found


@pytest.fixture
def run_filter(model, monkeypatch):
    """Gives log p of each prefix and of the sentence: shape (words and end, filters)."""

    def log_p(particles, filters, threshold):
        monkeypatch.setattr("rnng_dy.search.particles.RESAMPLED_BELOW", threshold)
        options = SearchOptions(particles=particles)
        searches = [ParticleFilter(model.transitions, options, i) for i in range(filters)]
        found = run(model, [states(search, model) for search in searches])
        return np.array([[state.log_mass for state in of[1:]] for of in found]).T

    return log_p


# a filter that has lost all its particles is no reason for one
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("threshold", [0.5, 1.0])
def test_particles_estimate_probabilities_without_bias(run_filter, exact, threshold):
    estimates = np.exp(run_filter(20, 300, threshold))
    error = estimates.std(axis=1, ddof=1) / math.sqrt(300)
    rounding = 1e-6 * np.exp(exact)
    assert (np.abs(estimates.mean(axis=1) - np.exp(exact)) < 3 * error + rounding).all()
    assert (error < 0.1 * np.exp(exact)).all()


def test_particles_are_resampled_below_the_threshold_alone(run_filter):
    """The effective sample size is 1 at least, and of 20 particles never below a share of 0.04."""
    never, too_low, always = (run_filter(20, 50, share) for share in (0, 0.04, 1))
    assert np.array_equal(never, too_low)
    assert not np.array_equal(never, always)


def test_analyses_of_all_searches_have_the_scores_of_their_derivations_best_first(model):
    for search in SEARCHES:
        [found] = measure(model, [SENTENCE], SearchOptions(search, particles=50), end=True)
        for analyses in (*(record.beam for record in found.records), found.trees):
            scores = [analysis.log_prob for analysis in analyses]
            assert scores == sorted(scores, reverse=True), search
        for tree in found.trees:
            words, actions = model.encode(SENTENCE, tree.actions)
            [score] = joint_log_probs(model, words, [actions])
            assert tree.log_prob == pytest.approx(score, rel=1e-5), search


class Patient(BeamSearch):
    """A beam that goes on until no partial tree is left."""

    def _bound(self, word_beam, reached):
        return -math.inf


def test_a_beam_drops_only_partial_trees_that_cannot_enter_the_word_beam():
    model = make_tiny_generator("corrected", max_open=4)
    done, analyses = [], []
    for kind in (BeamSearch, Patient):
        search = kind(model.transitions, SearchOptions(beam=20, fast_track=1, word_beam=2))
        [found] = run(model, [states(search, model)])
        readings = list(pairwise(found))
        done.append(sum(after.actions for _, after in readings))
        analyses.append([[h.action_ids() for h in after.hypotheses] for _, after in readings])
    assert analyses[0] == analyses[1]
    assert done[0] < 0.5 * done[1]


def test_sentences_are_measured_alike_alone_and_side_by_side(model):
    sentences = [("a", "b", "c"), ("b",), ("c", "c", "a", "b", "a"), ("a", "a"), ("c",)]
    for options in (SearchOptions(), SearchOptions("particles"), SearchOptions("variable")):
        together = list(measure(model, sentences, options, end=True))
        for number, (words, found) in enumerate(zip(sentences, together, strict=True)):
            [alone] = measure(model, [words], options, end=True, numbers=[number])
            for record, other in zip(alone.records, found.records, strict=True):
                assert record.surprisal == pytest.approx(other.surprisal, rel=1e-4, abs=1e-5)


def test_graphs_may_be_renewed_at_any_time(model, monkeypatch):
    """What a search goes on from is carried into the next graph."""
    sentence = ("c", "c", "a", "b", "a")
    kinds = [SearchOptions(kind, particles=50) for kind in ("beam", "particles", "variable")]
    expected = [log_masses(model, sentence, options) for options in kinds]
    monkeypatch.setattr("rnng_dy.search.batched_search.SEARCHED_STATES", 1)
    for options, before in zip(kinds, expected, strict=True):
        assert log_masses(model, sentence, options) == pytest.approx(before, rel=1e-5)


def test_a_graph_has_a_bounded_number_of_configurations(model, monkeypatch):
    """The configurations with which a graph begins count."""
    sizes, batches = Counter(), []

    def noted(model, asked):
        batches.append(sum(len(request.hypotheses) for request in asked))
        sizes[dy.cg_version()] += batches[-1]
        return answers(model, asked)

    monkeypatch.setattr("rnng_dy.search.batched_search.answers", noted)
    for most in (1000, 40):
        monkeypatch.setattr("rnng_dy.search.batched_search.SEARCHED_STATES", most)
        sizes.clear(), batches.clear()
        log_masses(model, SENTENCE, SearchOptions("particles", particles=100))
        assert sum(batches) > 80
        assert (len(sizes) == 1) == (most == 1000)
        assert max(sizes.values()) <= max(most, *batches)


def test_long_sentences_have_no_underflow():
    model = make_tiny_generator("corrected", max_open=1)
    words = ("a", "b", "c") * 150
    [found] = measure(model, [words], SearchOptions(beam=5, fast_track=1, word_beam=2), end=True)
    assert found.log_mass < -745
    assert all(math.isfinite(record.surprisal) for record in found.records)


BAD_OPTIONS = [{"beam": 0}, {"beam": "10"}, {"fast_track": -1}, {"search": "depth-first"}]
BAD_OPTIONS += [{"search": name, "particles": 0} for name in ("particles", "variable")]
BAD_OPTIONS += [{"particles": 10**10}]


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_options_that_cannot_be_are_refused(model, options):
    with pytest.raises(RnngError):
        next(measure(model, [SENTENCE], SearchOptions(**options)))


def test_a_word_without_a_class_is_infinitely_surprising_and_passed_over(model):
    [found] = measure(model, [("a", "zebra", "b")], end=True)
    [without] = measure(model, [("a", "b")], end=True)
    surprisals = [record.surprisal for record in found.records]
    assert surprisals.pop(1) == math.inf
    assert surprisals == pytest.approx([record.surprisal for record in without.records], rel=1e-5)
    assert "zebra" in found.problem and not found.trees


def exact_entropies(model, words):
    """In bits, of all derivations of each prefix of some words."""
    for reached in every_derivation(model, model.vocabulary.word_ids(words)):
        log_ps = np.array([log_p for _, log_p in reached])
        log_shares = log_ps - np.logaddexp.reduce(log_ps)
        yield -float(np.exp(log_shares) @ log_shares) / math.log(2)


def test_few_particles_estimate_the_entropy_of_all_analyses(model):
    """Ten show too few analyses: the entropy of these is up to 3 bits too low."""
    filters = measure(model, [SENTENCE] * 300, SearchOptions("particles", particles=10))
    found = np.array([[record.entropy for record in of.records] for of in filters])
    errors = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    exact = list(exact_entropies(model, SENTENCE))
    assert exact[-1] > math.log2(10)
    assert (np.abs(found.mean(axis=0) - exact) < 0.05 + 3 * errors).all()
