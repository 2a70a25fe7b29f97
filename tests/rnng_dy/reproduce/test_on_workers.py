"""Stages of a reproduction in the workers of a Dask scheduler, with a folder that all see."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from oracle.errors import RnngError
from tests.commands import PYTHON, invoke, started, until

from ..conftest import TINY
from ..execution.dask_processes import cluster, requires_dask
from .runs import write_parts

requires_dask()

from rnng_dy.execution import remote  # noqa: E402
from rnng_dy.execution.cluster import DaskWorkers  # noqa: E402
from rnng_dy.execution.executor import Command  # noqa: E402
from rnng_dy.execution.identity import installed  # noqa: E402
from rnng_dy.reproduce.plan import Stage  # noqa: E402
from rnng_dy.reproduce.runner import RECORD, Runner  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("two"), workers=2) as made:
        yield made


@pytest.fixture
def workers(two):
    connected = DaskWorkers(two.address)
    until(lambda: connected.jobs == 2)
    yield connected
    connected.close()


def test_stages_run_side_by_side_and_it_is_said_where(two, workers, tmp_path):
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (30, 6, 6))
    parts = [x for p in ("train", "dev", "test") for x in (f"--{p}", str(tmp_path / f"{p}.trees"))]
    command = ["reproduce", "trees", *parts, "--tags", "gold", "--stages", "data"]
    result = invoke(*command, "--scheduler", two.file, "-o", tmp_path / "there")
    lines = result.stderr.splitlines()
    invoke(*command, "-o", tmp_path / "here")
    for path in (tmp_path / "here").glob("*.*"):
        if path.suffix != ".json":
            assert path.read_bytes() == (tmp_path / "there" / path.name).read_bytes()
    places = [re.match(r"trees \w+: on (tcp://\S+): rnng-dy prepare ", line) for line in lines[:2]]
    assert len({place[1] for place in places}) == 2
    record = json.loads((tmp_path / "there" / RECORD).read_text())
    for stage, known in record.items():
        place = known["place"]
        assert any(re.fullmatch(rf"{stage}: done in .* s on {place}", line) for line in lines)


def test_a_command_runs_on_the_worker_that_is_said_to_have_it(workers, tmp_path):
    for _ in range(4):
        running = workers.start(Command(("--version",), tmp_path, tmp_path / "log"))
        said = running.place
        assert running.wait() == 0
        assert running.place == said


def slow_training(tmp_path):
    """A training without an end, and the file of its state."""
    write_parts(tmp_path, TINY.read_text(encoding="utf-8").splitlines(True), (40, 6, 6))
    data = ("--trees", str(tmp_path / "train.trees"), "--dev-trees", str(tmp_path / "dev.trees"))
    small = ("--hidden", "8", "--lstm-input", "8", "--epochs", "100000", "--checkpoint-every", "20")
    command = ("train", "discriminative", *data, *small, "--model", "m", "--resume")
    return Command(command, tmp_path, tmp_path / "log"), tmp_path / "m" / "training.npz"


def processes_of(folder):
    """The numbers of the processes whose commands name a folder."""
    listed = subprocess.check_output(["ps", "axww", "-o", "pid,stat,args"], text=True)
    lines = [line.split(None, 2) for line in listed.splitlines()[1:]]
    return [int(pid) for pid, state, args in lines if str(folder) in args and state[0] != "Z"]


def test_a_command_whose_worker_is_killed_goes_on_elsewhere_and_can_be_interrupted(
    workers, tmp_path
):
    command, state = slow_training(tmp_path)
    running = workers.start(command)
    until(state.exists)
    [child] = processes_of(tmp_path)
    parent = int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    # it ends with the worker, so that no two work in the folder
    until(lambda: child not in processes_of(tmp_path))
    before = state.stat().st_mtime_ns
    until(lambda: processes_of(tmp_path) and state.stat().st_mtime_ns != before)
    running.interrupt()
    assert running.wait() == 130
    assert processes_of(tmp_path) == []


STARTS = """
import sys, time
from pathlib import Path
from rnng_dy.execution.cluster import DaskWorkers
from rnng_dy.execution.executor import Command
address, folder, *arguments = sys.argv[1:]
workers = DaskWorkers(address)
running = workers.start(Command(arguments, Path(folder), Path(folder, "log")))
time.sleep(600)
"""


def test_a_command_ends_when_the_one_that_started_it_is_killed(two, tmp_path):
    command, state = slow_training(tmp_path)
    with started(*PYTHON, STARTS, two.address, tmp_path, *command.arguments) as starting:
        until(state.exists)
        starting.kill()
        starting.wait()
        until(lambda: not processes_of(tmp_path))


def test_a_folder_that_workers_do_not_see_is_told(workers, tmp_path):
    running = workers.start(Command(("--version",), tmp_path / "not", tmp_path / "not" / "log"))
    with pytest.raises(
        RnngError, match=r"the worker \S+ does not see .*not: all workers must share"
    ):
        until(lambda: running.poll() is not None)
    assert running.wait() == 1


def test_a_worker_with_another_version_starts_no_command(monkeypatch, tmp_path):
    there = SimpleNamespace(address="tcp://there:1")
    monkeypatch.setattr(remote, "get_worker", lambda: there)
    command = Command(("--version",), tmp_path, tmp_path / "log")
    with pytest.raises(RnngError, match=r"the worker tcp://there:1 is refused: rnng_dy "):
        remote.run("some command", command, {**installed(), "rnng_dy": "0.0.1"})
    assert not command.log.exists()


def test_a_reproduction_ends_with_its_scheduler_and_so_does_its_stage(tmp_path):
    command, _ = slow_training(tmp_path)
    stage = Stage("train m", "train", tuple(command.arguments), (), ("m/parameters.npz",))
    with cluster(tmp_path / "dask", workers=1) as made:
        connected = DaskWorkers(made.address)
        runner = Runner(tmp_path, [stage], connected, lambda line: made.scheduler.kill())
        with pytest.raises(RnngError, match=r"^the Dask scheduler at tcp://\S+ is gone"):
            runner.run()
        connected.close()
        until(lambda: not processes_of(tmp_path / "train.trees"))
