"""Work on many sentences: `--jobs`, `--scheduler`, `--device` and `--resume`, and writing the output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oracle.errors import RnngError
from oracle.files import is_replaced
from rnng_dy.cli.option_groups import flag_given, together
from rnng_dy.cli.options import AT_LEAST_1, device_option, resume_option
from rnng_dy.cli.paths import PathName
from rnng_dy.cli.progress import Progress
from rnng_dy.cli.quiet import say, warn
from rnng_dy.cli.stopping import tidy
from rnng_dy.engine import CPU
from rnng_dy.execution.executor import Executor
from rnng_dy.execution.local import local_executor, prepare_process
from rnng_dy.execution.outputs import content_hash, write_batches
from rnng_dy.execution.work import Lines, ModelFolder, Work, opened

if TYPE_CHECKING:
    from rnng_dy.baselines.scorers import OpenableScorer


@dataclass
class Job:
    """Where a command's work runs, according to its options."""

    jobs: int
    scheduler: str | None
    device: str = CPU
    resume: bool = False
    place: ModelFolder | OpenableScorer | None = None
    """The model or scorer that workers open."""
    generator: ModelFolder | None = field(default=None, init=False)
    """A generative model that decides beside a parser."""

    def __post_init__(self) -> None:
        """Raise UsageError if both --jobs and --scheduler are set."""
        if self.scheduler is not None and flag_given("jobs"):
            raise click.UsageError(
                "--jobs is for processes of this machine and --scheduler has workers of its own: give one of them"
            )

    @property
    def is_this_process(self) -> bool:
        """Return whether all work runs in this process."""
        return self.jobs == 1 and self.scheduler is None

    @cached_property
    def executor(self) -> Executor:
        """Return the executor, whose connection closes when the command ends. Raises RnngError if it is unusable."""
        if self.scheduler is None:
            return local_executor(self.jobs, self.device)
        if self.device != CPU:
            raise RnngError("--scheduler is for the CPU: leave --device out")
        from rnng_dy.execution.cluster import DaskWorkers

        executor = DaskWorkers(self.scheduler, say)
        click.get_current_context().call_on_close(executor.close)
        return executor

    def open(self, kind: str, folder: str, *others: str):
        """Load a model, or an ensemble, in this process and use it for the work; report if it is not trained."""
        return self.open_place(ModelFolder(kind, folder, self.device, others))

    def beside(self, generator: str | None) -> None:
        """Load a generative model that decides beside the parser, if one is named, before `open` loads the parser."""
        if generator is not None:
            self.open("generative", generator)
            self.generator = self.place

    def open_place(self, place: ModelFolder | OpenableScorer):
        """Load a model or a scorer in this process and use it for the work."""
        self.place = place
        return open_model(place, self.executor.sharing, self.device)

    def with_model(self, lines_of: Callable) -> Callable[[], Callable[[Sequence], list[Lines]]]:
        """Return the `open_lines` of `write`: opens `lines_of` with the models, as `opened` does."""
        return partial(opened, self.place, lines_of, self.generator)

    def content(self) -> list[object]:
        """Return what determines the models' results, for `content_hash`."""
        return [part for place in (self.place, self.generator) if place for part in place.content()]

    def write(
        self,
        output: str,
        batches: Sequence[Sequence],
        open_lines: Callable[[], Callable[[Sequence], list[Lines]]],
        lines_of_left_out: Callable[[object], Lines],
        *decides: object,
        unit: str = "sentences",
        whole: bool = False,
        make: Callable[[Path], None] | None = None,
        on_lines: Callable[[Lines], None] = lambda lines: None,
    ) -> list:
        """Write the lines of items, with progress; return the items that do not fit into memory.

        `open_lines` and `lines_of_left_out` are as in `Work`, `make` as in `write_batches`. `decides` and the model
        determine the output: --resume accepts only a part with the same ones. With `whole`, a batch is one item for
        these functions, and progress counts its parts. `on_lines` gets the lines of each batch when they are kept.
        Raises UsageError for --resume without a file to continue.
        """
        if self.resume and not is_replaced(output):
            raise click.UsageError("--resume continues a file of results: name one with -o")
        name = click.get_current_context().info_name
        key = content_hash(name, *decides, *self.content())
        work = Work(self.executor, open_lines, lines_of_left_out)
        progress = Progress(name, sum(map(len, batches)), unit)

        def lines_of(left: Sequence[Sequence]) -> Iterator[Lines]:
            for lines in work.lines_of([[batch] for batch in left] if whole else left):
                yield lines
                on_lines(lines)

        with tidy():
            write_batches(batches, lines_of, output, key, self.resume, progress, make)
        return work.left_out


def open_model(place: ModelFolder | OpenableScorer, processes: int = 1, device: str | None = None):
    """Prepare this process, one of `processes`, and load a model in it; report if it is not trained."""
    prepare_process(processes, device or place.device)
    model = place.open()
    if getattr(model, "updates", None) == 0:
        warn(f"{', '.join(place.folders)}: the model is not trained, what it says is random")
    return model


def job_options(
    *more: Callable, jobs: str = "Number of processes; the output does not depend on it."
):
    """Return a decorator that adds options on where to work and `more`, as `job`; `jobs` is the help of --jobs."""
    return together(
        "job",
        Job,
        click.option("--jobs", type=AT_LEAST_1, default=1, help=jobs),
        click.option(
            "--scheduler",
            type=PathName("address", "file", ["local:", "tcp://"]),
            metavar="ADDRESS|FILE|local:N",
            help="Instead of --jobs: use the workers of this Dask scheduler, or start N workers on this machine.",
        ),
        *more,
    )


sentences_job = job_options(resume_option, device_option)
"""The options of commands that process many sentences."""
