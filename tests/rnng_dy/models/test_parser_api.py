"""The parser is NLTK's `ParserI`."""

from __future__ import annotations

from collections.abc import Iterator

import nltk
import pytest
from nltk.parse.api import ParserI

from rnng_dy.models import discriminative

TOKENS = [("it", "PRP"), ("slept", "VBD"), (".", ".")]


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


def test_parse_sents_gives_iterators_of_trees_as_they_come(short, monkeypatch):
    monkeypatch.setattr(discriminative, "BATCH_SIZE", 4)
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


def test_sentences_parsed_together_have_the_trees_that_they_have_alone(short, sentences):
    tokens = [list(zip(s.tokens, s.tags, strict=True)) for s in sentences[:40]]
    together = [next(trees) for trees in short.parse_sents(iter(tokens))]
    assert together == [short.parse_one(sentence) for sentence in tokens]


def test_a_sentence_that_does_not_fit_has_no_tree(short, monkeypatch):
    def limited(parser, batch):
        if any(len(tokens.words) > 2 for tokens in batch):
            raise MemoryError
        return parse_batch(parser, batch)

    parse_batch = discriminative.parse_batch
    monkeypatch.setattr(discriminative, "parse_batch", limited)
    found = [list(trees) for trees in short.parse_sents([TOKENS[:2], TOKENS, TOKENS[:1]])]
    assert [len(trees) for trees in found] == [1, 0, 1]
    assert short.parse_one(TOKENS) is None
