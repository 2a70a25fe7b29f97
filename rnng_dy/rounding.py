"""Arrays in fewer bits, for archives: float16, or matrices in eight bits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from oracle.errors import RnngError

BITS = (32, 16, 8)
"""The bits of a parameter that an archive can have."""
_SCALES = "scales/"
_LARGEST = 127
_FINE = frozenset(["action_weights", "class_weights"])
"""Small output layers that decide at every step: eight bits would cost them most of what they cost the whole model."""


def rounded(arrays: Mapping[str, np.ndarray], bits: int) -> dict[str, np.ndarray]:
    """Return arrays by name, floats in `bits` bits.

    With 8 bits each row of a matrix is an int8 row times a scale, by which its largest number is 127; the scales are an
    array of their own. Vectors are float16, and so are the output layers of actions and classes. Raises RnngError for a
    number that float16 cannot hold.
    """
    result = {}
    for name, values in arrays.items():
        if bits == 32 or not np.issubdtype(values.dtype, np.floating):
            result[name] = values
        elif bits == 8 and values.ndim == 2 and name not in _FINE:
            scales = np.abs(values).max(axis=1) / _LARGEST
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
    """Return the arrays that `rounded` got, without what it rounded away. Raises ValueError for scales of no rows."""
    result = {name: values for name, values in arrays.items() if not name.startswith(_SCALES)}
    for name, scales in arrays.items():
        if name.startswith(_SCALES):
            matrix = name.removeprefix(_SCALES)
            result[matrix] = result[matrix] * scales[:, None]
    return result
