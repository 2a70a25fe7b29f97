"""Pretrained word vectors in word2vec's text format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oracle.errors import InputError
from oracle.files import open_text, replacing
from oracle.numerals import is_whole_number


def read_vectors(path: str) -> tuple[list[str], np.ndarray]:
    """Read words and their vectors, shape (words, dimension), float32.

    The first line, `words dimension`, is optional. Raises InputError for a line of another length, a value that is not
    finite, a repeated word, or a number of words that contradicts the first line.
    """
    words: dict[str, int] = {}
    rows: list[np.ndarray] = []
    announced = dimension = None
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            fields = line.rstrip(" \r\n").split(" ")
            if number == 1 and len(fields) == 2 and all(map(is_whole_number, fields)):
                announced, dimension = map(int, fields)
                continue
            if dimension is None:
                dimension = len(fields) - 1
            if len(fields) - 1 != dimension or dimension == 0:
                raise InputError(f"{len(fields) - 1} values instead of {dimension}", path, number)
            if fields[0] in words:
                raise InputError(
                    f"{fields[0]!r} already stands on line {words[fields[0]]}", path, number
                )
            try:
                rows.append(np.array(fields[1:], np.float32))
            except ValueError as error:
                raise InputError(f"{error} in the vector of {fields[0]!r}", path, number) from None
            if not np.isfinite(rows[-1]).all():
                raise InputError(f"a value that is not finite, of {fields[0]!r}", path, number)
            words[fields[0]] = number
    if not rows:
        raise InputError("no vectors", path)
    if announced not in (None, len(rows)):
        raise InputError(
            f"the first line announces {announced} vectors, the file has {len(rows)}", path
        )
    return list(words), np.stack(rows)


def write_vectors(path: str | Path, words: Sequence[str], vectors: np.ndarray) -> None:
    """Write words and their vectors, shape (words, dimension), so that `read_vectors` returns the same numbers."""
    with replacing(path) as stream:
        stream.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors.astype(np.float32), strict=True):
            stream.write(f"{word} {' '.join(map(str, vector))}\n")
