"""Work on many sentences: `--jobs`, `--device`, and outputs that a stopped command continues.

The results of a long job are kept beside its output until that is made.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO, TypeVar

import click

from oracle.common.errors import RnngError
from oracle.common.files import file_hash, is_replaced, replacing
from rnng_dy import checkpoint, engine
from rnng_dy.baselines.scorers import OpenableScorer
from rnng_dy.cli.messages import progress, warn
from rnng_dy.cli.options import device_option, together, write_output
from rnng_dy.cli.rules import option
from rnng_dy.cli.signature import content_hash, version
from rnng_dy.engine.memory import keep_from_collection, limit_memory
from rnng_dy.kinds import ModelFolder
from rnng_dy.model_folder import paths_of
from rnng_dy.parallel import Workers, check_jobs, split_on_memory_error, tidy
from rnng_dy.settings import AT_LEAST_1

T = TypeVar("T")
R = TypeVar("R")
Lines = Sequence[str]
"""The lines of the output that an item has."""
FORMAT = "a line of JSON per batch, with its checksum"
"""What NAME.part holds; one with other content is not resumed."""


class Direct:
    """Lines that are written to a stream at once."""

    batches = items = 0
    """An earlier run has finished none."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, lines_of_items: Sequence[Lines]) -> None:
        """Write the lines of the items of the next batch."""
        self._stream.writelines(f"{line}\n" for lines in lines_of_items for line in lines)
        self._stream.flush()


class Results:
    """The lines of the items of finished batches, a line of JSON per batch in NAME.part.

    NAME is the output. NAME.part.key has a line that identifies inputs, options and model, then the
    CRC-32 of each batch's line. Only the same job is resumed, before the first batch whose checksum
    does not match.
    """

    def __init__(self, output: str, key: str):
        # replace the target of a symbolic link, not the link
        self.part = Path(f"{os.path.realpath(output)}.part")
        self._key = Path(f"{self.part}.key")
        self.batches = self.items = 0
        """The numbers of finished batches and of their items, an earlier run's included."""
        if self.part.exists() and not self._key.exists():
            reason = f"no result of this command, since {self._key.name} is not there"
            raise RnngError(f"{self.part} is {reason}: rename it")
        begin = f"{key}\n".encode()
        same = self._key.exists() and self._key.read_bytes().startswith(begin)
        self.is_another = not same and self.part.exists()
        """Whether the results that were there are of another job."""
        # the key is there before the results, so unbuffered, and after them
        mode = "a+b" if same else "w+b"
        self._sums, self._stream = self._key.open(mode, 0), self.part.open(mode)
        if same:
            self._skip_finished(len(begin))
        else:
            self._sums.write(begin)

    def _skip_finished(self, begin: int) -> None:
        """Count the finished batches, and cut off all from the first with another checksum.

        Checksums begin after `begin` bytes.
        """
        self._stream.seek(0)
        self._sums.seek(begin)
        ends = 0, begin
        while (line := self._stream.readline()) and self._sums.readline() == _checksum(line):
            ends = self._stream.tell(), self._sums.tell()
            self.batches += 1
            self.items += len(json.loads(line))
        self._stream.truncate(ends[0])
        self._sums.truncate(ends[1])

    def write(self, lines_of_items: Sequence[Lines]) -> None:
        """Keep the lines of the items of the next batch."""
        try:
            # ASCII also holds the bytes of words that are not UTF-8
            line = f"{json.dumps(lines_of_items)}\n".encode("ascii")
            for stream, content in ((self._stream, line), (self._sums, _checksum(line))):
                stream.write(content)
                stream.flush()
        except OSError as error:
            # a full disk's error has no name
            error.filename = str(self.part)
            raise
        self.batches += 1
        self.items += len(lines_of_items)

    def lines(self) -> Iterator[str]:
        """Yield the lines of all items."""
        with self.part.open("rb") as stream:
            for line in stream:
                yield from chain.from_iterable(json.loads(line))

    def close(self) -> None:
        """Close the file, which stays for the same command unless it has nothing."""
        # each write has flushed; on a full disk closing would raise its error again
        for stream in (self._stream, self._sums):
            with suppress(OSError):
                stream.close()
        if not self.batches:
            self.remove()

    def remove(self) -> None:
        """Remove the results, after the output has been made from them."""
        self.part.unlink(missing_ok=True)
        self._key.unlink(missing_ok=True)


def _checksum(line: bytes) -> bytes:
    """Return the line of a batch in NAME.part.key."""
    return b"%08x\n" % zlib.crc32(line)


