"""Workers of a Dask scheduler: the output of one process, whatever happens to them."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from oracle.blocks import write_oracle
from oracle.errors import RnngError
from oracle.files import replacing
from rnng_dy import dynet_builds, engine
from rnng_dy.execution.work import ModelFolder
from tests.commands import COMMAND, PYTHON, invoke, run, started, until

from ..conftest import TINY, make_generator, make_parser
from .dask_processes import (
    CHECKOUT,
    cluster,
    open_counted,
    open_deadly,
    open_once,
    open_process,
    open_square,
    open_where,
    requires_dask,
    small_disk,
)

requires_dask()

from rnng_dy.execution.cluster import DaskWorkers  # noqa: E402

pytestmark = pytest.mark.slow
SQUARES = [x * x for x in range(40)]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A scheduler with two workers that no test does harm to for good."""
    with cluster(tmp_path_factory.mktemp("two"), workers=2) as made:
        yield made


@pytest.fixture
def said():
    return []


@pytest.fixture
def workers(two, said):
    connected = DaskWorkers(two.address, said.append)
    until(lambda: connected.jobs == 2)
    yield connected
    connected.close()


@pytest.fixture(scope="module")
def models(sentences, generative_sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    make_parser(sentences).save(folder / "parser")
    make_generator(generative_sentences).save(folder / "generator")
    for name, some in (("some", sentences), ("some.gen", generative_sentences)):
        with replacing(folder / f"{name}.oracle") as stream:
            write_oracle(some[:24], stream)
    return folder


def squares_of(connected, open_work=open_square):
    return list(connected.map(open_work, range(len(SQUARES))))


def left_of(two):
    """Files of models in the folders of workers."""
    # os.walk passes over folders that vanish meanwhile
    inside = (name for _, folders, _ in os.walk(two.local) for name in folders)
    return [name for name in inside if name.startswith("rnng_dy-")]


def test_results_come_in_order_and_all_workers_work(workers):
    assert squares_of(workers) == SQUARES
    assert list(workers.map(open_square, [])) == []
    assert len(set(workers.map(open_process, range(20)))) == 2


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("parse", "--model parser some.oracle"),
        ("sample", "--model parser some.oracle --samples 5"),
        ("score", "--model generator some.trees"),
        ("surprisal", "--model generator some.oracle --beam 10 --trees {out}.trees"),
        ("surprisal", "--kneser-ney some.gen.oracle some.oracle"),
        ("perplexity", "--model generator some.gen.oracle --beam 10"),
        ("tag", "some.trees --jackknife 3"),
    ],
)
def test_output_is_that_of_one_process(two, models, monkeypatch, command, arguments):
    monkeypatch.chdir(models)
    Path("some.trees").write_text("".join(TINY.read_text().splitlines(True)[:24]))
    for out, where in (("here", []), ("there", ["--scheduler", two.file])):
        invoke(command, *arguments.format(out=out).split(), "-o", out, *where)
    assert Path("here").read_bytes() == Path("there").read_bytes() != b""
    if "--trees" in arguments:
        assert Path("here.trees").read_bytes() == Path("there.trees").read_bytes() != b""


def test_workers_that_are_started_here_leave_nothing_but_the_output(models):
    """Standard error is as without them; what they read does not lie in the folder that it came from."""
    command = "parse --model parser some.oracle --scheduler local:2"
    done = run(models, *command.split())
    alone = invoke("parse", "--model", models / "parser", models / "some.oracle")
    assert done.stdout == alone.stdout
    first, *_, last = done.stderr.splitlines()
    assert "distributed" not in done.stderr
    assert "not trained" in first and last.startswith("parse: 24 sentences in")


def test_a_model_is_sent_to_each_worker_once_and_is_gone_at_the_end(two, workers, models):
    place = ModelFolder("discriminative", str(models / "parser"), "cpu")
    found = set(workers.map(partial(open_where, place), range(20)))
    # two processes, with a folder each
    assert len(found) == len({folder for _, folder in found}) == 2
    assert all(folder.startswith(str(two.local)) for _, folder in found)
    until(lambda: not left_of(two))


def test_work_is_opened_once_in_each_worker(workers, tmp_path):
    assert squares_of(workers, partial(open_counted, str(tmp_path))) == SQUARES
    processes = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
    assert len(processes) == len(set(processes)) == 2


def test_a_worker_killed_in_each_of_the_first_ten_batches_loses_nothing(workers, tmp_path):
    for x in range(10, len(SQUARES)):
        (tmp_path / str(x)).touch()
    assert squares_of(workers, partial(open_once, str(tmp_path), signal.SIGKILL)) == SQUARES


