"""Corpora in, clusters files and pages out."""

import io
import re

import pytest

from clusters.corpus import read_corpus
from clusters.files import ClusteredWord, read_clusters, write_clusters
from oracle.common.errors import InputError

TREES = """(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)))
(S (NP (DT The)
       (NNS cats)) (VP (VBP sleep)))
(NN cat)
"""
ORACLE = """# (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)))
The cat sleeps
The UNK-LC UNK-LC-s
NT(S)
NT(NP)
SHIFT
SHIFT
REDUCE
NT(VP)
SHIFT
REDUCE
REDUCE

"""


def read(path, **options) -> list[list[str]]:
    return [[*sentence] for sentence in read_corpus(path, **options)]


def file(tmp_path, content: str | bytes):
    path = tmp_path / "corpus"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_text_is_one_sentence_a_line_split_at_ascii_white_space(tmp_path):
    path = file(tmp_path, "\n the\tcat \u3000 \r\n\n# no (tree\na\u00a0b c")
    assert read(path) == [["the", "cat", "\u3000"], ["#", "no", "-LRB-tree"], ["a\u00a0b", "c"]]


def test_text_is_utf8_and_a_byte_order_mark_is_no_letter(tmp_path):
    assert read(file(tmp_path, "\ufeffthe cat\n")) == [["the", "cat"]]
    with pytest.raises(InputError, match=r":2: not utf-8 after 'caf'"):
        read(file(tmp_path, b"the\ncaf\xe9 noir\n"))


def test_of_an_oracle_the_unkified_words_count(tmp_path):
    for oracle in ("\n" + ORACLE, ORACLE.replace("# (", "#  (", 1)):
        assert read(file(tmp_path, oracle)) == [["The", "UNK-LC", "UNK-LC-s"]]


def test_trees_are_unkified_as_their_own_training_file(tmp_path):
    # the preterminal beside no constituent is no sentence, and makes no word known
    path = file(tmp_path, TREES)
    assert read(path) == [["The", "UNK-LC", "UNK-LC-s"], ["The", "UNK-LC-s", "UNK-LC"]]
    assert read(path, rules="single") == [["The", "UNK", "UNK"], ["The", "UNK", "UNK"]]


def test_clusters_are_read_as_they_were_written(tmp_path):
    entries = [ClusteredWord("0", "caf\udce9", 3), ClusteredWord("10", "a\u3000b", 0)]
    stream = io.StringIO()
    write_clusters(entries, stream)
    path = file(tmp_path, stream.getvalue().encode("utf-8", "surrogateescape"))
    assert read_clusters(path) == entries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "corpus: an empty clusters file"),
        ("0\ta\t1\n\n", "corpus:2: not `bits<TAB>word<TAB>count`"),
        ("0\ta\t1\n02\tb\t1\n", "corpus:2: not `bits"),
        ("0 a 1\n", "corpus:1: not `bits"),
        ("0\t\t1\n", "corpus:1: not `bits"),
        ("0\ta\t-1\n", "corpus:1: not `bits"),
        ("0\ta\t²\n", "corpus:1: not `bits"),
        ("0\ta\t1\n1\ta\t1\n", "corpus:2: the word 'a' stands on an earlier line"),
    ],
)
def test_bad_lines_of_a_clusters_file_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_clusters(file(tmp_path, text))
