"""The campaign: sound files first, then damaged ones, closed streams and kills, until time or numbers are used up."""

from __future__ import annotations

import argparse
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from threading import Lock
from typing import TypeVar

from scripts.torture.book import Book
from scripts.torture.data import write_data
from scripts.torture.inputs import DamagedInput, damaged_inputs, set_up, shows, try_input
from scripts.torture.jobs import JOBS, REPRODUCTION, Job, Straight, straight_run
from scripts.torture.judge import Problem
from scripts.torture.kills import KINDS, torture_job
from scripts.torture.minimize import minimized
from scripts.torture.mutations import TEXT
from scripts.torture.streams import CASES, torture_streams
from scripts.torture.structures import JSON
from scripts.torture.targets import FORMATS, TARGETS
from scripts.torture.together import (
    LOCKS,
    SCHEDULER_CASES,
    SCHEDULERS,
    torture_locks,
    torture_scheduler,
)
from scripts.torture.workers import Limits, Worker

T = TypeVar("T")
STREAMS = "streams"
REPRODUCTION_IN = 60
"""One kill in so many is of a reproduction, which takes as long as many other commands."""
SHARES = {"inputs": 0.45, "streams": 0.1, SCHEDULERS: 0.05, LOCKS: 0.05, "kills": 0.35}
"""Of the minutes, for the parts that are asked for; what one leaves is the next one's."""


def main() -> None:
    """Run the campaign; exit code 1 where something failed."""
    options = _options()
    # a shell makes its background processes ignore Ctrl-C, and all commands would inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        campaign = Campaign(options, Path(folder))
        try:
            campaign.run()
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        finally:
            campaign.report()
    sys.exit(1 if campaign.book.failures else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m scripts.torture",
        description="Looks for inputs and moments that break rnng-dy: damaged files of every format through every "
        "command that reads them, closed and full streams, kills, signals and full disks in every long command, "
        "which must then end with the bits of an uninterrupted run. Each cause of a failure gets a folder with the "
        "smallest input that shows it.",
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="[default: 10]")
    parser.add_argument("--seed", type=int, default=1, help="[default: 1]")
    parser.add_argument("--inputs", type=int, help="damaged inputs to try at most")
    parser.add_argument("--kills", type=int, help="kills, signals and full disks at most")
    parser.add_argument(
        "--skip", type=int, default=0, help="inputs of this seed to leave out first"
    )
    parser.add_argument(
        "--only",
        default=",".join(KIND_NAMES),
        metavar="KIND,...",
        help=f"of {', '.join(KIND_NAMES)}",
    )
    parser.add_argument("--jobs", type=int, default=1, help="inputs, or commands, at a time")
    parser.add_argument("--seconds", type=float, default=60.0, help="that an input may take")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="that an input may take")
    parser.add_argument(
        "--output", default="torture", help="folder of the report [default: torture]"
    )
    options = parser.parse_args()
    options.only = options.only.split(",")
    for kind in options.only:
        if kind not in KIND_NAMES:
            parser.error(f"no kind {kind!r}")
    return options


KIND_NAMES = (*FORMATS, STREAMS, SCHEDULERS, LOCKS, *KINDS)


