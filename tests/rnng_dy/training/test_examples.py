"""Examples are those that the models make of sentences."""

import numpy as np
import pytest

from oracle.blocks import make_oracle, stored
from oracle.brackets import LocatedTree, parse_line
from oracle.common.errors import ImpossibleError, InputError
from oracle.unknown import UnknownWords
from rnng_dy.training.data import examples_of

from ..conftest import make_generator, make_lm, make_parser, sentences_of
from .trainings import Training


def make_parser_with_vectors(sentences):
    return make_parser(sentences, vectors=(["the", "UNK", "of"], np.eye(3, dtype=np.float32)))


MAKERS = {
    "parser": (make_parser, False),
    "parser without tags": (lambda sentences: make_parser(sentences, tags=False), False),
    "parser with vectors": (make_parser_with_vectors, False),
    "generator": (make_generator, True),
    "language model": (make_lm, True),
}


@pytest.fixture(params=MAKERS)
def made(request, trees):
    """A model of the first trees, and sentences of those and others."""
    make, generative = MAKERS[request.param]
    return make(sentences_of(trees[:30], generative)), sentences_of(trees[:90], generative)


def test_examples_are_those_of_the_sentences_and_those_without_are_named(made, caplog):
    model, sentences = made
    examples = examples_of(model, sentences, "some.oracle")
    expected = []
    for sentence in sentences:
        try:
            expected.append(model.encode_training(sentence))
        except ImpossibleError as error:
            assert f"some.oracle: left out, since {error}: {sentence.tokens[0]}" in caplog.text
    assert list(examples) == expected
    assert (len(expected) < len(sentences)) == (model.kind != "discriminative")


def test_too_many_constituents_open_are_left_out(trees):
    deep = "(S " + "(X " * 101 + "(NN a)" + ")" * 102
    wide = "(S " + "(X (NN a)) " * 101 + ")"
    located = [LocatedTree(parse_line(text), "deep.trees", 1) for text in (deep, wide)]
    sentences = list(make_oracle(located, UnknownWords("berkeley", ()), False))
    model = make_parser(sentences)
    examples = examples_of(model, sentences, "deep.trees")
    assert list(examples) == [model.encode_training(sentences[1])]
    with pytest.raises(InputError, match=r"deep.trees: every sentence has p = 0"):
        examples_of(model, sentences[:1], "deep.trees")


@pytest.mark.parametrize("jobs", [1, 2])
def test_training_from_stored_sentences_is_the_same_to_the_last_bit(trees, tmp_path, jobs):
    sentences = sentences_of(trees[:16], generative=False)
    changes = {"batch_size": 4, "epochs": 1, "l2": 0.0, "optimizer": "adam", "jobs": jobs}
    found = []
    for name, data in (("listed", sentences), ("read", stored(sentences, tmp_path / "stored"))):
        model = make_parser(data)
        training = Training(model, data, tmp_path / name, **changes)
        training.begin()
        training.run()
        found.append(model.store.arrays())
    np.testing.assert_equal(*found)
