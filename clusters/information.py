"""Quality of a clustering: the mutual information of the classes of adjacent words."""

from __future__ import annotations

import numpy as np

from clusters.bigrams import Bigrams


def average_mutual_information(
    bigrams: Bigrams, class_of: np.ndarray, *, within_sentences: bool = True
) -> float:
    """Return the average mutual information, in nats, of the classes of adjacent words.

    `class_of[rank]` is the class of a word (Brown et al. 1992, equation 8). Without
    `within_sentences`, the last word of a sentence and the first of the next are adjacent too.
    """
    left, right, counts = bigrams.pairs(within_sentences)
    if not len(counts):
        return 0.0
    classes = int(class_of.max()) + 1
    left, right = (class_of[side].astype(np.int64) for side in (left, right))
    joint = np.bincount(left * classes + right, counts, minlength=classes**2)
    joint = joint.reshape(classes, classes) / counts.sum()
    independent = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    positive = joint > 0
    return float((joint[positive] * np.log(joint[positive] / independent[positive])).sum())


def n_log_n(counts: np.ndarray) -> np.ndarray:
    """Return n log n of whole numbers; 0 for 0.

    >>> n_log_n(np.array([0.0, 1.0, 2.0])).round(4).tolist()
    [0.0, 0.0, 1.3863]
    """
    return counts * np.log(np.maximum(counts, 1.0))


def summed(keys: np.ndarray, counts: np.ndarray, length: int) -> np.ndarray:
    """Return the sum of the counts of each key from 0 to `length` - 1."""
    # bincount of an empty array is of integers
    return np.bincount(keys, counts, minlength=length).astype(np.float64, copy=False)


def tolerance(tokens: int) -> float:
    """Return the rounding error to allow between sums of n log n over `tokens` tokens.

    The sums reach T log T, where rounding alone makes a difference.
    """
    return 1e-13 * tokens * float(np.log(tokens + 1))
