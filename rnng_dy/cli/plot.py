"""`rnng-dy plot`: draw the curves of finished and running trainings on a page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from oracle.errors import RnngError
from oracle.files import is_replaced
from rnng_dy.cli.options import FiniteRange
from rnng_dy.cli.paths import FOLDER, PAGE, check_files, write_output
from rnng_dy.cli.quiet import say, warn
from rnng_dy.drawing.training_page import training_page
from rnng_dy.folders import writing
from rnng_dy.interop.tensorboard import EventFiles
from rnng_dy.known_models import files_of
from rnng_dy.runs import LOG, Run, read_runs


class Seconds(FiniteRange):
    """A number of seconds that may be left out; a model folder may follow the option by mistake."""

    name = "seconds"

    def convert(self, value, param, ctx) -> float:
        """See click."""
        try:
            float(value)
        except ValueError:
            self.fail(f"{value!r} is no number of seconds: put models before --watch.", param, ctx)
        return super().convert(value, param, ctx)


@click.command()
@click.argument("folders", type=FOLDER, metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=PAGE,
    default="training.html",
    help="Page to write; - is standard output.",
)
@click.option(
    "--watch",
    type=Seconds(1, 86400),
    is_flag=False,
    flag_value=10,
    metavar="[SECONDS]",
    help="Write the page again every SECONDS (10 if no number follows) until the trainings end. The page reloads "
    "itself in the browser.",
)
@click.option(
    "--tensorboard",
    type=FOLDER,
    help="Also write the curves for TensorBoard, with a subfolder per run.",
)
def plot(folders, output, watch, tensorboard) -> None:
    """Draw loss, dev score, learning rate and clipped updates of trainings on one page.

    MODEL is the model folder of a finished or a running training. A table lists the settings in which the trainings
    differ.

    Example: rnng-dy plot parser generator -o training.html --watch 30
    """
    check_files([output], [path for folder in folders for path in files_of(folder)])
    if tensorboard is not None:
        click.get_current_context().with_resource(writing(tensorboard))
    if watch is not None and not is_replaced(output):
        raise click.UsageError("--watch writes the page again and again: name a file for it")
    pages = _Pages([Path(folder) for folder in folders], output, tensorboard)
    try:
        runs = pages.write(watch)
        say(f"{output}: {len(runs)} run{'s' * (len(runs) > 1)}")
        while watch and any(run.is_going_on() for run in runs):
            time.sleep(watch)
            runs = pages.write(watch)
    finally:
        if watch:
            # the final page need not refresh itself
            pages.write(None)


class _Pages:
    """Writes the page and the files for TensorBoard; reports each problem once."""

    def __init__(self, folders: Sequence[Path], output: str, tensorboard: str | None):
        self._folders, self._output = folders, output
        self._reported: set[str] = set()
        self._events = EventFiles(Path(tensorboard)) if tensorboard is not None else None

    def write(self, refresh: float | None) -> Sequence[Run]:
        """Write all files and return the runs; `refresh` is the page's interval in seconds, None for no refresh."""
        runs = read_runs(self._folders)
        if not any(run.log or run.progress for run in runs):
            names = ", ".join(map(str, self._folders))
            raise RnngError(f"{names}: no {LOG} of a training, so nothing to draw")
        for problem in (problem for run in runs for problem in run.problems):
            if problem not in self._reported:
                warn(problem)
                self._reported.add(problem)
        write_output(self._output, training_page(runs, time.time(), refresh))
        if self._events:
            self._events.write(runs)
        return runs
