"""What the commands that use trained models share: working processes, and items that do not fit into memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from rnng_dy import engine
from rnng_dy.batches import as_fits
from rnng_dy.memory import limit_memory
from rnng_dy.parallel import check_jobs, ordered_map

Lines = list[str]


class Place(NamedTuple):
    """Where a command works: which model, on which device, with how many processes."""

    kind: str
    folder: str
    device: str
    jobs: int

    def open(self):
        """The model, in this process. Raises RnngError where device or folder cannot be used."""
        return _open(self)


@lru_cache(maxsize=1)
def _open(place: Place):
    engine.start(place.device)
    check_jobs(place.jobs)
    if place.device == engine.CPU:
        limit_memory(place.jobs)
    from rnng_dy import checkpoint

    model = checkpoint.load(place.folder, place.kind)
    # graphs are many small objects without cycles: looking for cycles among them would take a tenth of the time
    gc.freeze()
    gc.set_threshold(200_000, 50, 50)
    return model


class Work:
    """Turns items into lines of output, batch by batch."""

    def __init__(
        self,
        place: Place,
        open_lines: Callable[[Place], Callable[[Sequence], list[Lines]]],
        lines_of_left_out: Callable[[object], Lines],
    ):
        """`open_lines(place)`, called in each process, gives a function from a batch to the lines of its items."""
        self._place, self._open_lines = place, open_lines
        self._lines_of_left_out = lines_of_left_out
        self.left_out: list = []
        """The items that do not fit into memory."""

    def lines_of(self, batches: Sequence[Sequence]) -> Iterator[Lines]:
        """The lines of each batch; for an item that does not fit into memory those that stand for it."""
        opened = partial(_open_fitting, self._place, self._open_lines)
        for batch, results in zip(
            batches, ordered_map(opened, batches, self._place.jobs), strict=True
        ):
            lines = []
            for item, result in zip(batch, results, strict=True):
                if result is None:
                    self.left_out.append(item)
                    result = self._lines_of_left_out(item)
                lines += result
            yield lines


def _open_fitting(place: Place, open_lines: Callable) -> Callable[[Sequence], list[Lines | None]]:
    return partial(as_fits, open_lines(place))
