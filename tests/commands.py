"""Commands, in processes of their own, of which none is left when its test ends, and in this one."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

from click.testing import CliRunner, Result

from rnng_dy.cli import main

COMMAND = (sys.executable, "-m", "rnng_dy")
PYTHON = (sys.executable, "-c")
SHELL = ("bash", "-c")
IN_SHELL = " ".join(COMMAND)
"""`rnng-dy` in a line for the shell."""


def run(
    folder: Path | None,
    *arguments: object,
    code: int | None = 0,
    command: tuple[object, ...] = COMMAND,
    **options: object,
) -> subprocess.CompletedProcess:
    """A command in a folder, with the exit code that is expected, if one is, and without a traceback."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    done = subprocess.run([*map(str, (*command, *arguments))], cwd=folder, **given)
    assert "Traceback" not in str(done.stderr), done.stderr
    assert code in (None, done.returncode), (done.returncode, done.stdout, done.stderr)
    return done


def messages(result: Result) -> str:
    """Standard error without the signature, which is the last line."""
    lines = result.stderr.splitlines(keepends=True)
    assert lines.pop().startswith("rnng_dy:")
    return "".join(lines)


def workers_of(process: subprocess.Popen) -> list[int]:
    """The numbers of the processes that a process has started to share its work."""
    command = ("pgrep", "-P", process.pid, "-f", "spawn_main")
    return [*map(int, run(None, code=None, command=command).stdout.split())]


@contextmanager
def started(*command: object, **options: object) -> Iterator[subprocess.Popen]:
    """A process that is ended with the body, and all that it has started in its session."""
    with subprocess.Popen([*map(str, command)], start_new_session=True, **options) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds; it must within the time, without that in which the machine stops us."""
    for _ in range(int(seconds / 0.05)):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it does not come about")


def unless_given(usual: list[str], options: Iterable[object]) -> list[str]:
    """The usual options, each with its value, but those that are given: none is given twice."""
    pairs = zip(usual[::2], usual[1::2], strict=True)
    return [w for pair in pairs if pair[0] not in {*options} - {"--set"} for w in pair]


def invoke(*arguments: object, code: int | None = 0, **options: object) -> Result:
    """`rnng-dy` in this process, with the exit code that is expected, if one is, and no other exception."""
    words = [*map(str, arguments)]
    with patch.object(sys, "argv", ["rnng-dy", *words]):
        result = CliRunner().invoke(main, words, **options)
    assert code in (None, result.exit_code), result.output
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert "Traceback" not in result.output
    return result


def refused(folder: Path, *arguments: object) -> str:
    """What a command in this process, in a folder, says that is refused."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return invoke(*arguments, code=2).stderr
    finally:
        os.chdir(before)


def table(text: str) -> list[dict[str, str]]:
    """The rows of a table with tabs."""
    lines = io.StringIO(text, newline="")
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def value(name: str, said: str) -> float:
    """The number of a line `name=number`."""
    return float(re.search(rf"^{name}=(\S+)", said, re.MULTILINE)[1])
