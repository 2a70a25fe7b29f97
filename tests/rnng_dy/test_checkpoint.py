"""What a model folder may say, and what is told of one that is damaged."""

import json

import nltk
import numpy as np
import pytest

from oracle.common.errors import InputError
from rnng_dy import DiscriminativeParser
from rnng_dy.checkpoint import read_arrays

from .conftest import make_generator, make_parser

VECTORS = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -3.0]], np.float32)


@pytest.fixture
def folder(sentences, tmp_path):
    make_parser(sentences, vectors=(["the", "a"], VECTORS)).save(tmp_path / "m")
    return tmp_path / "m"


def test_every_word_keeps_its_vector(sentences, folder):
    """The order of the table changes nothing, another vector of a word does."""
    tree = nltk.Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))))")
    model = DiscriminativeParser.load(folder)
    assert np.array_equal(model.vectors, VECTORS)
    orders = ["a", "the"], ["the", "a"]
    turned, wrong = (make_parser(sentences, vectors=(o, VECTORS[::-1])) for o in orders)
    assert turned.log_prob(tree) == pytest.approx(model.log_prob(tree), rel=1e-6)
    assert wrong.log_prob(tree) != pytest.approx(model.log_prob(tree), rel=1e-4)


def change_config(folder, change):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.update(wings=2), "this version of rnng_dy does not know 'wings'"),
        (lambda c: c["sizes"].update(wings=2), "unexpected keyword argument 'wings'"),
        (lambda c: c["sizes"].update(layers="2"), "the sizes are no whole numbers"),
        (lambda c: c["sizes"].update(hidden=0), "the sizes are no whole numbers from 1 to 99,999"),
        (lambda c: c["sizes"].update(layers=10**30), "the sizes are no whole numbers"),
        (lambda c: c.update(composition="zzz"), "no composition is called 'zzz': corrected, buggy"),
        (lambda c: c.update(transitions="sideways"), "no transition system is called 'sideways'"),
        (lambda c: c.update(state="no-terms"), "no parser state is called 'no-terms': full, stack"),
        (lambda c: c.update(state="stack", composition="gated-attention"), "parameter"),
        (lambda c: c.update(sizes=[1]), "config.json: "),
        (lambda c: c.update(kind="dragon"), "a dragon model; a discriminative one is needed"),
        (lambda c: c.update(composition=[]), "config.json: the name of a part is no text"),
        (lambda c: c.update(plugins=3), "config.json: "),
    ],
)
def test_a_configuration_that_cannot_be_is_told_with_its_file(folder, change, says):
    change_config(folder, change)
    with pytest.raises(InputError) as error:
        DiscriminativeParser.load(folder)
    assert says in str(error.value)
    assert str(folder) in str(error.value)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("vocabulary.json", "words", ["the"]),
        ("vocabulary.json", "nonterminals", [["S"]]),
        ("vocabulary.json", "tag_counts", []),
        ("vocabulary.json", "clusters", [[1, 1]]),
        ("text.json", "abbreviations", [1]),
        ("tagger/averaged_perceptron_tagger_xxx.weights.json", "bias", {"NN": "x"}),
    ],
)
def test_json_that_cannot_be_is_told_with_its_file(sentences, tagger, tmp_path, name, key, value):
    model = (make_generator if key == "clusters" else make_parser)(sentences)
    model.tagger, model.segmenter = tagger, model.segmenter
    model.save(tmp_path / "m")
    path = tmp_path / "m" / name
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(InputError, match=f"^{path}: .*damaged: train"):
        type(model).load(tmp_path / "m")


def test_what_an_older_folder_does_not_say_has_a_default(folder):
    defaults = {"composition": "corrected", "transitions": "top-down", "state": "full"}
    change_config(folder, lambda c: [c.pop(key) for key in defaults])
    assert defaults.items() <= DiscriminativeParser.load(folder).config().items()


@pytest.mark.parametrize(
    "value",
    [np.str_("a"), np.float32("nan"), np.float32("inf"), np.float32(3e38), np.float16("inf")],
)
@pytest.mark.parametrize("name", ["parameters.npz", "vectors.npz"])
def test_numbers_that_are_none_are_refused(folder, name, value):
    arrays = read_arrays(folder / name)
    first = next(iter(arrays))
    arrays[first] = arrays[first].astype(value.dtype)
    arrays[first].flat[-1] = value
    np.savez(folder / name, **arrays)
    with pytest.raises(InputError, match=rf"{name}: .*no finite numbers"):
        DiscriminativeParser.load(folder)
