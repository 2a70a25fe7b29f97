"""Work in several processes and on Dask's workers: order, losses and memory."""

import importlib.util
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from oracle.common.errors import InputError, RnngError
from rnng_dy import parallel
from rnng_dy.kinds import ModelFolder
from rnng_dy.parallel import Workers, split_on_memory_error
from tests.commands import COMMAND, PYTHON, invoke, run, started, until, workers_of
from tests.conftest import CHECKOUT, absent, needs_proc, tiny_trees

from .conftest import make_generator, make_parser, save_oracle


def square(x):
    return x * x


def input_error(x):
    raise InputError("unforeseen", "file", x)


def slow_process(x):
    time.sleep(0.1)
    return os.getpid()


@pytest.fixture(scope="module")
def models(sentences, generative_sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    make_parser(sentences).save(folder / "parser")
    make_generator(generative_sentences).save(folder / "generator")
    for name, some in (("some", sentences), ("some.gen", generative_sentences)):
        save_oracle(folder / f"{name}.oracle", some[:25])
    (folder / "some.trees").write_text(tiny_trees(0, 24))
    return folder


# in this process, and in others


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_order_with_their_items(jobs):
    with Workers(jobs=jobs) as workers:
        assert list(workers.map(square, range(40))) == [(x, x * x) for x in range(40)]
        assert list(workers.map(square, [])) == []


def test_items_are_taken_as_workers_need_them():
    taken = []

    def items():
        for x in range(10**9):
            taken.append(x)
            yield x

    with Workers(jobs=2) as workers:
        assert next(workers.map(square, items())) == (0, 0)
        assert len(taken) <= 2 * parallel.AHEAD + 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_the_work_is_raised_here(jobs):
    with pytest.raises(InputError, match="file:1: unforeseen"), Workers(jobs=jobs) as workers:
        list(workers.map(input_error, [1, 2]))


def test_a_model_that_cannot_be_opened_says_why(tmp_path):
    places = [ModelFolder("discriminative", str(tmp_path / "none"))]
    with pytest.raises(RnngError, match="there is no folder"), Workers(places, 2) as workers:
        list(workers.map(square, [1]))


def test_the_output_does_not_depend_on_the_number_of_processes(models):
    for n in (1, 3):
        out = models / f"jobs{n}"
        parser = ("--model", models / "parser", models / "some.oracle", "--jobs", n)
        invoke("parse", *parser, "-o", f"{out}.trees")
        invoke("sample", *parser, "--samples", 7, "-o", f"{out}.props")
        scored = ("--model", models / "generator", f"{out}.props", "--jobs", n)
        invoke("score", *scored, "-o", f"{out}.likelihoods")
        drawn = ("--search", "particles", "--particles", 9, models / "some.gen.oracle")
        invoke("perplexity", *scored[:2], *drawn, "--jobs", n, "-o", f"{out}.tsv")
    for suffix in ("trees", "props", "likelihoods", "tsv"):
        one, several = (Path(f"{models}/jobs{n}.{suffix}").read_bytes() for n in (1, 3))
        assert one == several and one.count(b"\n") >= 25


SLOW = """
import time
from rnng_dy.parallel import Workers
def slow(x):
    time.sleep(60 * x)
if __name__ == "__main__":
    with Workers(jobs=2) as workers:
        print(list(workers.map(slow, range(9))))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 1)])
def test_workers_end_with_their_parent(tmp_path, number, code):
    (tmp_path / "slow.py").write_text(SLOW)
    with started(*COMMAND[:1], tmp_path / "slow.py", cwd=CHECKOUT) as process:
        until(lambda: len(workers_of(process)) == 2)
        workers = workers_of(process)
        time.sleep(2)
        process.send_signal(number)
        assert process.wait(20) in (code, -number)
        until(lambda: not any(Path("/proc", str(worker)).exists() for worker in workers))


def command(models, *options):
    """A long parse, of which some is finished."""
    (models / "long.txt").write_text("The dog saw a cat in the garden .\n" * 1000)
    return ("parse", "--model", "english", "long.txt", "-o", "out", *options)


def finished(models):
    part = models / "out.part"
    return part.exists() and part.stat().st_size


def stopped(models, stop):
    """The exit code and the last message of a command that `stop` stops, after its first results."""
    arguments = command(models, "--jobs", "2")
    with started(*COMMAND, *arguments, cwd=models, stderr=-1, text=True) as process:
        until(lambda: finished(models))
        stop(process)
        _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    return process.returncode, said.strip().splitlines()[-1]


def test_ctrl_c_keeps_finished_work_and_the_same_command_continues(models):
    code, said = stopped(models, lambda process: os.killpg(process.pid, signal.SIGINT))
    assert code == 130 and said.startswith("stopped; the same command continues with ")
    assert 0 < len((models / "out.part").read_text().splitlines()) < 1000
    run(models, *command(models, "--jobs", "2"))
    lines = (models / "out").read_text().splitlines()
    assert len(lines) == 1000 and len(set(lines)) == 1
    assert not (models / "out.part").exists()


def test_a_killed_worker_of_a_command_gives_one_line_and_code_2(models):
    code, said = stopped(models, lambda process: os.kill(workers_of(process)[0], signal.SIGKILL))
    assert code == 2 and said.startswith("Error: a worker has ended")
    assert finished(models)


def test_a_model_that_is_trained_anew_answers_in_the_same_process(models, sentences):
    line = ("parse", "--model", models / "again", models / "some.oracle", "--nbest", 1, "--beam", 2)
    scores = []
    for seed in (1, 2):
        make_parser(sentences, seed=seed).save(models / "again")
        scores.append(invoke(*line).stdout)
    assert scores[0] != scores[1]


# memory


def test_a_batch_is_split_once_and_what_does_not_fit_is_left_out():
    calls = []

    def work(batch):
        calls.append(list(batch))
        if sum(batch) > 10:
            raise MemoryError
        return [2 * x for x in batch]

    assert split_on_memory_error(work, [1, 2, 30, 4, 5]) == [2, 4, None, 8, 10]
    assert calls == [[1, 2, 30, 4, 5], [1], [2], [30], [4], [5]]


LIMITED = """
import resource
from rnng_dy.engine.memory import limit_memory
limit_memory({processes})
print(resource.getrlimit(resource.RLIMIT_DATA)[0])
"""


@needs_proc
def test_memory_is_limited_to_a_share_of_what_is_there():
    one, two = (int(run(None, LIMITED.format(processes=n), command=PYTHON).stdout) for n in (1, 2))
    assert 0 < two < one < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") + 2**30


# on Dask's workers


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[Path, list]]:
    """A scheduler, as its file, and its workers, each with a nanny."""
    if importlib.util.find_spec("distributed") is None:
        absent("Dask is not installed: pip install '.[cluster]'")
    place, processes = folder / "scheduler.json", []
    common = ("--host", "127.0.0.1", "--no-dashboard")
    options = [("scheduler", "--scheduler-file", place, "--port", 0)]
    limits = ("--nthreads", 1, "--memory-limit", 0, "--local-directory", folder / "workers")
    options += [("worker", "--scheduler-file", place, *limits)] * workers
    try:
        for what, *more in options:
            module = (PYTHON[0], "-m", f"distributed.cli.dask_{what}", *common, *more)
            log = (folder / f"{what}.log").open("ab")
            one = started(*module, cwd=CHECKOUT, stdout=log, stderr=log)
            processes.append((one, one.__enter__()))
            until(lambda: place.exists() and place.stat().st_size)
        yield place, [process for _, process in processes]
    finally:
        for one, _ in reversed(processes):
            one.__exit__(None, None, None)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("two"), 2) as (place, _):
        yield place


@pytest.mark.slow
def test_results_of_dask_come_in_order_and_all_workers_work(two):
    with Workers(jobs=str(two)) as workers:
        assert [y for _, y in workers.map(square, range(40))] == [x * x for x in range(40)]
        until(lambda: len({y for _, y in workers.map(slow_process, range(20))}) == 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("parse", "--model parser some.oracle"),
        ("sample", "--model parser some.oracle --samples 5"),
        ("score", "--model generator some.trees"),
        ("surprisal", "--scorer kneser-ney=some.gen.oracle some.oracle"),
        ("perplexity", "--model generator some.gen.oracle --beam 10"),
    ],
)
def test_output_of_dask_is_that_of_one_process(two, models, monkeypatch, command, arguments):
    monkeypatch.chdir(models)
    for out, where in (("here", []), ("there", ["--jobs", two])):
        invoke(command, *arguments.split(), "-o", out, *where)
    assert Path("here").read_bytes() == Path("there").read_bytes() != b""


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["tcp://127.0.0.1:9", "no:port"])
def test_no_scheduler_is_told(models, scheduler):
    importlib.util.find_spec("distributed") or absent("Dask is not installed")
    arguments = ("--model", models / "parser", models / "some.oracle", "--jobs", scheduler)
    assert f"--jobs {scheduler}" in invoke("parse", *arguments, code=2).stderr


@pytest.mark.parametrize(
    ("jobs", "says"), [("gone.json", "neither a number nor an address"), ("0", "0 is not in the")]
)
def test_jobs_are_a_number_an_address_or_a_file(jobs, says):
    assert says in invoke("parse", "some.oracle", "--jobs", jobs, code=2).stderr
