"""Examples made of arrays are those that the models make of sentences."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from oracle import encoding
from oracle.blocks import make_oracle, write_oracle
from oracle.brackets import LocatedTree, parse_line
from oracle.encoding import encode, read_encoded
from oracle.errors import ImpossibleError
from oracle.files import replacing
from oracle.unknown import UnknownWords
from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel
from rnng_dy.training.examples import examples_of, sizes_of
from rnng_dy.training.loop import TrainingLoop
from rnng_dy.training.presets import PRESETS
from rnng_dy.vocabulary import GeneratorVocabulary

from ..conftest import make_generator, make_parser, sentences_of, simple_clusters


def make_language_model(sentences):
    vocabulary = GeneratorVocabulary.build(simple_clusters(sentences), sentences)
    return LstmLanguageModel(vocabulary, LanguageModelSizes(1, 6, 5))


def make_parser_with_vectors(sentences):
    words = ["the", "UNK", "of"]
    return make_parser(sentences, vectors=(words, np.eye(3, dtype=np.float32)))


MAKERS = {
    "parser": (make_parser, False),
    "parser without tags": (lambda sentences: make_parser(sentences, tags=False), False),
    "parser with vectors": (make_parser_with_vectors, False),
    "generator": (make_generator, True),
    "language model": (make_language_model, True),
}


@pytest.fixture(params=MAKERS)
def made(request, trees):
    """A model of the first trees, and sentences of those and others."""
    make, generative = MAKERS[request.param]
    model = make(sentences_of(trees[:30], generative))
    return model, sentences_of(trees[:90], generative)


def expected(model, sentences):
    """The examples one by one, and why the others are none."""
    examples, impossible = [], {}
    for sentence in sentences:
        try:
            examples.append(model.encode_training(sentence))
        except ImpossibleError as error:
            impossible[sentence.line] = str(error)
    return examples, impossible


def test_examples_are_those_of_the_sentences(made):
    model, sentences = made
    examples, impossible = examples_of(model, encode(sentences))
    known, left_out = expected(model, sentences)
    assert list(examples) == known
    assert impossible == left_out
    assert left_out or model.kind == "discriminative"
    assert [s.line for s in sentences if s.line not in left_out] == examples.lines.tolist()
    assert examples.sizes.tolist() == sizes_of(known).tolist()
    assert sizes_of(known)[0] == len(
        known[0].words if model.kind == "lstm-lm" else known[0].actions
    )


def test_numbers_are_python_s_own(made):
    """The random draws and the graphs of a training are made of them."""
    model, sentences = made
    example = examples_of(model, encode(sentences))[0][0]
    flat = [example.tokens.words, *example[1:]] if model.kind == "discriminative" else example
    assert {type(number) for numbers in flat for number in numbers} == {int}


def test_too_many_constituents_open_are_left_out(trees):
    deep = "(S " + "(X " * 101 + "(NN a)" + ")" * 102
    wide = "(S " + "(X (NN a)) " * 101 + ")"
    located = [LocatedTree(parse_line(text), "deep.trees", 1) for text in (deep, wide)]
    sentences = list(make_oracle(located, UnknownWords("berkeley", ()), False))
    model = make_parser(sentences)
    examples, impossible = examples_of(model, encode(sentences))
    assert list(examples) == [model.encode_training(sentences[1])]
    assert list(impossible) == [1]


def trained(model, examples, folder, **changes):
    """The parameters after some updates."""
    changes = {"batch_size": 4, "epochs": 1, "l2": 0.0, "optimizer": "adam", **changes}
    settings = replace(PRESETS["paper", model.kind], **changes)
    run = TrainingLoop(model, examples, lambda: {"score": 0.0}, settings, folder)
    run.create_folder()
    run.run()
    return model.store.arrays()


@pytest.mark.parametrize("jobs", [1, 2])
def test_training_from_arrays_is_the_same_to_the_last_bit(trees, tmp_path, monkeypatch, jobs):
    monkeypatch.setattr(encoding, "KEPT_FROM", 0)
    sentences = sentences_of(trees[:16], generative=False)
    with replacing(tmp_path / "train.oracle") as stream:
        write_oracle(sentences, stream)
    oracle = read_encoded(tmp_path / "train.oracle")
    mapped, _ = examples_of(make_parser(oracle), oracle)
    assert len(pickle.dumps(mapped)) < len(pickle.dumps(oracle._columns)) + 40_000
    listed = [make_parser(sentences).encode_training(s) for s in sentences]
    one = trained(make_parser(sentences), listed, tmp_path / "listed", jobs=jobs)
    other = trained(make_parser(oracle), mapped, tmp_path / "mapped", jobs=jobs)
    for name, values in one.items():
        assert np.array_equal(values, other[name]), name
