"""Work on many sentences: INPUT, `--jobs` and `--device`, and writing the output, which continues after a stop."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from oracle import plugins
from oracle.files import is_replaced
from rnng_dy import __version__, checkpoint, engine, model_folder
from rnng_dy.cli.messages import progress, say, warn
from rnng_dy.cli.options import FILE, device_option, together, write_output
from rnng_dy.cli.results import Lines, Results, input_hash, results, tidy
from rnng_dy.engine.memory import keep_from_collection, limit_memory
from rnng_dy.model_folder import ABOUT, Folder, model_files
from rnng_dy.parallel import Workers, check_jobs, fitting
from rnng_dy.settings import AT_LEAST_1
from rnng_dy.text.sources import Source
from rnng_dy.text.stimuli import Columns

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
        return model_folder.kind(self.kind).has_trees

    def open(self) -> Any:
        """Load the model in this process. Raises RnngError if device or folders cannot be used."""
        engine.start(self.device)
        return model_folder.kind(self.kind).load(self.folder)

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

    @property
    def processes(self) -> int:
        """The number of processes on this machine."""
        return self.jobs if isinstance(self.jobs, int) else 1

    def open(self, place: ModelFolder | OpenableScorer):
        """Load a model or a scorer in this process and use it for the work, after those opened before.

        Reports a model that is not trained.
        """
        if isinstance(place, ModelFolder):
            place = place._replace(device=self.device)
        # no limit with a GPU: the driver's memory would count as the process's own
        if self.device == engine.CPU:
            limit_memory(self.processes)
        model = place.open()
        keep_from_collection()
        if getattr(model, "updates", None) == 0:
            warn(f"{place.title}: the model is not trained, what it says is random")
        self.models.append(model)
        self.places.append(place)
        return model

    def content(self) -> list[object]:
        """Return what determines the models' results, for `content_hash`."""
        return [part for place in self.places for part in place.content()]

    def workers(self) -> Workers:
        """Return the workers, which open the models. Raises RnngError if a Dask scheduler cannot be used."""
        scheduler = self.jobs if isinstance(self.jobs, str) else None
        return Workers(self.places, self.processes, scheduler, self.models)

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
            inputs: The files that determine the output. The same command with the same inputs continues a stopped job;
                standard input and pipes cannot be read again.
            make: Function that makes the output from all results, in place of writing their lines.

        Raises:
            KeyboardInterrupt: With a message that names the file of finished results.
        """
        is_file, name = is_replaced(output), click.get_current_context().info_name or ""
        hashes = list(map(input_hash, inputs))
        if make is None and is_file:

            def make(kept: Results) -> None:
                write_output(output, (f"{line}\n" for line in kept.lines()))

        resumes = is_file and None not in hashes
        key = checkpoint.content_hash(__version__, name, *decides, *hashes, *self.content())
        left_out = []
        opened, workers = results(output, key, resumes, make is not None), self.workers()
        with tidy(), opened as kept, workers, progress(name, done=kept.done) as shown:
            # an error before the first sentence stands alone
            shown.leave = kept.done > 0
            if kept.is_another:
                warn(f"{kept.part} is not of this model, input and options: starting again")
            try:
                finished, left = _left(batches, kept.done)
                for batch, found in workers.map(partial(fitting, lines_of), left):
                    new = list(zip(batch, found, strict=True))[finished:]
                    finished = 0
                    left_out += [item for item, lines in new if lines is None]
                    kept.write(lines_of_left_out(i) if of is None else of for i, of in new)
                    shown.leave = True
                    shown.update(len(new))
                if make is not None:
                    make(kept)
            except KeyboardInterrupt as stop:
                if not resumes:
                    raise
                said = f"stopped; the same command continues with {kept.part}"
                raise type(stop)(said) from None
            kept.remove()
        return left_out


def _left(batches: Iterable[Sequence], done: int) -> tuple[int, Iterable[Sequence]]:
    """Return how many items of the first unfinished batch are done, and the batches from there on."""
    rest = iter(batches)
    for batch in rest:
        if done < len(batch):
            return done, chain([batch], rest)
        done -= len(batch)
    return 0, rest


class _Jobs(click.ParamType):
    """A number of processes, or the address or the file of a Dask scheduler."""

    name = "jobs"

    def convert(self, value, param, ctx) -> int | str:
        """See click."""
        text = str(value)
        if not text.isdecimal() and (":" in text or os.path.isfile(text)):
            return text
        return AT_LEAST_1.convert(value, param, ctx)


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

_FILE_NAME = re.compile(r"[/\\]|\.\w{1,6}$")
"""What names of files have, and texts have not: a slash, or an ending."""


def _is_text(argument: str) -> bool:
    """Return whether an argument is a text and no file's name."""
    return " " in argument and not os.path.exists(argument) and not _FILE_NAME.search(argument)


def _source(
    path: str,
    is_text: bool,
    one_per_line: bool,
    tagged: bool | None,
    own_tags: bool = False,
    is_stimuli: bool = False,
) -> Source:
    given = path if not is_stimuli and _is_text(path) else None
    if given is not None:
        say("INPUT is no file: it is read as running text")
        path, is_text = "-", True
    if is_stimuli:
        if is_text or tagged is not None:
            raise click.UsageError("--stimuli is without --text and --tagged")
        return Source(path, one_per_line=one_per_line, is_stimuli=True)
    if one_per_line and not is_text:
        raise click.UsageError("--one-per-line is for running text: add --text")
    if is_text and tagged:
        raise click.UsageError("--text is without tags: leave out --tagged")
    if path.lower().endswith((".csv", ".tsv", ".xlsx")):
        warn(f"{path} is read as a text: `surprisal --stimuli` reads tables")
    return Source(path, is_text, one_per_line, given, tagged, own_tags)


columns_options = together(
    "columns",
    Columns,
    click.option(
        "--column",
        "texts",
        metavar="NAME",
        multiple=True,
        help="Column of texts, one or one per condition.",
    ),
    click.option("--item", metavar="NAME", help="Column of the items."),
    click.option(
        "--condition", "conditions", metavar="NAME", multiple=True, help="Columns of conditions."
    ),
    click.option("--region", metavar="NAME", help="Column of regions, a row each."),
)


def source_options(*more: Callable) -> Callable:
    """Return a decorator that adds INPUT with its options and `more`; the command gets them as `source`."""
    return together(
        "source",
        _source,
        click.argument("path", type=FILE, metavar="INPUT"),
        click.option("--text", "is_text", is_flag=True, help="INPUT is running text."),
        click.option(
            "--one-per-line", is_flag=True, help="With --text: each line is one sentence."
        ),
        click.option(
            "--tagged/--untagged", default=None, help="Tokens are word_TAG.  [default: untagged]"
        ),
        *more,
    )


parser_source = source_options(
    click.option(
        "--own-tags", is_flag=True, help="Read the tags of the parser's own tagger, not INPUT's."
    )
)
