"""Trees are plain nltk.Tree, which notebooks draw by themselves."""

from __future__ import annotations

import nltk
import pytest


def given_trees(parser, sentence):
    tokens = list(zip(sentence.tokens, sentence.tags, strict=True))
    # without training it would open all that can be open
    parser.transitions.max_open = 1
    yield parser.parse_one(tokens)
    yield parser.sample(tokens, n=1)[0][0]
    yield parser.nbest(tokens, 1, beam=1)[0][0]


def test_all_trees_are_nltks(parser, sentences):
    trees = [*given_trees(parser, sentences[0])]
    assert [type(tree) for tree in trees] == [nltk.Tree] * 3


def test_a_notebook_draws_a_tree(parser, sentences):
    pytest.importorskip("svgling")
    parser.transitions.max_open = 1
    tree = parser.parse_one(list(zip(sentences[0].tokens, sentences[0].tags, strict=True)))
    drawn = tree._repr_svg_()
    assert drawn.startswith("<svg") and sentences[0].tokens[0] in drawn