def test_a_batch_that_kills_each_worker_is_named(tmp_path):
    once = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with cluster(tmp_path, workers=1, environment=once) as made:
        connected = DaskWorkers(made.address)
        found = connected.map(partial(open_deadly, 3), range(10))
        assert [next(found) for _ in range(3)] == [0, 1, 4]
        with pytest.raises(
            RnngError, match=r"given batch 4 were lost.*memory ran out; it begins with 3$"
        ):
            next(found)
        connected.close()


def test_a_worker_that_stops_answering_is_replaced(workers, tmp_path):
    for x in range(1, len(SQUARES)):
        (tmp_path / str(x)).touch()
    assert squares_of(workers, partial(open_once, str(tmp_path), signal.SIGSTOP)) == SQUARES


def test_two_commands_at_once(two, models):
    """Each has a model of its own, and workers take turns."""
    found = {}

    def work(name, kind):
        connected = DaskWorkers(two.address)
        place = ModelFolder(kind, str(models / name), "cpu")
        found[name] = list(connected.map(partial(open_where, place), range(15)))
        connected.close()

    threads = [
        threading.Thread(target=work, args=names)
        for names in (("parser", "discriminative"), ("generator", "generative"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folders = {name: {folder for _, folder in results} for name, results in found.items()}
    assert [len(found[name]) for name in ("parser", "generator")] == [15, 15]
    assert not folders["parser"] & folders["generator"]
    until(lambda: not left_of(two))


def test_a_worker_with_a_full_disk_is_named(tmp_path, models):
    place = ModelFolder("generative", str(models / "generator"), "cpu")
    with cluster(tmp_path) as made:
        made.add_worker("--no-nanny", prepare=small_disk)
        connected = DaskWorkers(made.address)
        with pytest.raises(RnngError, match=r"^the worker tcp://127.0.0.1:\d+: .*File too large"):
            list(connected.map(partial(open_where, place), range(5)))
        assert left_of(made) == []
        # what needs no disk goes on
        assert squares_of(connected) == SQUARES
        connected.close()


def test_a_scheduler_that_goes_away_ends_the_command_and_resume_goes_on(models, tmp_path):
    sample = ("sample", "--model", models / "parser", models / "some.oracle", "--samples", "10")
    out = tmp_path / "props"
    with cluster(tmp_path / "dask", workers=1) as made:
        command = [*COMMAND, *sample, "-o", out, "--scheduler", made.address]
        part = tmp_path / "props.part"
        with started(*command, stderr=subprocess.PIPE, text=True) as process:
            until(lambda: part.exists() and part.stat().st_size)
            made.scheduler.kill()
            # seconds, unless all waits for the machine
            _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert said.splitlines()[-1].startswith(f"Error: the Dask scheduler at {made.address} is gone")
    assert "--resume" in said and "Traceback" not in said
    assert 0 < part.read_bytes().count(b"\n") < 24 * 10
    invoke(*sample, "-o", out, "--resume")
    invoke(*sample, "-o", tmp_path / "alone")
    assert out.read_bytes() == (tmp_path / "alone").read_bytes()


OTHER_VERSION = """
import rnng_dy
rnng_dy.__version__ = "0.0.1"
"""


def test_a_worker_with_another_version_is_refused_by_name(tmp_path):
    preload, place = tmp_path / "other.py", tmp_path / "place"
    preload.write_text(OTHER_VERSION)
    build = place / dynet_builds.FOLDER / dynet_builds.build().name
    build.mkdir(parents=True)
    (build / "_dynet.py").write_text("")
    (build / "dynet_build.py").write_text(f"VERSION = {engine.NEEDED!r}\n")
    with cluster(tmp_path / "dask", workers=1) as made:
        connected = DaskWorkers(made.address)
        made.add_worker("--no-nanny", "--preload", str(preload))
        with pytest.raises(
            RnngError, match=r"worker tcp://\S+ is refused: rnng_dy 0\.0\.1 \("
        ) as e:
            until(lambda: connected.jobs == 2)
        assert " there, " in str(e.value) and "install the same" in str(e.value)
        connected.close()
        made.processes[-1].kill()
        path = os.pathsep.join([str(place), str(CHECKOUT)])
        made.add_worker("--no-nanny", environment={"PYTHONPATH": path})
        with pytest.raises(RnngError, match=r"refused: DyNet \S+ \(build \w+\) there, \S+ \(build"):
            until(lambda: DaskWorkers(made.address).jobs == 3)


def test_a_worker_that_comes_later_works_too_and_none_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("rnng_dy.execution.scheduler.LOOKED", 0.5)
    said = []
    with cluster(tmp_path) as made:
        connected = DaskWorkers(made.address, said.append)
        late = threading.Timer(1.0, lambda: made.add_worker("--nthreads", "3"))
        late.start()
        assert squares_of(connected) == SQUARES
        connected.close()
    assert f"the Dask scheduler at {made.address} has no workers: waiting for one" in said
    assert "has 3 threads and uses one" in said[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scheduler", "local:2", "--jobs", "2"], "--jobs is for processes of this machine"),
        (["--scheduler", "local:2", "--device", "cuda"], "--scheduler is for the CPU"),
        (["--scheduler", "local:no"], "say how many workers to start here, such as local:4"),
        (["--scheduler", "local:0"], "say how many workers to start here, such as local:4"),
        (["--scheduler", "local:9999"], "local:9999 "),
        (["--scheduler", "nothing"], "nor a scheduler file that is there"),
        (["--scheduler", "{damaged}"], "damaged: no scheduler file: it gives no address"),
        (["--scheduler", "tcp://host"], "say tcp://HOST:PORT"),
        (["--scheduler", "tls://127.0.0.1:1"], "Dask's configuration has no certificate"),
        (["--scheduler", "tcp://127.0.0.1:1"], "no Dask scheduler answers at tcp://127.0.0.1:1"),
    ],
)
def test_what_cannot_be_is_refused(models, tmp_path, monkeypatch, options, message):
    monkeypatch.setattr("rnng_dy.execution.scheduler.CONNECTION", 0.5)
    damaged = tmp_path / "damaged"
    damaged.write_text('{"address": 5')
    given = [option.format(damaged=damaged) for option in options]
    result = invoke("parse", "--model", models / "parser", models / "some.oracle", *given, code=2)
    assert message in result.output


def _serve(connection, kind):
    """What a server of some kind does with a connection."""
    says = {
        "garbage": b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100,
        "zeros": bytes(10_000),
        "a message of 1 TB": struct.pack("<Q", 1 << 40),
        "a part of 1 TB": struct.pack("<QQQ", 16, 1, 1 << 40),
        "a part of 3 GB": struct.pack("<QQQ", 16, 1, 3 << 30),
    }
    with suppress(OSError):
        connection.sendall(says.get(kind, b""))
        # the other side gives up
        while kind != "nothing, and closes" and connection.recv(1 << 16):
            pass
    connection.close()


@pytest.fixture
def server(request):
    """The address of a server that is no scheduler."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept():
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    serving = threading.Thread(target=_serve, args=(connection, request.param))
                    serving.daemon = True
                    serving.start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        # without it the thread would stay in accept
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("nothing", "no Dask scheduler answers at {}"),
        ("nothing, and closes", "no Dask scheduler answers at {}"),
        ("a part of 3 GB", "no Dask scheduler answers at {}"),
        ("garbage", "what answers at {} is no Dask scheduler"),
        ("zeros", "what answers at {} is no Dask scheduler"),
        ("a message of 1 TB", "what answers at {} is no Dask scheduler"),
        ("a part of 1 TB", "what answers at {} is no Dask scheduler"),
    ],
    indirect=["server"],
)
def test_a_server_that_is_no_scheduler_is_told_in_one_sentence(models, server, message, capfd):
    """In a process of its own, since Dask says more when a process ends."""
    arguments = ["parse", "--model", "parser", "some.oracle", "--scheduler", server]
    done = run(models, SOON, *arguments, code=2, command=PYTHON, timeout=60)
    assert done.stdout == ""
    # an allocation of 1 TB may be granted, and then nothing comes
    granted = "no Dask scheduler answers at {}"
    beginnings = {f"Error: {each.format(server)}" for each in (message, granted)}
    assert done.stderr.startswith(tuple(beginnings))
    assert done.stderr.count("\n") == 1


SOON = """
from rnng_dy.execution import scheduler
scheduler.CONNECTION = 2
from rnng_dy.cli import main
main()
"""


def test_a_worker_is_no_scheduler(two, workers):
    [address, *_] = workers._scheduler.workers()
    with pytest.raises(RnngError, match=f"what answers at {address} is no Dask scheduler"):
        DaskWorkers(address)


def test_a_name_that_is_looked_up_for_ever_is_given_up(monkeypatch):
    monkeypatch.setattr("rnng_dy.execution.scheduler.CONNECTION", 0.5)
    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: never.wait())
    with pytest.raises(RnngError, match=r"no Dask scheduler answers at tcp://cluster:8786"):
        DaskWorkers("tcp://cluster:8786")
    never.set()


def test_without_dask_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(RnngError, match=r"--scheduler needs Dask: `pip install '\.\[cluster\]'`"):
        DaskWorkers("local:2")
