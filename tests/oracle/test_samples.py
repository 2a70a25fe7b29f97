"""Samples and likelihoods."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from oracle.brackets import format_tree
from oracle.common.errors import InputError
from oracle.common.files import replacing
from oracle.samples import (
    Sample,
    begins_samples,
    format_likelihood,
    format_sample,
    read_likelihoods,
    read_samples,
    read_scored_samples,
)


def write_samples(samples, stream):
    for s in samples:
        stream.write(format_sample(s.index, s.log_q, format_tree(s.tree)) + "\n")


def write(tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_samples_are_written_and_read(tmp_path):
    samples = [
        Sample(0, -13.0786123456, Tree("S", ["|||", Tree("NP", ["a|||b", "x\u3000y"])]), 1),
        Sample(12, -745.0, Tree("#", ["#"]), 2),
        Sample(12, -1e-07, Tree("S", [Tree("NP", ["it"]), Tree("VP", ["ran"])]), 3),
    ]
    path = tmp_path / "out.props"
    with replacing(path) as stream:
        write_samples(samples, stream)
    assert path.read_text("utf-8") == (
        "0 ||| -13.0786123 ||| (S ||| (NP a|||b x\u3000y))\n"
        "12 ||| -745 ||| (# #)\n"
        "12 ||| -1e-07 ||| (S (NP it) (VP ran))\n"
    )
    back = list(read_samples(path))
    assert [(s.index, s.tree, s.line) for s in back] == [(s.index, s.tree, s.line) for s in samples]
    assert [s.log_q for s in back] == [-13.0786123, -745, -1e-07]


def test_samples_keep_bytes_that_are_not_utf8(tmp_path):
    content = b"0 ||| -1 ||| (S caf\xe9)\n"
    path = tmp_path / "out.props"
    with replacing(path) as stream:
        write_samples(read_samples(write(tmp_path, content)), stream)
    assert path.read_bytes() == content


@given(st.lists(st.tuples(st.integers(0), st.floats(allow_nan=False))))
def test_likelihoods_are_written_and_read_to_nine_digits(rows):
    stream = io.StringIO()
    stream.writelines(f"{format_likelihood(*row)}\n" for row in rows)
    read = [line.split("\t") for line in stream.getvalue().splitlines()]
    assert [int(words) for words, _ in read] == [words for words, _ in rows]
    for (_, text), (_, value) in zip(read, rows, strict=True):
        assert float(text) == pytest.approx(value, rel=1e-8, abs=5e-324)


def test_a_tree_of_probability_zero_has_an_infinite_likelihood(tmp_path):
    assert read_likelihoods(write(tmp_path, "3\tinf\n2\t4.5\n")) == [(3, math.inf), (2, 4.5)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(S a)", "not `index ||| log q ||| tree`"),
        ("0 ||| -1", "not `index ||| log q ||| tree`"),
        ("-1 ||| -1 ||| (S a)", "the index of the sentence is '-1'"),
        ("1_0 ||| -1 ||| (S a)", "the index of the sentence is '1_0'"),
        ("0 ||| x ||| (S a)", "log q is 'x', not a number"),
        ("0 ||| nan ||| (S a)", "log q is 'nan', not a number"),
        ("0 ||| 3.5 ||| (S a)", "log q is 3.5, no log probability"),
        ("0 ||| -1 ||| (S a", "never closed"),
        ("0 ||| -1 ||| (S a) (S b)", "2 trees"),
        ("0 ||| -1 |||", "no trees"),
    ],
)
def test_a_line_that_is_no_sample_is_refused(tmp_path, line, message):
    path = write(tmp_path, f"0 ||| -1 ||| (S a)\n\n{line}\n")
    with pytest.raises(InputError) as caught:
        list(read_samples(path))
    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("line", ["3", "3\t4\t5", "x\t3", "3\tx", "3\tnan", "3.5\t2", "-3\t2"])
def test_a_line_that_is_no_likelihood_is_refused(tmp_path, line):
    with pytest.raises(InputError) as caught:
        read_likelihoods(write(tmp_path, f"3\t4\n{line}\n"))
    assert caught.value.line == 2


def test_a_table_of_perplexities_is_no_file_of_likelihoods(tmp_path):
    samples, table = tmp_path / "props", tmp_path / "tsv"
    samples.write_text("0 ||| -1 ||| (S a)\n")
    table.write_text("words\tnegative_log_p\tunknown\n1\t2.5\t0\n")
    with pytest.raises(InputError, match="not `words<TAB>negative log joint`"):
        read_scored_samples(samples, table)


@pytest.mark.parametrize(
    ("content", "expected"), [(" 0 ||| -1 ||| (S a)\n", True), ("(S (CD 0))\n", False), ("", False)]
)
def test_samples_are_told_from_trees(content, expected):
    assert begins_samples(content) is expected
