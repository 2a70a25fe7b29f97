"""The LSTM language model: a distribution over sentences, and the same values however it is asked."""

import itertools
import math

import numpy as np
import pytest

from rnng_dy.baselines.lstm_lm import LanguageModelExample, LanguageModelSizes, LstmLanguageModel
from rnng_dy.engine import dy
from rnng_dy.vocabulary import GeneratorVocabulary

from ..conftest import simple_clusters

SIZES = LanguageModelSizes(layers=2, lstm_input=7, hidden=9)


@pytest.fixture
def model(generative_sentences):
    clusters = simple_clusters(generative_sentences)
    vocabulary = GeneratorVocabulary.build(clusters, generative_sentences)
    return LstmLanguageModel(vocabulary, SIZES, seed=3)


def test_values_do_not_depend_on_the_batch(model, generative_sentences):
    examples = [model.encode_training(s) for s in generative_sentences[:9]]
    together = model.example_log_probs(examples)
    alone = np.concatenate([model.example_log_probs([example]) for example in examples])
    assert together == pytest.approx(alone, abs=1e-4)
    dy.renew_cg()
    assert model.training_loss(examples, 0.0).value() == pytest.approx(-together.sum(), rel=1e-5)


def test_the_log_prob_of_a_sentence_is_that_of_its_words_and_end(model, generative_sentences):
    sentence = generative_sentences[0]
    expected = model.example_log_probs([model.encode_training(sentence)]).sum()
    assert model.log_prob(sentence.unkified) == pytest.approx(expected, rel=1e-6)
    # a word of an UNK class that training has not
    assert model.log_prob(["Xx-9"]) == -math.inf


def test_sentences_up_to_a_length_have_at_most_probability_one(generative_sentences):
    few = generative_sentences[:1]
    words = dict.fromkeys(w for s in few for w in s.unkified)
    vocabulary = GeneratorVocabulary.build(simple_clusters(few, classes=2), few)
    model = LstmLanguageModel(vocabulary, SIZES, seed=3)
    ids = range(1, 1 + len(words))
    left = 1.0
    for length in (0, 1, 2):
        examples = [LanguageModelExample(s) for s in itertools.product(ids, repeat=length)]
        values = np.exp(model.example_log_probs(examples))
        # sentences that begin with any `length` words have what shorter ones leave
        assert values[:, 0].sum() == pytest.approx(left, abs=1e-4)
        left -= values.prod(axis=1).sum()
    assert 0 < left < 1


def test_surprisals_of_words_add_up_to_the_sentences_log_probability(model, generative_sentences):
    few = generative_sentences[:9]
    found = model.records_of([s.tokens for s in few])
    log_probs = model.example_log_probs([model.encode_training(s) for s in few])
    for sentence, records, (words, end) in zip(few, found, log_probs, strict=True):
        assert [r.token for r in records] == [*sentence.tokens, None]
        assert [r.unk for r in records] == [*sentence.unkified, None]
        bits = [r.surprisal for r in records]
        assert sum(bits[:-1]) * math.log(2) == pytest.approx(-words, rel=1e-5)
        assert bits[-1] * math.log(2) == pytest.approx(-end, abs=1e-4)


def test_a_word_that_cannot_be_given_is_infinitely_surprising_and_passed_over(model):
    # no UNK class of digits, capitals and a dash is in the small training data
    odd = "A1-S"
    sentences = [["she", odd, "slept"], ["she", "slept"], [odd]]
    [with_odd, without, nothing] = model.records_of(sentences)
    bits = [r.surprisal for r in with_odd]
    assert bits[1] == math.inf
    assert [bits[0], *bits[2:]] == pytest.approx([r.surprisal for r in without], abs=1e-4)
    assert nothing[0].surprisal == math.inf
    assert math.isfinite(nothing[1].surprisal)
    assert model.records_of([]) == []


def test_a_sentence_that_does_not_fit_into_memory_has_no_surprisals(model, monkeypatch):
    def refuse(examples):
        raise MemoryError

    monkeypatch.setattr(model, "_word_log_probs", refuse)
    [records] = model.records_of([["she", "slept"]])
    assert [r.token for r in records] == ["she", "slept", None]
    assert all(math.isnan(r.surprisal) for r in records)
