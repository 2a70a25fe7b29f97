"""Every measure of a word as docs/surprisal.md defines it, from all derivations of a tiny model."""

import math
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from oracle.common.errors import RnngError, UnseenSymbolError
from oracle.transitions import REDUCE, SHIFT
from rnng_dy.evaluation.records import ALL_MEASURES
from rnng_dy.search.surprisal import SEARCHES, SearchOptions, measure, next_words

from ...pages import CHECKOUT
from ..conftest import make_lm
from ..tiny_models import (
    COMPOSITIONS,
    complete_trees,
    every_derivation,
    make_tiny_generator,
    next_steps,
    state_after,
)

SENTENCE = ("a", "b", "c")
EVERYTHING = SearchOptions(beam=10**6, fast_track=0, word_beam=10**6)


@pytest.fixture(scope="module", params=COMPOSITIONS)
def model(request):
    return make_tiny_generator(request.param, max_open=1)


@pytest.fixture(scope="module")
def ids(model):
    return model.vocabulary.word_ids(SENTENCE)


@pytest.fixture(scope="module")
def prefixes(model, ids):
    """Per word all derivations up to it, best first: actions and log p; at first the empty one."""
    return [[((), 0.0)], *every_derivation(model, ids)]


@pytest.fixture(scope="module")
def records(model):
    [found] = measure(model, [SENTENCE], EVERYTHING)
    return found.records


def bits(log_ps):
    """-log2 of a sum of probabilities, from their logarithms in nats."""
    return -np.logaddexp.reduce(log_ps) / math.log(2)


def log_probs(found):
    return np.array([log_p for _, log_p in found])


def word_log_probs(model, ids, actions):
    """log p(the last word | u) and log p(its cluster | u), in nats, of a derivation that ends with it."""
    words = ids[: actions.count(SHIFT)]
    following = next_steps(model, words[:-1], actions[:-1])
    steps = {word: log_p for word, _, log_p in following if word is not None}
    [cluster] = [of for of in model.vocabulary.clusters if words[-1] in of]
    log_ps = steps[words[-1]], np.logaddexp.reduce([steps[word] for word in cluster])
    return np.array(log_ps) - np.logaddexp.reduce(list(steps.values()))


def since_word_before(actions):
    """The actions between the last two words, of which a complete tree's end is one."""
    places = [i for i, action in enumerate(actions) if action == SHIFT]
    if actions[-1] != SHIFT:
        places.append(len(actions))
    return actions[places[-2] + 1 if len(places) > 1 else 0 : places[-1]]


def entropy(log_ps):
    shares = np.exp(log_ps - np.logaddexp.reduce(log_ps))
    return -float(shares @ np.log2(shares))


def near(values):
    return pytest.approx(values, rel=1e-4, abs=1e-4)


def test_surprisal_and_its_three_shares(model, ids, prefixes, records):
    for (before, after), record in zip(pairwise(prefixes), records, strict=True):
        assert record.surprisal == near(bits(log_probs(after)) - bits(log_probs(before)))
        shares = np.exp(log_probs(after) + bits(log_probs(after)) * math.log(2))
        of_words = np.array([word_log_probs(model, ids, actions) for actions, _ in after])
        word, cluster = -shares @ of_words / math.log(2)
        assert (record.cluster, record.word_in_cluster) == near((cluster, word - cluster))
        # the probability of each partial tree before the word is known
        expected = log_probs(after) - of_words[:, 0] + bits(log_probs(before)) * math.log(2)
        assert record.structure == near(shares @ (np.log(shares) - expected) / math.log(2))
        assert record.open == state_after(model, after[0][0]).open


@pytest.mark.parametrize("search", SEARCHES)
def test_the_three_shares_add_up_to_the_surprisal(model, search):
    options = SearchOptions(search, particles=300, beam=20, fast_track=2, word_beam=4)
    [found] = measure(model, [SENTENCE], options, end=True)
    for record in found.records:
        shares = record.structure, record.cluster, record.word_in_cluster
        assert sum(shares) == near(record.surprisal)
    assert found.records[-1].structure == found.records[-1].surprisal


def test_entropy_of_the_partial_trees_and_its_change(prefixes, records):
    expected = [entropy(log_probs(found)) for found in prefixes]
    assert [record.entropy for record in records] == near(expected[1:])
    assert [record.entropy_delta for record in records] == near(np.diff(expected))


def test_constituents_opened_and_closed(model, ids, prefixes):
    [found] = measure(model, [SENTENCE], EVERYTHING, end=True)
    derivations = [*prefixes[1:], complete_trees(model, ids, prefixes[-1])]
    for after, record in zip(derivations, found.records, strict=True):
        shares = np.exp(log_probs(after) + bits(log_probs(after)) * math.log(2))
        between = [since_word_before(actions) for actions, _ in after]
        opened = [sum(a >= model.transitions.first_open for a in actions) for actions in between]
        closed = [actions.count(REDUCE) for actions in between]
        assert (record.opened, record.closed) == near((shares @ opened, shares @ closed))
        assert (record.best_opened, record.best_closed) == (opened[0], closed[0])
    assert found.records[-1].closed >= 1


