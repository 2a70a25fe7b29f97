"""Which stages run: those whose outputs are missing or were made with other settings."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from dataclasses import replace
from unittest.mock import Mock

import pytest
from filelock import FileLock

from oracle.common.errors import RnngError
from oracle.common.files import hidden_name
from rnng_dy.reproduce import report
from rnng_dy.reproduce.runner import keys, run
from rnng_dy.reproduce.stages import Experiment, Stage
from rnng_dy.reproduce.tables import Table

TREES = Stage("trees", "data", "prepare --from trees in.trees -o out.trees")
ORACLE = Stage("oracle", "data", "oracle --train out.trees out.trees -o out.oracle")
CLUSTERS = Stage("clusters", "infer", "clusters out.oracle -c 2 -o out.paths")
PLUGIN = """
from pathlib import Path
from rnng_dy.models.composition import COMPOSITIONS, CorrectedComposition
@COMPOSITIONS.register
class Mine(CorrectedComposition):
    name = "mine"
Path("loaded").touch()
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.trees").write_text("(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n" * 3)
    return tmp_path


def ran(folder, *stages, **options):
    """The names of the stages that ran."""
    said = []
    run(folder, stages, jobs=2, report=said.append, **options)
    return {line.split(":")[0] for line in said if line.endswith(": done")}


def test_what_is_there_with_the_same_settings_is_skipped(folder):
    every = {"trees", "oracle", "clusters"}
    assert ran(folder, TREES, ORACLE, CLUSTERS) == every
    assert ran(folder, TREES, ORACLE, CLUSTERS) == set()
    (folder / "out.paths").unlink()
    assert ran(folder, TREES, ORACLE, CLUSTERS) == {"clusters"}
    other = replace(CLUSTERS, command=f"{CLUSTERS.command} --unk single")
    assert ran(folder, TREES, ORACLE, other) == {"clusters"}
    # whatever reads what other settings made runs again
    (folder / "in.trees").write_text("(S (XX a) (XX b))\n")
    with pytest.raises(RnngError, match=r"`clusters` reads out.oracle, .* run with `oracle`, of"):
        ran(folder, TREES, ORACLE, CLUSTERS, groups=["infer"])
    assert ran(folder, TREES, ORACLE, CLUSTERS) == every
    assert ran(folder, TREES, ORACLE, CLUSTERS, groups=()) == set()
    (folder / "out.trees").write_text("(S (XX a) (XX c))\n")
    with pytest.raises(RnngError, match=r"out.trees: changed since `trees` made it: remove"):
        ran(folder, TREES, ORACLE)


def test_a_changed_file_in_a_folder_of_sources_is_another_source(folder):
    for name in ("bank", "elsewhere"):
        (folder / name).mkdir()
    (folder / "bank" / "02").symlink_to(folder / "elsewhere")
    file = folder / "elsewhere" / "a.mrg"
    file.write_text("(S (A a))")
    before = keys(folder, [replace(TREES, command="prepare bank -o x")])
    os.utime(file, ns=(1, 1))
    assert keys(folder, [replace(TREES, command="prepare bank -o x")]) != before


def test_outputs_of_another_commit_stay_and_are_named(folder, monkeypatch):
    said, no_table = [], lambda *_: Table("", [], "")
    for planned, version in (([TREES], "0.4.0-abc"), ([TREES, ORACLE], "0.4.0-def")):
        run(folder, planned, report=said.append, version=version)
    assert said[2] == "trees: up to date, of rnng_dy 0.4.0-abc"
    monkeypatch.setattr(report, "stages", lambda _: planned)
    monkeypatch.setattr(report, "tables", lambda *_: ())
    monkeypatch.setattr(report, "inside", Mock(**dict.fromkeys(["curves", "heads"], no_table)))
    report.write_report(folder, Experiment("trees"))
    assert "\nrnng_dy 0.4.0-abc, 0.4.0-def\n" in (folder / "report.md").read_text()


def test_files_of_the_user_are_kept(folder):
    (folder / "out.trees").write_text("mine")
    with pytest.raises(RnngError, match=r"out.trees is no file of a reproduction: name another"):
        ran(folder, TREES)
    assert (folder / "out.trees").read_text() == "mine"


def test_a_plugin_is_part_of_the_settings_and_loaded_by_the_stage(folder, monkeypatch):
    (folder / "mine.py").write_text(PLUGIN)
    before = keys(folder, [TREES])
    plugins = ["--plugin", str(folder / "mine.py")]
    monkeypatch.setattr("rnng_dy.reproduce.runner._plugins", lambda: plugins)
    assert keys(folder, [TREES]) != before
    ran(folder, TREES)
    assert (folder / "loaded").exists()


def test_a_failed_stage_is_named_with_its_log(folder):
    (folder / "bad.trees").write_text("(S (NP a)\n")
    bad = Stage("bad", "data", "prepare --from trees bad.trees -o new")
    says = r"^bad ended with code 2: Error: .*bad.trees:1.*logs/bad\.log\)$"
    with pytest.raises(RnngError, match=says):
        ran(folder, TREES, bad)
    assert not (folder / "new").exists()


def test_a_stage_waits_until_an_earlier_run_no_longer_writes_its_log(folder):
    ran(folder, TREES)
    (folder / "out.trees").unlink()
    path, seen = folder / "logs" / "trees.log", []
    with path.open("wb", 0) as log:
        fcntl.flock(log, fcntl.LOCK_EX)
        log.write(b"the earlier run\n")

        def end():
            seen.append(path.read_bytes())
            log.close()

        threading.Timer(1, end).start()
        assert ran(folder, TREES) == {"trees"}
    assert seen == [b"the earlier run\n"] and b"earlier" not in path.read_bytes()


def test_two_reproductions_do_not_share_a_folder(folder):
    lock = FileLock(hidden_name(str(folder), "lock"))
    with lock, pytest.raises(RnngError, match="is being written by another command"):
        ran(folder, TREES)


@pytest.mark.parametrize("record", ['{"settings": "', "[]", '{"settings": 1}'])
def test_a_damaged_record_is_none(folder, record):
    ran(folder, TREES)
    (folder / "logs" / "trees.json").write_text(record)
    assert ran(folder, TREES) == {"trees"}
    assert json.loads((folder / "logs" / "trees.json").read_text())["done"]
