"""`rnng-dy reading-times`: from tables to tables."""

from __future__ import annotations

import csv
import json
import os
from functools import partial
from pathlib import Path

import pytest

from tests.commands import invoke, refused

from ..evaluation.test_reading_times import ITEMS, WORDS, change, made

__all__ = ["made"]
run = partial(invoke, "reading-times")


@pytest.fixture
def folder(made, monkeypatch):
    """The tables of times and surprisals, in the current folder."""
    monkeypatch.chdir(made)
    return made


def rows_of(text):
    return [*csv.DictReader(text.splitlines())]


def test_figures_and_the_joined_table(folder):
    result = run(
        *("good.tsv", "noise.tsv", "--times", "times.csv", "--column", "frequency=count"),
        *("-o", "r.json", "-o", "joined.csv", "-o", "mixed.R"),
    )
    used = ITEMS * (WORDS - 2)
    assert f"{used} of {ITEMS * WORDS} rows in {ITEMS} items, {ITEMS} folds" in result.stderr
    found = json.loads(Path("r.json").read_text(encoding="utf-8"))
    good, other = found["systems"]
    assert (good["system"], other["system"], good["rows"]) == ("good", "noise", used)
    delta = good["log_likelihood"] - good["log_likelihood_without"]
    assert good["delta_log_likelihood"] == pytest.approx(delta)
    assert len(good["coefficients"]) == 10
    effect = good["coefficients"][0]
    assert effect["predictor"] == "surprisal" and effect["low"] < 4 < effect["high"]
    [pair] = found["pairs"]
    assert pair["difference"] == pytest.approx(delta - other["delta_log_likelihood"])
    rows = rows_of(Path("joined.csv").read_text(encoding="utf-8"))
    assert len(rows) == 2 * used
    of_good = [row for row in rows if row["system"] == "good"]
    for name, value in (("surprisal", "mean_surprisal"), ("log_likelihood", "log_likelihood")):
        assert sum(float(row[name]) for row in of_good) / used == pytest.approx(good[value])
    assert {(row["item"], row["position"]) for row in rows} == {
        (str(item), str(place)) for item in range(1, ITEMS + 1) for place in range(3, WORDS + 1)
    }
    script = Path("mixed.R").read_text(encoding="utf-8")
    assert 'read.csv("joined.csv"' in script and "(1 | item)" in script
    assert "surprisal + surprisal_1 + surprisal_2" in script and "(1 | subject)" not in script
    printed = [line.split() for line in result.stdout.splitlines()]
    assert [row[0] for row in printed if row] == ["system", "good", "noise", "first", "good"]
    said = refused(folder, "reading-times", "good.tsv", "--times", "times.csv", "-o", "x.R")
    assert "reads the joined table: add -o FILE.csv" in said


def test_the_same_tables_give_the_same_figures(folder):
    arguments = ("good.tsv", "noise.tsv", "--times", "times.csv", "--format", "json")
    first, second = run(*arguments), run(*arguments)
    assert first.stdout == second.stdout
    assert "no frequencies" in first.stderr
    [plain, _] = json.loads(run(*arguments, "--spillover", 0).stdout)["systems"]
    assert plain["rows"] == ITEMS * WORDS and len(plain["coefficients"]) == 3


def test_words_that_differ_stop_the_command_or_are_reported(folder):
    change(folder / "good.tsv", "\n1\t3\t", "\n1\t3\tx")
    arguments = ("good.tsv", "--times", "times.csv", "-o", "r.json")
    said = refused(folder, "reading-times", *arguments)
    assert "good.tsv:4: 'x" in said and "times.csv:" in said and "--allow-missing" in said
    assert not os.path.exists("r.json")
    result = run(*arguments, "--allow-missing")
    assert "not aligned: times.csv:" in result.stderr
    assert "left out: 1, not in every table of surprisals" in result.stderr


def test_two_systems_of_one_name_are_refused(folder):
    os.mkdir("b")
    Path("b/good.tsv").write_text(Path("good.tsv").read_text(encoding="utf-8"), encoding="utf-8")
    said = refused(folder, "reading-times", "good.tsv", "b/good.tsv", "--times", "times.csv")
    assert "two files have the same name" in said


@pytest.mark.parametrize("column", ["word", "colour=x", "time="])
def test_columns_have_roles(folder, column):
    said = refused(folder, "reading-times", "good.tsv", "--times", "times.csv", "--column", column)
    assert "NAME=COLUMN, with one of item, position" in " ".join(said.split())
