"""Arrays in .npz files, whose floats can have fewer bits than in a model."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.files import reading, replacing
from rnng_dy.model_folder import Folder

BITS = (32, 16, 8)
"""The bits of a parameter that an archive can have."""
_SCALES = "scales/"
_FINE = frozenset(["action_weights", "class_weights"])
"""Small output layers that decide at every step, which have 16 bits in place of 8.

Eight bits would cost them most of what they cost the whole model.
"""


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], bits: int = 32) -> None:
    """Write an .npz file of arrays by name, floats in `bits` bits, or replace it."""
    with replacing(path, binary=True) as stream:
        np.savez(stream, **rounded(arrays, bits))


def read_arrays(path: Folder, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """Return all arrays of an .npz file, or only `names`, by name.

    Raises InputError if it is damaged.
    """
    with reading(path, remedy="missing or damaged: this model folder is not complete"):
        # an open file stays whole if it is replaced meanwhile; a member of an archive is read at
        # once
        file = path.open("rb") if isinstance(path, Path) else io.BytesIO(path.read_bytes())
        with file, np.load(file, allow_pickle=False) as archive:
            # the contents of an archive count as large as this file
            if not isinstance(path, Path) and any(m.compress_type for m in archive.zip.infolist()):
                raise ValueError("compressed arrays")
            arrays = {n: archive[n] for n in archive.files if names is None or n in names}
        return restored(arrays)


def rounded(arrays: Mapping[str, np.ndarray], bits: int) -> dict[str, np.ndarray]:
    """Return arrays by name, floats in `bits` bits.

    With 8 bits each row of a matrix is an int8 row times a scale, by which its largest number is
    127; the scales are an array of their own. Vectors are float16, and so are the output layers of
    actions and classes. Raises RnngError for a number that float16 cannot hold, and for other
    `bits` than BITS.
    """
    if bits not in BITS:
        raise RnngError(f"{bits} bits: a parameter has 32, 16 or 8")
    result = {}
    for name, values in arrays.items():
        if bits == 32 or not np.issubdtype(values.dtype, np.floating):
            result[name] = values
        elif bits == 8 and values.ndim == 2 and name not in _FINE:
            scales = np.abs(values).max(axis=1) / 127
            result[_SCALES + name] = scales = np.where(scales > 0, scales, 1).astype(np.float32)
            result[name] = np.rint(values / scales[:, None]).astype(np.int8)
        else:
            with np.errstate(over="ignore"):
                result[name] = values.astype(np.float16)
            if not np.isfinite(result[name]).all():
                most = np.finfo(np.float16).max
                raise RnngError(f"{name} holds numbers over {most}: export it in 32 bits")
    return result


def restored(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays that `rounded` got, but for its rounding.

    Raises ValueError for scales of no rows.
    """
    result = {name: values for name, values in arrays.items() if not name.startswith(_SCALES)}
    for name, scales in arrays.items():
        if name.startswith(_SCALES):
            matrix = name.removeprefix(_SCALES)
            result[matrix] = result[matrix] * scales[:, None]
    return result
