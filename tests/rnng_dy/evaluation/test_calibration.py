"""The expected calibration error of brackets, counted by hand; JSON of `parse` as input of `evalb`."""

from __future__ import annotations

import json

import pytest

from oracle.brackets import parse_line
from rnng_dy.evaluation.evalb import Scores, score_read_off
from rnng_dy.evaluation.evalb_params import COLLINS
from rnng_dy.evaluation.evalb_sentence import read_off
from tests.commands import invoke

GOLD = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .)))"
# NP is wrong: TOP does not count
SYSTEM = "(TOP (S (NP (DT the) (NN cat)) (NP (VBZ sleeps)) (. .)))"


def scores(*posteriors, system=SYSTEM):
    """One sentence for each list of posteriors."""
    gold, found = (read_off(parse_line(tree), COLLINS) for tree in (GOLD, system))
    return Scores(tuple(score_read_off(gold, found, COLLINS, each) for each in posteriors))


def test_the_error_is_the_mean_gap_between_posterior_and_precision():
    """S and the first NP are right, the second is wrong, each in a bin of its own."""
    found = scores([0.3, 1.0, 0.85, 0.6])
    assert found.per_sentence[0].rated == ((1.0, True), (0.85, True), (0.6, False))
    assert found.calibration_error == pytest.approx(100 * (0 + 0.15 + 0.6) / 3)


def test_brackets_with_similar_posteriors_are_one_bin():
    """In the bin from 0.7: 0.7 and 0.75 of right brackets, 0.74 and 0.79 of wrong ones; elsewhere 1, 0.95 of right."""
    found = scores([0.0, 1.0, 0.7, 0.74], [0.0, 0.95, 0.75, 0.79])
    bins = abs(0.7 + 0.75 + 0.74 + 0.79 - 2) + abs(1.0 + 0.95 - 2)
    assert found.calibration_error == pytest.approx(100 * bins / 6)


def test_right_and_certain_brackets_have_no_error():
    assert scores([1.0] * 4, system=GOLD).calibration_error == 0
    assert scores(None).calibration_error == 0
    assert scores(None).per_sentence[0].rated == ()


def parsed(*trees):
    found = [
        {"tree": tree, "log_prob": None} | ({"posteriors": p} if p else {}) for tree, p in trees
    ]
    rest = {"sentence": 1, "line": 1, "text": None, "tokens": []}
    return json.dumps({**rest, "trees": found}) + "\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold").write_text(f"{GOLD}\n{GOLD}\n")
    (tmp_path / "system").write_text(f"{SYSTEM}\n\n")
    return tmp_path


def test_evalb_reads_json_and_adds_the_error_if_there_are_posteriors(files):
    plain = invoke("evalb", "gold", "system").stdout
    assert "Calibration" not in plain
    (files / "json").write_text(parsed((SYSTEM, None)) + parsed())
    assert invoke("evalb", "gold", "json").stdout == plain
    (files / "json").write_text(parsed((SYSTEM, [0.3, 1.0, 0.85, 0.6]), (GOLD, None)) + parsed())
    table = invoke("evalb", "gold", "json").stdout
    assert table.startswith(plain.partition("\n\n")[0])
    assert "Calibration error          25.00     25.00\n" in table
    figures = json.loads(invoke("evalb", "gold", "json", "--format", "json").stdout)
    assert figures["all"]["calibration_error"] == pytest.approx(25)
    assert "calibration_error,25." in invoke("evalb", "gold", "json", "--format", "csv").stdout
    evalb_style = invoke("evalb", "gold", "json", "--format", "evalb").stdout
    assert evalb_style == invoke("evalb", "gold", "system", "--format", "evalb").stdout


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "{1}",
        '{"trees": []}',
        parsed((SYSTEM, [1.0])),
        parsed((SYSTEM, [0, 1, 2, 0])),
        parsed((SYSTEM, "abcd")),
    ],
)
def test_faulty_json_is_named_with_its_line(files, line):
    (files / "json").write_text(parsed((SYSTEM, None)) + line)
    for command in (("evalb", "gold", "json"), ("show", "json")):
        assert "json:2: " in invoke(*command, code=2).stderr