def next_word_entropies(model, ids, prefixes):
    """Per prefix, the entropy of the next word or end, by probabilities of longer prefixes."""
    for number, found in enumerate(prefixes):
        ended = complete_trees(model, ids[:number], found) if number else []
        outcomes = [np.logaddexp.reduce(log_probs(ended))]
        for word in range(1, len(model.vocabulary.words)):
            *_, longer = every_derivation(model, [*ids[:number], word])
            outcomes.append(np.logaddexp.reduce(log_probs(longer)))
        possible = np.array(outcomes)[np.isfinite(outcomes)]
        # these are all that can happen
        assert bits(possible) == near(bits(log_probs(found)))
        yield entropy(possible)


def test_entropy_of_the_next_word_and_its_change(model, ids, prefixes):
    [found] = measure(model, [SENTENCE[:2]], replace(EVERYTHING, next_word=True), end=True)
    *words, end = found.records
    expected = list(next_word_entropies(model, ids, prefixes[:3]))
    assert [record.next_word_entropy for record in words] == near(expected[1:])
    assert [record.next_word_entropy_delta for record in words] == near(np.diff(expected))
    assert end.next_word_entropy is end.next_word_entropy_delta is None
    for i, record in enumerate(words, 1):
        expected = next_words(model, SENTENCE[:i], 10, EVERYTHING)
        assert dict(record.next_words) == near(dict(expected))


@pytest.mark.parametrize("read", [0, 2])
def test_the_probabilities_of_next_words_are_those_of_all_derivations(model, ids, read):
    symbols = model.vocabulary.words.symbols
    expected = {}
    for word in range(1, len(symbols)):
        *_, longer = every_derivation(model, [*ids[:read], word])
        expected[symbols[word]] = np.exp(np.logaddexp.reduce(log_probs(longer)))
    found = next_words(model, SENTENCE[:read], len(symbols), EVERYTHING)
    assert dict(found) == near({w: p / sum(expected.values()) for w, p in expected.items()})
    assert found == sorted(found, key=lambda of: -of[1])
    assert next_words(model, SENTENCE[:read], 1, EVERYTHING) == found[:1]


def test_words_and_searches_that_lead_nowhere_have_no_next_words():
    model = make_tiny_generator("gated-attention", max_open=1)
    with pytest.raises(UnseenSymbolError):
        next_words(model, ["zebra"], 3)
    with pytest.raises(RnngError, match="leads to a next word"):
        next_words(model, SENTENCE, 3, SearchOptions("variable", particles=1))


@pytest.mark.parametrize("search", SEARCHES)
def test_other_measures_do_not_depend_on_the_next_word(model, search, monkeypatch):
    monkeypatch.setattr("rnng_dy.search.batched_search.SEARCHED_STATES", 50)
    options = SearchOptions(search, particles=40, beam=20, fast_track=2, word_beam=4)
    options = replace(options, runs=2 if search == "particles" else 1)
    [alone] = measure(model, [SENTENCE], options, end=True)
    [both] = measure(model, [SENTENCE], replace(options, next_word=True), end=True)
    for one, other in zip(alone.records, both.records, strict=True):
        assert one.surprisal == near(other.surprisal)
        assert (one.next_word_entropy, one.next_word_entropy_delta) == (None, None)
        assert other.token is None or other.next_word_entropy > 0


def entropies_by_surprisal(scorer, seen, words):
    """The entropy before later words and the end, from the surprisals of all words there."""
    for i in range(1, len(seen) + 1):
        sentences = [[*seen[:i], word] for word in words]
        p = [2.0 ** -records[i].surprisal for records in scorer.records_of(sentences, sentences)]
        [records] = scorer.records_of([seen[:i]], [seen[:i]])
        p = np.array([*p, 2.0 ** -records[i].surprisal])
        assert p.sum() == pytest.approx(1, abs=1e-4)
        yield -float(p @ np.log2(p))


def test_entropy_of_the_next_word_of_an_lstm(generative_sentences, monkeypatch):
    monkeypatch.setattr("rnng_dy.baselines.lstm_lm.ENTROPIES", 3)
    few = generative_sentences[:12]
    scorer = make_lm(few)
    words = scorer.vocabulary.words.symbols[1:]
    seen = list(few[0].unkified[:5])
    [found] = scorer.next_word_entropies([seen])
    assert found[1:] == near(list(entropies_by_surprisal(scorer, seen, words)))


def test_the_page_defines_every_column_in_the_order_of_the_table():
    page = (CHECKOUT / "docs" / "surprisal.md").read_text(encoding="utf-8")
    section = page.partition("## The measures\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| ", section, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(rows))[3:] == list(ALL_MEASURES)
