"""Kills, signals and full disks at random moments of long commands, which then must go on to the same end."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from scripts.torture.book import Book
from scripts.torture.jobs import (
    Ended,
    Started,
    Straight,
    arguments_of,
    difference,
    link_data,
    unfinished_under_its_name,
)
from scripts.torture.judge import last_exception
from scripts.torture.workers import CHECKOUT

PATIENCE = 300.0
"""Seconds for a whole job."""
PROMPT = 20.0
"""Seconds in which a signal must end a command, however busy the machine."""
BEGUN = ".begun"
"""A file that says that the command has begun: before that a signal meets Python and not us."""
MOST_KILLS = 5
SIGNALS = {
    "interrupt": (signal.SIGINT, (130,)),
    "terminate": (signal.SIGTERM, (143, -signal.SIGTERM)),
}
OURS = re.compile(rf'File "{re.escape(str(CHECKOUT))}/(rnng_dy|oracle|clusters)/')
KINDS = ("kill", *SIGNALS, "full disk")


class Trial:
    """A job that is disturbed in a folder of its own, and then goes on."""

    def __init__(self, kind: str, straight: Straight, data: Path, folder: Path, random: Random):
        self.kind, self.straight, self.data, self.folder = kind, straight, data, folder
        self.random = random
        self.kills = 0
        """Disturbances that met the command before its end."""
        self.moments: list[str] = []
        self.errors = ""
        """What the command said last on standard error."""

    def run(self) -> str | None:
        """What failed, if anything did."""
        with self._place() as place:
            link_data(self.data, place)
            disturb = self._fill if self.kind == "full disk" else self._disturb
            times = self.random.randint(1, MOST_KILLS) if self.kind == "kill" else 1
            for n in range(times):
                problem = disturb(place, resume=n > 0)
                if problem:
                    return problem
            if self.kind == "full disk":
                self._enlarge(place)
            return self._finish(place)

    def _disturb(self, place: Path, resume: bool) -> str | None:
        """Run the command until a random moment."""
        job, program = self.straight.job, self.straight.job.program
        if self.kind != "kill":
            program = program.replace("main()", f"open({BEGUN!r}, 'w').close(); main()")
        started = Started(arguments_of(job, self.data, resume), place, program)
        if self.kind != "kill":
            _wait_for(place / BEGUN)
        moment = self.random.uniform(0, self.straight.seconds)
        time.sleep(moment)
        is_late = started.process.poll() is not None
        number, codes = SIGNALS.get(self.kind, (signal.SIGKILL, (-signal.SIGKILL,)))
        all_of_them = (
            self.random.random() < 0.5 if self.kind == "kill" else self.kind == "interrupt"
        )
        started.signal(number, all_of_them)
        ended = started.wait(PROMPT)
        self.moments.append(f"{moment:.3f} s")
        if is_late or ended.code == 0:
            codes = (0,)
        else:
            self.kills += 1
        return self._after(place, ended, codes)

    def _after(self, place: Path, ended: Ended, codes: tuple[int, ...]) -> str | None:
        self.errors = ended.stderr
        # what a process that was being started says of its parent's death is Python's own
        is_ours = OURS.search(ended.stderr) or self.kind not in ("kill", "terminate")
        if "Traceback" in ended.stderr and is_ours:
            return f"traceback: {last_exception(ended.stderr)}"
        if ended.code == -signal.SIGKILL and self.kind != "kill":
            return f"not ended {PROMPT:.0f} s after the signal"
        if ended.code not in codes:
            return f"exit code {ended.code}: {ended.stderr.strip()[-80:]}"
        unfinished = unfinished_under_its_name(self.straight, place)
        return unfinished and f"a partial file under the final name: {unfinished}"

    def _fill(self, place: Path, resume: bool) -> str | None:
        """Run the command where there is too little room."""
        job = self.straight.job
        self.kills += 1
        prepare = None
        if not _is_mount(place):
            size = self.random.randint(0, _size(self.straight))
            self.moments.append(f"files of at most {size} bytes")
            prepare = partial(_limit_files, size)
        started = Started(arguments_of(job, self.data), place, job.program, prepare)
        ended = started.wait(PATIENCE)
        problem = self._after(place, ended, (0, 2))
        if not problem and ended.code == 2 and "Error: " not in ended.stderr:
            return "exit code 2 without a message"
        return problem

    def _finish(self, place: Path) -> str | None:
        """Go on undisturbed and compare."""
        job = self.straight.job
        resume = not (self.kind == "full disk" and not (place / job.output).exists())
        ended = Started(arguments_of(job, self.data, resume), place, job.program).wait(PATIENCE)
        self.errors = ended.stderr
        if ended.code != 0:
            lines = ended.stderr.strip().splitlines()
            return f"could not go on: code {ended.code}, {lines[-1][:120] if lines else ''}"
        differs = difference(self.straight, place)
        return differs and f"other content than an uninterrupted run: {differs}"

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """The folder to work in; for a full disk a small one of memory where it can be mounted."""
        self.folder.mkdir(parents=True)
        pages = -(-_size(self.straight) * 2 // 4096)
        size = 4096 * self.random.randint(24, 24 + pages)
        mounted = (
            self.kind == "full disk" and self.random.random() < 0.5 and _mount(self.folder, size)
        )
        if mounted:
            self.moments.append(f"a disk of {size} bytes")
        try:
            yield self.folder
        finally:
            if mounted:
                subprocess.run(["umount", "-l", self.folder], check=False)

    def _enlarge(self, place: Path) -> None:
        if _is_mount(place):
            subprocess.run(["mount", "-o", "remount,size=64m", place], check=True)


def _wait_for(path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)


def _size(straight: Straight) -> int:
    """Bytes of the largest file that the job writes."""
    output = straight.folder / straight.job.output
    files = [output] if output.is_file() else [p for p in output.rglob("*") if p.is_file()]
    return max(path.stat().st_size for path in files)


def _mount(folder: Path, size: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0


def _is_mount(place: Path) -> bool:
    return os.path.ismount(place)


def _limit_files(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def torture_job(
    kind: str, straight: Straight, data: Path, folder: Path, random: Random, book: Book
) -> int:
    """One trial; gives the number of its kills."""
    trial = Trial(kind, straight, data, folder, random)
    problem = trial.run()
    job = straight.job
    book.add_try(f"{kind}: {job.name}", trial.kills)
    if problem:

        def write(example: Path) -> None:
            shutil.copytree(folder, example / "folder", symlinks=True)
            (example / "output.txt").write_text(trial.errors, errors="replace")

        how = f"{kind} at {', '.join(trial.moments)}"
        book.add_failure(f"{kind}: {job.name}", problem, job.command, how, write)
    shutil.rmtree(folder, ignore_errors=True)
    return trial.kills
