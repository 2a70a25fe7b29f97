"""`rnng-dy reading-times`: from tables to tables and a page."""

from __future__ import annotations

import csv
import os
from functools import partial
from pathlib import Path

import pytest

from tests.commands import invoke, refused

from ..evaluation.reading_times.test_study import ITEMS, WORDS, change, made

__all__ = ["made"]
run = partial(invoke, "reading-times")


@pytest.fixture
def folder(made, monkeypatch):
    """The tables of times and surprisals, in the current folder."""
    monkeypatch.chdir(made)
    return made


def rows_of(text):
    return [*csv.DictReader(text.splitlines())]


def test_the_tables_have_a_row_for_each(folder):
    outputs = ("-o", "r.csv", "--coefficients", "c.csv", "--pairs", "p.csv", "--words", "w.csv")
    result = run(
        *("good.tsv", "other=noise.tsv", "--times", "times.csv", "--frequency", "count"),
        *("--permutations", 500, *outputs, "--html", "r.html"),
    )
    assert result.stdout == ""
    used = ITEMS * (WORDS - 2)
    assert f"{used} of {ITEMS * WORDS} rows in {ITEMS} items, {ITEMS} folds" in result.stderr
    good, other = rows_of(Path("r.csv").read_text(encoding="utf-8"))
    assert (good["system"], other["system"], good["rows"]) == ("good", "other", str(used))
    delta = float(good["log_likelihood"]) - float(good["log_likelihood_without"])
    assert float(good["delta_log_likelihood"]) == pytest.approx(delta, abs=2e-6)
    assert float(good["low"]) < 4 < float(good["high"]) and "high_2" in good
    terms = rows_of(Path("c.csv").read_text(encoding="utf-8"))
    assert len(terms) == 2 * 10
    units = {term["predictor"]: term["unit"] for term in terms}
    assert units["surprisal"] == "ms per bit" and len(units) == 4
    assert {term["delta_log_likelihood"] for term in terms[:3]} == {good["delta_log_likelihood"]}
    [pair] = rows_of(Path("p.csv").read_text(encoding="utf-8"))
    difference = delta - float(other["delta_log_likelihood"])
    assert float(pair["difference"]) == pytest.approx(difference, abs=2e-6)
    words = rows_of(Path("w.csv").read_text(encoding="utf-8"))
    assert len(words) == 2 * used
    bits = [float(word["surprisal"]) for word in words if word["system"] == "good"]
    assert sum(bits) / used == pytest.approx(float(good["mean_surprisal"]), abs=6e-5)
    held_out = [float(word["log_likelihood"]) for word in words if word["system"] == "good"]
    assert sum(held_out) / used == pytest.approx(float(good["log_likelihood"]), abs=2e-6)
    assert {(word["item"], word["position"]) for word in words} == {
        (str(item), str(place)) for item in range(1, ITEMS + 1) for place in range(3, WORDS + 1)
    }
    page = Path("r.html").read_text(encoding="utf-8")
    assert page.count("<polyline") == 2 + 4 + 4
    assert f"<td>{good['ms_per_bit']}</td>" in page


def test_the_same_seed_gives_the_same_table_and_standard_output_has_it(folder):
    arguments = ("good.tsv", "noise.tsv", "--times", "times.csv", "--permutations", 300)
    first, second = run(*arguments), run(*arguments)
    assert first.stdout == second.stdout
    assert "no frequencies" in first.stderr
    assert len(rows_of(first.stdout)) == 2
    [plain, _] = rows_of(run(*arguments, "--spillover", 0).stdout)
    assert "ms_per_bit_1" not in plain and plain["rows"] == str(ITEMS * WORDS)


def test_random_intercepts_are_an_option(folder):
    pytest.importorskip("scipy")
    [row] = rows_of(run("good.tsv", "--times", "times.csv", "--mixed").stdout)
    assert row["regression"] == "mixed" and float(row["low"]) < 4 < float(row["high"])


def test_words_that_differ_stop_the_command_or_are_reported(folder):
    change(folder / "good.tsv", "\n1\t3\t", "\n1\t3\tx")
    arguments = ("good.tsv", "--times", "times.csv", "-o", "r.csv")
    said = refused(folder, "reading-times", *arguments)
    assert "good.tsv:4: 'x" in said and "times.csv:" in said and "--allow-missing" in said
    assert not os.path.exists("r.csv")
    result = run(*arguments, "--allow-missing")
    assert "not aligned: times.csv:" in result.stderr
    assert "left out: 1, not in every table of surprisals" in result.stderr


def test_two_systems_of_one_name_need_names(folder):
    os.mkdir("b")
    Path("b/good.tsv").write_text(Path("good.tsv").read_text(encoding="utf-8"), encoding="utf-8")
    said = refused(folder, "reading-times", "good.tsv", "b/good.tsv", "--times", "times.csv")
    assert "two systems have the name good: give each its own by NAME=FILE" in said


def test_frequencies_have_one_source(folder):
    Path("f.tsv").write_text("word\tcount\na\t3\n", encoding="utf-8")
    both = ("--frequencies", "f.tsv", "--frequency", "count")
    said = refused(folder, "reading-times", "good.tsv", "--times", "times.csv", *both)
    assert "either --frequency or --frequencies" in said
    said = refused(folder, "reading-times", "good.tsv", "--times", "times.csv", *both[:2])
    assert "no row of times.csv is left" in said and "no log_frequency" in said


def test_a_system_twice_is_equal_to_itself(folder):
    run("good.tsv", "same=good.tsv", "--times", "times.csv", "-o", "r.csv", "--pairs", "p.csv")
    [pair] = rows_of(Path("p.csv").read_text(encoding="utf-8"))
    assert (float(pair["difference"]), pair["p"]) == (0, "1")
