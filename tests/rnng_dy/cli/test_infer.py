"""`rnng-dy parse` and `sample` on texts: empty lines, options, and what decides samples."""

from pathlib import Path

import pytest

from rnng_dy import DiscriminativeParser
from rnng_dy.search.sampling import sample_batch
from tests.commands import invoke
from tests.conftest import DATA

PARSER = DATA / "models-0.1.0" / "parser"
FIRST, SECOND = "the_DT dog_NN ran_VBD ._.", "a_DT cat_NN slept_VBD ._."
pytestmark = pytest.mark.usefixtures("here")


def infer(command, text, *options, code=0):
    """The command on a text; progress is not shown."""
    Path("in.txt").write_text(text, encoding="utf-8")
    return invoke("-q", command, "--model", PARSER, "in.txt", "--tagged", *options, code=code)


@pytest.mark.parametrize(
    ("options", "flag"),
    [(("--beam", 5), "--beam"), (("--nbest", 2, "--word-beam", 9), "--word-beam")],
)
def test_a_search_that_a_parser_has_not_is_refused(options, flag):
    refused = infer("parse", f"{FIRST}\n", *options, code=2)
    assert f"{flag} is for generative models" in refused.stderr
    infer("parse", f"{FIRST}\n", "--nbest", 2, "--beam", 5)


@pytest.mark.parametrize("jobs", [1, 2])
def test_empty_lines_stay_empty_among_the_trees(jobs):
    trees = infer("parse", f"{FIRST}\n{SECOND}\n").stdout.splitlines()
    result = infer("parse", f"\n{FIRST}\n\n \n{SECOND}\n\n\n", "--jobs", jobs)
    assert result.stdout.split("\n") == ["", trees[0], "", "", trees[1], ""]
    assert result.stderr == ""


def test_nothing_is_sampled_for_an_empty_line_and_the_others_keep_their_numbers():
    result = infer("sample", f"{FIRST}\n\n{SECOND}\n", "--samples", 3)
    assert [line.split(" ", 1)[0] for line in result.stdout.splitlines()] == 3 * ["0"] + 3 * ["2"]


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_samples_are_drawn_by_alpha_seed_and_number(alpha):
    drawing = ("--samples", 5, "--alpha", alpha, "--seed", 7)
    lines = infer("sample", f"{FIRST}\n{SECOND}\n", *drawing).stdout.splitlines()
    parser = DiscriminativeParser.load(PARSER)
    pairs = [[token.split("_") for token in text.split()] for text in (FIRST, SECOND)]
    tokens = [parser.encode(*map(list, zip(*of_text, strict=True))) for of_text in pairs]
    drawn = sample_batch(parser, tokens, 5, alpha, [[7, 0], [7, 1]])
    log_qs = [log_q for of_sentence in drawn for _, log_q in of_sentence]
    assert [float(line.split(" ||| ")[1]) for line in lines] == pytest.approx(log_qs, abs=1e-6)
