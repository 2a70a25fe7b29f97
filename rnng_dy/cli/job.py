"""Work on many sentences: `--jobs`, `--device`, and writing the output, which continues after a stop.

The results of a long job are kept beside its output until that is made.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

import click

from oracle.common.errors import RnngError
from oracle.common.files import file_hash, is_replaced, replacing
from rnng_dy import __version__, checkpoint, engine
from rnng_dy.cli.messages import progress, warn
from rnng_dy.cli.options import device_option, together, write_output
from rnng_dy.engine.memory import keep_from_collection, limit_memory
from rnng_dy.model_folder import ModelFolder
from rnng_dy.parallel import Workers, check_jobs, split_on_memory_error, tidy
from rnng_dy.settings import AT_LEAST_1

if TYPE_CHECKING:
    from rnng_dy.baselines.scorers import OpenableScorer

Lines = list[str]
"""The lines of the output that an item has."""
FORMAT = "a line of JSON per batch, with its checksum"
"""What NAME.part holds; one with other content is not resumed."""


class Direct:
    """Results that are written to standard output, a pipe or a device at once."""

    batches, items, is_another, part = 0, 0, False, None

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, of_items: Sequence[Lines]) -> None:
        """Write the lines of the items of the next batch."""
        self._stream.writelines(f"{line}\n" for lines in of_items for line in lines)
        self._stream.flush()

    def remove(self) -> None:
        """Do nothing: nothing is kept."""


class Results:
    """The lines of each item of each finished batch, as one line of JSON in NAME.part, for the output NAME.

    NAME.part.key has a line that identifies inputs, options and model, then the CRC-32 of each
    batch's line. Only the same job is resumed, before the first batch whose checksum does not
    match.
    """

    def __init__(self, output: str, key: str, resume: bool):
        # replace the target of a symbolic link, not the link
        self.part = Path(f"{os.path.realpath(output)}.part")
        self._key = Path(f"{self.part}.key")
        self.batches = self.items = 0
        """The numbers of batches, and of their items, that an earlier run has finished."""
        if self.part.exists() and not self._key.exists():
            raise RnngError(
                f"{self.part} is no result of this command, since {self._key.name} is not there: rename it"
            )
        begin = f"{key}\n".encode()
        same = resume and self._key.exists() and self._key.read_bytes().startswith(begin)
        self.is_another = resume and not same and self.part.exists()
        """Whether the results that should be resumed are of another job."""
        # the key is there before the results, so unbuffered, and after them
        mode = "a+b" if same else "w+b"
        self._sums, self._stream = self._key.open(mode, 0), self.part.open(mode)
        if same:
            self._skip_finished(len(begin))
        else:
            self._sums.write(begin)

    def _skip_finished(self, begin: int) -> None:
        """Count the batches that are finished, and cut off all from the first whose checksum does not match.

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

    def write(self, of_items: Sequence[Lines]) -> None:
        """Keep the lines of the items of the next batch."""
        try:
            # ASCII also holds the bytes of words that are not UTF-8
            line = f"{json.dumps(of_items)}\n".encode("ascii")
            for stream, content in ((self._stream, line), (self._sums, _checksum(line))):
                stream.write(content)
                stream.flush()
        except OSError as error:
            # a full disk's error has no name
            error.filename = str(self.part)
            raise

    def lines(self) -> Iterator[str]:
        """Yield the lines of all items."""
        with self.part.open("rb") as stream:
            for line in stream:
                for of_item in json.loads(line):
                    yield from of_item

    def close(self) -> None:
        """Close the file, which stays for the same command unless it has nothing."""
        # each write has flushed; on a full disk closing would raise its error again
        for stream in (self._stream, self._sums):
            with suppress(OSError):
                stream.close()
        if self.part.is_file() and self.part.stat().st_size == 0:
            self.remove()

    def remove(self) -> None:
        """Remove the results, after the output has been made from them."""
        self.part.unlink()
        self._key.unlink()


def _checksum(line: bytes) -> bytes:
    """Return the line of a batch in NAME.part.key."""
    return b"%08x\n" % zlib.crc32(line)


