"""Working processes: the same results in the same order as one process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import pytest

from oracle.blocks import write_oracle
from oracle.errors import RnngError
from oracle.files import replacing
from rnng_dy.execution import memory
from rnng_dy.execution.batches import split_on_memory_error
from rnng_dy.execution.executor import Command
from rnng_dy.execution.local import local_executor, without_ctrl_c
from rnng_dy.execution.work import ModelFolder, forget_model
from tests.commands import PYTHON, invoke, run, started, until, workers_of

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


def open_nothing(error):
    raise error


class TwoParts(Exception):
    """Cannot be unpickled, as many an exception of two arguments."""

    def __init__(self, message, more):
        super().__init__(message)


def open_failing():
    return _fail


def _fail(x):
    raise TwoParts("something unforeseen", x)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("error", [RnngError("not for this model"), ValueError("unforeseen")])
def test_work_that_cannot_be_opened_says_why(jobs, error):
    with pytest.raises(type(error), match=str(error)):
        list(local_executor(jobs).map(partial(open_nothing, error), range(3)))


def test_an_error_of_another_kind_is_no_want_of_memory():
    with pytest.raises(BrokenProcessPool) as raised:
        list(local_executor(2).map(open_failing, range(3)))
    assert "TwoParts" in str(raised.value.__cause__)


def open_blocked():
    return _blocked


def _blocked(x):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_ctrl_c_is_for_the_main_process_from_the_first_moment_of_the_others():
    assert all(local_executor(2).map(open_blocked, range(10)))
    assert not _blocked(0)


def open_failing_at_3():
    return _failing_at_3


def _failing_at_3(x):
    if x == 3:
        raise RnngError("no more")
    time.sleep(0.1)
    return x


def test_only_processes_of_the_executor_are_ended_with_it():
    """Who uses the library may have other children, which multiprocessing knows as well."""
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(300,))
    other.start()
    try:
        before = set(multiprocessing.active_children())
        with pytest.raises(RnngError, match="no more"):
            list(local_executor(2).map(open_failing_at_3, range(100)))
        assert not other._popen.poll()
        assert other.is_alive()
        assert set(multiprocessing.active_children()) == before == {other}
    finally:
        other.kill()
        other.join()


def test_a_command_is_started_without_code_between_fork_and_exec(tmp_path, monkeypatch):
    """That code may hang where another thread held a lock, as in the workers of Dask."""
    started = []
    popen = subprocess.Popen

    def recorded(*arguments, **options):
        started.append(options)
        return popen(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", recorded)
    running = local_executor(2).start(Command(("--version",), tmp_path, tmp_path / "log"))
    assert running.wait() == 0
    [options] = started
    assert options.get("preexec_fn") is None


COMMAND_PARENT = """
import sys, time
from pathlib import Path
from rnng_dy.execution.executor import Command
from rnng_dy.execution.local import local_executor
folder = Path(sys.argv[1])
# it waits for somebody who writes into the pipe
running = local_executor(2).start(Command(("evalb", "pipe", "-"), folder, folder / "log"))
print(running._process.pid, flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.parametrize("after", [0.0, 60.0])
def test_a_command_ends_with_its_parent(tmp_path, after):
    """Also where the parent is gone before the command has begun."""
    os.mkfifo(tmp_path / "pipe")
    parent = (*PYTHON, COMMAND_PARENT, tmp_path, after)
    with started(*parent, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        if after:
            time.sleep(1.0)
            process.kill()
        process.wait()
        until(lambda: not Path("/proc", str(pid)).exists())


@pytest.mark.parametrize("given", ["jobs", "workers"])
def test_more_processes_than_the_machine_has_use_for_are_refused(given, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**15)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    from rnng_dy.execution.cluster import DaskWorkers

    monkeypatch.setattr("rnng_dy.execution.scheduler.Scheduler._start_here", pytest.fail)
    start = local_executor if given == "jobs" else lambda n: DaskWorkers(f"local:{n}")
    with pytest.raises(RnngError, match=r"9999 .*8 processors"):
        start(9999)


PARENT = """
import time
from tests.rnng_dy.execution.test_local import open_sleep
from rnng_dy.execution.executor import Command
from rnng_dy.execution.local import local_executor, without_ctrl_c
from rnng_dy.execution.work import ModelFolder, forget_model
next(local_executor(2).map(open_sleep, range(100)))
time.sleep(60)
"""


def open_sleep():
    return _sleep


def _sleep(x):
    time.sleep(0.1 if x == 0 else 60)


def test_workers_end_with_a_killed_parent():
    with started(*PYTHON, PARENT, cwd=CHECKOUT) as process:
        until(lambda: len(workers_of(process)) == 2)
        workers = workers_of(process)
        time.sleep(2)
        process.kill()
        process.wait()
        until(lambda: not any(Path("/proc", str(worker)).exists() for worker in workers))


def test_batches_are_halved_until_they_fit():
    calls = []

    def work(batch):
        calls.append(list(batch))
        if sum(batch) > 10:
            raise MemoryError
        return [2 * x for x in batch]

    assert split_on_memory_error(work, [1, 2, 30, 4, 5, 6]) == [2, 4, None, 8, 10, 12]
    assert calls[0] == [1, 2, 30, 4, 5, 6]


def test_what_is_no_want_of_memory_is_raised_at_once():
    calls = []

    def work(batch):
        calls.append(batch)
        raise ValueError("something unforeseen")

    with pytest.raises(ValueError, match="unforeseen"):
        split_on_memory_error(work, [1, 2, 3])
    assert calls == [[1, 2, 3]]


@pytest.fixture(scope="module")
def models(sentences, generative_sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    make_parser(sentences).save(folder / "parser")
    make_generator(generative_sentences).save(folder / "generator")
    with replacing(folder / "some.oracle") as stream:
        write_oracle(sentences[:25], stream)
    return folder


def test_output_does_not_depend_on_the_number_of_processes(models):
    for jobs in (1, 3):
        out = models / f"jobs{jobs}"
        common = ("--jobs", jobs)
        parser = ("--model", models / "parser", models / "some.oracle", *common)
        invoke("parse", *parser, "-o", f"{out}.trees")
        invoke("sample", *parser, "--samples", 7, "-o", f"{out}.props")
        scored = ("--model", models / "generator", f"{out}.props", *common)
        invoke("score", *scored, "-o", f"{out}.likelihoods")
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

    monkeypatch.setattr(work, "split_on_memory_error", limited)
    parser = ("--model", models / "parser", models / "some.oracle")
    result = invoke("parse", *parser, "-o", models / "left.trees")
    lines = (models / "left.trees").read_text().splitlines()
    assert [i for i, line in enumerate(lines) if not line] == [3, 11]
    assert len(lines) == 25
    assert "2 sentences left out" in result.stderr
    for item in longest:
        assert f"some.oracle:{item.sentence.line}: left out" in result.stderr
    invoke("sample", *parser, "--samples", 5, "-o", models / "left.props")
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


def test_a_model_is_opened_on_the_device_that_is_named(models, monkeypatch):
    started = []
    monkeypatch.setattr("rnng_dy.engine.start", started.append)
    ModelFolder("discriminative", str(models / "parser"), "cuda:1").open()
    assert started == ["cuda:1"]
    forget_model()


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
    # a kill takes its time
    os.waitid(os.P_PID, {process}, os.WEXITED | os.WNOWAIT)
    print(*results)
    print("the end", file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("process", "code", "said"),
    [("os.getpid()", -9, ""), ("resource_tracker._resource_tracker._pid", 0, "the end\n")],
)
def test_a_kill_is_not_followed_by_what_python_tells_of_semaphores(tmp_path, process, code, said):
    (tmp_path / "kills.py").write_text(KILLS_ONE.format(process=process))
    found = run(None, tmp_path / "kills.py", code=code, command=(sys.executable,))
    assert found.stderr == said
    assert found.stdout.startswith("0\n")


def test_messages_come_through_after_a_process_is_started(capfd):
    with without_ctrl_c():
        print("within", file=sys.stderr, flush=True)
    os.write(2, b"after")
    assert capfd.readouterr().err == "within\nafter"


def test_standard_error_stays_where_it_is_while_more_processes_are_started(monkeypatch):
    """It is that of all threads: what another one says meanwhile would be lost."""
    moved, move = [], os.dup2
    with without_ctrl_c():
        pass
    monkeypatch.setattr(os, "dup2", lambda *files: moved.append(files) or move(*files))
    with without_ctrl_c():
        pass
    assert not moved
