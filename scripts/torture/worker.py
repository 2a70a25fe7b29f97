"""A process that runs one command after the other, each under a limit of time, all under one of memory.

Started by `workers` with the limits; reads `{"folder": ..., "arguments": [...]}` a line from standard input and
answers a line of what came of it.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import json
import os
import re
import resource
import signal
import sys
import traceback
from pathlib import Path
from typing import TextIO

from click.testing import CliRunner

import rnng_dy.cli
from oracle import encoding
from rnng_dy import engine

KEPT_FROM = encoding.KEPT_FROM
SHOWN = 1_000_000
"""Characters of an output that are handed back."""


class Overtime(BaseException):
    """A command takes longer than it may; no command can catch it by mistake."""


def main() -> None:
    """Answer until standard input ends."""
    seconds, gigabytes, log = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    jobs, answers = _own_streams(log)
    engine.start()
    _limit_memory(gigabytes)
    signal.signal(signal.SIGALRM, _overtime)
    for module in {place.module for place in rnng_dy.cli.COMMANDS.values()}:
        importlib.import_module(f"rnng_dy.cli.{module}")
    # what is always there need not be gone through after each command
    gc.freeze()
    for line in jobs:
        job = json.loads(line)
        os.chdir(job["folder"])
        found = run(job["arguments"], seconds)
        print(json.dumps(found), file=answers, flush=True)


def _own_streams(log: str) -> tuple[TextIO, TextIO]:
    """The streams to the campaign; what C++ or a crash prints goes to the log instead."""
    jobs, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(written, 1)
    os.dup2(written, 2)
    faulthandler.enable()
    return jobs, answers


def _limit_memory(gigabytes: float) -> None:
    """A bound that commands, which set their own, cannot go beyond."""
    now = _kilobytes("VmData") * 1024
    limit = now + int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def run(arguments: list[str], seconds: float) -> dict:
    """Exit code, outputs, traceback, seconds and peak memory of a command.

    The code is None where the time was up or an exception came through.
    """
    _forget_the_last()
    # arrays of an oracle are read where there are some, however small it is
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
    return {
        "code": None if failed else result.exit_code,
        "stdout": result.stdout[:SHOWN] if result else "",
        "stderr": result.stderr[:SHOWN] if result else "",
        "traceback": "".join(traceback.format_exception(failed))[-20_000:] if failed else "",
        "where": _where(failed) if failed else "",
        "megabytes": (_kilobytes("VmHWM") - before) / 1000,
        "held": _kilobytes("VmRSS") / 1000,
    }


def _forget_the_last() -> None:
    """Make this process what a new one is: no model kept, the collector as it was, no peak of memory."""
    from rnng_dy.execution import work

    work._open.cache_clear()
    gc.set_threshold(700, 10, 10)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")


def _where(error: BaseException) -> str:
    """The exception and the innermost function of the project that it came through."""
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


if __name__ == "__main__":
    main()
