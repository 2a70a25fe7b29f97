"""The campaign: sound files first, then damaged ones, closed streams and kills, within limits of time and numbers."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import count, islice, takewhile
from pathlib import Path
from random import Random
from types import SimpleNamespace

from scripts.torture.book import Book
from scripts.torture.data import write_data
from scripts.torture.inputs import DamagedInput, damaged_inputs, try_input, write_smallest
from scripts.torture.jobs import JOBS, REPRODUCTION, Job, Straight, straight_run
from scripts.torture.kills import KINDS, disturb
from scripts.torture.limits import Limits
from scripts.torture.processes import Trial
from scripts.torture.streams import STREAM_CASES, STREAMS
from scripts.torture.targets import FORMATS, TARGETS
from scripts.torture.together import LOCKS, SCHEDULER_CASES, SCHEDULERS, run_two

Work = Callable[[Path, Path], Trial]
"""A function that tries something with the data, in a folder that does not exist yet."""
REPRODUCTION_IN = 60
"""One kill in 60 hits a reproduction, which takes as long as many other commands."""
KIND_NAMES = (*FORMATS, STREAMS, SCHEDULERS, LOCKS, *KINDS)


class Campaign:
    """The trials that the options ask for, in a temporary folder."""

    def __init__(self, options: SimpleNamespace, folder: Path):
        self.options, self.folder = options, folder
        self.data = folder / "data"
        self.book = Book(Path(options.output).absolute())
        self._begun = time.monotonic()
        self._numbers, self._kills = count(), 0
        self._straight: dict[str, Straight] = {}
        self._limits = Limits(options.seconds, options.gigabytes)

    def run(self) -> None:
        """Run all parts in turn; a part leaves its unused minutes to the next."""
        shutil.rmtree(self.book.output, ignore_errors=True)
        self.data.mkdir()
        targets = [target for target in TARGETS if target.format in self.options.only]
        write_data(self.data, self._limits, any("results" in t.command for t in targets))
        self._begun = time.monotonic()
        parts = list(self._parts(targets))
        used, together = 0.0, sum(share for share, _ in parts)
        for share, works in parts:
            used += share / together
            self._in_parallel(works, self._begun + 60 * self.options.minutes * used)

    def report(self) -> None:
        """Write the report and print it."""
        seed, seconds = self.options.seed, round(time.monotonic() - self._begun)
        self.book.write(seed=seed, seconds=seconds)
        print(self.book.table().encode("utf-8", "replace").decode(), end="")
        print(f"seed {seed}, {seconds} s; see {self.book.output}")

    def _parts(self, targets: Sequence) -> Iterator[tuple[float, Iterable[Work]]]:
        """Yield the parts that the options ask for: a share of the minutes, and the trials."""
        options = self.options
        if targets:
            inputs = damaged_inputs(targets, self.data, options.seed, options.skip)
            some = islice(inputs, options.inputs)
            yield 0.45, (partial(self._try_input, damaged) for damaged in some)
        for kind, share, cases in (
            (STREAMS, 0.1, STREAM_CASES),
            (SCHEDULERS, 0.05, SCHEDULER_CASES),
        ):
            if kind in options.only:
                # each case once, in an order that depends on the seed
                yield share, Random(options.seed).sample(cases, len(cases))
        if LOCKS in options.only:
            randoms = (Random(f"{options.seed} lock {n}") for n in count())
            works = (partial(run_two, self._straight_run(r.choice(JOBS)), r) for r in randoms)
            yield 0.05, islice(works, options.kills)
        if kinds := [kind for kind in KINDS if kind in options.only]:
            yield 0.35, self._disturbances(kinds)

    def _try_input(self, damaged: DamagedInput, data: Path, folder: Path) -> Trial:
        _, cause = try_input(damaged, data, folder, self._limits)
        target, mutations = damaged.target, ", ".join(damaged.mutations)
        how = f"input {damaged.number}: {target.file or 'option'} with {mutations}"

        def write(example: Path) -> None:
            write_smallest(damaged, cause, data, example, self._limits)
            options, only = self.options, shlex.quote(",".join(self.options.only))
            (example / "again.txt").write_text(
                f"python3 -m scripts.torture --seed {options.seed} --skip {damaged.number} "
                f"--inputs 1 --only {only}\n"
            )

        return Trial(target.format, cause, target.command, how, write=write)

    def _disturbances(self, kinds: Sequence[str]) -> Iterator[Work]:
        """Yield disturbances until enough of them have met a command before its end."""
        most = self.options.kills
        for n in count():
            if most is not None and self._kills >= most:
                return
            random = Random(f"{self.options.seed} kill {n}")
            kind = random.choice(["kill"] * 5 + list(kinds)) if "kill" in kinds else ""
            kind = kind or random.choice(kinds)
            job = random.choice(JOBS) if random.randrange(REPRODUCTION_IN) else REPRODUCTION
            yield partial(self._disturb, kind, self._straight_run(job), random)

    def _disturb(self, *arguments: object) -> Trial:
        trial = disturb(*arguments)
        self._kills += trial.times
        return trial

    def _straight_run(self, job: Job) -> Straight:
        """Return the uninterrupted run of a job, which is made once."""
        if job.name not in self._straight:
            folder = self.folder / f"straight {job.name}"
            self._straight[job.name] = straight_run(job, self.data, folder)
        return self._straight[job.name]

    def _in_parallel(self, works: Iterable[Work], until: float) -> None:
        """Run the trials in parallel until they, or the time, are used up; Ctrl-C waits for those that run."""
        with ThreadPoolExecutor(self.options.jobs) as pool:
            running: set[Future] = set()
            for work in takewhile(lambda _: time.monotonic() < until, works):
                folder = self.folder / f"trial-{next(self._numbers)}"
                running.add(pool.submit(self._try, work, folder))
                if len(running) == self.options.jobs:
                    ended, running = wait(running, return_when=FIRST_COMPLETED)
                    for trial in ended:
                        trial.result()
            for trial in running:
                trial.result()

    def _try(self, work: Work, folder: Path) -> None:
        try:
            trial = work(self.data, folder)
        except Exception as error:
            # an error of the campaign itself must not end it after hours
            cause = f"the campaign itself: {type(error).__name__}: {error}"
            trial = Trial("the campaign itself", cause, "", repr(work))
        self.book.add(trial, folder)
        shutil.rmtree(folder, ignore_errors=True)
