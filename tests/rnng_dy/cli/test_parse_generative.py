"""`rnng-dy parse` with the generative model alone."""

from pathlib import Path

import nltk
import pytest

from oracle.treebank import tags, words
from rnng_dy import load
from tests.commands import invoke
from tests.conftest import DATA

MODEL = DATA / "models-0.1.0" / "generator"
PARSER = DATA / "models-0.1.0" / "parser"
SMALL = ("--beam", 10, "--fast-track", 1, "--word-beam", 4)
pytestmark = pytest.mark.usefixtures("here")


def parse(text, *options, code=0, model=MODEL):
    Path("in.txt").write_text(text, encoding="utf-8")
    return invoke("-q", "parse", "--model", model, "in.txt", *SMALL, *options, code=code)


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_sentence_gets_its_best_tree_and_an_empty_line_stays(jobs):
    result = parse("the dog ran .\n\na cat slept .\n", "--jobs", jobs)
    first, empty, second, end = result.stdout.split("\n")
    assert (empty, end) == ("", "")
    found = [" ".join(words(nltk.Tree.fromstring(tree))) for tree in (first, second)]
    assert found == ["the dog ran .", "a cat slept ."]
    assert set(tags(nltk.Tree.fromstring(first))) == {"XX"}


def test_tags_that_are_given_stand_in_the_tree():
    result = parse("the_DT dog_NN ran_VBD ._.\n", "--tagged")
    assert tags(nltk.Tree.fromstring(result.stdout)) == ["DT", "NN", "VBD", "."]


def test_the_best_trees_have_their_joint_log_probabilities_best_first():
    lines = parse("the_DT dog_NN ran_VBD ._.\n", "--tagged", "--nbest", 3).stdout.splitlines()
    [best] = parse("the_DT dog_NN ran_VBD ._.\n", "--tagged").stdout.splitlines()
    found = [line.split(" ||| ") for line in lines]
    assert [index for index, *_ in found] == ["0"] * 3
    assert found[0][2] == best
    model = load(MODEL)
    scores = [model.log_prob(nltk.Tree.fromstring(tree)) for *_, tree in found]
    assert [float(score) for _, score, _ in found] == pytest.approx(scores, rel=1e-5)
    assert scores == sorted(scores, reverse=True)


def test_what_does_not_fit_is_refused():
    assert "--word-beam 5" in parse("the dog\n", "--nbest", 5, code=2).stderr
    of_parser = ("parse", "--model", PARSER, "in.txt", "--nbest", 11, "--beam", 10)
    assert "--nbest 11 needs --beam 11" in invoke(*of_parser, code=2).stderr
    assert "--samples goes with --decode mbr" in parse("the dog\n", "--samples", 2, code=2).stderr
