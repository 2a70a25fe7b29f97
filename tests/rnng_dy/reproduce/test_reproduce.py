"""A tiny reproduction: its numbers are those of its files, beside the paper's."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import pytest

from rnng_dy.evaluation.evalb import score_systems
from rnng_dy.reproduce import inside, stages
from rnng_dy.reproduce.measured import verdict_of
from rnng_dy.reproduce.report import markdown
from rnng_dy.reproduce.stages import Experiment
from rnng_dy.reproduce.systems import parse
from rnng_dy.reproduce.tables import KINDS, tables

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


def made(folder):
    return {path.name for path in (folder / "out").iterdir()}


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
    (folder / "more.trees").write_text(f"(TOP)\n{tiny_trees(104, 108)}", encoding="utf-8")
    systems = ("--seeds", "1,2", "--systems", "buggy,corrected,corrected/stack,gated-attention")
    every = ("--stages", "data,train,infer,baselines,search,report")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(stages.SEARCHES, "particles")
        patch.setitem(stages.SEARCHES, "beam", "--beam 10 --fast-track 1 --word-beam 2")
        for module in (stages, inside):
            patch.setattr(module, "ALPHAS", (0.6, 0.8))
        result = invoke(*arguments(folder, folder / "more.trees", *systems, *every))
    names = ("report.json", "report.md", "samples.svg")
    assert result.stdout.splitlines() == [str(folder / "out" / name) for name in names]
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
            assert row["by_seed"] == pytest.approx(expected)
        rerank = ("rerank", out / f"{system}-1.props", out / f"{system}-1.likelihoods")
        text = invoke(*rerank, "--oracle", out / "test.oracle", "-o", done / "again").output
        perplexity = float(re.search(r"^PPL=(\S+)", text, re.MULTILINE)[1])
        row = row_of(perplexities, model=f"RNNG, {system}")
        assert row["by_seed"][0] == pytest.approx(perplexity)
    statistics = found["Corpus statistics (table 1)"]
    assert row_of(statistics, part="test", count="sequences")["here"] == 16
    models = {"kneser-ney": "Kneser-Ney 5-gram", "buggy-1.beam": "RNNG, buggy, beam"}
    for name, model in models.items():
        lines = (out / f"{name}.tsv").read_text().splitlines()[1:]
        words, negative = (sum(float(line.split("\t")[k]) for line in lines) for k in range(2))
        row = row_of(perplexities, model=model)
        assert row["by_seed"][0] == pytest.approx(math.exp(negative / words))


def test_a_test_file_has_the_f1_of_its_trees(done):
    out, rows = done / "out", results(done)["Labelled F1 by test file"]
    gold, system = (
        (out / name).read_text().splitlines()[12:] for name in ("test.trees", "buggy-1.map.trees")
    )
    for name, lines in (("gold", gold), ("system", system)):
        (done / name).write_text("".join(f"{line}\n" for line in lines))
    [scores] = score_systems(str(done / "gold"), [str(done / "system")], gold_tags=True)
    row = row_of(rows, trees="reranked", system="buggy", file="more")
    assert row["by_seed"][0] == pytest.approx(scores.f1)


def test_all_samples_at_the_papers_alpha_are_those_of_the_other_tables(done):
    found = results(done)
    row = row_of(found["Number of samples and alpha"], alpha=0.8, samples=5)
    f1 = row_of(found["Labelled F1 on the test part"], trees="reranked", system="buggy")
    assert row["F1"] == pytest.approx(f1["here"])
    perplexity = row_of(found["Perplexity on the test part"], model="RNNG, buggy")
    assert row["perplexity"] == pytest.approx(perplexity["here"])
    assert perplexity["standard_error"] > 0 and 1 <= perplexity["effective_samples"] <= 5
    heads = results(done)["Heads by gated attention"]
    assert {row["system"] for row in heads} == {"gated-attention"}
    assert "alpha 0.6" in (done / "out" / "samples.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("low", "high", "by_seed", "verdict"),
    [
        (0.1, 2.0, [1.0, 0.5], "upheld"),
        (0.1, 2.0, [2.0, -0.1], "undecided"),
        (-0.1, 2.0, [1.0, 0.5], "undecided"),
        (-2.0, -0.1, [-1.0, -0.5], "not upheld"),
        (math.nan, math.nan, [1.0], "undecided"),
    ],
)
def test_a_claim_is_upheld_if_interval_and_all_seeds_say_so(low, high, by_seed, verdict):
    difference = {"low": low, "high": high, "by_seed": by_seed}
    assert verdict_of(difference) == verdict
    opposite = {"upheld": "not upheld", "not upheld": "upheld"}.get(verdict, verdict)
    assert verdict_of(difference, sign=-1) == opposite


def test_systems_are_compared_with_the_first(done):
    found = results(done)
    differences, f1 = found["Differences and claims"], found["Labelled F1 on the test part"]
    others = ("corrected", "corrected/stack", "gated-attention")
    names = [f"{other} less buggy" for other in others]
    assert {*names} < {row["systems"] for row in differences}
    # corrected/stack reranks the samples of the parser of corrected
    greedy = {row["system"]: row for row in f1 if row["trees"] == KINDS["discriminative"]}
    assert greedy["corrected/stack"]["by_seed"] == greedy["corrected"]["by_seed"]
    config = json.loads((done / "out/generator-corrected-stack-1/config.json").read_text())
    assert (config["composition"], config["state"]) == ("corrected", "stack")
    for row in differences:
        assert row["low"] <= row["difference"] <= row["high"]
    first, second = (
        row_of(f1, trees=KINDS["generative"], system=system)["by_seed"]
        for system in ("buggy", "corrected")
    )
    less = [y - x for x, y in zip(first, second, strict=True)]
    row = row_of(differences, systems=names[0], measure="F1, reranked")
    assert row["by_seed"] == pytest.approx(less) and row["difference"] == pytest.approx(fmean(less))
    claims = {(row["systems"], row["measure"]): row["claim"] for row in differences}
    assert claims[names[0], "F1, reranked"] == f"above 0: {verdict_of(row)}"
    assert claims["RNNG, buggy, beam less LSTM", "perplexity"].startswith("below 0: ")
    assert claims[names[2], "F1, greedy"] is None
    e = Experiment("trees", seeds=(1, 2), systems=[*map(parse, ("corrected", "gated-attention"))])
    rows = [*tables(done / "out", e, made(done))][-2].rows
    of_pair = [row["claim"] for row in rows if row["systems"] == "gated-attention less corrected"]
    assert of_pair[0] is None and of_pair[1].startswith("above 0: ")


def test_the_papers_numbers_stand_beside_ours(done):
    systems = [*map(parse, ("buggy", "corrected", "corrected/stack"))]
    e = Experiment("ptb", seeds=(1, 2), systems=systems)
    found = {table.title: table.rows for table in tables(done / "out", e, made(done))}
    f1 = found["Labelled F1 on the test part"]
    row = row_of(f1, trees=KINDS["generative"], system="corrected")
    assert row["paper"] == 93.3 and 0 < row["here"] <= 100
    statistics = found["Corpus statistics (table 1)"]
    for part, number in (("train", 49), ("dev", None), ("test", 42)):
        assert row_of(statistics, part=part, count="unk types")["paper"] == number
    perplexities = found["Perplexity on the test part"]
    for model, number in (("LSTM", 113.4), ("RNNG, buggy", 102.4), ("RNNG, corrected/stack", None)):
        assert row_of(perplexities, model=model)["paper"] == number
    text = (done / "out" / "report.md").read_text(encoding="utf-8")
    assert "| paper |" not in text and "rnng-dy train discriminative --train train.oracle" in text


def test_a_report_does_without_baselines_and_not_without_a_model(done):
    e = Experiment("trees", seeds=(1, 2), tags="gold")
    text = "".join(markdown(t) for t in tables(done / "out", e, set()) if t.rows)
    assert "RNNG, buggy" in text and "Kneser-Ney 5-gram" not in text
    parts = ("--stages", "report", "--seeds", "3")
    refused = invoke(*arguments(done, done / "more.trees", *parts), code=2).stderr
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
