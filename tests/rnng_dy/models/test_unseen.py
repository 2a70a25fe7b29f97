"""The parser reads symbols that training lacks as known ones; in a tree they make p or q = 0."""

import math
from dataclasses import replace

import nltk
import numpy as np
import pytest

from oracle.common.errors import RnngError, UnseenSymbolError
from oracle.unknown import UnknownWords
from rnng_dy.vocabulary import UNK


def test_an_unseen_word_is_unk(parser):
    words = parser.encode(["zyx"], ["NN"], ["UNK-NEVER-SEEN"]).words
    assert words == [parser.vocabulary.words[UNK]]


def test_an_unseen_tag_is_the_average_tag(parser):
    """Its embedding is the mean of the trained ones, each as often as training has the tag."""
    tokens = [("the", "DT"), ("cat", "ZZ"), ("slept", "VBD"), (".", ".")]
    with pytest.warns(UserWarning, match="tags unseen in training: ZZ"):
        tree = parser.parse_one(tokens)
    assert tree.pos() == tokens
    with pytest.warns(UserWarning, match="tags unseen in training: XX"):
        parser.parse_one([(word, "XX") for word, _ in tokens])
    table = parser.store.arrays()["tag"]
    counts = np.array(parser.vocabulary.tag_counts)
    expected = (table * counts[:, None]).sum(axis=0) / counts.sum()
    assert parser.network._unknown_tag.source([None]).npvalue() == pytest.approx(expected, abs=1e-6)


def test_a_tree_with_an_unseen_nonterminal_has_no_probability(parser, generator):
    tree = nltk.Tree.fromstring("(S (QQ (DT the) (NN cat)) (VP (VBD slept)) (. .))")
    assert parser.log_prob(tree) == -math.inf
    assert generator.log_prob(tree) == -math.inf


def test_a_tree_with_a_trace_is_refused(parser, generator):
    tree = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBD slept) (NP (-NONE- *))) (. .))")
    for ask in (parser.log_prob, generator.log_prob, generator.example_of):
        with pytest.raises(RnngError, match="a trace"):
            ask(tree)


def test_a_class_stays_a_class_unless_the_rules_have_none(generator):
    vocabulary = generator.vocabulary
    assert vocabulary.unknown.unkify(["the", "zork", "UNK-CAPS-NUM"], True) == [
        "the",
        "UNK-LC",
        "UNK-CAPS-NUM",
    ]
    single = replace(vocabulary, unknown=UnknownWords("single", vocabulary.unknown.known))
    assert single.unknown.unkify(["the", "zork", "UNK-CAPS-NUM"], True) == ["the", "UNK", "UNK"]


@pytest.mark.parametrize(("word", "unseen"), [("UNK-NEVER", "UNK-NEVER"), ("the", "QQ")])
def test_unseen_symbols_are_named(generator, word, unseen):
    with pytest.raises(UnseenSymbolError) as error:
        generator.encode([word, "the"], ["NT(QQ)", "SHIFT", "SHIFT", "REDUCE"])
    assert error.value.symbols == (unseen,)


def test_trees_of_the_api_have_the_probability_they_were_drawn_with(parser, generator):
    parser.transitions.max_open = generator.transitions.max_open = 2
    tokens = [("it", "PRP"), ("slept", "VBD"), (".", ".")]
    for tree, log_q in parser.sample(tokens, n=5, alpha=1.0):
        assert parser.log_prob(tree) == pytest.approx(log_q, rel=1e-4)
    for tree, log_p in generator.generate(5, seed=4, max_length=30):
        assert generator.log_prob(tree) == pytest.approx(log_p, rel=1e-4)


def test_an_unseen_tag_has_no_row_to_be_trained(parser, sentences):
    example = parser.encode_training(replace(sentences[0], tags=("WINGS", *sentences[0].tags[1:])))
    parser.store.forget_used_rows()
    parser.network.walk([parser.network.derivation(example)])
    known = set(map(parser.vocabulary.tags.get, sentences[0].tags[1:]))
    assert parser.store.used_rows()["tag"] == known
