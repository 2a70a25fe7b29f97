"""Commands in processes of their own: none is waited for without a bound, and none is left when its test ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

COMMAND = (sys.executable, "-m", "rnng_dy")


def run(
    folder: Path, *arguments: object, code: int = 0, **options: object
) -> subprocess.CompletedProcess[str]:
    """`rnng-dy` in a folder, with the exit code that is expected and without a traceback."""
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **options)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, (done.returncode, done.stderr)
    return done


@contextmanager
def started(*command: str, **options: object) -> Iterator[subprocess.Popen]:
    """A process that is ended with the body, and all that it has started in its session."""
    with subprocess.Popen(command, start_new_session=True, **options) as process:
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
