"""`evalb` with several systems, on trees small enough to count by hand."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from nltk import Tree

from rnng_dy.cli import main
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.evalb import on_common_sentences, score_systems

GOLD = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog) (PP (P in) (NP (N parks))))))"
FLAT = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog)) (PP (P in) (NP (N parks)))))"
POOR = "(S (NP (D the)) (VP (N cat) (V saw) (D a) (N dog) (P in) (N parks)))"
OTHER = "(S (NP (N dogs)) (VP (V bark)))"


def trees(*texts):
    return [Tree.fromstring(text) for text in texts]


def run(*arguments):
    return CliRunner().invoke(main, ["evalb", *map(str, arguments)])


def write(folder, **files):
    """Files of one tree a line; their paths."""
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return [str(folder / name) for name in files]


def scores(golds, *systems):
    return [evalb.score(golds, system) for system in systems]


def test_systems_are_compared_on_the_sentences_that_all_of_them_have():
    golds = trees(GOLD, OTHER, GOLD, OTHER)
    nothing, other_words = Tree("", []), Tree.fromstring("(S (NP (N cats)) (VP (V bark)))")
    lacking = [nothing, *trees(OTHER, POOR, OTHER)]
    other = [*trees(GOLD, OTHER, FLAT), other_words]
    common = on_common_sentences(scores(golds, golds, lacking, other))
    assert [of.valid for of in common] == [2, 2, 2]
    assert common[1].f1 == evalb.score(golds[1:3], lacking[1:3]).f1


def test_the_command_compares_what_every_system_has_and_says_what_is_left_out(tmp_path):
    """A sentence that one system lacks must not count for the other either: here it is the other's worst."""
    gold, few, every = write(
        tmp_path, gold=[GOLD, OTHER, OTHER], few=["()", OTHER, OTHER], all=[POOR, OTHER, OTHER]
    )
    result = run(gold, few, every)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Figures are of the 2 of 3 sentences that all systems have\n")
    assert "\nF1                    100.00  100.00\n" in result.stdout
    assert "F1 of all less few: +0.00 (95 %: " in result.stdout
    assert "Not scored of few (1 of 3):\n  sentence 1: skipped" in result.stdout
    found = json.loads(run(gold, few, every, "--format", "json").stdout)
    assert found["not_scored"]["few"][0]["sentence"] == 1
    assert found["figures"]["all"]["valid"] == 2
    [none] = write(tmp_path, none=["()", "()", "()"])
    result = run(gold, none, every)
    assert result.exit_code == 2
    assert "no sentence can be scored for every system" in result.stderr


def test_any_number_of_systems_all_pairs_with_holms_correction(tmp_path):
    many = 40
    files = write(
        tmp_path,
        gold=[GOLD] * many,
        poor=[POOR] * many,
        flat=[FLAT] * many,
        same=[FLAT] * (many - 1) + [GOLD],
    )
    result = run(*files)
    assert result.exit_code == 0, result.output
    f1 = [found.f1 for found in score_systems(files[0], files[1:])]
    [shown] = [line.split()[1:] for line in result.stdout.splitlines() if line.startswith("F1  ")]
    assert shown == [f"{value:.2f}" for value in f1]
    lines = [line for line in result.stdout.splitlines() if line.startswith("F1 of ")]
    pairs = ["flat less poor", "same less poor", "same less flat"]
    assert [line.split(":")[0] for line in lines] == [f"F1 of {pair}" for pair in pairs]
    # the least p there is from 10,000 replicates, of both signs, is taken three times
    assert lines[0].endswith("p = 0.0002, by Holm 0.0006)")
    assert lines[1].endswith("p = 0.0002, by Holm 0.0006)")
    # the highest of them stays as it is
    [(p, by_holm)] = re.findall(r"p = (0\.7\d\d\d), by Holm (.*)\)", lines[2])
    assert p == by_holm


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Missing argument"),
        (["gold", "gold"], "the same file twice"),
        (["gold", "./gold", "--format", "evalb"], "the listing of EVALB is of one system"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, options, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, gold=[GOLD])
    result = run("gold", *options)
    assert result.exit_code == 2
    assert message in result.stderr
