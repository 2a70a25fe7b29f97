"""Two commands on one output, and commands with a dead scheduler: who is refused, how fast, and what is left."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random

from scripts.torture.commands import PARSE, SAMPLE, SCORE
from scripts.torture.jobs import Straight, difference
from scripts.torture.processes import PATIENCE, Ended, Started, Trial, link_data

LOCKS, SCHEDULERS = "locks", "schedulers"
AT_ONCE = 10.0
LOADED = 20.0
"""Extra seconds in which a command must be loaded on a busy machine, besides the ten that it has."""


def run_two(straight: Straight, random: Random, data: Path, folder: Path) -> Trial:
    """Stop a command at a random moment, run the same one beside it, and continue the first."""
    job = straight.job
    link_data(data, folder)
    names = {path.name for path in folder.iterdir()}
    first = job.start(data, folder)
    moment = random.uniform(0, straight.seconds)
    time.sleep(moment)
    first.signal(signal.SIGSTOP, all_of_them=True)
    has_begun = names != {path.name for path in folder.iterdir()}
    # a command that has written everything may have released its lock, and be about to end
    writes = first.process.poll() is None and has_begun and bool(difference(straight, folder))
    resume = random.random() < 0.5
    second = job.start(data, folder, resume).wait(AT_ONCE + LOADED if writes else PATIENCE)
    first.signal(signal.SIGCONT, all_of_them=True)
    ended = first.wait()
    problem = _problem_of_two(straight, folder, ended, second, writes)
    cause = problem and f"{job.name}: {problem}"
    how = f"a second one{' with --resume' if resume else ''} at {moment:.3f} s"
    return Trial(LOCKS, cause, job.command, how, ended.stderr + second.stderr)


def _problem_of_two(
    straight: Straight, folder: Path, first: Ended, second: Ended, writes: bool
) -> str | None:
    if problem := first.problem or second.problem:
        return problem
    if writes and second.code != 2:
        return f"the second one ended with {second.code} while the first one wrote"
    if (writes and first.code != 0) or {first.code, second.code} not in ({0}, {0, 2}):
        return f"exit codes {first.code} and {second.code}"
    differs = difference(straight, folder)
    return differs and f"other content than that of one alone: {differs}"


# schedulers


def _nothing(connection: socket.socket) -> None:
    """Send nothing as long as the other side waits."""
    with suppress(OSError):
        while connection.recv(1 << 16):
            pass


def _close(connection: socket.socket) -> None:
    """Hang up."""


def _speak_http(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    _nothing(connection)


def _claim_a_terabyte(connection: socket.socket) -> None:
    """Send a frame of Dask's that claims to be far larger than any memory."""
    connection.sendall(struct.pack("<QQQ", 1 << 40, 1, 1 << 40))
    _nothing(connection)


def _drip(connection: socket.socket) -> None:
    """Send a byte now and then, so that the connection never seems idle."""
    with suppress(OSError):
        while True:
            connection.sendall(b"\1")
            time.sleep(0.5)


def _noise(connection: socket.socket) -> None:
    connection.sendall(Random(1).randbytes(100_000))
    _nothing(connection)


SERVERS = (_nothing, _close, _speak_http, _claim_a_terabyte, _drip, _noise)
DEAD = (
    *("tcp://127.0.0.1:1", "tcp://no-such-host.invalid:8786", "tcp://127.0.0.1:99999", "local:0", "local:9999"),
    *("tls://127.0.0.1:1", "no/such/file", "pipe", "loop", "/dev/zero", "empty.json", "dead.json"),
)  # fmt: skip
Place = str | Callable[[socket.socket], None]
"""An address, or a function for a server's side of a conversation."""


def ask_the_dead(command: str, place: Place, data: Path, folder: Path) -> Trial:
    """Run a command whose scheduler is missing, or is something else."""
    link_data(data, folder)
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "empty.json").write_text("{}")
    (folder / "dead.json").write_text('{"address": "tcp://127.0.0.1:1"}')
    with served(place) as address:
        typed = f"{command} --scheduler {address}"
        ended = Started(typed, folder).wait(AT_ONCE + LOADED)
    name = place if isinstance(place, str) else place.__name__.strip("_")
    problem = problem_of_dead(ended, folder)
    cause = problem and f"{name}: {problem}"
    return Trial(SCHEDULERS, cause, typed, name, ended.stderr)


SCHEDULER_CASES = [
    partial(ask_the_dead, command, place)
    for command in (PARSE, SAMPLE, SCORE)
    for place in (*SERVERS, *DEAD)
]


def problem_of_dead(ended: Ended, folder: Path) -> str | None:
    """Return the failure of a command that did not refuse in one sentence and leave no output."""
    if ended.traceback:
        return ended.traceback
    if ended.code == -signal.SIGKILL:
        return f"not ended after {AT_ONCE + LOADED:.0f} s"
    said = [line for line in ended.stderr.splitlines() if line.startswith("Error: ")]
    if ended.code != 2 or len(said) != 1:
        return ended.shown
    return "an output is left" if (folder / "out").exists() else None


@contextmanager
def served(place: Place) -> Iterator[str]:
    """Serve all connections and yield the address; a string is yielded unchanged."""
    if isinstance(place, str):
        yield place
        return
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()

        def talk(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                place(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        # closing wakes a thread that waits in `accept`
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
