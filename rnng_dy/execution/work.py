"""Work with a trained model: the model or file to open in each worker, and items that do not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from rnng_dy import engine, plugins, registry
from rnng_dy.checkpoint import model_files
from rnng_dy.execution.batches import split_on_memory_error
from rnng_dy.execution.executor import Executor
from rnng_dy.known_models import Folder
from rnng_dy.model_card import ABOUT

Lines = list[str]


class InputFile(NamedTuple):
    """A file that workers read."""

    path: str

    def files(self) -> dict[str, Path]:
        """Return the files to send to a worker on another machine, by their names in its folder there."""
        return {os.path.basename(self.path): Path(self.path)}

    def moved(self, folder: str) -> InputFile:
        """Return the same object with its files in `folder`."""
        return InputFile(os.path.join(folder, os.path.basename(self.path)))


class ModelFolder(NamedTuple):
    """A model, or an ensemble of several ones, that workers open."""

    kind: str
    folder: str
    device: str = engine.CPU
    others: tuple[str, ...] = ()
    """The folders of the other models of an ensemble."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders of all models."""
        return self.folder, *self.others

    def open(self):
        """Load the model in this process. Raises RnngError if device or folders cannot be used."""
        return _open(self, tuple(map(os.path.abspath, self.folders)))

    def files(self) -> dict[str, Folder]:
        """See `InputFile`; the names of other models' files begin with a number."""
        found = model_files(self.folder)
        for number, folder in enumerate(self.others, 2):
            found |= {f"{number}/{name}": path for name, path in model_files(folder).items()}
        return found

    def content(self) -> list[object]:
        """Return what determines the model's results, for `content_hash`: its files except about.json, and plugins."""
        files = sorted(self.files().items())
        files = [item for item in files if os.path.basename(item[0]) != ABOUT]
        content = [part for item in files for part in item]
        return [*content, *plugins.hashes()]

    def moved(self, folder: str) -> ModelFolder:
        """See `InputFile`."""
        others = [os.path.join(folder, str(i)) for i in range(2, 2 + len(self.others))]
        return self._replace(folder=folder, others=tuple(others))


IN_FILES = (InputFile, ModelFolder)
"""Classes whose instances refer to files, which are sent along to other machines."""


# `paths` are part of the key: after a change of the working directory, the same name is another folder;
# two models stay, since a job may have a parser and a generative model
@lru_cache(maxsize=2)
def _open(place: ModelFolder, paths: tuple[str, ...]):
    engine.start(place.device)
    models = [registry.load(folder, place.kind) for folder in place.folders]
    return models[0] if len(models) == 1 else registry.kind(place.kind).ensemble_class(*models)


def forget_model() -> None:
    """Drop the cached references to opened models."""
    _open.cache_clear()


class Work:
    """The conversion of items into lines of output, batch by batch."""

    def __init__(
        self,
        executor: Executor,
        open_lines: Callable[[], Callable[[Sequence], list[Lines]]],
        lines_of_left_out: Callable[[object], Lines],
    ):
        """Use `open_lines()`, called in each worker, as the function from a batch to the lines of its items."""
        self._executor, self._open_lines = executor, open_lines
        self._lines_of_left_out = lines_of_left_out
        self.left_out: list = []
        """Items that did not fit into memory."""

    def lines_of(self, batches: Sequence[Sequence]) -> Iterator[Lines]:
        """Yield the lines of each batch; `lines_of_left_out` gives those of items that do not fit into memory."""
        results_of = self._executor.map(partial(_open_fitting, self._open_lines), batches)
        for batch, results in zip(batches, results_of, strict=True):
            lines = []
            for item, result in zip(batch, results, strict=True):
                if result is None:
                    self.left_out.append(item)
                    result = self._lines_of_left_out(item)
                lines += result
            yield lines


def opened(
    place: ModelFolder, function: Callable, generator: ModelFolder | None = None
) -> Callable:
    """Return a function with an opened model as its first argument; call this in the worker.

    A generative model beside it becomes the argument `generator`.
    """
    if generator is not None:
        function = partial(function, generator=generator.open())
    return partial(function, place.open())


def _open_fitting(open_lines: Callable) -> Callable[[Sequence], list[Lines | None]]:
    return partial(split_on_memory_error, open_lines())
