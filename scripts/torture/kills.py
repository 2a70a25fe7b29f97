"""Kills, signals and full disks at random moments of long commands, whose resumed runs must end the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from scripts.checkout import CHECKOUT
from scripts.torture.jobs import Straight, difference, unfinished_under_its_name
from scripts.torture.processes import PATIENCE, Ended, Trial, link_data

PROMPT = 20.0
"""Seconds within which a signal must end a command, however busy the machine."""
BEGUN = ".begun"
"""A file that the command creates when it begins: an earlier signal would meet Python, not our code."""
MOST_KILLS = 5
FULL = "full disk"
SIGNALS = {
    "kill": (signal.SIGKILL, (-signal.SIGKILL,)),
    "interrupt": (signal.SIGINT, (130,)),
    "terminate": (signal.SIGTERM, (143, -signal.SIGTERM)),
}
"""Signals by name, with the exit codes that they may lead to."""
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))\n"
"""The beginning of a program that can write no larger files."""
OURS = re.compile(rf'File "{re.escape(str(CHECKOUT))}/(rnng_dy|oracle|clusters)/')
KINDS = (*SIGNALS, FULL)


class Disturbed:
    """A job that is disturbed in a folder of its own, and then resumed."""

    def __init__(self, kind: str, straight: Straight, data: Path, folder: Path, random: Random):
        self.kind, self.straight, self.data, self.folder = kind, straight, data, folder
        self.random = random
        self.kills = 0
        """Disturbances that met the command before its end."""
        self.moments: list[str] = []
        self.errors = ""
        """The command's last standard error."""

    def run(self) -> str | None:
        """Disturb the job and resume it; return the failure, if there was one."""
        with self._mounted() as is_mounted:
            link_data(self.data, self.folder)
            times = self.random.randint(1, MOST_KILLS) if self.kind == "kill" else 1
            for n in range(times):
                problem = self._fill(is_mounted) if self.kind == FULL else self._signal(n > 0)
                if problem:
                    return problem
            if is_mounted:
                subprocess.run(["mount", "-o", "remount,size=64m", self.folder], check=True)
            return self._finish()

    def _signal(self, resume: bool) -> str | None:
        """Run the command until a random moment, then send it the signal."""
        program = self.straight.job.program
        if self.kind != "kill":
            program = program.replace("main()", f"open({BEGUN!r}, 'w').close(); main()")
        started = self.straight.job.start(self.data, self.folder, resume, program)
        if self.kind != "kill":
            _wait_for(self.folder / BEGUN)
        moment = self.random.uniform(0, self.straight.seconds)
        time.sleep(moment)
        is_late = started.process.poll() is not None
        number, codes = SIGNALS[self.kind]
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
        return self._problem(ended, codes)

    def _fill(self, is_mounted: bool) -> str | None:
        """Run the command with too little disk space."""
        self.kills += 1
        job = self.straight.job
        program = job.program
        if not is_mounted:
            size = self.random.randint(0, _size(self.straight))
            self.moments.append(f"files of at most {size} bytes")
            program = LIMITED.format(size) + program
        ended = job.start(self.data, self.folder, program=program).wait()
        return self._problem(ended, (0, 2))

    def _problem(self, ended: Ended, codes: tuple[int, ...]) -> str | None:
        self.errors = ended.stderr
        # when a parent dies, messages of a process that is just starting are Python's own
        is_ours = OURS.search(ended.stderr) or self.kind not in ("kill", "terminate")
        if ended.problem and is_ours:
            return ended.problem
        if ended.code == -signal.SIGKILL and self.kind != "kill":
            return f"not ended {PROMPT:.0f} s after the signal"
        if ended.code not in codes:
            return ended.shown
        unfinished = unfinished_under_its_name(self.straight, self.folder)
        return unfinished and f"a partial file under the final name: {unfinished}"

    def _finish(self) -> str | None:
        """Resume undisturbed and compare the results."""
        job = self.straight.job
        resume = self.kind != FULL or (self.folder / job.output).exists()
        ended = job.start(self.data, self.folder, resume).wait()
        self.errors = ended.stderr
        if ended.code != 0:
            lines = ended.stderr.strip().splitlines()
            return f"could not resume: code {ended.code}, {lines[-1][:120] if lines else ''}"
        differs = difference(self.straight, self.folder)
        return differs and f"other content than an uninterrupted run: {differs}"

    @contextmanager
    def _mounted(self) -> Iterator[bool]:
        """Make the folder; for a full disk, half of the time a small one in memory, if it can be mounted."""
        self.folder.mkdir(parents=True)
        pages = -(-_size(self.straight) * 2 // 4096)
        size = 4096 * self.random.randint(24, 24 + pages)
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.folder]
        may = self.kind == FULL and self.random.random() < 0.5 and os.geteuid() == 0
        is_mounted = may and subprocess.run(command, capture_output=True).returncode == 0
        if is_mounted:
            self.moments.append(f"a disk of {size} bytes")
        try:
            yield is_mounted
        finally:
            if is_mounted:
                subprocess.run(["umount", "-l", self.folder], check=False)


def _wait_for(path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)


def _size(straight: Straight) -> int:
    """Return the bytes of the largest file that the job writes."""
    output = straight.folder / straight.job.output
    files = [output] if output.is_file() else [p for p in output.rglob("*") if p.is_file()]
    return max(path.stat().st_size for path in files)


def disturb(kind: str, straight: Straight, random: Random, data: Path, folder: Path) -> Trial:
    """Disturb a job in a new folder, once or several times, and let it finish."""
    disturbed = Disturbed(kind, straight, data, folder, random)
    problem = disturbed.run()
    job, how = straight.job, f"{kind} at {', '.join(disturbed.moments)}"
    counted = f"{kind}: {job.name}"
    return Trial(counted, problem, job.command, how, disturbed.errors, disturbed.kills)
