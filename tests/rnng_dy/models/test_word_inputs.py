"""Inputs of docs/extending.md: vectors of words from characters, and from the whole sentence."""

import re

import numpy as np
import pytest

from oracle.blocks import counted
from oracle.brackets import LocatedTree, parse_line
from oracle.common.errors import RnngError
from oracle.common.plugins import load_plugin
from rnng_dy.engine import dy
from rnng_dy.generator import GenerativeModel
from rnng_dy.models.vectors import Embedding
from rnng_dy.models.word_input import WORD_INPUTS
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.training.initial_models import extended
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary
from tests import pages
from tests.plugin_state import no_plugins

from ..conftest import GENERATOR_SIZES, PARSER_SIZES, sentences_of, simple_clusters

PAGE = pages.CHECKOUT / "docs" / "extending.md"


@pytest.fixture(autouse=True)
def plugins(tmp_path):
    with no_plugins():
        for block in pages.blocks(PAGE, "python"):
            name = re.match(r"# (\w+\.py)\n", block)[1]
            if name in ("characters.py", "contextual.py"):
                (tmp_path / name).write_text(block, encoding="utf-8")
                load_plugin(tmp_path / name)
        yield


def parser_with(word_input, sentences):
    vocabulary = ParserVocabulary.from_oracle(sentences, False)
    return DiscriminativeParser(vocabulary, PARSER_SIZES, word_input=word_input)


def generator_with(word_input, sentences):
    vocabulary = GeneratorVocabulary.build(simple_clusters(sentences), sentences)
    return GenerativeModel(vocabulary, GENERATOR_SIZES, word_input=word_input)


def test_unknown_words_of_one_class_differ_by_their_characters(sentences):
    words = [["the", unknown, "slept"] for unknown in ("zork", "blick", "zork")]
    table, characters = (parser_with(name, sentences) for name in ("table", "characters"))
    for parser, differ in ((table, False), (characters, True)):
        first, second, third = (log_q_of_a_tree(parser, sentence) for sentence in words)
        assert first == third and (first != second) == differ


def log_q_of_a_tree(parser, words):
    return parser.log_prob(parse_line(f"(S {' '.join(words)})"))


def test_scores_of_training_and_of_a_search_agree(generative_sentences, tmp_path):
    """The search reads word by word, over several graphs; a saved model says its input."""
    made = generator_with("characters", generative_sentences)
    made.save(tmp_path / "m")
    model = GenerativeModel.load(tmp_path / "m")
    assert model.config()["word_input"] == "characters"
    assert model.config()["plugins"] == ["characters.py"]
    for tree, log_p in model.generate(3, seed=2, max_length=9):
        assert model.log_prob(tree) == made.log_prob(tree) == pytest.approx(log_p, abs=1e-3)


@pytest.mark.parametrize("word_input", ["characters", "contextual"])
def test_gradients_reach_the_parameters_of_the_input(sentences, word_input):
    parser = parser_with(word_input, sentences)
    dy.renew_cg()
    parser.training_loss([parser.encode_training(s) for s in sentences[:3]], 0.0).backward()
    own = [v for name, v in parser.store.dense.items() if name.startswith(word_input)]
    assert own and all(np.abs(values.grad_as_array()).max() > 0 for values in own)


def test_a_generative_model_trains_the_words_that_it_predicts(generative_sentences):
    model = generator_with("characters", generative_sentences)
    dy.renew_cg()
    model.training_loss([*map(model.encode_training, generative_sentences)], 0.0).backward()
    assert model.store.unused(model.store.used_rows()) == []


def test_words_with_new_characters_leave_the_vectors_of_others_alone(sentences):
    [new] = sentences_of([LocatedTree(parse_line("(S (NN #x) (NN #x))"), "t", 1)], generative=False)
    parser = parser_with("characters", sentences)
    larger = extended(parser, counted([new]), seed=1)
    assert "#x" in larger.unknown.known
    assert log_q_of_a_tree(larger, ["the"]) == log_q_of_a_tree(parser, ["the"])


def test_a_generative_model_must_not_read_ahead(generative_sentences):
    with pytest.raises(RnngError, match="contextual reads the whole sentence"):
        generator_with("contextual", generative_sentences)


@pytest.mark.parametrize(
    ("made", "gives"),
    [
        (lambda rows, size: dy.zeros((size,), 2 * len(rows)), r"shape \(\d+,\) in a batch of 6,"),
        (lambda rows, size: dy.zeros((size + 1,), len(rows)), r"shape \(\d+,\) in a batch of 3,"),
        (lambda rows, size: [dy.zeros((size,))] * len(rows), r"\["),
    ],
)
def test_other_shapes_are_refused_by_the_name_of_the_input(sentences, made, gives):
    class Wrong(WORD_INPUTS["table"]):
        """Vectors of another number or size."""

        name = "wrong"

        def sentence(self, words):
            return [Embedding(self, word.form) for word in words]

        def __call__(self, rows):
            return made(rows, PARSER_SIZES.word)

    WORD_INPUTS.register(Wrong)
    with pytest.raises(ValueError, match=f"^Wrong gives {gives}"):
        log_q_of_a_tree(parser_with("wrong", sentences), ["the", "dog", "slept"])