@dataclass
class Job:
    """Where a command's work runs, according to its options, and with which models."""

    jobs: int | str
    """The number of processes, or the address or file of a Dask scheduler."""
    device: str = engine.CPU
    openables: list[ModelFolder | OpenableScorer] = field(default_factory=list, init=False)
    """The models or scorers that workers open."""
    models: list[Any] = field(default_factory=list, init=False)
    """The same, opened in this process."""
    times: dict[str, int] = field(default_factory=dict, init=False)
    """When the files of models of several processes were written: in ns, by path."""

    def __post_init__(self) -> None:
        """Raise RnngError for several processes with a GPU."""
        check_jobs(self.jobs, self.device)

    def open(self, openable: ModelFolder | OpenableScorer):
        """Load a model or a scorer for the work, after those opened before.

        Reports a model that is not trained.
        """
        if isinstance(openable, ModelFolder):
            openable = openable._replace(device=self.device)
            # other processes open it later
            paths = paths_of(openable.folder) if self.jobs != 1 else ()
            self.times |= {path: os.stat(path).st_mtime_ns for path in paths}
        # no limit with a GPU: the driver's memory would count as the process's own
        if self.device == engine.CPU:
            limit_memory(self.jobs if isinstance(self.jobs, int) else 1)
        model = openable.open()
        keep_from_collection()
        checkpoint.warn_of_model(model, openable.title)
        self.models.append(model)
        self.openables.append(openable)
        return model

    def workers(self) -> Workers:
        """Return the workers, which open the models."""
        return Workers(self.openables, self.jobs, self.models)

    @contextmanager
    def output(self, path: str, *settings: object, inputs: Iterable[str]) -> Iterator[Work]:
        """Open the work on an output, which gets the lines of all items.

        All options and files that determine the output are `settings` and `inputs`. Lines for a
        file are kept until the end of the block, unless an input is standard input or a pipe, which
        cannot be read again.
        """
        if is_replaced(path) and all(p != "-" and os.path.isfile(p) for p in inputs):
            with self.results(path, *settings, *map(file_hash, inputs)) as work:
                yield work
                write_output(path, (f"{line}\n" for line in work.results.lines()))
        else:
            with tidy(), replacing(path) as stream, self._work(Direct(stream)) as work:
                yield work

    @contextmanager
    def results(self, path: str | None, *settings: object) -> Iterator[Work]:
        """Open the work on outputs that the block makes from all results at its end.

        If the block is stopped, the results stay beside the file `path`, and the same command
        continues. None keeps nothing.

        Raises:
            KeyboardInterrupt: With a message that names the file of finished results.
        """
        contents = map(content_hash, self.openables)
        key = checkpoint.content_hash(version(), FORMAT, _command(), *settings, *contents)
        with tidy(), ExitStack() as stack:
            name = path or os.path.join(stack.enter_context(TemporaryDirectory()), "results")
            kept = stack.enter_context(closing(Results(name, key)))
            if kept.is_another:
                warn(f"{kept.part} is of another version, model, input or option: starting again")
            try:
                with self._work(kept) as work:
                    yield work
            except KeyboardInterrupt as stop:
                if path is None or not kept.batches:
                    raise
                raise type(stop)(f"stopped; the same command continues with {kept.part}") from None
            kept.remove()

    @contextmanager
    def _work(self, results: Direct | Results) -> Iterator[Work]:
        with self.workers() as workers, progress(_command(), done=results.items) as shown:
            # an error before the first sentence stands alone
            shown.leave = results.items > 0
            yield Work(workers, results, shown, self.times)


@dataclass
class Work:
    """Workers, and the results of the batches that they have finished."""

    workers: Workers
    results: Direct | Results
    shown: Any
    """The progress, by tqdm."""
    times: Mapping[str, int]
    """Those of the job."""

    def map(
        self, function: Callable[..., Iterable[R]], batches: Iterable[Sequence[T]]
    ) -> Iterator[list[tuple[T, R | None]]]:
        """Yield the items of each unfinished batch with their results.

        `function(batch, *models)` returns the results. The result of an item that does not fit into
        memory is None. Raises RnngError, after all batches, if the file of a model was replaced,
        since workers may have opened the one or the other.
        """
        unfinished = islice(batches, self.results.batches, None)
        split = partial(split_on_memory_error, function)
        for batch, results in self.workers.map(split, unfinished):
            yield [*zip(batch, results, strict=True)]
        for path, time in self.times.items():
            if os.stat(path).st_mtime_ns != time:
                raise RnngError(f"{path} has changed meanwhile: run the command again")

    def write(self, lines_of_items: Sequence[Lines]) -> None:
        """Write the lines of the items of the next batch."""
        self.results.write(lines_of_items)
        self.shown.leave = True
        self.shown.update(len(lines_of_items))


def _command() -> str:
    return click.get_current_context().info_name or ""


class _Jobs(click.ParamType):
    """A number of processes, or the address or the file of a Dask scheduler."""

    name = "N|ADDRESS|FILE"

    def convert(self, value, param, ctx) -> int | str:
        """Return the number, address or file."""
        text = str(value)
        if text.removeprefix("-").isdecimal():
            return AT_LEAST_1.convert(value, param, ctx)
        if ":" not in text and not os.path.isfile(text):
            self.fail(f"{text!r} is neither a number nor an address, and no such file is there")
        return text


_jobs = option("--jobs", "Number of processes, or a Dask scheduler's address.", _Jobs(), default=1)
job_options = together("job", Job, _jobs, device_option)
"""The options of commands that process many sentences."""
