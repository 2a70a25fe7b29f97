"""A sentence read word by word gives what the whole sentence gives."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest

from oracle.errors import RnngError, UnseenSymbolError
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.search.surprisal import SearchOptions

from ..conftest import make_generator, make_parser

WORDS = ["she", "read", "no", "zebra", "letter", "."]
BEAM = SearchOptions(beam=12, fast_track=2, word_beam=4)
OPTIONS = {
    "beam": BEAM,
    "next word": replace(BEAM, next_word=True),
    "reference": replace(BEAM, like_reference=True),
    "particles": SearchOptions(search="particles", particles=10, runs=2, seed=4),
    "variable": SearchOptions(search="variable", particles=40),
}
NUMBERS = [f.name for f in fields(WordRecord) if f.name not in ("token", "unk", "beam")]


@pytest.fixture(scope="module")
def model(generative_sentences):
    return make_generator(generative_sentences, seed=5)


@pytest.fixture(scope="module")
def parser(sentences):
    return make_parser(sentences, tags=False)


def assert_equal(record, other):
    assert (record.token, record.unk) == (other.token, other.unk)
    for name in NUMBERS:
        assert getattr(record, name) == pytest.approx(getattr(other, name), abs=1e-4), name
    assert [a.actions for a in record.beam] == [a.actions for a in other.beam]
    log_probs = [[a.log_prob for a in r.beam] for r in (record, other)]
    assert log_probs[0] == pytest.approx(log_probs[1], abs=1e-4)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_reader_agrees_with_surprisals_word_by_word(model, name):
    options = OPTIONS[name]
    *words, end = model.surprisals(WORDS[:4], options, end=True)
    reader = model.reader(options)
    for word, record in zip(WORDS, words, strict=False):
        assert_equal(reader.push(word), record)
        assert reader.beam == reader.copy().beam
        assert [a.actions for a in reader.beam] == [a.actions for a in record.beam]
    assert reader.tokens == tuple(WORDS[:4])
    at_the_end, trees = reader.end()
    assert_equal(at_the_end, end)
    assert all(analysis.actions[-1] == "REDUCE" for analysis in trees)


def test_readers_and_a_parse_may_take_turns(model, parser):
    """DyNet has one graph for the process; what a reader needs outlives it."""
    others = ["the", "train", "slept", "near", "Oslo", "."]
    expected = [model.surprisals(words, BEAM) for words in (WORDS, others)]
    tree = list(parser.parse(["the", "cat", "slept"]))
    readers = [model.reader(BEAM), model.reader(BEAM)]
    for i in range(len(WORDS)):
        for reader, words, records in zip(readers, (WORDS, others), expected, strict=True):
            assert_equal(reader.push(words[i]), records[i])
            assert list(parser.parse(["the", "cat", "slept"])) == tree
            reader.next_words(3)
            model.surprisals(["the", "cat"], BEAM)


def test_copies_go_their_own_ways(model):
    reader = model.reader(BEAM)
    before = reader.copy()
    for word in WORDS[:3]:
        reader.push(word)
    copies = {word: reader.copy() for word in ("letter", "train", ".")}
    for word, other in copies.items():
        assert_equal(other.push(word), model.surprisals([*WORDS[:3], word], BEAM)[-1])
    assert reader.tokens == tuple(WORDS[:3])
    assert before.tokens == () and before.beam == []
    assert_equal(copies["train"].push("."), model.surprisals([*WORDS[:3], "train", "."], BEAM)[-1])
    assert_equal(reader.push(WORDS[3]), model.surprisals(WORDS[:4], BEAM)[-1])


@pytest.mark.parametrize("name", OPTIONS)
def test_the_probabilities_of_all_next_words_add_up_to_1(model, name):
    reader = model.reader(OPTIONS[name])
    symbols = model.vocabulary.words.symbols
    for word in WORDS[:2]:
        found = reader.next_words(len(symbols))
        assert sorted(w for w, _ in found) == sorted(w for w in symbols if w != "<s>")
        probs = [p for _, p in found]
        assert probs == sorted(probs, reverse=True)
        assert math.fsum(probs) == pytest.approx(1, abs=1e-6)
        assert reader.next_words() == found[:10]
        reader.push(word)


def test_what_a_reader_cannot_read_leaves_it_where_it_is(model):
    reader = model.reader(BEAM)
    with pytest.raises(RnngError, match="no word has been read"):
        reader.end()
    reader.push("she")
    beam = reader.beam
    with pytest.raises(UnseenSymbolError):
        reader.push("A1-S")
    assert (reader.tokens, reader.beam) == (("she",), beam)
    assert_equal(reader.push("read"), model.surprisals(["she", "read"], BEAM)[-1])


def test_a_search_that_finds_no_way_says_so(model):
    reader = model.reader(SearchOptions(search="variable", particles=1))
    with pytest.raises(RnngError, match="no partial tree that the search kept leads to 'she'"):
        reader.push("she")
    assert reader.tokens == ()


def test_what_is_no_token_or_number_is_refused(model):
    with pytest.raises(RnngError, match="from 1 on"):
        model.reader(BEAM).next_words(0)
    with pytest.raises(RnngError, match="lone surrogates"):
        model.reader(BEAM).push("\ud800")