class Campaign:
    """What the command line asks for, in a temporary folder."""

    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options, self.folder = options, folder
        self.data = folder / "data"
        self.book = Book(Path(options.output).absolute())
        self._begun, self._stopped = time.monotonic(), False
        self._straight: dict[str, Straight] = {}
        self._targets = [target for target in TARGETS if target.format in options.only]
        self._kinds = [kind for kind in KINDS if kind in options.only]

    def run(self) -> None:
        """All parts, one after the other."""
        shutil.rmtree(self.book.output, ignore_errors=True)
        self.data.mkdir()
        worker = self._worker()
        with_reproduction = any("results" in target.command for target in self._targets)
        write_data(self.data, worker, with_reproduction)
        worker.close()
        self._begun = time.monotonic()
        only = self.options.only
        asked = {
            "inputs": self._torture_inputs if self._targets else None,
            "streams": self._torture_streams if STREAMS in only else None,
            SCHEDULERS: self._torture_schedulers if SCHEDULERS in only else None,
            LOCKS: self._torture_locks if LOCKS in only else None,
            "kills": self._torture_jobs if self._kinds else None,
        }
        parts = {name: work for name, work in asked.items() if work}
        together = sum(SHARES[name] for name in parts)
        used = 0.0
        for name, work in parts.items():
            used += SHARES[name] / together
            work(self._begun + 60 * self.options.minutes * used)

    def report(self) -> None:
        """Write the report and print it."""
        options = self.options
        seconds = round(time.monotonic() - self._begun)
        self.book.write(seed=options.seed, seconds=seconds)
        print(self.book.table().encode("utf-8", "replace").decode(), end="")
        print(f"seed {options.seed}, {seconds} s; see {self.book.output}")

    def _worker(self) -> Worker:
        return Worker(Limits(self.options.seconds, self.options.gigabytes))

    def _torture_inputs(self, until: float) -> None:
        inputs = damaged_inputs(self._targets, self.data, self.options.seed, self.options.skip)
        self._in_parallel(_first(inputs, self.options.inputs), until, lambda: _InputWorker(self))

    def _torture_streams(self, until: float) -> None:
        self._torture_cases(STREAMS, CASES, torture_streams, until)

    def _torture_schedulers(self, until: float) -> None:
        self._torture_cases(SCHEDULERS, SCHEDULER_CASES, torture_scheduler, until)

    def _torture_cases(
        self, kind: str, known: Sequence[T], torture: Callable, until: float
    ) -> None:
        """Each case once, in an order of its own for each seed."""
        cases = Random(self.options.seed).sample(known, len(known))
        folders = (self.folder / f"{kind}-{n}" for n in range(len(cases)))

        def work(item: tuple) -> None:
            torture(item[0], self.data, item[1], self.book)

        self._in_parallel(zip(cases, folders, strict=True), until, lambda: work)

    def _torture_locks(self, until: float) -> None:
        def work(n: int) -> None:
            random = Random(f"{self.options.seed} lock {n}")
            straight = self._straight_run(random.choice(JOBS))
            torture_locks(straight, self.data, self.folder / f"lock-{n}", random, self.book)

        most = self.options.kills
        self._in_parallel(count() if most is None else range(most), until, lambda: work)

    def _straight_run(self, job: Job) -> Straight:
        """The uninterrupted run of a job, which is made once."""
        if job.name not in self._straight:
            folder = self.folder / f"straight {job.name}"
            self._straight[job.name] = straight_run(job, self.data, folder)
        return self._straight[job.name]

    def _torture_jobs(self, until: float) -> None:
        done = 0

        def work(n: int) -> None:
            nonlocal done
            random = Random(f"{self.options.seed} kill {n}")
            kind = random.choice(["kill"] * 5 + self._kinds) if "kill" in self._kinds else ""
            kind = kind or random.choice(self._kinds)
            job = random.choice(JOBS) if random.randrange(REPRODUCTION_IN) else REPRODUCTION
            straight, folder = self._straight_run(job), self.folder / f"kill-{n}"
            done += torture_job(kind, straight, self.data, folder, random, self.book)

        most = self.options.kills

        def numbers() -> Iterator[int]:
            n = 0
            while most is None or done < most:
                yield n
                n += 1

        self._in_parallel(numbers(), until, lambda: work)

    def _in_parallel(
        self, items: Iterable[T], until: float, open_work: Callable[[], Callable[[T], None]]
    ) -> None:
        """Work on the items until they, or the time until then, are used up."""
        waiting, lock = iter(items), Lock()

        def follow() -> None:
            work = open_work()
            try:
                while time.monotonic() < until and not self._stopped:
                    with lock:
                        item = next(waiting, None)
                    if item is None:
                        return
                    work(item)
            finally:
                if isinstance(work, _InputWorker):
                    work.close()

        with ThreadPoolExecutor(self.options.jobs) as pool:
            followers = [pool.submit(follow) for _ in range(self.options.jobs)]
            try:
                for follower in followers:
                    follower.result()
            except KeyboardInterrupt:
                # what runs is waited for
                self._stopped = True
                raise


class _InputWorker:
    """Tries inputs in a process of its own and books what fails."""

    def __init__(self, campaign: Campaign):
        self._campaign, self._worker = campaign, campaign._worker()

    def __call__(self, damaged: DamagedInput) -> None:
        campaign, target = self._campaign, damaged.target
        folder = campaign.folder / f"input-{damaged.number}"
        try:
            _, problem = try_input(damaged, campaign.data, folder, self._worker)
        except Exception as error:
            # a mistake of the campaign must not end it after hours
            problem = Problem("the campaign itself", f"{type(error).__name__}: {error}")
        campaign.book.add_try(target.format)
        if problem:
            how = f"input {damaged.number}: {target.file or 'option'} with {', '.join(damaged.mutations)}"
            campaign.book.add_failure(
                target.format,
                problem.cause,
                target.command,
                how,
                lambda example: self._write(damaged, problem, example),
            )
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _write(self, damaged: DamagedInput, problem: Problem, example: Path) -> None:
        """The smallest input with the same problem, with all that the command reads."""
        campaign, content = self._campaign, damaged.content
        again = example / "again"

        def still_fails(content: bytes) -> bool:
            return shows(damaged, problem, content, campaign.data, again, self._worker)

        can_shrink = damaged.target.mutations in (TEXT, JSON) and problem.sort != "time"
        if can_shrink and still_fails(content):
            content = minimized(content, still_fails)
        shutil.rmtree(again, ignore_errors=True)
        smallest = replace(damaged, content=content)
        outcome, _ = try_input(smallest, campaign.data, again, self._worker)
        shutil.rmtree(again, ignore_errors=True)
        set_up(smallest, campaign.data, example / "folder")
        shown = outcome.stdout[-5000:] + outcome.stderr[-5000:] + outcome.traceback
        (example / "output.txt").write_text(shown, errors="replace")
        only = shlex.quote(",".join(campaign.options.only))
        (example / "again.txt").write_text(
            f"python3 -m scripts.torture --seed {campaign.options.seed} --skip {damaged.number} "
            f"--inputs 1 --only {only}\n"
        )


def _first(items: Iterator[T], most: int | None) -> Iterator[T]:
    for n, item in enumerate(items):
        if most is not None and n >= most:
            return
        yield item
