"""Pretrained word vectors in word2vec's text format."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oracle.common.errors import InputError
from oracle.common.files import open_text, reading, replacing
from oracle.common.tables import is_whole_number
from rnng_dy.parameters import LARGEST, are_usable


def read_vectors(path: str) -> tuple[list[str], np.ndarray]:
    """Read words and their vectors, shape (words, dimension), float32.

    A first line may be `words dimension`. Raises InputError if it has other numbers, for a line of
    another length, a value that no model can have, or a repeated word.
    """
    rows: dict[str, np.ndarray] = {}
    head = dimension = None
    with open_text(path) as stream, reading(path) as source:
        for source.line, line in enumerate(stream, 1):
            word, *values = line.rstrip(" \r\n").split(" ")
            if source.line == 1 and len(values) == 1 and all(map(is_whole_number, (word, *values))):
                head = [int(word), int(values[0])]
                continue
            dimension = dimension or len(values)
            if len(values) != dimension or not values:
                raise ValueError(f"{len(values)} values instead of {dimension}")
            if word in rows:
                raise ValueError(f"a second vector of {word!r}")
            rows[word] = np.array(values, np.float32)
            if not are_usable(rows[word]):
                raise ValueError(f"a value that is not finite, or over {LARGEST:g}, of {word!r}")
    if not rows:
        raise InputError("no vectors", path)
    if head not in (None, [len(rows), dimension]):
        message = f"{head} words and values by this line, and {[len(rows), dimension]} are there"
        raise InputError(f"{message}: fetch the file again, or remove the line", path, 1)
    return list(rows), np.stack([*rows.values()])


def write_vectors(path: str | Path, words: Sequence[str], vectors: np.ndarray) -> None:
    """Write words and their vectors, shape (words, dimension), which `read_vectors` reads."""
    with replacing(path) as stream:
        stream.write(f"{len(words)} {vectors.shape[1]}\n")
        for word, vector in zip(words, vectors.astype(np.float32), strict=True):
            stream.write(f"{word} {' '.join(map(str, vector))}\n")
