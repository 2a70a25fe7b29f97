"""Commands with limits of time and memory, each in a process that is forked after all modules are loaded."""

from __future__ import annotations

import faulthandler
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
from scripts.checkout import CHECKOUT

ENVIRONMENT = os.environ | {"PYTHONPATH": str(CHECKOUT)}
"""The environment in which processes import this checkout's code."""
GRACE = 10.0
"""Seconds after which a process that ignores its time limit is killed."""
SHOWN = 1_000_000
"""Characters of an output that are returned."""
FORKED = get_context("forkserver")
FORKED.set_forkserver_preload(["scripts.torture.loaded"])


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


@dataclass(frozen=True)
class Limits:
    """Limits of one command."""

    seconds: float = 60.0
    gigabytes: float = 2.0

    def run(self, arguments: Sequence[str], folder: Path) -> Outcome:
        """Run a command of rnng-dy in a folder."""
        ours, theirs = FORKED.Pipe(duplex=False)
        with tempfile.NamedTemporaryFile("r", errors="replace") as log:
            # not a daemon, which could not start processes of its own
            process = FORKED.Process(
                target=_run, args=(theirs, list(arguments), folder, self, log.name)
            )
            process.start()
            theirs.close()
            how = "hung"
            try:
                if ours.poll(self.seconds + GRACE):
                    return ours.recv()
            except (EOFError, ConnectionError):
                process.join()
                code = process.exitcode
                how = signal.Signals(-code).name if code < 0 else f"exit code {code} of the process"
                how = f"died: {how}"
            finally:
                process.kill()
                process.join()
            said = log.read()[-20_000:]
        return Outcome(None, stderr=said, traceback=said, where=how)


class Overtime(BaseException):
    """An exception for exceeded time, which no command can catch by mistake."""


def _run(
    results: connection.Connection, arguments: list[str], folder: Path, limits: Limits, log: str
) -> None:
    """Send the outcome of a command in this process, whose output of C++ and of crashes goes to the log."""
    os.environ.update(ENVIRONMENT)
    written = os.open(log, os.O_WRONLY)
    for stream, file in enumerate((os.open(os.devnull, os.O_RDONLY), written, written)):
        os.dup2(file, stream)
    faulthandler.enable()
    # a hard limit: commands set their own, and cannot exceed it
    most = _kilobytes("VmData") * 1024 + int(limits.gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    signal.signal(signal.SIGALRM, _overtime)
    os.chdir(folder)
    if any(folder.glob("*.arrays")):
        # arrays of an oracle are read however small it is
        encoding.KEPT_FROM = 0
    results.send(_outcome(arguments, limits.seconds))


def _outcome(arguments: list[str], seconds: float) -> Outcome:
    """Run a command; the code is None if the time was up or an exception was raised."""
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
    )


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
