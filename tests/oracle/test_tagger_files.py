"""A tagger as files: NLTK's own format, the same tagger again, and one message for files that are damaged."""

from __future__ import annotations

import json

import nltk
import pytest
from nltk.tag.perceptron import PerceptronTagger

from oracle import tagging
from oracle.brackets import read_trees
from oracle.errors import InputError
from oracle.tagger_files import FILES, load_tagger, save_tagger
from oracle.treebank import words
from tests.conftest import TINY

WORDS = ["the", "caf\u00e9", "\udce9t\u00e9", "snake_case", "-LRB-", "1999", "the"]


@pytest.fixture(scope="module")
def tagger():
    sentences = [tagging.tagged(located.tree) for located in read_trees(str(TINY))][:200]
    return tagging.train_tagger([*sentences, [(word, "ODD") for word in WORDS]], seed=1)


@pytest.fixture
def folder(tagger, tmp_path):
    save_tagger(tagger, tmp_path / "tagger")
    return tmp_path / "tagger"


def test_the_tagger_that_is_read_tags_as_the_one_that_was_written(tagger, folder):
    again = load_tagger(folder)
    sentences = [words(located.tree) for located in read_trees(str(TINY))]
    for sentence in [*sentences[200:260], WORDS]:
        assert again.tag(sentence) == tagger.tag(sentence)
    assert again.encode_json_obj()[:2] == tagger.encode_json_obj()[:2]


def test_nltk_reads_the_files(tagger, folder, monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [str(folder.parent), *nltk.data.path])
    try:
        again = PerceptronTagger(lang="xxx", loc=str(folder))
    except (TypeError, LookupError):
        pytest.skip("this NLTK has no taggers as JSON files")
    assert again.tag(WORDS) == tagger.tag(WORDS)
    assert again.classes == tagger.classes


def test_nltk_writes_the_same(tagger, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path), *nltk.data.path])
    try:
        tagger.save_to_json(loc=str(tmp_path / "of-nltk"))
    except (AttributeError, NameError):
        pytest.skip("this NLTK has no taggers as JSON files, or cannot write them (3.9.1)")
    for name in FILES.values():
        ours, theirs = (
            json.loads((tmp_path / f / name).read_text()) for f in ("tagger", "of-nltk")
        )
        assert ours == (sorted(theirs) if "classes" in name else theirs)


def change(folder, part, changed):
    path = folder / FILES[part]
    content = json.loads(path.read_text())
    changed(content)
    path.write_text(json.dumps(content))


def refused(folder, part):
    with pytest.raises(InputError) as error:
        load_tagger(folder)
    assert str(folder / FILES[part]) in str(error.value)
    assert "train the tagger again" in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("part", FILES)
def test_a_file_cut_short_is_named(folder, part):
    path = folder / FILES[part]
    path.write_bytes(path.read_bytes()[:-5])
    assert "damaged" in refused(folder, part)


@pytest.mark.parametrize("part", FILES)
def test_a_missing_file_is_named(folder, part):
    (folder / FILES[part]).unlink()
    assert "missing: this tagger is not complete" in refused(folder, part)


def test_a_file_where_the_folder_should_be_is_named(tmp_path):
    (tmp_path / "tagger").write_text("{}")
    assert "missing" in refused(tmp_path / "tagger", "classes")


@pytest.mark.parametrize("part", FILES)
@pytest.mark.parametrize("text", ["", "7", "null", '"NN"', "[[1]]", '{"a": [1]}', "[" * 100_000])
def test_json_of_something_else_is_refused(folder, part, text):
    (folder / FILES[part]).write_text(text)
    refused(folder, part)


@pytest.mark.parametrize("part", FILES)
def test_bytes_that_are_no_text_are_refused(folder, part):
    (folder / FILES[part]).write_bytes(b'["\xff\xfe\xfa"]')
    refused(folder, part)


@pytest.mark.parametrize("weight", ["NaN", "-Infinity", "1e300", "true", "null", '"1"', "[1]"])
def test_weights_that_are_no_numbers_are_refused(folder, weight):
    (folder / FILES["weights"]).write_text(f'{{"bias": {{"DT": 1, "NN": {weight}}}}}')
    assert "numbers up to 1e+09" in refused(folder, "weights")


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("weights", lambda weights: weights["bias"].update(UNHEARD=1.0)),
        ("tagdict", lambda tagdict: tagdict.update(the="UNHEARD")),
        ("classes", lambda classes: classes.append("(NN")),
        ("classes", lambda classes: classes.append("N N")),
        ("classes", lambda classes: classes.append("")),
        ("classes", lambda classes: classes.clear()),
    ],
)
def test_tags_that_cannot_be_are_refused(folder, part, changed):
    change(folder, part, changed)
    refused(folder, part)
