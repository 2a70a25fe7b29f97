"""Oracles as arrays: nothing is lost, and what is kept beside an oracle is right or made anew."""

from __future__ import annotations

import errno
import fcntl
import os
import pickle
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from oracle import encoded, encoding
from oracle.blocks import make_oracle, read_oracle, write_oracle
from oracle.encoding import encode, read_encoded
from oracle.errors import InputError, RnngError
from oracle.streams import file_hash, open_output
from oracle.treebank import read_trees, words
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
def small_parts(monkeypatch):
    """Every oracle is one of several parts, and large enough to be kept."""
    for module in (encoded, encoding):
        monkeypatch.setattr(module, "PART", 100)
    monkeypatch.setattr(encoded, "SENTENCES", 7)
    monkeypatch.setattr(encoding, "KEPT_FROM", 0)


@pytest.fixture
def path(sentences, tmp_path):
    path = tmp_path / "train.oracle"
    with open_output(path) as stream:
        write_oracle(sentences, stream)
    return path


@pytest.fixture(params=["memory", "files", "pickled", "pickled files"])
def oracle(request, sentences, path):
    """The sentences as arrays, wherever these are."""
    found = read_encoded(path) if "files" in request.param else encode(sentences)
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


def test_sentences_with_a_word_are_found(oracle, sentences):
    mask = np.array([word == "the" for word in oracle.symbols.words])
    found = oracle.sentences_with("unkified", mask)
    assert found.tolist() == ["the" in s.unkified for s in sentences]


def test_of_an_oracle_that_contradicts_itself_the_last_class_counts():
    [first] = sentences_of(True, 0, 1)
    word = first.tokens[0]
    classes = [word, "UNK-A", "UNK-B", "UNK-A"]
    oracle = encode(replace(first, unkified=(c, *first.unkified[1:])) for c in classes)
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
        encode(mixed).nonterminals()


# what is kept


def read(path):
    """The oracle, how many sentences were encoded, and what was said."""
    count, said = [], []
    found = read_encoded(path, lambda: count.append(1), said.append)
    assert list(found) == bare(read_oracle(path))
    assert found.source == file_hash(path)
    return found, len(count), said


def names(path):
    return sorted(os.listdir(path.parent))


def test_arrays_are_made_once(path, sentences):
    found, encoded_now, said = read(path)
    assert (encoded_now, said) == (len(sentences), [])
    assert names(path) == ["train.oracle", "train.oracle.arrays"]
    again, encoded_now, said = read(path)
    assert (encoded_now, said) == (0, [])
    assert again.folder == found.folder == path.parent / "train.oracle.arrays"


def test_a_small_oracle_leaves_nothing(path, monkeypatch):
    monkeypatch.setattr(encoding, "KEPT_FROM", 1 << 24)
    found, _, said = read(path)
    assert (found.folder, said) == (None, [])
    assert names(path) == ["train.oracle"]


def test_numbers_are_as_small_as_they_can_be(path, sentences):
    oracle, _, _ = read(path)
    small = len(oracle.symbols.words) <= 256
    assert oracle.row(0).tokens.dtype == (np.uint8 if small else np.uint16)
    assert oracle.row(0).actions.dtype == np.uint8


def test_an_oracle_that_has_changed_is_encoded_anew(path):
    old, _, _ = read(path)
    before = list(old)
    with open_output(path) as stream:
        write_oracle(sentences_of(not old.has_tags, 60, 90), stream)
    new, encoded_now, said = read(path)
    assert encoded_now == len(new) == 30
    assert "another oracle" in said[0]
    assert list(old) == before
    with pytest.raises(InputError, match="another oracle"):
        pickle.loads(pickle.dumps(old))


@pytest.mark.parametrize("name", ["tokens.npy", "word_ends.npy", "symbols.json", "header.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "folder"])
def test_damaged_arrays_are_made_anew(path, name, damage, sentences):
    read(path)
    file = path.parent / "train.oracle.arrays" / name
    content = file.read_bytes()
    file.unlink()
    if damage == "cut":
        file.write_bytes(content[:-5])
    elif damage == "changed":
        file.write_bytes(content[:-5] + bytes(x ^ 1 for x in content[-5:]))
    elif damage == "folder":
        file.mkdir()
    _, encoded_now, said = read(path)
    assert encoded_now == len(sentences)
    assert len(said) == 1
    assert said[0].endswith("made anew")
    assert read(path)[1:] == (0, [])


def test_what_a_kill_leaves_is_removed(path):
    code = (
        "import os, signal, sys\n"
        "from oracle import encoding\n"
        "encoding.KEPT_FROM = 0\n"
        "encoding.write_header = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "encoding.read_encoded(sys.argv[1])\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, path])
    assert killed.returncode == -9
    assert len(names(path)) == 2
    assert "train.oracle.arrays" not in names(path)
    read(path)
    assert names(path) == ["train.oracle", "train.oracle.arrays"]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_written_is_told_of(path, monkeypatch, number):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(encoding, "write_header", refuse)
    found, _, said = read(path)
    assert found.folder is None
    assert said[0].startswith(f"{path}.arrays cannot be written ({os.strerror(number)})")
    assert names(path) == ["train.oracle"]


def test_something_else_under_the_name_is_in_the_way(path):
    folder = Path(f"{path}.arrays")
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=f"^{folder}: in the way"):
        read_encoded(path)
    assert (folder / "thesis.tex").exists()


def test_one_process_at_a_time_makes_arrays(path):
    code = (
        "import sys\n"
        "from oracle import encoding\n"
        "encoding.KEPT_FROM = 0\n"
        "encoding.read_encoded(sys.argv[1], say=lambda m: print(m, flush=True))\n"
    )
    with open(path, "rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with subprocess.Popen(
            [sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True
        ) as other:
            assert "waiting for it" in other.stdout.readline()
            assert names(path) == ["train.oracle"]
            fcntl.flock(stream, fcntl.LOCK_UN)
    assert other.returncode == 0
    assert read(path)[1] == 0


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
