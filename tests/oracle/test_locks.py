"""One process at a time writes an output, and the next one clears up what a killed one left."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from oracle.errors import RnngError
from oracle.locks import locked
from oracle.streams import open_output

CHECKOUT = Path(__file__).resolve().parents[2]
HOLD = """
import sys
from oracle.streams import open_output
with open_output(sys.argv[1]) as stream:
    stream.write("half")
    stream.flush()
    print("open", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def writer(tmp_path):
    """A process that writes tmp_path/out."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "out"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert process.stdout.readline() == b"open\n"
    yield process
    process.kill()
    process.communicate()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_second_writer_of_an_output_is_refused_and_told_who_writes(tmp_path, writer):
    (tmp_path / "link").symlink_to("out")
    opened = sorted(os.listdir("/proc/self/fd"))
    for name in ("out", "link"):
        with pytest.raises(RnngError) as refused, open_output(tmp_path / name):
            pass
        assert str(refused.value).startswith(f"{tmp_path / name} is being written by")
        assert f"process {writer.pid} on " in str(refused.value)
        assert "open_output" in str(refused.value)
    assert sorted(os.listdir("/proc/self/fd")) == opened
    writer.communicate(b"\n")
    assert (tmp_path / "out").read_text() == "half"
    assert names(tmp_path) == ["link", "out"]


def test_a_killed_writer_is_no_hindrance_and_what_it_left_is_removed(tmp_path, writer):
    (tmp_path / f".out.{writer.pid}1").write_text("a user's own")
    writer.kill()
    writer.wait()
    assert f".out.{writer.pid}" in names(tmp_path)
    with open_output(tmp_path / "out") as stream:
        stream.write("whole")
    assert names(tmp_path) == [f".out.{writer.pid}1", "out"]
    assert (tmp_path / "out").read_text() == "whole"


def test_a_half_made_folder_of_a_killed_process_is_removed(tmp_path):
    (tmp_path / ".m.77").mkdir()
    (tmp_path / ".m.77" / "half").touch()
    (tmp_path / ".m.lock").write_text("77 here python")
    with locked(tmp_path / "m"):
        assert names(tmp_path) == [".m.lock"]
    assert names(tmp_path) == []


def test_blocks_nest_but_not_across_threads(tmp_path):
    refused = []

    def other():
        try:
            with locked(tmp_path / "out"):
                pass
        except RnngError as error:
            refused.append(str(error))

    with locked(tmp_path / "out"), locked(f"{tmp_path}/./out"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert f"process {os.getpid()} on " in refused[0]
    other()
    assert len(refused) == 1


def _hold_on(parent):
    os.kill(parent, signal.SIGKILL)
    sys.stdin.close()
    signal.pause()


KILLED_WITH_A_CHILD = """
import multiprocessing, os, sys
from oracle.locks import locked
from tests.oracle.test_locks import _hold_on
if __name__ == "__main__":
    with locked(sys.argv[1]):
        child = multiprocessing.get_context("spawn").Process(target=_hold_on, args=(os.getpid(),))
        child.start()
        print(child.pid, flush=True)
        child.join()
"""


def test_a_child_process_that_outlives_its_parent_holds_no_lock(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(KILLED_WITH_A_CHILD)
    process = subprocess.Popen(
        [sys.executable, program, tmp_path / "out"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    child = int(process.stdout.readline())
    try:
        process.wait()
        assert (tmp_path / ".out.lock").exists()
        with locked(tmp_path / "out"):
            os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)
        process.stdout.close()


def test_many_writers_at_once_have_the_lock_one_after_the_other(tmp_path):
    """Each removes the file that the next one is waiting for."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        pool.starmap(_count, [(str(tmp_path / "n"), 40)] * 4)
    assert (tmp_path / "n").read_text() == "160"
    assert names(tmp_path) == ["n"]


def _count(path, times):
    done = 0
    while done < times:
        try:
            with locked(path):
                known = int(Path(path).read_text()) if os.path.exists(path) else 0
                Path(path).write_text(str(known + 1))
        except RnngError:
            continue
        done += 1


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch, capsys, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with open_output(tmp_path / "out") as stream:
        stream.write("text")
    assert names(tmp_path) == ["out"]
    told = capsys.readouterr().err
    assert f"{tmp_path / 'out'} cannot be locked ({os.strerror(number)})" in told


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_in_the_way_of_a_lock_is_named_and_left(tmp_path, kind):
    lock = tmp_path / ".out.lock"
    {"link": lambda p: p.symlink_to(tmp_path / "victim"), "pipe": os.mkfifo, "folder": os.mkdir}[
        kind
    ](lock)
    with pytest.raises((RnngError, OSError)) as told, open_output(tmp_path / "out"):
        pass
    assert str(lock) in str(told.value)
    assert names(tmp_path) == [".out.lock"]


def test_a_command_with_control_characters_is_told_without_them(tmp_path):
    with locked(tmp_path / "out"):
        (tmp_path / ".out.lock").write_text("5 h\x1b[31m evil\n\x07")
        with pytest.raises(RnngError) as refused:
            _in_a_thread(tmp_path / "out")
    assert str(refused.value).isprintable()


def _in_a_thread(path):
    found = []

    def enter():
        try:
            with locked(path):
                pass
        except RnngError as error:
            found.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    raise found[0]


def test_the_temporary_file_is_never_another_that_a_link_names(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / f".out.{os.getpid()}").symlink_to("victim")
    with open_output(tmp_path / "out") as stream:
        stream.write("text")
    assert (tmp_path / "victim").read_text() == "mine"
    assert (tmp_path / "out").read_text() == "text"
    assert not (tmp_path / "out").is_symlink()
