"""Oracles as arrays: nothing is lost, and what is kept beside an oracle is right or made anew."""

from __future__ import annotations

import os
import pickle
import sys
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from oracle import encoding
from oracle.blocks import make_oracle, read_oracle, write_oracle
from oracle.brackets import read_trees
from oracle.encoding import encoded, read_encoded
from oracle.errors import InputError, RnngError
from oracle.files import file_hash, replacing
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words

from ..conftest import TINY


def sentences_of(generative, begin=0, end=60):
    trees = list(read_trees(TINY))[begin:end]
    unknown = UnknownWords("berkeley", known_words(words(t.tree) for t in trees))
    return list(make_oracle(trees, unknown, generative))


@pytest.fixture(params=["discriminative", "generative"])
def sentences(request):
    return sentences_of(request.param == "generative")


def bare(sentences):
    """Sentences without what arrays do not have."""
    return [replace(s, tree="") for s in sentences]


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """Every oracle is large enough to be kept."""
    monkeypatch.setattr(encoding, "KEPT_FROM", 0)


@pytest.fixture
def path(sentences, tmp_path):
    path = tmp_path / "train.oracle"
    with replacing(path) as stream:
        write_oracle(sentences, stream)
    return path


@pytest.fixture(params=["memory", "files", "pickled", "pickled files"])
def oracle(request, sentences, path):
    """The sentences as arrays, wherever these are."""
    found = read_encoded(path) if "files" in request.param else encoded(sentences)
    return pickle.loads(pickle.dumps(found)) if "pickled" in request.param else found


def test_sentences_come_back(oracle, sentences):
    assert len(oracle) == len(sentences)
    assert list(oracle) == bare(sentences)
    assert oracle[-2:] == bare(sentences[-2:])
    with pytest.raises(IndexError):
        oracle[len(sentences)]


def test_symbols_are_numbered_as_they_appear(oracle, sentences):
    lines = (line for s in sentences for line in (s.tokens, s.lowercased or (), s.unkified))
    assert oracle.symbols.words == tuple(dict.fromkeys(chain.from_iterable(lines)))
    tokens = [oracle.symbols.words[i] for i in oracle.tokens_by_appearance()]
    assert tokens == list(dict.fromkeys(word for s in sentences for word in s.tokens))
    opened = (a for s in sentences for a in s.actions if a.startswith("NT"))
    assert oracle.nonterminals() == tuple(a[3:-1] for a in dict.fromkeys(opened))
    tags = dict.fromkeys(tag for s in sentences for tag in s.tags or ())
    assert oracle.symbols.tags == tuple(tags)


@pytest.mark.parametrize("column", ["tokens", "unkified"])
def test_words_are_counted(oracle, sentences, column):
    found = {
        word: n
        for word, n in zip(oracle.symbols.words, oracle.counts(column).tolist(), strict=True)
        if n
    }
    assert found == Counter(word for s in sentences for word in getattr(s, column))
    assert list(oracle.word_sequences(column)) == [getattr(s, column) for s in sentences]


def test_of_an_oracle_that_contradicts_itself_the_last_class_counts():
    [first] = sentences_of(True, 0, 1)
    word = first.tokens[0]
    classes = [word, "UNK-A", "UNK-B", "UNK-A"]
    oracle = encoded(replace(first, unkified=(c, *first.unkified[1:])) for c in classes)
    pairs = list(zip(*oracle.unkified_pairs(), strict=True))
    assert (word, word) in pairs
    assert [unk for token, unk in pairs if token == word] == [word, "UNK-A"]


def test_other_classes_take_the_place_of_those_of_the_file(oracle, sentences):
    def shout(tokens):
        return [word.upper() for word in tokens]

    other = pickle.loads(pickle.dumps(oracle.with_classes(shout)))
    expected = [replace(s, unkified=tuple(shout(s.tokens))) for s in sentences]
    assert list(other) == bare(expected)
    assert list(other.word_sequences("unkified")) == [s.unkified for s in expected]
    assert oracle[0].unkified == sentences[0].unkified


def test_two_transition_systems_are_refused(sentences):
    mixed = [sentences[0], replace(sentences[1], transitions="other")]
    with pytest.raises(RnngError, match="several transition systems: other, top-down"):
        encoded(mixed).nonterminals()


# what is kept


def read(path):
    found = read_encoded(path)
    assert list(found) == bare(read_oracle(path))
    assert found.source == file_hash(path)
    return found


def names(path):
    return sorted(os.listdir(path.parent))


def test_arrays_are_made_once(path, monkeypatch):
    found = read(path)
    assert names(path) == ["train.oracle", "train.oracle.arrays"]
    monkeypatch.setattr(encoding, "encoded", None)
    assert read(path).folder == found.folder == path.parent / "train.oracle.arrays"


def test_a_small_oracle_leaves_nothing(path, monkeypatch):
    monkeypatch.setattr(encoding, "KEPT_FROM", 1 << 24)
    assert read(path).folder is None
    assert names(path) == ["train.oracle"]


def test_numbers_are_as_small_as_they_can_be(path):
    oracle = read(path)
    small = len(oracle.symbols.words) <= 256
    assert oracle.columns["tokens"].dtype == (np.uint8 if small else np.uint16)
    assert oracle.columns["actions"].dtype == np.uint8


def test_an_oracle_that_has_changed_is_encoded_anew(path):
    old = read(path)
    before = list(old)
    with replacing(path) as stream:
        write_oracle(sentences_of("tags" not in old.columns, 60, 90), stream)
    assert len(read(path)) == 30
    assert list(old) == before
    with pytest.raises(InputError, match="another oracle"):
        pickle.loads(pickle.dumps(old))


@pytest.mark.parametrize("name", ["tokens.npy", "word_ends.npy", "symbols.json"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damaged_arrays_are_made_anew(path, name, damage):
    read(path)
    file = path.parent / "train.oracle.arrays" / name
    content = file.read_bytes()
    file.unlink()
    if damage == "cut":
        file.write_bytes(content[:-5])
    read(path)
    assert file.read_bytes() == content


def test_a_folder_that_cannot_be_written_is_told_of(path, caplog):
    Path(f"{path}.arrays").write_text("a user's file")
    assert read(path).folder is None
    assert f"{path}.arrays cannot be written (File exists)" in caplog.text
    assert Path(f"{path}.arrays").read_text() == "a user's file"


def test_standard_input_is_encoded_in_memory(path, monkeypatch):
    with open(path, encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        oracle = read_encoded("-")
    assert oracle.source == file_hash(path)
    assert oracle.folder is None


def test_an_oracle_that_is_none_is_named(tmp_path):
    path = tmp_path / "bad.oracle"
    path.write_text("# (S (NN a))\nNN\na\na\na\nNT(S)\nREDUCE\n")
    with pytest.raises(InputError, match=rf"^{path}:1: .*is no tree"):
        read_encoded(path)
    assert names(path) == ["bad.oracle"]
