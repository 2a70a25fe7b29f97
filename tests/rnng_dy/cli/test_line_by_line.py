"""`rnng-dy parse --line-buffered`: a parser that answers while another program waits."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.commands import COMMAND, invoke, started
from tests.conftest import DATA
from tests.rnng_dy.conftest import make_parser

PARSER = DATA / "models-0.1.0" / "parser"
SENTENCES = ["the_DT dog_NN ran_VBD ._.", "a_DT (_NN cat_NN slept_VBD", "Oslo_NNP"]
BAD = {
    b"\n": "-:2: a line without words",
    b"the dog\n": "-:2: the token 'the' is not word_TAG",
    b"(S (NN dog))\n": "-:2: a tree among tokenised sentences: give a file of one format",
    b"caf\xe9_NN\n": "-:2: not utf-8",
}


def parser_beside_us():
    """The command with pipes at its three ends."""
    command = (*COMMAND, "parse", "--line-buffered", "--model", PARSER, "-")
    return started(*command, **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE))


def ask(process, line):
    """The answer to a line; nothing more is written before it has come."""
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


def parse(text, *options, model=PARSER, code=0):
    return invoke("-q", "parse", "--model", model, *options, "-", code=code, input=text)


def test_each_line_is_answered_before_the_next_one_is_written():
    expected = parse("".join(f"{s}\n" for s in SENTENCES)).stdout.splitlines()
    assert len(set(expected)) == 3
    with parser_beside_us() as process:
        for sentence, tree in zip(SENTENCES, expected, strict=True):
            assert ask(process, f"{sentence}\n".encode()).decode() == f"{tree}\n"
        rest, messages = process.communicate()
        assert (process.returncode, rest, messages) == (0, b"", b"")


def test_a_bad_line_has_an_empty_answer_and_the_next_one_a_tree():
    with parser_beside_us() as process:
        good = SENTENCES[0].encode() + b"\n"
        tree = ask(process, good)
        assert tree.startswith(b"(")
        for bad in BAD:
            assert ask(process, bad) == b"\n"
            assert ask(process, good) == tree
        _, messages = process.communicate()
        assert process.returncode == 0
    lines = messages.decode().splitlines()
    for number, line, message in zip(range(2, 10, 2), lines, BAD.values(), strict=True):
        assert line.startswith(message.replace("-:2:", f"-:{number}:"))


def test_the_last_line_needs_no_end_and_unseen_tags_are_named_at_the_end():
    result = parse("the_DT dog_ODD\ndog_ODD\na_NEW", "--line-buffered")
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr == (
        "POS tags unseen in training, taken for an average tag: ODD (2), NEW (1)\n"
    )


def test_a_parser_without_tags_is_given_words(sentences, tmp_path):
    make_parser(sentences, tags=False).save(tmp_path / "m")
    found = parse("snake_case is_a word\n", "--line-buffered", model=tmp_path / "m").stdout
    assert found.count(" snake_case)") == 1
    tagged = parse("the_DT dog_NN\n", "--line-buffered", "--tagged", model=tmp_path / "m").stdout
    assert "(DT the)" in tagged


def test_a_sentence_that_does_not_fit_into_memory_has_an_empty_answer(monkeypatch):
    from rnng_dy.search import greedy

    whole = greedy.parse_batch

    def small(parser, sentences):
        if len(sentences[0].words) > 3:
            raise MemoryError
        return whole(parser, sentences)

    monkeypatch.setattr(greedy, "parse_batch", small)
    result = parse("a_DT b_NN c_NN d_NN\na_DT b_NN\n", "--line-buffered")
    assert result.stdout.startswith("\n(")
    assert result.stderr == "-:1: 4 words do not fit into memory\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "out"), "from standard input to standard output"),
        (("--jobs", "2"), "without --jobs"),
        (("--resume",), "and --resume"),
        (("--untagged",), "this parser was trained with POS tags"),
    ],
)
def test_options_that_do_not_fit(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    refused = parse("the_DT\n", "--line-buffered", *options, code=2)
    assert message in refused.stderr.replace("\n", " ")
    assert refused.stdout == ""
    assert not list(tmp_path.iterdir())


def test_in_json_an_answer_says_what_is_wrong_and_where_tokens_stand_in_the_line():
    lines = ["  It  (slept). ", "", "It slept."]
    options = ["--line-buffered", "--format", "json", "--text", "--beam", "5", "--word-beam", "2"]
    model = DATA / "models-0.1.0" / "generator"
    result = parse("".join(f"{line}\n" for line in lines), *options, model=model)
    first, bad, last = map(json.loads, result.stdout.splitlines())
    assert bad == {"sentence": 2, "line": 2, "error": "a line without words"}
    assert (first["sentence"], last["sentence"]) == (1, 3)
    stand = [lines[0][token["start"] : token["end"]] for token in first["tokens"]]
    assert stand == ["It", "(", "slept", ")", "."]
    assert result.stderr == "-:2: a line without words\n"
