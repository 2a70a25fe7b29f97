"""The saved state of an unfinished clustering, from which a long run can resume."""

from __future__ import annotations

import hashlib
import os
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from clusters.bigrams import BigramCounter
from clusters.brown import BrownClustering
from oracle.errors import RnngError
from oracle.regular_files import open_regular
from oracle.streams import replacing


def fingerprint(corpus: str | os.PathLike, *options: object) -> str:
    """Return a hash of a corpus and of the options that decide its clusters."""
    digest = hashlib.sha256(repr(options).encode())
    with open_regular(corpus) as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class SavedState:
    """A folder that holds the counts so far and, when they are complete, the clustering so far.

    Its files are replaced whole, so that a kill at any moment leaves the previous ones intact. Each
    file has the fingerprint of the run that it belongs to.
    """

    def __init__(self, folder: str | os.PathLike, key: str):
        self.folder, self._key = Path(folder), key
        self._counts, self._merges = self.folder / "counts.npz", self.folder / "merges.npz"
        self._counts_complete = False

    def remove(self) -> None:
        """Delete the saved state."""
        for path in (self._merges, self._counts):
            path.unlink(missing_ok=True)
            for half_written in self.folder.glob(f".{path.name}.*"):
                half_written.unlink(missing_ok=True)
        # the folder stays if it has other files
        with suppress(OSError):
            self.folder.rmdir()

    def save_counts(self, counter: BigramCounter, complete: bool) -> None:
        """Save the counts of the sentences so far, or of all."""
        self._save(self._counts, counter.arrays() | {"complete": np.array(complete)})
        self._counts_complete = complete

    def save_merges(self, clustering: BrownClustering, counter: BigramCounter) -> None:
        """Save the clustering so far, after the complete counts that it needs."""
        if not self._counts_complete:
            self.save_counts(counter, complete=True)
        self._save(self._merges, clustering.arrays())

    def load_counts(self) -> tuple[BigramCounter, bool]:
        """Return the counts and whether they are complete; empty counts if nothing is saved.

        Raises RnngError if the counts are damaged or belong to another run.
        """
        arrays = self._load(self._counts)
        if arrays is None:
            return BigramCounter(), False
        self._counts_complete = bool(arrays["complete"])
        return BigramCounter.from_arrays(arrays), self._counts_complete

    def load_merges(self, clustering: BrownClustering) -> None:
        """Restore a saved clustering, if there is one, into a new one."""
        arrays = self._load(self._merges)
        if arrays is not None:
            clustering.restore(arrays)

    def _save(self, path: Path, arrays: dict[str, np.ndarray]) -> None:
        self.folder.mkdir(exist_ok=True)
        with replacing(path, binary=True) as stream:
            np.savez(stream, fingerprint=np.array(self._key), **arrays)

    def _load(self, path: Path) -> dict[str, np.ndarray] | None:
        try:
            with open_regular(path) as stream, np.load(stream, allow_pickle=False) as saved:
                arrays = dict(saved)
        except FileNotFoundError:
            return None
        except (ValueError, EOFError, zipfile.BadZipFile):
            raise RnngError(
                f"{path} is broken: remove {self.folder}, or leave out --resume"
            ) from None
        if str(arrays.get("fingerprint")) != self._key:
            raise RnngError(
                f"{self.folder} belongs to another corpus or other options: give those, or leave "
                "out --resume to start again"
            )
        return arrays
