"""How good a clustering is: the mutual information of the classes of adjacent words."""

from __future__ import annotations

import numpy as np

from clusters.bigrams import Bigrams


def average_mutual_information(bigrams: Bigrams, class_of: np.ndarray) -> float:
    """Average mutual information, in nats, of the classes of words adjacent within a sentence.

    `class_of[rank]` is the class of a word (Brown et al. 1992, equation 8).
    """
    counts = bigrams.pair_counts[bigrams.inside]
    if not len(counts):
        return 0.0
    classes = int(class_of.max()) + 1
    left, right = (
        class_of[side[bigrams.inside]].astype(np.int64) for side in (bigrams.left, bigrams.right)
    )
    joint = np.bincount(left * classes + right, counts, minlength=classes**2)
    joint = joint.reshape(classes, classes) / counts.sum()
    independent = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / independent[seen])).sum())
