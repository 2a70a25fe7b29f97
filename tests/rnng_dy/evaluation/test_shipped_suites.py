"""The package's own suites: words of the treebank, conditions that differ where they should."""

import pytest

import rnng_dy
from rnng_dy.evaluation.suite_files import read_suites, shipped

NAMES = ["agreement-pp", "agreement-relative", "filler-gap", "garden-path-nps", "garden-path-npz"]


@pytest.fixture(scope="module")
def treebank_words():
    """Every word of NLTK's sample of the Penn Treebank, as it is written."""
    from nltk.corpus import treebank

    try:
        return {w for tree in treebank.parsed_sents() for w, tag in tree.pos() if tag != "-NONE-"}
    except LookupError:
        pytest.skip("NLTK's treebank sample is not there")


def test_these_come_with_the_package():
    assert list(shipped()) == [*NAMES, "phenomena"]


def test_phenomena_have_pairs_of_the_treebanks_words(treebank_words):
    suites = read_suites("phenomena")
    assert len(suites) == len({suite.name for suite in suites}) == 20
    pairs = []
    for suite in suites:
        assert len(suite.items) == 5
        pairs += [tuple(item.regions.values()) for item in suite.items]
    assert not {token for pair in pairs for tokens in pair for token in tokens} - treebank_words
    for good, bad in pairs:
        assert good != bad
        assert good[0][0].isupper() and good[-1] == bad[-1] and good[-1] in ".?"


def test_the_english_model_knows_all_words_of_the_phenomena():
    known = rnng_dy.load("english-generative").vocabulary.ids
    tokens = {t for suite in read_suites("phenomena") for of in suite.sentences() for t in of}
    assert not {token for token in tokens if token not in known}


@pytest.mark.parametrize("name", NAMES)
def test_every_word_is_the_treebanks(name, treebank_words):
    [suite] = read_suites(name)
    assert not {token for sentence in suite.sentences() for token in sentence} - treebank_words


@pytest.mark.parametrize("name", NAMES)
def test_items_are_whole(name):
    [suite] = read_suites(name)
    assert suite.name == name
    assert len(suite.items) >= 12
    assert [item.name for item in suite.items] == [*range(1, 1 + len(suite.items))]
    conditions = {tuple(item.ends) for item in suite.items}
    assert len(conditions) == 1
    for item in suite.items:
        sentences = [tokens for [tokens] in item.sentences.values()]
        assert len(set(sentences)) == len(sentences)
        assert [*item.regions] == [(name, n) for name in item.ends for n in suite.region_names]
        for tokens in sentences:
            assert tokens[0][0].isupper()
            assert tokens[-1] == "."
            assert tokens.count(".") == 1
    assert {r.condition for p in suite.predictions for r in p.references} == set(*conditions)
