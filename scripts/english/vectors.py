"""Word vectors for the English parser, from the words beside each word in the texts at hand."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from oracle.common.files import open_text
from rnng_dy.interop import vectors as vectors_file
from scripts.english.texts import leaves

DIMENSION = 100
LEAST = 10
"""The least occurrences of a word that gets a vector."""
NEIGHBOURS = 4000
"""The number of frequent words that count as neighbours; the others are one."""
OFFSETS = (-2, -1, 1, 2)
"""The positions of neighbours beside a word; a word at two of them is two neighbours."""
SCALE, STEP = 0.3, 0.2
"""The standard deviation of the numbers, and the step between them: coarse, for a small archive."""


def write_vectors(folder: Path, path: Path, *texts: str) -> None:
    """Write vectors in word2vec's text format, from training trees and files of sentences."""
    sentences = list(leaves(folder / "train.trees"))
    for name in texts:
        with open_text(folder / name) as lines:
            sentences += (list(map(sys.intern, line.split())) for line in lines)
    words, vectors = vectors_of(sentences)
    vectors_file.write_vectors(path, words, STEP * np.round(vectors / STEP))


def vectors_of(
    sentences: Iterable[Sequence[str]], dimension: int = DIMENSION
) -> tuple[list[str], np.ndarray]:
    """Return lower-cased words and their vectors, shape (words, dimension).

    Numbers of like form have the same vector. The vectors are the leading singular vectors, times
    the roots of the singular values, of the positive pointwise mutual information between words and
    neighbours (Levy, Goldberg and Dagan 2015, with neighbours smoothed by 0.75).
    """
    lower = [[word.lower() for word in sentence] for sentence in sentences]
    counts = Counter(chain.from_iterable(lower))
    form_of = {word: re.sub(r"\d", "0", word) for word in counts}
    form_counts: Counter[str] = Counter()
    for word, count in counts.items():
        form_counts[form_of[word]] += count
    rows = {form: i for i, (form, n) in enumerate(form_counts.most_common()) if n >= LEAST}
    vectors = _leading(_information(_neighbours(lower, form_of, rows)), dimension)
    vectors *= SCALE / vectors.std()
    words = [word for word, n in counts.items() if n >= LEAST]
    return words, vectors[[rows[form_of[word]] for word in words]]


def _neighbours(
    sentences: Iterable[Sequence[str]], form_of: dict[str, str], rows: dict[str, int]
) -> np.ndarray:
    """Return how often each word has each neighbour: shape (words, places * neighbours)."""
    none, margin = len(rows), [len(rows)] * max(OFFSETS)
    padded = ([*margin, *(rows.get(form_of[w], none) for w in s), *margin] for s in sentences)
    forms = np.array(list(chain.from_iterable(padded)))
    counts = np.zeros((none, len(OFFSETS), NEIGHBOURS + 1))
    at = np.flatnonzero(forms < none)
    for k, offset in enumerate(OFFSETS):
        np.add.at(counts, (forms[at], k, np.minimum(forms[at + offset], NEIGHBOURS)), 1)
    return counts.reshape(none, -1)


def _information(counts: np.ndarray) -> np.ndarray:
    """Turn counts, in place, into the positive pointwise mutual information in nats."""
    neighbour_counts = counts.sum(axis=0) ** 0.75
    counts /= counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        counts /= neighbour_counts / neighbour_counts.sum()
        np.log(counts, out=counts)
    return np.fmax(counts, 0, out=counts)


def _leading(matrix: np.ndarray, dimension: int) -> np.ndarray:
    """Return the leading left singular vectors times the roots of their values.

    Their shape is (rows, dimension). The method is a randomised power iteration (Halko, Martinsson
    and Tropp 2011). Its numbers have 64 bits, so that the order in which threads add them does not
    show in the rounded vectors. The sum of each component is positive.
    """
    basis = np.random.default_rng(1).standard_normal((matrix.shape[1], dimension + 20))
    for _ in range(4):
        basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
    singular, values, _ = np.linalg.svd(matrix @ basis, full_matrices=False)
    scale = np.sign(singular.sum(axis=0)) * np.sqrt(values)
    return (singular * scale)[:, :dimension]
