"""Work on many sentences: `--jobs`, `--scheduler`, `--device` and `--resume`, and writing the output."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from oracle.errors import RnngError
from oracle.files import is_replaced
from rnng_dy import engine, plugins, registry
from rnng_dy.cli.messages import progress, warn
from rnng_dy.cli.option_groups import flag_given, together
from rnng_dy.cli.options import device_option, resume_option
from rnng_dy.cli.paths import PathName, write_output
from rnng_dy.model_folder import ABOUT, Folder, model_files
from rnng_dy.parallel import Workers, fitting
from rnng_dy.process import keep_from_collection, limit_memory, tidy
from rnng_dy.results import Lines, Results, content_hash, input_hash, results
from rnng_dy.settings import AT_LEAST_1

if TYPE_CHECKING:
    from rnng_dy.baselines.scorers import OpenableScorer


class ModelFolder(NamedTuple):
    """A model that workers open; see `parallel.Place`."""

    kind: str
    folder: str
    device: str = engine.CPU

    @property
    def title(self) -> str:
        """Return its name in outputs."""
        return self.folder

    @property
    def has_trees(self) -> bool:
        """Whether a search finds its probabilities of words."""
        return registry.kind(self.kind).has_trees

    def open(self) -> Any:
        """Load the model in this process. Raises RnngError if device or folders cannot be used."""
        engine.start(self.device)
        return registry.kind(self.kind).load(self.folder)

    def files(self) -> dict[str, Folder]:
        """See `Place`."""
        return model_files(self.folder)

    def content(self) -> list[object]:
        """Return what determines the model's results, for `content_hash`: its files except about.json, and plugins."""
        files = sorted(self.files().items())
        files = [item for item in files if os.path.basename(item[0]) != ABOUT]
        content = [part for item in files for part in item]
        return [*content, *plugins.loaded().values()]

    def moved(self, folder: str) -> ModelFolder:
        """See `Place`."""
        return self._replace(folder=folder)


@dataclass
class Job:
    """Where a command's work runs, according to its options, and with which models."""

    jobs: int
    scheduler: str | None
    device: str = engine.CPU
    resume: bool = False
    places: list[ModelFolder | OpenableScorer] = field(default_factory=list, init=False)
    """The models or scorers that workers open."""
    models: list[Any] = field(default_factory=list, init=False)
    """The same, opened in this process."""

    def __post_init__(self) -> None:
        """Raise UsageError if both --jobs and --scheduler are set, RnngError if one is with a GPU."""
        if self.scheduler is not None and flag_given("jobs"):
            raise click.UsageError(
                "--jobs is for processes of this machine and --scheduler has workers of its own: give one of them"
            )
        if self.device != engine.CPU and (self.jobs > 1 or self.scheduler is not None):
            raise RnngError("--jobs and --scheduler are for the CPU: one process keeps a GPU busy")

    def open(self, place: ModelFolder | OpenableScorer):
        """Load a model or a scorer in this process and use it for the work, after those opened before."""
        if isinstance(place, ModelFolder):
            place = place._replace(device=self.device)
        self.models.append(open_model(place, self.jobs, self.device))
        self.places.append(place)
        return self.models[-1]

    def content(self) -> list[object]:
        """Return what determines the models' results, for `content_hash`."""
        return [part for place in self.places for part in place.content()]

    def workers(self) -> Workers:
        """Return the workers, which open the models. Raises RnngError if a Dask scheduler cannot be used."""
        return Workers(self.places, self.jobs, self.scheduler, self.models)

    def map(self, function: Callable, items: Iterable) -> Iterator:
        """Yield `function(*models, item)` of each item, in order. Raises RnngError as `Workers` does."""
        with self.workers() as workers:
            for _, result in workers.map(function, items):
                yield result

    def write(
        self,
        output: str,
        batches: Iterable[Sequence],
        lines_of: Callable[..., list[Lines]],
        lines_of_left_out: Callable[[Any], Lines],
        *decides: object,
        inputs: Sequence[str],
        make: Callable[[Results], None] | None = None,
    ) -> list:
        """Write the lines of the items of batches, with progress; return the items that do not fit into memory.

        Args:
            output: The file to write, or `-`.
            batches: The items, of which each is a sentence.
            lines_of: Function of the models and a batch; it returns the lines of each item.
            lines_of_left_out: Function from an item that does not fit into memory to its lines.
            *decides: All options that determine the output.
            inputs: The files that determine the output: --resume accepts only the results of the same job.
            make: Function that makes the output from all results, in place of writing their lines.

        Raises:
            UsageError: --resume without files that can be read again.
            KeyboardInterrupt: With a message that names the file of finished results.
        """
        if Path(output).is_dir():
            raise RnngError(f"{output} is a folder: name a file for the output")
        is_file, name = is_replaced(output), click.get_current_context().info_name or ""
        if self.resume and not is_file:
            raise click.UsageError("--resume continues a file of results: name one with -o")
        hashes = list(map(input_hash, inputs))
        if self.resume and None in hashes:
            raise click.UsageError("--resume needs INPUT in a file, which can be read again")
        if make is None and is_file:
            make = partial(_write_lines, output)
        key = content_hash(name, *decides, *hashes, *self.content())
        left_out, skips = [], deque()

        def left(done: int) -> Iterator[Sequence]:
            for batch in batches:
                if done < len(batch):
                    skips.append(done)
                    yield batch
                done = max(0, done - len(batch))

        opened, workers = results(output, key, self.resume, make is not None), self.workers()
        with tidy(), opened as kept, workers, progress(name, done=kept.done) as shown:
            # an error before the first sentence stands alone
            shown.leave = kept.done > 0
            if kept.is_another:
                warn(f"{kept.part} is not of this model, input and options: starting again")
            try:
                for batch, found in workers.map(partial(fitting, lines_of), left(kept.done)):
                    new = list(zip(batch, found, strict=True))[skips.popleft() :]
                    left_out += [item for item, lines in new if lines is None]
                    kept.write(lines_of_left_out(i) if of is None else of for i, of in new)
                    shown.leave = True
                    shown.update(len(new))
                if make is not None:
                    make(kept)
            except KeyboardInterrupt as stop:
                if not is_file:
                    raise
                said = f"stopped; what is done is in {kept.part}, --resume continues"
                raise type(stop)(said) from None
            kept.remove()
        return left_out


def _write_lines(output: str, kept: Results) -> None:
    write_output(output, (f"{line}\n" for line in kept.lines()))


def open_model(place: ModelFolder | OpenableScorer, processes: int = 1, device: str | None = None):
    """Prepare this process, one of `processes`, and load a model in it; report if it is not trained."""
    # no limit with a GPU: the driver's memory would count as the process's own
    if (device or place.device) == engine.CPU:
        limit_memory(processes)
    model = place.open()
    keep_from_collection()
    if getattr(model, "updates", None) == 0:
        warn(f"{place.folder}: the model is not trained, what it says is random")
    return model


def job_options(*more: Callable):
    """Return a decorator that adds options on where to work and `more`, as `job`."""
    return together(
        "job",
        Job,
        click.option(
            "--jobs", type=AT_LEAST_1, default=1, metavar="N", help="Number of processes."
        ),
        click.option(
            "--scheduler",
            type=PathName("address", "file", ["tcp://"]),
            metavar="ADDRESS|FILE",
            help="The workers of a Dask scheduler.",
        ),
        *more,
    )


sentences_job = job_options(resume_option, device_option)
"""The options of commands that process many sentences."""
