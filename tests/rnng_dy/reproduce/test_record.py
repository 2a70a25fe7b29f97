"""What a reproduction's folder says of its stages: what is damaged there counts as not known."""

from __future__ import annotations

import json

import pytest

from rnng_dy.execution.local import LocalCommands
from rnng_dy.reproduce.plan import Stage
from rnng_dy.reproduce.runner import Runner

SOUND = {
    "done": "a",
    "begun": "a",
    "outputs": {"x": "b"},
    "seconds": 1.5,
    "processes": 2,
    "place": "",
    "device": "cuda:0",
}
DAMAGED = {
    "seconds": ["\ud800", "x", -1, 10**400, float("nan"), float("inf"), [], {"a": 1}, None, True],
    "processes": ["\ud800", "x", -1, 0, 10**400, 1.5, [], None],
    "outputs": [{"x": "\ud800"}, {"x": 1}, {"x": ["a"]}, [], "x", None],
    "place": ["\ud800"],
    "device": ["\ud800", 1, None],
}


@pytest.fixture
def stage():
    return Stage("data", "data", (), (), ("x",))


def runner(folder, stage):
    return Runner(folder, [stage], LocalCommands(), print)


def known(tmp_path, stage, entry):
    (tmp_path / "stages.json").write_text(json.dumps({stage.name: entry}))
    return tuple(runner(tmp_path, stage).last_run(stage).values())


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in DAMAGED.items() for value in values]
)
def test_a_damaged_entry_is_not_known(tmp_path, stage, field, value):
    assert known(tmp_path, stage, SOUND) == (1.5, 2, "cuda:0", {"x": "b"})
    assert known(tmp_path, stage, {**SOUND, field: value}) == (None, None, None, {})


def test_an_entry_of_an_earlier_version_or_of_a_stage_that_runs_is_known(tmp_path, stage):
    assert known(tmp_path, stage, {"done": "a", "outputs": {"x": "b"}, "seconds": 3}) == (
        3,
        None,
        None,
        {"x": "b"},
    )
    assert known(tmp_path, stage, {"begun": "a", "processes": 1}) == (None, 1, None, {})
