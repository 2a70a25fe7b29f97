"""Commands in processes of their own: how they are started, disturbed and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scripts.torture.judge import last_exception
from scripts.torture.worker import ENVIRONMENT

RUN = "from rnng_dy.__main__ import main; main()"
PATIENCE = 300.0
"""Seconds for a whole command."""


class Ended(NamedTuple):
    """How a process ended."""

    code: int
    stderr: str

    @property
    def traceback(self) -> str | None:
        """The failure that a traceback was printed, with the exception that it names."""
        was_printed = "Traceback" in self.stderr or "Exception ignored" in self.stderr
        return f"traceback: {last_exception(self.stderr)}" if was_printed else None

    @property
    def problem(self) -> str | None:
        """The failure that standard error shows, if it does."""
        is_dumb = self.code == 2 and "Error: " not in self.stderr
        return self.traceback or ("exit code 2 without a message" if is_dumb else None)

    @property
    def shown(self) -> str:
        """The exit code and the end of what the command said."""
        return f"exit code {self.code}: {self.stderr.strip()[-80:]}"


class Trial(NamedTuple):
    """The result of disturbing a command."""

    kind: str
    """By which tries are counted."""
    cause: str | None
    """Of the failure, if it was one."""
    command: str
    how: str
    said: str = ""
    times: int = 1
    """Disturbances that met the command before its end."""
    write: Callable[[Path], object] | None = None
    """Fills the folder of a cause that is new, where that is not the command's own folder."""


class Started:
    """A command in a process and a session of its own."""

    def __init__(
        self,
        command: str,
        folder: Path,
        program: str = RUN,
        prepare: Callable[[], object] | None = None,
        stdout: int = subprocess.DEVNULL,
    ):
        """`prepare` is called in the new process before the command is."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *command.split()],
            cwd=folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            # no file, for which a limit on the size of files would hold, too
            stderr=subprocess.PIPE,
            preexec_fn=prepare,
            start_new_session=True,
        )
        self._errors = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while block := self.process.stderr.read1():
            self._errors += block

    def signal(self, number: int, all_of_them: bool) -> None:
        """Send a signal to the process, or to all of its group as a terminal does."""
        try:
            (os.killpg if all_of_them else os.kill)(self.process.pid, number)
        except ProcessLookupError:
            return

    def wait(self, seconds: float = PATIENCE) -> Ended:
        """Return how it ended; after `seconds` it is killed."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(9, all_of_them=True)
            code = self.process.wait()
        # a process that this one started may hold the pipe for longer
        self._reader.join(1.0)
        return Ended(code, self._errors.decode("utf-8", "replace"))


def run_to_its_end(command: str, folder: Path, program: str = RUN, code: int = 0) -> None:
    """Run a command undisturbed; the campaign ends where its exit code is another one."""
    ended = Started(command, folder, program).wait(600)
    if ended.code != code:
        raise SystemExit(f"rnng-dy {command}: code {ended.code}\n{ended.stderr}")


def link_data(data: Path, folder: Path) -> None:
    """Make a folder that shows all the data; what is written into it stays there."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in data.iterdir():
        if path.name != "results":
            (folder / path.name).symlink_to(path)
