"""The tagger: features of spelling, the tags of NLTK's own tagger, and NLTK's files."""

import random

import nltk
import pytest
from nltk.tag import perceptron
from nltk.tag.perceptron import PerceptronTagger

from oracle import tagging
from oracle.brackets import read_trees
from oracle.common.errors import InputError
from oracle.tagging import FILES, load_tagger, save_tagger
from oracle.treebank import words
from tests.conftest import TINY

WORDS = ["the", "caf\u00e9", "\udce9t\u00e9", "snake_case", "-LRB-", "1999", "the"]


@pytest.fixture(scope="module")
def tagger():
    sentences = [tagging.tagged(located.tree) for located in read_trees(str(TINY))][:200]
    return tagging.train_tagger([*sentences, [(word, "ODD") for word in WORDS]], seed=1)


@pytest.fixture
def folder(tagger, tmp_path):
    save_tagger(tagger, tmp_path / "tagger")
    return tmp_path / "tagger"


def test_a_tagger_of_nltk_assigns_its_own_tags(tmp_path, monkeypatch):
    monkeypatch.setattr(perceptron, "random", random.Random(1))
    trees = [located.tree for located in read_trees(str(TINY))]
    of_nltk = PerceptronTagger(load=False)
    of_nltk.train([tagging.tagged(tree) for tree in trees[:100]], nr_iter=3)
    save_tagger(of_nltk, tmp_path / "tagger")
    ours = load_tagger(tmp_path / "tagger")
    for tree in trees[100:150]:
        assert ours.tag(words(tree)) == of_nltk.tag(words(tree))


def test_nltks_features_and_seven_more():
    tagger, of_nltk = tagging.Tagger(load=False), PerceptronTagger(load=False)
    asked = (1, "Cats", [*tagger.START, "the", "cats", "sat", *tagger.END], "DT", "-START-")
    assert set(tagger._get_features(*asked)) - set(of_nltk._get_features(*asked)) == {
        "i spelling C first False",
        "i-1 tag+i spelling DT C",
        "i suffix1 s",
        "i suffix2 ts",
        "i suffix4 cats",
        "i prefix3 cat",
        "i word+i+1 word cats sat",
    }


STEMS = ("kat", "mog", "rud", "sel", "vip", "bon")


@pytest.mark.parametrize("written", [str.title, str.upper, "{}1x".format, "x-{}".format])
def test_unseen_words_are_told_apart_by_how_they_are_written(written):
    pairs = [
        [("so", "X"), (form(stem), tag)]
        for stem in STEMS
        for form, tag in ((written, "A"), ("{}x".format, "B"))
    ]
    tagger = tagging.train_tagger(pairs * 3, seed=1)
    found = [tagging.tags_by(tagger, ["so", word])[1] for word in (written("nuf"), "nufx")]
    assert found == ["A", "B"]


def test_the_tagger_that_is_read_tags_as_the_one_that_was_written(tagger, folder):
    again = load_tagger(folder)
    sentences = [words(located.tree) for located in read_trees(str(TINY))]
    for sentence in [*sentences[200:260], WORDS]:
        assert again.tag(sentence) == tagger.tag(sentence)
    assert again.encode_json_obj()[:2] == tagger.encode_json_obj()[:2]


def test_nltk_reads_the_files(tagger, folder, monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [str(folder.parent), *nltk.data.path])
    try:
        again = PerceptronTagger(lang="xxx", loc=str(folder))
    except (TypeError, LookupError):
        pytest.skip("this NLTK has no taggers as JSON files")
    assert again.tag(WORDS) == tagger.tag(WORDS)
    assert again.classes == tagger.classes


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        load_tagger(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [b"", b"7", b'{"a": [1', b"[" * 100_000, b'["\xff\xfe\xfa"]'])
def test_damaged_content_is_refused(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match="train the tagger again"):
        load_tagger(folder)


def test_tags_that_cannot_be_are_refused(folder):
    (folder / FILES[2]).write_text('["NN"]')
    with pytest.raises(InputError, match="tags that the list of tags lacks"):
        load_tagger(folder)
