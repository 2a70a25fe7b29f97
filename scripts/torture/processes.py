"""Commands in processes of their own: how they are started and disturbed, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scripts.torture.judge import last_exception
from scripts.torture.limits import ENVIRONMENT

RUN = "from rnng_dy.__main__ import main; main()"
PATIENCE = 300.0
"""Time limit of a whole command, in seconds."""


class Ended(NamedTuple):
    """The end of a process: its exit code and messages."""

    code: int
    stderr: str

    @property
    def traceback(self) -> str | None:
        """The exception that a printed traceback names, as a failure."""
        was_printed = "Traceback" in self.stderr or "Exception ignored" in self.stderr
        return f"traceback: {last_exception(self.stderr)}" if was_printed else None

    @property
    def problem(self) -> str | None:
        """The failure that standard error shows, if any."""
        is_dumb = self.code == 2 and "Error: " not in self.stderr
        return self.traceback or ("exit code 2 without a message" if is_dumb else None)

    @property
    def shown(self) -> str:
        """The exit code and the end of the command's messages."""
        return f"exit code {self.code}: {self.stderr.strip()[-80:]}"


class Trial(NamedTuple):
    """The result of disturbing a command."""

    kind: str
    """The key by which trials are counted."""
    cause: str | None
    """The cause of the failure, if there was one."""
    command: str
    how: str
    said: str = ""
    times: int = 1
    """Number of disturbances that met the command before its end."""
    write: Callable[[Path], object] | None = None
    """The function that fills the folder of a new cause, if that is not the command's own folder."""


class Started:
    """A command in a process and a session of its own."""

    def __init__(self, command: str, folder: Path, program: str = RUN, redirection: str = ""):
        """Start the command; the words of `redirection` follow it in a shell."""
        words = [sys.executable, "-c", program, *command.split()]
        if redirection:
            words = ["bash", "-o", "pipefail", "-c", f'"$@" {redirection}', "bash", *words]
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # not a file, since a limit on file sizes would apply to it, too
            stderr=subprocess.PIPE,
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
        """Return how the process ended; it is killed after `seconds`."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(9, all_of_them=True)
            code = self.process.wait()
        # a process that this one started may hold the pipe longer
        self._reader.join(1.0)
        return Ended(code, self._errors.decode("utf-8", "replace"))


def run_to_its_end(command: str, folder: Path, program: str = RUN, code: int = 0) -> None:
    """Run a command undisturbed; another exit code than `code` ends the campaign."""
    ended = Started(command, folder, program).wait(600)
    if ended.code != code:
        raise SystemExit(f"rnng-dy {command}: code {ended.code}\n{ended.stderr}")


def link_data(data: Path, folder: Path) -> None:
    """Make a folder that shows all the data; files written into it stay there."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in data.iterdir():
        if path.name != "results":
            (folder / path.name).symlink_to(path)
