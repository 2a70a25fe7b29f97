"""`--text`: commands that read running text."""

import json
from functools import partial
from pathlib import Path

import nltk
import pytest

from oracle.brackets import parse_line
from oracle.treebank import words
from rnng_dy.text.segmenter import Segmenter
from tests.commands import invoke, table

from ..conftest import save_oracle, sentences_of

TEXT = 'The dog ran (fast).  "Stop!"\n\nHe didn\'t.\n'
TOKENS = ["The dog ran -LRB- fast -RRB- .", "`` Stop ! ''", "He did n't ."]
BEAM = ["--beam", "5", "--fast-track", "1", "--word-beam", "2"]
run = partial(invoke, "-q")


@pytest.fixture
def folder(here, parser, tagger):
    """The current folder: a text and a parser with a tagger."""
    Path("notes.txt").write_text(TEXT, encoding="utf-8")
    parser.tagger, parser.segmenter = tagger, Segmenter()
    # or commands would say that it is not trained
    parser.updates = None
    parser.save("parser")
    return here


def parse(*arguments, **how):
    return run("parse", "--model", "parser", "--text", *arguments, **how)


def words_of(output):
    return [" ".join(words(parse_line(line))) if line else "" for line in output.splitlines()]


def test_a_text_becomes_a_tree_for_each_sentence(folder):
    assert words_of(parse("notes.txt").stdout) == TOKENS


def test_lines_are_sentences_and_keep_their_places(folder):
    result = parse("--one-per-line", "notes.txt")
    assert words_of(result.stdout) == [" ".join(TOKENS[:2]), "", TOKENS[2]]


@pytest.fixture
def scorers(folder, models):
    """Options of `surprisal` for each kind of model."""
    return [
        ["--model", "generator", *BEAM],
        ["--model", "lm"],
        ["--scorer", "kneser-ney=train.oracle"],
    ]


def test_surprisals_of_a_text(scorers):
    for scorer in scorers:
        rows = table(run("surprisal", *scorer, "--text", "notes.txt").stdout)
        assert [row["token"] for row in rows] == " ".join(TOKENS).split()
        assert rows[-1]["sentence_id"] == "3"


def test_surprisals_of_the_written_words_of_lines(scorers):
    options = ["--text", "--one-per-line", "notes.txt", "--merge"]
    rows = table(run("surprisal", *scorers[0], *options).stdout)
    assert [row["token"] for row in rows] == TEXT.split()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "--tagged"], "--tagged/--untagged goes without --text"),
        (["--one-per-line"], "--one-per-line goes with --text"),
    ],
)
def test_options_that_contradict_are_refused(folder, options, message):
    for command in ("parse", "sample"):
        assert message in run(command, "--model", "parser", *options, "notes.txt", code=2).stderr


@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff", "\x00\n"])
def test_an_empty_text_is_an_error(folder, text):
    Path("empty.txt").write_text(text, encoding="utf-8")
    for options in ([], ["--one-per-line"]):
        result = parse(*options, "empty.txt", code=2)
        assert result.stderr == "Error: empty.txt: no sentence in this text\n"


def test_nothing_of_nltk_is_looked_for(folder, monkeypatch):
    def find(*_, **__):
        raise AssertionError("looked for NLTK's data")

    monkeypatch.setattr(nltk.data, "find", find)
    monkeypatch.setattr(nltk.data, "load", find)
    assert words_of(parse("notes.txt").stdout) == TOKENS


TRAIN = {"discriminative": ["--dev-trees", "dev.trees"], "generative": [], "lstm-lm": []}


@pytest.mark.parametrize("kind", TRAIN)
def test_training_keeps_what_its_tokens_show(here, trees, kind):
    few = sentences_of(trees[:8], generative=kind != "discriminative")
    save_oracle("train.oracle", few)
    Path("dev.trees").write_text("".join(f"{s.tree}\n" for s in few), encoding="utf-8")
    data = ["--train", "train.oracle", "--dev", "train.oracle", "--model", "m"]
    small = ["--epochs", "1", "--hidden", "4", "--set", "lstm_input=5"]
    run("train", kind, *data, *TRAIN[kind], *small)
    expected = Segmenter.of_training([s.tokens for s in few])
    assert Segmenter.load(Path("m/text.json")).conventions == expected.conventions
    assert json.loads(Path("m/text.json").read_text())["format"] == "rnng_dy text"
