"""Worker processes that run one command after another, each with a time limit, all with a memory limit."""

from __future__ import annotations

import faulthandler
import gc
import importlib
import os
import re
import resource
import signal
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import connection, get_context
from pathlib import Path

from click.testing import CliRunner

import rnng_dy.cli
from oracle import encoding
from rnng_dy import engine
from scripts.checkout import CHECKOUT

ENVIRONMENT = os.environ | {"PYTHONPATH": str(CHECKOUT)}
"""The environment in which processes import this checkout's code."""
GRACE = 10.0
"""Seconds after which a process that ignores its time limit is killed."""
MOST_HELD = 1500
"""Megabytes of memory after which a worker is replaced."""
KEPT_FROM = encoding.KEPT_FROM
SHOWN = 1_000_000
"""Characters of an output that are returned."""


@dataclass(frozen=True)
class Limits:
    """Limits of one command."""

    seconds: float = 60.0
    gigabytes: float = 2.0


@dataclass(frozen=True)
class Outcome:
    """The result of a command."""

    code: int | None
    """The exit code; None if the command did not end by itself."""
    stdout: str = ""
    stderr: str = ""
    traceback: str = ""
    where: str = ""
    """The exception and the function that raised it, or how the process died."""
    megabytes: float = 0.0
    """Megabytes of memory at the command's peak."""
    held: float = 0.0
    """Megabytes of memory of the process afterwards."""


class Worker:
    """A process for commands; it is replaced whenever a command kills it."""

    def __init__(self, limits: Limits = Limits()):
        self.limits = limits
        self._process = None
        self._folder = tempfile.TemporaryDirectory(prefix="torture-worker-")
        self._log = Path(self._folder.name, "log")

    def run(self, arguments: Sequence[str], folder: Path) -> Outcome:
        """Run a command of rnng-dy in a folder."""
        if self._process is None:
            context = get_context("spawn")
            self._pipe, theirs = context.Pipe()
            # not a daemon, which could not start processes of its own
            self._process = context.Process(target=_serve, args=(theirs, self.limits, self._log))
            self._process.start()
            theirs.close()
        try:
            self._pipe.send((folder, list(arguments)))
            if not self._pipe.poll(self.limits.seconds + GRACE):
                self._process.kill()
                return self._death("hung")
            outcome = self._pipe.recv()
        except (EOFError, ConnectionError):
            return self._death("")
        if outcome.held > MOST_HELD or outcome.where.startswith(("overtime", "MemoryError")):
            self.close()
        return outcome

    def close(self) -> None:
        """End the process."""
        if self._process:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _death(self, how: str) -> Outcome:
        """Return the outcome of a command that killed its process, or whose process had to be killed."""
        self._process.join()
        code = self._process.exitcode
        died = signal.Signals(-code).name if code < 0 else f"exit code {code} of the process"
        self.close()
        log = self._log.read_text(errors="replace")[-20_000:]
        return Outcome(None, stderr=log, traceback=log, where=how or f"died: {died}")


class Overtime(BaseException):
    """An exception for exceeded time, which no command can catch by mistake."""


def _serve(jobs: connection.Connection, limits: Limits, log: Path) -> None:
    """Answer jobs until the other side closes."""
    os.environ.update(ENVIRONMENT)
    # output of C++ and of crashes goes to the log
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), written, written)):
        os.dup2(file, stream)
    faulthandler.enable()
    engine.start()
    # a hard limit: commands set their own, and cannot exceed it
    most = _kilobytes("VmData") * 1024 + int(limits.gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    signal.signal(signal.SIGALRM, _overtime)
    for module in {place.module for place in rnng_dy.cli.COMMANDS.values()}:
        importlib.import_module(f"rnng_dy.cli.{module}")
    # permanent objects need no collection after each command
    gc.freeze()
    while True:
        try:
            folder, arguments = jobs.recv()
        except EOFError:
            return
        os.chdir(folder)
        jobs.send(_outcome(arguments, limits.seconds))


def _outcome(arguments: list[str], seconds: float) -> Outcome:
    """Run a command; the code is None if the time was up or an exception was raised."""
    _forget_the_last()
    # if there are arrays of an oracle, they are read however small it is
    encoding.KEPT_FROM = 0 if any(Path.cwd().glob("*.arrays")) else KEPT_FROM
    before = _kilobytes("VmRSS")
    failed, result = None, None
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        result = CliRunner().invoke(rnng_dy.cli.main, arguments)
    except Overtime as error:
        failed = error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if result and result.exception and not isinstance(result.exception, SystemExit):
        failed = result.exception
    return Outcome(
        code=None if failed else result.exit_code,
        stdout=result.stdout[:SHOWN] if result else "",
        stderr=result.stderr[:SHOWN] if result else "",
        traceback="".join(traceback.format_exception(failed))[-20_000:] if failed else "",
        where=_where(failed) if failed else "",
        megabytes=(_kilobytes("VmHWM") - before) / 1000,
        held=_kilobytes("VmRSS") / 1000,
    )


def _forget_the_last() -> None:
    """Reset this process to a new one's state: no model cached, the collector's settings, the memory peak."""
    from rnng_dy.execution import work

    work._open.cache_clear()
    gc.set_threshold(700, 10, 10)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")


def _where(error: BaseException) -> str:
    """Return the exception and the innermost function of the project in its traceback."""
    places = [
        f"{Path(frame.filename).name} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if re.search(r"/(rnng_dy|oracle|clusters)/[^/]", frame.filename)
    ]
    kind = "overtime" if isinstance(error, Overtime) else type(error).__name__
    return f"{kind} in {places[-1] if places else 'no function of ours'}"


def _kilobytes(name: str) -> int:
    return int(re.search(rf"^{name}:\s+(\d+)", Path("/proc/self/status").read_text(), re.M)[1])


def _overtime(number: int, frame: object) -> None:
    raise Overtime
