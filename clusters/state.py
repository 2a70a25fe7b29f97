"""The saved state of an unfinished clustering, from which a long run can resume."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from oracle.archives import open_regular
from oracle.errors import RnngError
from oracle.files import replacing

COUNTS, MERGES = "counts.npz", "merges.npz"
"""Files of the counts so far and, when they are complete, of the clustering so far."""


class SavedState:
    """A folder of arrays, in files that are replaced whole, so that a kill at any moment leaves the previous ones.

    Each file has the fingerprint of the run that it belongs to.
    """

    def __init__(self, folder: str | os.PathLike, fingerprint: str):
        self.folder, self._fingerprint = Path(folder), fingerprint

    def remove(self) -> None:
        """Delete the saved state."""
        # the merges first, which need the counts
        for name in (MERGES, COUNTS):
            for path in (self.folder / name, *self.folder.glob(f".{name}.*")):
                path.unlink(missing_ok=True)
        # the folder stays if it has other files
        with suppress(OSError):
            self.folder.rmdir()

    def save(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        """Replace a file."""
        self.folder.mkdir(exist_ok=True)
        with replacing(self.folder / name, binary=True) as stream:
            np.savez(stream, fingerprint=np.array(self._fingerprint), **arrays)

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """Return the arrays of a file; None if there is none.

        Raises RnngError if the file is damaged or belongs to another run.
        """
        path = self.folder / name
        try:
            stream = open_regular(path)
        except FileNotFoundError:
            return None
        try:
            with stream, np.load(stream, allow_pickle=False) as saved:
                arrays = dict(saved)
        except MemoryError:
            raise
        except Exception:
            # zipfile and numpy raise a dozen kinds of exceptions for a damaged file
            raise RnngError(
                f"{path} is broken: remove {self.folder}, or leave out --resume"
            ) from None
        if str(arrays.get("fingerprint")) != self._fingerprint:
            raise RnngError(
                f"{self.folder} belongs to another corpus or other options: give those, or leave "
                "out --resume to start again"
            )
        return arrays
