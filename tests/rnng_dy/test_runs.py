"""Logs of trainings, whatever has happened to them, and what a model folder tells of its training."""

from __future__ import annotations

import json
import math
import os
import shutil

import numpy as np
import pytest

from oracle.errors import InputError, RnngError
from rnng_dy import checkpoint
from rnng_dy.runs import EVALUATION, PROGRESS, Log, Run, read_runs
from tests.conftest import DATA

PARSER = DATA / "models-0.1.0" / "parser"


def record(event=PROGRESS, sentences=10, **more):
    place = {
        "epoch": sentences / 20,
        "sentences": sentences,
        "updates": 1,
        "seconds": sentences / 5,
    }
    return {"event": event, **place, **more}


def write(path, *records, end="\n"):
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records) + end)
    return path


@pytest.fixture
def folder(tmp_path):
    """A parser's folder with a finished training of one epoch."""
    return shutil.copytree(PARSER, tmp_path / "parser")


def with_state(folder, epochs=2, **progress):
    state = {"settings": {"epochs": epochs, "seed": 7}, "progress": {"epoch": 0, "sentences": 10}}
    state["progress"] |= {"evaluated": 0} | progress
    np.savez(folder / checkpoint.TRAINING, state=np.array(json.dumps(state)))
    return Run.read(folder, "run")


DAMAGED = ["", "{", "[1]", "7", '{"event": 3}', '{"event": "progress"}', "[" * 100_000, "\ufffd"]
DAMAGED += [json.dumps(record() | {"seconds": value}) for value in (math.nan, "1", -1, True, None)]


@pytest.mark.parametrize("line", DAMAGED, ids=lambda line: line[:30])
def test_a_damaged_line_is_named_and_the_others_are_read(tmp_path, line):
    log = Log.read(write(tmp_path / "log", record(), line, record(sentences=20)))
    assert [r["sentences"] for r in log.records] == [10, 20]
    assert (list(log.damaged), log.half_line) == ([2], None)
    with pytest.raises(InputError, match="log:2: no record of a training"):
        log.require_whole()


def test_a_line_that_is_being_written_is_told_from_a_damaged_one(tmp_path):
    half = json.dumps(record(sentences=20))[:-7]
    log = Log.read(write(tmp_path / "log", record(), half, end=""))
    assert (len(log.records), log.half_line) == (1, 2)
    whole = Log.read(write(tmp_path / "log", record(), record(), end=""))
    assert (len(whole.records), whole.half_line) == (2, None)
    assert Log.read(write(tmp_path / "log", end="")).records == ()


def test_curves_leave_out_what_is_no_number(folder):
    losses = [1.5, math.nan, "x", math.inf, None, 10**400, 2]
    records = [record(sentences=i, loss_per_word=loss) for i, loss in enumerate(losses)]
    write(folder / "log.jsonl", *records)
    run = Run.read(folder, "run")
    assert run.curve(PROGRESS, "sentences", "loss_per_word") == [(0, 1.5), (6, 2)]
    assert run.diverged() is None
    write(folder / "log.jsonl", *records[:6])
    assert Run.read(folder, "run").diverged() == 1 / 20


def test_the_best_evaluation_has_the_highest_score(folder):
    scores = [3.0, math.nan, 7.0, 7.0, 5.0]
    evaluations = [record(EVALUATION, i, score=score) for i, score in enumerate(scores)]
    write(folder / "log.jsonl", *evaluations)
    assert Run.read(folder, "run").best()["sentences"] == 2


def test_states(folder):
    run = Run.read(folder, "run")
    assert run.has_all_epochs() and not run.is_going_on()
    assert run.settings["epochs"] == 1 and run.settings["composition"] == "corrected"
    assert with_state(folder, epoch=1, evaluated=10).is_going_on()
    assert not with_state(folder, epoch=2, evaluated=10).is_going_on()
    # the last evaluation is to come
    assert with_state(folder, epoch=2, evaluated=5).is_going_on()
    write(folder / "log.jsonl", record(), record("ended_early"))
    ended = with_state(folder, epoch=1, evaluated=10)
    assert ended.has_ended_early() and not ended.is_going_on()


def test_silence_goes_by_the_longest_time_between_records(folder):
    write(folder / "log.jsonl", record(sentences=100), record(sentences=600))
    run = with_state(folder)
    for name in os.listdir(folder):
        os.utime(folder / name, (1000, 1000))
    run = Run.read(folder, "run")
    assert not run.is_silent(1000 + 60 + 300) and run.is_silent(1000 + 60 + 301)


def test_a_folder_without_a_training_is_a_run_without_a_log(folder):
    (folder / "log.jsonl").unlink()
    (folder / checkpoint.TRAINING).unlink()
    run = Run.read(folder, "run")
    assert run.log is None and not run.progress and run.best() is None
    assert math.isnan(run.speed()) and run.problems == []


@pytest.mark.parametrize("content", [b"", b"PK", b"\x93NUMPY"])
def test_a_damaged_state_is_a_problem_of_the_run(folder, content):
    (folder / checkpoint.TRAINING).write_bytes(content)
    run = Run.read(folder, "run")
    assert "training.npz: damaged" in run.problems[0]
    assert len(run.records) == 3


@pytest.mark.parametrize("state", [[], {}, {"settings": 3}, {"settings": {}, "progress": None}])
def test_a_state_of_something_else_is_a_problem_of_the_run(folder, state):
    np.savez(folder / checkpoint.TRAINING, state=np.array(json.dumps(state)))
    assert "damaged" in Run.read(folder, "run").problems[0]


def test_what_is_no_model_folder_is_refused(tmp_path):
    with pytest.raises(RnngError, match="no model folder"):
        read_runs([tmp_path])


def test_a_folder_that_is_named_twice_is_one_run(folder):
    again = shutil.copytree(folder, folder.parent / "other" / "parser")
    runs = read_runs([folder, folder / ".", again])
    assert [run.name for run in runs] == [f"{folder.parent.name}/parser", "other/parser"]
