"""Sentences that are stored are read back as they were, in any order, here and in a copy."""

import pickle
from dataclasses import replace

import pytest

from oracle.blocks import OracleSentence, make_oracle, oracle_sentences, stored, write_oracle
from oracle.brackets import read_trees
from oracle.common.errors import InputError
from oracle.unknown import UnknownWords

from ..conftest import TINY


@pytest.mark.parametrize("generative", [False, True])
def test_stored_sentences_are_the_sentences(tmp_path, generative):
    trees = list(read_trees(TINY))[:60]
    sentences = list(make_oracle(trees, UnknownWords("berkeley", ()), generative))
    without_trees = [replace(s, tree="") for s in sentences]
    with open(tmp_path / "oracle", "w") as stream:
        write_oracle(sentences, stream)
    found = stored(oracle_sentences(tmp_path / "oracle"), tmp_path / "stored")
    assert len(found) == 60 and list(found) == without_trees
    copy = pickle.loads(pickle.dumps(found))
    assert copy[-1] == found[59] == without_trees[59] and copy[3:5] == without_trees[3:5]
    assert copy.hash == found.hash != stored(sentences[1:], tmp_path / "others").hash
    with pytest.raises(IndexError):
        found[60]


def test_words_keep_bytes_that_are_not_utf8_and_unicodes_spaces(tmp_path):
    row = ("caf\udce9", "a\u00a0b", "\u2028")
    sentence = OracleSentence("", row, row, row, row, ("NT(S)", *["SHIFT"] * 3, "REDUCE"), 1)
    assert list(stored([sentence], tmp_path / "stored")) == [sentence]


def test_an_oracle_that_is_none_is_refused(tmp_path):
    (tmp_path / "oracle").write_text("# (S (NN a))\nNN\na\n")
    with pytest.raises(InputError, match=":1: "):
        stored(oracle_sentences(tmp_path / "oracle"), tmp_path / "stored")
