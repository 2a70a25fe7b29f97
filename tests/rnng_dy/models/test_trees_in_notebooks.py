"""Trees are plain nltk.Tree, which notebooks draw by themselves."""

from __future__ import annotations

import nltk
import pytest

from ..conftest import make_generator


def given_trees(parser, sentence):
    tokens = list(zip(sentence.tokens, sentence.tags, strict=True))
    yield parser.parse_one(tokens)
    yield parser.sample(tokens, n=1)[0][0]
    parser.transitions.max_open = 2
    yield parser.nbest(tokens, 1, beam=1)[0][0]


def test_all_trees_are_nltks(parser, sentences, generative_sentences):
    trees = [*given_trees(parser, sentences[0])]
    trees.append(make_generator(generative_sentences).generate(1, 1, 20)[0][0])
    assert {type(tree) for tree in trees} == {nltk.Tree}


def test_a_notebook_draws_a_tree(parser, sentences):
    pytest.importorskip("svgling")
    tree = parser.parse_one(list(zip(sentences[0].tokens, sentences[0].tags, strict=True)))
    drawn = tree._repr_svg_()
    assert drawn.startswith("<svg") and sentences[0].tokens[0] in drawn
