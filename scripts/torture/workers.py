"""Starts `worker` processes, hands them commands and notices how they die."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(CHECKOUT)}
"""In which processes find this checkout's code."""
GRACE = 10.0
"""Seconds after which a process that does not notice its limit is killed."""
MOST_HELD = 1500
"""Megabytes after which a worker is replaced."""


@dataclass(frozen=True)
class Limits:
    """What one command may take."""

    seconds: float = 60.0
    gigabytes: float = 2.0


@dataclass(frozen=True)
class Outcome:
    """What came of a command."""

    code: int | None
    """None where it did not end by itself."""
    stdout: str = ""
    stderr: str = ""
    traceback: str = ""
    where: str = ""
    """The exception and the function that it came from, or how the process died."""
    megabytes: float = 0.0
    """That it took at its peak."""
    held: float = 0.0
    """Megabytes that the process had afterwards."""


class Worker:
    """A process for commands, another one after each that killed it."""

    def __init__(self, limits: Limits = Limits()):
        self.limits = limits
        self._process: subprocess.Popen | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="torture-worker-")
        self._log = Path(self._folder.name, "log")

    def run(self, arguments: Sequence[str], folder: Path) -> Outcome:
        """Run a command of rnng-dy in a folder."""
        process = self._started()
        job = json.dumps({"folder": str(folder), "arguments": list(arguments)})
        process.stdin.write(job + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.limits.seconds + GRACE)
        line = process.stdout.readline() if ready else ""
        if not line:
            return self._death(hung=not ready)
        outcome = Outcome(**json.loads(line))
        if outcome.held > MOST_HELD or outcome.where.startswith(("overtime", "MemoryError")):
            self.close()
        return outcome

    def close(self) -> None:
        """End the process."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen:
        if self._process is None:
            limits = [str(self.limits.seconds), str(self.limits.gigabytes)]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scripts.torture.worker", *limits, str(self._log)],
                cwd=CHECKOUT,
                env=ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process

    def _death(self, hung: bool) -> Outcome:
        """The outcome of a command that killed its process, or that had to be killed with it."""
        if hung:
            self._process.kill()
        code = self._process.wait()
        self._process = None
        log = self._log.read_text(errors="replace")[-20_000:]
        how = signal.Signals(-code).name if code < 0 else f"exit code {code} of the process"
        return Outcome(None, stderr=log, traceback=log, where="hung" if hung else f"died: {how}")
