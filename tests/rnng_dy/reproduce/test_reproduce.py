"""A tiny reproduction: its numbers are those of its files, beside the paper's."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from rnng_dy.evaluation.evalb import score_systems
from rnng_dy.reproduce.report import KINDS, markdown, tables
from rnng_dy.reproduce.stages import Experiment
from rnng_dy.reproduce.systems import parse

from ...commands import COMMAND, invoke, started, unless_given, until
from ...conftest import tiny_trees

pytestmark = pytest.mark.slow
SMALL = "--preset fast --epochs 2 --hidden 10 --samples 5 --jobs 2"


def arguments(folder, *more):
    parts = [folder / f"{part}.trees" for part in ("train", "dev", "test")]
    usual = unless_given(SMALL.split(), more)
    return ["reproduce", "trees", *parts, *usual, *more, "-o", folder / "out"]


def write_parts(folder):
    for part, lines in (("train", (0, 80)), ("dev", (80, 92)), ("test", (92, 104))):
        (folder / f"{part}.trees").write_text(tiny_trees(*lines), encoding="utf-8")


def results(folder):
    return json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))["tables"]


def row_of(table, **values):
    [row] = [row for row in table if values.items() <= row.items()]
    return row


@pytest.fixture
def trees(tmp_path):
    write_parts(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of a finished reproduction of our own trees."""
    folder = tmp_path_factory.mktemp("reproduce")
    write_parts(folder)
    systems = ("--seeds", "1,2", "--systems", "buggy,corrected,corrected/stack")
    result = invoke(*arguments(folder, *systems))
    reports = [str(folder / "out" / f"report.{x}") for x in ("json", "md")]
    assert result.stdout.splitlines() == reports
    return folder


def test_numbers_are_those_of_the_files(done):
    found, out = results(done), done / "out"
    perplexities = found["Perplexity on the test part"]
    for system in ("buggy", "corrected"):
        for kind, suffix in (("discriminative", "greedy"), ("generative", "map")):
            files = (out / f"{system}-{seed}.{suffix}.trees" for seed in (1, 2))
            scores = score_systems(str(out / "test.trees"), map(str, files))
            expected = [of.f1 for of in scores]
            row = row_of(found["Labelled F1 on the test part"], trees=KINDS[kind], system=system)
            assert row["values"] == pytest.approx(expected)
        rerank = ("rerank", out / f"{system}-1.props", out / f"{system}-1.likelihoods")
        text = invoke(*rerank, "--oracle", out / "test.oracle", "-o", done / "again").output
        perplexity = float(re.search(r"^PPL=(\S+)", text, re.MULTILINE)[1])
        row = row_of(perplexities, model=f"RNNG, {system}")
        assert row["values"][0] == pytest.approx(perplexity)
    statistics = found["Corpus statistics (table 1)"]
    assert row_of(statistics, part="test", count="sequences")["here"] == 12
    saved = json.loads((out / "kneser-ney.json").read_text(encoding="utf-8"))
    assert row_of(perplexities, model="Kneser-Ney 5-gram")["here"] == saved["perplexity"]


def test_systems_are_compared_with_the_first_by_seed(done):
    found = results(done)
    differences, f1 = found["Differences"], found["Labelled F1 on the test part"]
    names = [*dict.fromkeys((row["systems"], row["seed"]) for row in differences)]
    pairs = ["corrected less buggy", "corrected/stack less buggy"]
    assert names == [(pair, seed) for pair in pairs for seed in ("1", "2")]
    # corrected/stack reranks the samples of the parser of corrected
    greedy = {row["system"]: row for row in f1 if row["trees"] == KINDS["discriminative"]}
    assert greedy["corrected/stack"]["values"] == greedy["corrected"]["values"]
    config = json.loads((done / "out/generator-corrected-stack-1/config.json").read_text())
    assert (config["composition"], config["state"]) == ("corrected", "stack")
    for row in differences:
        assert row["low"] <= row["difference"] <= row["high"]
        assert (row["p"] or 0) <= (row["p_Holm"] or 0) <= 1
    first, second = (
        row_of(f1, trees=KINDS["generative"], system=system)["values"][0]
        for system in ("buggy", "corrected")
    )
    row = row_of(differences, systems=pairs[0], seed="1", measure="F1, reranked")
    assert row["difference"] == pytest.approx(second - first)


def test_the_papers_numbers_stand_beside_ours(done):
    systems = [*map(parse, ("buggy", "corrected", "corrected/stack"))]
    e = Experiment("ptb", seeds=(1, 2), systems=systems)
    made = {table.title: table.rows for table in tables(done / "out", e, True)}
    f1 = made["Labelled F1 on the test part"]
    row = row_of(f1, trees=KINDS["generative"], system="corrected")
    assert row["paper"] == 93.3 and 0 < row["here"] <= 100
    statistics = made["Corpus statistics (table 1)"]
    for part, number in (("train", 49), ("dev", None), ("test", 42)):
        assert row_of(statistics, part=part, count="unk types")["paper"] == number
    perplexities = made["Perplexity on the test part"]
    for model, number in (("LSTM", 113.4), ("RNNG, buggy", 102.4), ("RNNG, corrected/stack", None)):
        assert row_of(perplexities, model=model)["paper"] == number
    text = (done / "out" / "report.md").read_text(encoding="utf-8")
    assert "| paper |" not in text and "rnng-dy train discriminative --train train.oracle" in text


def test_a_report_does_without_baselines_and_not_without_a_model(done):
    e = Experiment("trees", seeds=(1, 2), tags="gold")
    text = "".join(map(markdown, tables(done / "out", e, False)))
    assert "RNNG, buggy" in text and "Kneser-Ney 5-gram" not in text
    parts = ("--stages", "report", "--seeds", "3")
    refused = invoke(*arguments(done, *parts), code=2).stderr
    assert "no report without the stage `train parser-buggy-3`" in refused


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_stopped_reproduction_loses_no_finished_stage(trees, by):
    few = ("--tags", "gold", "--epochs", 40, "--systems", "buggy", "--stages", "data,train")
    begun = "train parser-buggy-1: rnng-dy"
    with started(*COMMAND, *arguments(trees, *few), stderr=subprocess.PIPE, text=True) as process:
        assert any(line.startswith(begun) for line in process.stderr)
        until((trees / "out" / "parser-buggy-1" / "log.jsonl").exists)
        process.send_signal(by)
        process.wait()

    def left():
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if os.readlink(path / "cwd") == str(trees / "out"):
                    found.append(int(path.name))
        return found

    until(lambda: not left())
    log = trees / "out" / "logs" / "train-parser-buggy-1.log"
    assert "--resume continues in parser-buggy-1" in log.read_text(encoding="utf-8")
    again = invoke(*arguments(trees, *few)).stderr
    assert "clusters: up to date" in again and begun in again
    assert (trees / "out" / "parser-buggy-1" / "parameters.npz").exists()
