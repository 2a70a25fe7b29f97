"""Named arrays in .npz files, without pickle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from oracle.archives import Member, open_regular
from oracle.errors import InputError, RnngError
from oracle.files import replacing

LARGEST = 1e9
"""Largest absolute value allowed in a model: products of larger values would overflow float32."""


def are_usable(values: np.ndarray) -> bool:
    """Return whether an array holds floats that a model can compute with: finite, and not over LARGEST."""
    # the maximum as a Python float: float16 cannot hold LARGEST
    return (
        np.issubdtype(values.dtype, np.floating)
        and bool(np.isfinite(values).all())
        and float(np.abs(values).max(initial=0.0)) <= LARGEST
    )


def number_of_updates(values: np.ndarray) -> int:
    """Return the whole number that an array holds. Raises RnngError for anything else."""
    if values.shape or not np.issubdtype(values.dtype, np.integer):
        raise RnngError(f"updates holds {values.dtype}, no whole number")
    return int(values)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays to a file, which is replaced only by a complete one. Raises OSError naming `path`."""
    with replacing(path, binary=True) as stream:
        np.savez(stream, **arrays)


def read_arrays(path: Path | Member, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """Return all arrays of an .npz file, or only `names`, by name. Raises InputError if it is missing or damaged."""
    try:
        # opened once: a file that is replaced while it is read stays whole
        stream = open_regular(path)
    except FileNotFoundError:
        raise InputError("missing: this model folder is not complete", path) from None
    try:
        with stream, np.load(stream, allow_pickle=False) as archive:
            wanted = [name for name in archive.files if names is None or name in names]
            arrays = {name: archive[name] for name in wanted}
    except MemoryError:
        raise
    except Exception as error:
        # zipfile and numpy raise a dozen kinds of exceptions for a damaged file
        raise InputError(f"damaged or cut short ({error})", path) from None
    for name, values in arrays.items():
        if not isinstance(values, np.ndarray):
            raise InputError(f"damaged: {name} is no array", path)
    return arrays
