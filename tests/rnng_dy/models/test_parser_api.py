"""The parser is NLTK's `ParserI`."""

from collections.abc import Iterator
from dataclasses import replace

import nltk
import pytest
from nltk.parse.api import ParserI

from oracle.common.errors import RnngError
from oracle.tagging import tags_by
from rnng_dy import parser as parser_module

from ..conftest import make_parser

TOKENS = [("it", "PRP"), ("slept", "VBD"), (".", ".")]
WORDS = ["the", "cat", "slept", "."]


@pytest.fixture
def short(parser):
    parser.transitions.max_open = 2
    return parser


def test_parse_iterates_over_trees_best_first(short):
    assert isinstance(short, ParserI)
    found = short.parse(TOKENS)
    assert isinstance(found, Iterator)
    [tree] = found
    assert isinstance(tree, nltk.Tree)
    assert tree.pos() == TOKENS
    assert short.parse_one(TOKENS) == tree
    assert short.parse_all(TOKENS) == [tree]


def test_a_generative_model_parses_by_the_same_verbs(generator):
    generator.transitions.max_open = 2
    assert isinstance(generator, ParserI)
    tree = generator(["the", "cat"])
    assert generator.parse_one(["the", "cat"]) == tree == next(generator.parse(["the", "cat"]))
    assert generator.sample(2, seed=3, max_length=9) == generator.generate(2, seed=3, max_length=9)


def test_parse_sents_gives_iterators_of_trees_as_they_come(short, monkeypatch):
    monkeypatch.setattr(parser_module, "BATCH_SIZE", 4)
    read = []

    def endless():
        while True:
            assert len(read) < 50, "sentences are read long before they are parsed"
            read.append(len(read))
            yield TOKENS[: 1 + len(read) % 3]

    found = short.parse_sents(endless())
    for i in range(6):
        [tree] = next(found)
        assert len(tree.leaves()) == 1 + (i + 1) % 3
    # as many as are parsed together, twice
    assert len(read) == 8


@pytest.fixture
def tagging(short, tagger):
    """A parser with a tagger of its own."""
    short.tagger = tagger
    return short


@pytest.fixture
def tagged(tagger):
    """WORDS with the tagger's tags."""
    return list(zip(WORDS, tags_by(tagger, WORDS), strict=True))


def test_words_alone_are_parsed_as_words_with_the_taggers_tags(tagging, tagged):
    assert tagging.tags_for(WORDS) == [tag for _, tag in tagged]
    assert tagging.encode(WORDS, None) == tagging.encode(WORDS, [tag for _, tag in tagged])
    tree = tagging.parse_one(WORDS)
    assert tree == tagging.parse_one(tagged)
    assert tree.pos() == tagged
    assert tagging.sample(WORDS, n=5) == tagging.sample(tagged, n=5)


@pytest.mark.parametrize("text", ["(S (XX the) (XX cat) (XX slept) (XX .))", "(S the cat slept .)"])
def test_a_tree_without_tags_has_the_log_q_of_the_taggers(tagging, tagged, text):
    whole = nltk.Tree("S", [nltk.Tree(tag, [word]) for word, tag in tagged])
    other = nltk.Tree("S", [nltk.Tree("NN", [word]) for word, tag in tagged])
    log_q = tagging.log_prob(nltk.Tree.fromstring(text))
    assert log_q == tagging.log_prob(whole) != tagging.log_prob(other)


def test_xx_is_a_tag_where_training_has_it(sentences, tagger):
    parser = make_parser([replace(s, tags=("XX",) * len(s.tags)) for s in sentences])
    parser.tagger = tagger
    assert parser.tags_read(["a", "b"], ["XX", "XX"]) == ["XX", "XX"]


def test_a_parser_of_words_reads_no_tags(sentences, tagger):
    parser = make_parser(sentences, tags=False)
    parser.transitions.max_open = 2
    parser.tagger = tagger
    assert {tag for _, tag in parser.parse_one(WORDS).pos()} == {"XX"}


@pytest.mark.parametrize(
    "use",
    [
        lambda parser: parser.tags_for(WORDS),
        lambda parser: parser.encode(WORDS, None),
        lambda parser: parser.parse_one(WORDS),
        lambda parser: parser.sample(WORDS),
        lambda parser: parser.log_prob(nltk.Tree.fromstring("(S the cat slept .)")),
    ],
)
def test_without_a_tagger_a_parser_says_what_to_do(short, use):
    with pytest.raises(RnngError, match=r"has no tagger: give it word_TAG .*rnng-dy tag --train"):
        use(short)


def test_an_argument_that_nothing_reads_is_refused(short):
    with pytest.raises(TypeError):
        short.parse_sents([], nonsense=1)
