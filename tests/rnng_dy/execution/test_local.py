"""Working processes: the same results in the same order as one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from oracle.errors import RnngError
from oracle.files import open_output, write_oracle
from rnng_dy.cli import main
from rnng_dy.execution import memory
from rnng_dy.execution.batches import as_fits
from rnng_dy.execution.executor import Command
from rnng_dy.execution.local import local_executor, without_ctrl_c

from ..conftest import make_generator, make_parser

CHECKOUT = Path(__file__).resolve().parents[3]


def open_power(exponent):
    return partial(_power, exponent)


def _power(exponent, x):
    return x**exponent


def open_kill():
    return _kill


def _kill(x):
    if x == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs):
    items = list(range(40))
    assert list(local_executor(jobs).map(partial(open_power, 2), items)) == [x * x for x in items]
    assert list(local_executor(jobs).map(partial(open_power, 2), [])) == []


def test_a_killed_process_is_told():
    with pytest.raises(RnngError, match=r"killed.*--resume"):
        list(local_executor(2).map(open_kill, range(10)))


def open_blocked():
    return _blocked


def _blocked(x):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_ctrl_c_is_for_the_main_process_from_the_first_moment_of_the_others():
    assert all(local_executor(2).map(open_blocked, range(10)))
    assert not _blocked(0)


PARENT = """
import time
from tests.rnng_dy.execution.test_local import open_sleep
from rnng_dy.execution.executor import Command
from rnng_dy.execution.local import local_executor, without_ctrl_c
next(local_executor(2).map(open_sleep, range(100)))
time.sleep(60)
"""


def open_sleep():
    return _sleep


def _sleep(x):
    time.sleep(0.1 if x == 0 else 60)


def test_workers_end_with_a_killed_parent():
    process = subprocess.Popen([sys.executable, "-c", PARENT], cwd=CHECKOUT)
    workers = []
    deadline = time.monotonic() + 60
    while len(workers) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
        listing = subprocess.run(
            ["pgrep", "-P", str(process.pid), "-f", "spawn_main"], capture_output=True, text=True
        )
        workers = listing.stdout.split()
    time.sleep(2)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while any(Path("/proc", worker).exists() for worker in workers):
        assert time.monotonic() < deadline, "a worker lives on"
        time.sleep(0.1)
    assert len(workers) == 2


def test_batches_are_halved_until_they_fit():
    calls = []

    def work(batch):
        calls.append(list(batch))
        if sum(batch) > 10:
            raise MemoryError
        return [2 * x for x in batch]

    assert as_fits(work, [1, 2, 30, 4, 5, 6]) == [2, 4, None, 8, 10, 12]
    assert calls[0] == [1, 2, 30, 4, 5, 6]


@pytest.fixture(scope="module")
def models(sentences, generative_sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    make_parser(sentences).save(folder / "parser")
    make_generator(generative_sentences).save(folder / "generator")
    with open_output(folder / "some.oracle") as stream:
        write_oracle(sentences[:25], stream)
    return folder


def run(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result


def test_output_does_not_depend_on_the_number_of_processes(models):
    for jobs in (1, 3):
        out = models / f"jobs{jobs}"
        common = ("--jobs", jobs)
        parser = ("--model", models / "parser", models / "some.oracle", *common)
        run("parse", *parser, "-o", f"{out}.trees")
        run("sample", *parser, "--samples", 7, "-o", f"{out}.props")
        scored = ("--model", models / "generator", f"{out}.props", *common)
        run("score", *scored, "-o", f"{out}.likelihoods")
    for suffix in ("trees", "props", "likelihoods"):
        one, three = (Path(f"{models}/jobs{jobs}.{suffix}").read_bytes() for jobs in (1, 3))
        assert one == three and one.count(b"\n") >= 25


def test_sentences_that_do_not_fit_are_named_and_the_others_done(models, monkeypatch):
    from rnng_dy.execution import work

    longest = []

    def limited(function, batch):
        results = function(batch)
        for i, item in enumerate(batch):
            if getattr(item, "index", getattr(item, "__len__", int)()) in (3, 11):
                results[i] = None
                longest.append(item)
        return results

    monkeypatch.setattr(work, "as_fits", limited)
    parser = ("--model", models / "parser", models / "some.oracle")
    result = run("parse", *parser, "-o", models / "left.trees")
    lines = (models / "left.trees").read_text().splitlines()
    assert [i for i, line in enumerate(lines) if not line] == [3, 11]
    assert len(lines) == 25
    assert "2 sentences left out" in result.stderr
    for item in longest:
        assert f"some.oracle:{item.sentence.line}: left out" in result.stderr
    run("sample", *parser, "--samples", 5, "-o", models / "left.props")
    text = (models / "left.props").read_text()
    assert text.count("\n") == 5 * 23
    assert not any(line.startswith(("3 ", "11 ")) for line in text.splitlines())


def test_memory_is_limited_to_a_part_of_what_is_there(monkeypatch):
    limits = []
    monkeypatch.setattr(memory, "available_memory", lambda: 10 * memory.GIGABYTE)
    monkeypatch.setattr(memory.resource, "setrlimit", lambda what, both: limits.append(both[0]))
    memory.limit_memory()
    memory.limit_memory(processes=3)
    now = limits[0] - 9 * memory.GIGABYTE
    assert 0 < now < 4 * memory.GIGABYTE
    assert limits[1] - now == pytest.approx(3 * memory.GIGABYTE, rel=0.01)


def test_a_command_leaves_no_open_files_behind(tmp_path):
    executor = local_executor(2)
    before = len(os.listdir("/proc/self/fd"))
    log, printed = tmp_path / "log", tmp_path / "printed"
    for _ in range(3):
        running = executor.start(Command(("--version",), tmp_path, log, printed))
        assert running.wait() == running.poll() == 0
    assert len(os.listdir("/proc/self/fd")) == before
    assert "version" in printed.read_text() and log.read_text() == ""
    assert executor.start(Command(("nonsense",), tmp_path, log)).wait() == 2
    assert "nonsense" in log.read_text()


def test_several_processes_are_for_the_cpu():
    with pytest.raises(RnngError, match="one process keeps a GPU busy"):
        local_executor(2, "cuda:0")
    assert local_executor(1, "cuda:0").jobs == 1


def test_ctrl_c_waits_until_a_process_is_started():
    """Also where another thread takes the signal, which the mask of the main one does not keep from it."""
    done, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), without_ctrl_c():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        os.kill(os.getpid(), signal.SIGINT)
        done.append("the rest of the block")
    assert done
    assert signal.getsignal(signal.SIGINT) is before


KILLS_ONE = """
import os, signal, sys
from multiprocessing import resource_tracker
from rnng_dy.execution.local import local_executor
from tests.rnng_dy.execution.test_local import open_power
from functools import partial
if __name__ == "__main__":
    results = local_executor(2).map(partial(open_power, 2), range(40))
    print(next(results), flush=True)
    os.kill({process}, signal.SIGKILL)
    print(*results)
    print("the end", file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("process", "code", "said"),
    [("os.getpid()", -9, ""), ("resource_tracker._resource_tracker._pid", 0, "the end\n")],
)
def test_a_kill_is_not_followed_by_what_python_tells_of_semaphores(tmp_path, process, code, said):
    (tmp_path / "kills.py").write_text(KILLS_ONE.format(process=process))
    found = subprocess.run(
        [sys.executable, tmp_path / "kills.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert (found.returncode, found.stderr) == (code, said)
    assert found.stdout.startswith("0\n")


def test_messages_come_through_after_a_process_is_started(capfd):
    with without_ctrl_c():
        print("within", file=sys.stderr, flush=True)
    os.write(2, b"after")
    assert capfd.readouterr().err == "within\nafter"
