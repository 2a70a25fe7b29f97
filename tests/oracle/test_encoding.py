"""Oracles as arrays: nothing is lost, and what is kept beside an oracle is right or made anew."""

from __future__ import annotations

import errno
import fcntl
import io
import json
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
from oracle.brackets import read_trees
from oracle.encoding import encode, read_encoded
from oracle.errors import InputError, RnngError
from oracle.files import file_hash, replacing
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words
from tests.commands import PYTHON, run

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
    with replacing(path) as stream:
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
    assert oracle.ids_of(0).tokens.dtype == (np.uint8 if small else np.uint16)
    assert oracle.ids_of(0).actions.dtype == np.uint8


def test_an_oracle_that_has_changed_is_encoded_anew(path):
    old, _, _ = read(path)
    before = list(old)
    with replacing(path) as stream:
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
    assert said[0].endswith("made again")
    assert read(path)[1:] == (0, [])


def test_what_a_kill_leaves_is_removed(path):
    code = (
        "import os, signal, sys\n"
        "from oracle import encoding\n"
        "encoding.KEPT_FROM = 0\n"
        "encoding.write_header = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "encoding.read_encoded(sys.argv[1])\n"
    )
    run(None, code, path, code=-9, command=PYTHON)
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


# what a stranger may have written


def forged(path, name, content):
    """Give a file of the arrays another content, and the header the hash of it."""
    folder = Path(f"{path}.arrays")
    (folder / name).write_bytes(content)
    header = json.loads((folder / "header.json").read_text())
    header["files"][name] = file_hash(folder / name)
    (folder / "header.json").write_text(json.dumps(header))


def column(values, kind=np.uint32):
    stream = io.BytesIO()
    np.save(stream, np.array(values, kind))
    return stream.getvalue()


NOT_COLUMNS = {
    "numbers of no symbol": ("tokens.npy", lambda n: column([10**6] * n)),
    "too few": ("tokens.npy", lambda n: column([0] * (n - 1))),
    "too many": ("unkified.npy", lambda n: column([0] * (n + 1))),
    "floats": ("tokens.npy", lambda n: column([0] * n, np.float32)),
    "negative numbers": ("tokens.npy", lambda n: column([-1] * n, np.int32)),
    "a matrix": ("actions.npy", lambda n: column([[0]] * n)),
    "objects": ("actions.npy", lambda n: pickle.dumps([os.getcwd])),
    "a zip": ("actions.npy", lambda n: b"PK\3\4" + b"\0" * 100),
    "a header that is none": ("actions.npy", lambda n: column([0]).replace(b"descr", b"d(scr")),
    "ends before the beginning": ("word_ends.npy", lambda n: column([n, 1, n])),
    "no sentence": ("lines.npy", lambda n: column([])),
    "symbols of another kind": ("symbols.json", lambda n: b"[[1], [2], [3], [4]]"),
    "half a character": ("symbols.json", lambda n: b'[["\\ud800"], [], ["SHIFT"], ["top-down"]]'),
    "another system": ("symbols.json", lambda n: b'[["a"], ["b"], ["c"], ["sideways"]]'),
    "two lists": ("symbols.json", lambda n: b"[[], []]"),
}


@pytest.mark.parametrize(("name", "content"), NOT_COLUMNS.values(), ids=NOT_COLUMNS)
def test_forged_arrays_are_made_anew_whatever_their_header_says(path, sentences, name, content):
    read(path)
    forged(path, name, content(sum(len(s.tokens) for s in sentences)))
    found, encoded_now, said = read(path)
    assert encoded_now == len(sentences) and said[0].endswith("made again")
    assert list(found) == bare(sentences)


def twice(column, symbols):
    symbols[0][1] = symbols[0][0]


def ends_early(column, symbols):
    column[0] -= 1


NO_DERIVATIONS = {
    "more SHIFTs than words": ("actions", lambda c, s: np.put(c, 0, s[2].index("SHIFT"))),
    "fewer SHIFTs than words": (
        "actions",
        lambda c, s: np.put(c, np.flatnonzero(c == s[2].index("SHIFT"))[0], s[2].index("REDUCE")),
    ),
    "a tree that is not closed": ("actions", lambda c, s: np.put(c, -1, s[2].index("NT(S)"))),
    "words of the next sentence": ("word_ends", ends_early),
    "actions of the next sentence": ("action_ends", ends_early),
    "no action": ("actions", lambda c, s: s[2].__setitem__(0, "x")),
    "actions of another system": ("actions", lambda c, s: s.__setitem__(3, ["in-order"])),
    "a word that is twice a symbol": ("tokens", twice),
}


@pytest.mark.parametrize(("name", "change"), NO_DERIVATIONS.values(), ids=NO_DERIVATIONS)
def test_forged_arrays_whose_actions_build_no_trees_are_made_anew(path, sentences, name, change):
    read(path)
    folder = Path(f"{path}.arrays")
    changed, symbols = (
        np.load(folder / f"{name}.npy"),
        json.loads((folder / "symbols.json").read_text()),
    )
    change(changed, symbols)
    forged(path, f"{name}.npy", column(changed))
    forged(path, "symbols.json", json.dumps(symbols).encode())
    found, encoded_now, said = read(path)
    assert encoded_now == len(sentences) and said[0].endswith("made again")
    assert list(found) == bare(sentences)


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret", "tokens.npy/../../secret"])
def test_a_header_names_files_of_its_folder_alone(path, sentences, name):
    read(path)
    header = Path(f"{path}.arrays/header.json")
    secret = path.parent / "secret"
    secret.write_text("secret")
    content = json.loads(header.read_text())
    content["files"][name] = "0" * 64
    header.write_text(json.dumps(content))
    _, encoded_now, said = read(path)
    assert encoded_now == len(sentences)
    assert len(said) == 1 and "none of its own" in said[0]


@pytest.mark.parametrize("name", ["[ab].oracle", "**.oracle", "?.oracle"])
def test_a_name_is_no_pattern(path, name):
    other = path.parent / ".a.oracle.arrays.thesis"
    other.mkdir()
    path = path.rename(path.parent / name)
    read(path)
    assert other.exists() and Path(f"{path}.arrays").is_dir()
