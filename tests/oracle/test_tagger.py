"""The tagger: features of how words are written, and the tags of NLTK's own tagger."""

from __future__ import annotations

import random

import pytest
from nltk.tag import perceptron
from nltk.tag.perceptron import PerceptronTagger

from oracle import tagging
from oracle.brackets import read_trees
from oracle.tagger import load_tagger, save_tagger
from oracle.treebank import words
from tests.conftest import TINY


def test_a_tagger_of_nltk_assigns_its_own_tags(tmp_path, monkeypatch):
    monkeypatch.setattr(perceptron, "random", random.Random(1))
    trees = [located.tree for located in read_trees(str(TINY))]
    of_nltk = PerceptronTagger(load=False)
    of_nltk.train([tagging.tagged(tree) for tree in trees[:100]], nr_iter=3)
    save_tagger(of_nltk, tmp_path / "tagger")
    ours = load_tagger(tmp_path / "tagger")
    for tree in trees[100:150]:
        assert ours.tag(words(tree)) == of_nltk.tag(words(tree))


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
