"""Reproductions that stop, fail or are killed, parts of one, and other treebanks."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from oracle.brackets import parse_line, read_trees

from ...commands import COMMAND, started, until
from ..conftest import TINY
from .runs import arguments, results, run, states, write_parts

pytestmark = pytest.mark.slow


def test_stages_can_be_chosen(tmp_path):
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (80, 12, 12))
    result = run(tmp_path, "--stages", "data", "--tags", "gold")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "clusters.paths").exists()
    assert not list((tmp_path / "out").glob("parser*"))
    result = run(tmp_path, "--stages", "report", "--tags", "gold")
    assert result.exit_code == 2
    assert "no report without the stage" in result.output
    assert run(tmp_path, "--stages", "training").exit_code == 2


def test_a_model_folder_is_not_filled(tmp_path):
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (80, 12, 12))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").touch()
    result = run(tmp_path)
    assert result.exit_code == 2 and "is a model folder" in result.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["config.json"]


def test_a_failing_stage_is_named_with_its_log(tmp_path):
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (80, 12, 12))
    (tmp_path / "dev.trees").write_text("(S (NP a)\n")
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "trees dev ended with code 2: Error:" in result.output
    assert "dev.trees:1" in result.output
    assert "logs/trees-dev.log" in result.output


def test_a_kill_leaves_no_process_behind_and_loses_no_finished_stage(tmp_path):
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (80, 12, 12))
    few = ["--tags", "gold", "--epochs", "40", "--seeds", "1", "--systems", "buggy"]
    command = [*COMMAND, *arguments(tmp_path, *few)]
    with started(*command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("train parser-buggy-1: rnng-dy"):
                break
        time.sleep(1.0)
        process.send_signal(signal.SIGKILL)
        process.wait()
        # before the stages are ended with their session
        listing = ["ps", "axww", "-o", "args"]
        until(lambda: str(tmp_path).encode() not in subprocess.check_output(listing))
    record = json.loads((tmp_path / "out" / "stages.json").read_text())
    finished = {name for name, known in record.items() if "done" in known}
    assert {"trees train", "clusters"} <= finished
    result = run(tmp_path, *few, "--stages", "data,baselines,train")
    assert result.exit_code == 0, result.output
    again = states(result)
    assert all(again[name] == "up to date" for name in finished)


@pytest.mark.parametrize(("treebank", "unk"), [("sinica", "single"), ("gum", "berkeley")])
def test_other_treebanks_run_through(shared, tmp_path, treebank, unk):
    for part, size in (("train", 150), ("dev", 15), ("test", 15)):
        lines = (shared / "treebanks" / treebank / f"{part}.trees").read_text(encoding="utf-8")
        # words beyond ASCII, sentences that begin with #
        odd = [line for line in lines.splitlines(True) if not line.isascii() or "(# #)" in line]
        chosen = (odd[: size // 2] + lines.splitlines(True))[:size]
        (tmp_path / f"{part}.trees").write_text("".join(chosen), encoding="utf-8")
    few = ["--seeds", "1", "--compositions", "corrected", "--tags", "gold", "--epochs", "1"]
    result = run(tmp_path, "--unk", unk, *few)
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    words = [w for t in read_trees(str(tmp_path / "test.trees")) for w in t.tree.leaves()]
    drawn = results(tmp_path)["trees"]
    shown = {word for tree in drawn for word in parse_line(tree["gold"]).leaves()}
    assert shown <= set(words)
    if treebank == "sinica":
        assert results(tmp_path)["statistics"]["test"]["unk_types"] == 1
        characters = [word for word in shown if not word.isascii()]
        assert characters
        assert all(word in text for word in characters)


def test_a_gpu_that_is_not_there_is_told_before_the_first_stage(tmp_path):
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (80, 12, 12))
    result = run(tmp_path, "--device", "cuda:77")
    assert result.exit_code == 2
    assert "use --device cpu" in result.output
    assert not (tmp_path / "out").exists()