@contextmanager
def results(output: str, key: str, resume: bool, made_at_end: bool) -> Iterator[Results | Direct]:
    """Open the results of an output: `Results` beside a file, or for one that is made at the end; else `Direct`."""
    if is_replaced(output):
        with closing(Results(output, key, resume)) as kept:
            yield kept
    elif made_at_end:
        with TemporaryDirectory() as folder:
            yield Results(os.path.join(folder, "results"), key, False)
    else:
        with replacing(output) as stream:
            yield Direct(stream)


@dataclass
class Job:
    """Where a command's work runs, according to its options, and with which models."""

    jobs: int | str
    """The number of processes, or the address or file of a Dask scheduler."""
    device: str = engine.CPU
    places: list[ModelFolder | OpenableScorer] = field(default_factory=list, init=False)
    """The models or scorers that workers open."""
    models: list[Any] = field(default_factory=list, init=False)
    """The same, opened in this process."""

    def __post_init__(self) -> None:
        """Raise RnngError for several processes with a GPU."""
        check_jobs(self.jobs, self.device)

    def open(self, place: ModelFolder | OpenableScorer):
        """Load a model or a scorer in this process and use it for the work, after those opened before.

        Reports a model that is not trained.
        """
        if isinstance(place, ModelFolder):
            place = place._replace(device=self.device)
        # no limit with a GPU: the driver's memory would count as the process's own
        if self.device == engine.CPU:
            limit_memory(self.jobs if isinstance(self.jobs, int) else 1)
        model = place.open()
        keep_from_collection()
        checkpoint.warn_of_model(model, place.title)
        self.models.append(model)
        self.places.append(place)
        return model

    def workers(self) -> Workers:
        """Return the workers, which open the models. Raises RnngError if a Dask scheduler cannot be used."""
        return Workers(self.places, self.jobs, self.models)

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
            inputs: The files that determine the output. The same command with the same inputs
                continues a stopped job; standard input and pipes cannot be read again.
            make: Function that makes the output from all results, in place of writing their lines.

        Raises:
            KeyboardInterrupt: With a message that names the file of finished results.
        """
        is_file, name = is_replaced(output), click.get_current_context().info_name or ""
        can_resume = is_file and all(path != "-" and os.path.isfile(path) for path in inputs)
        read = [*map(file_hash, inputs)] if can_resume else []
        models = [part for place in self.places for part in place.content()]
        key = checkpoint.content_hash(__version__, FORMAT, name, *decides, *read, *models)
        left_out = []
        opened, workers = results(output, key, can_resume, make is not None), self.workers()
        with tidy(), opened as kept, workers, progress(name, done=kept.items) as shown:
            # an error before the first sentence stands alone
            shown.leave = kept.items > 0
            if kept.is_another:
                warn(f"{kept.part} is not of this model, input and options: starting again")
            try:
                unfinished = islice(batches, kept.batches, None)
                lines_of_fitting = partial(split_on_memory_error, lines_of)
                for batch, found in workers.map(lines_of_fitting, unfinished):
                    of_items = [*zip(batch, found, strict=True)]
                    left_out += [item for item, lines in of_items if lines is None]
                    kept.write([lines_of_left_out(i) if of is None else of for i, of in of_items])
                    shown.leave = True
                    shown.update(len(batch))
                if make is not None:
                    make(kept)
                elif is_file:
                    write_output(output, (f"{line}\n" for line in kept.lines()))
            except KeyboardInterrupt as stop:
                # without a finished batch nothing is kept
                if not (can_resume and kept.part.stat().st_size):
                    raise
                said = f"stopped; the same command continues with {kept.part}"
                raise type(stop)(said) from None
            kept.remove()
        return left_out


class _Jobs(click.ParamType):
    """A number of processes, or the address or the file of a Dask scheduler."""

    name = "jobs"

    def convert(self, value, param, ctx) -> int | str:
        """See click."""
        text = str(value)
        if text.removeprefix("-").isdecimal():
            return AT_LEAST_1.convert(value, param, ctx)
        if ":" not in text and not os.path.isfile(text):
            self.fail(f"{text!r} is neither a number nor an address, and no such file is there")
        return text


job_options = together(
    "job",
    Job,
    click.option(
        "--jobs",
        type=_Jobs(),
        default=1,
        metavar="N|ADDRESS|FILE",
        help="Number of processes, or a Dask scheduler's address or file.",
    ),
    device_option,
)
"""The options of commands that process many sentences."""
