"""Counts of words and adjacent words, in memory for the distinct bigrams; their information."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

_PART = 1 << 22
"""The number of words whose pairs are sorted at a time."""
_WORD_BITS = 31


@dataclass(frozen=True)
class Bigrams:
    """Words by falling count, equal counts by first occurrence, and adjacent pairs of ranks.

    A pair is listed at most twice: once for its occurrences inside sentences, once for those across
    sentence ends.
    """

    words: list[str]
    counts: np.ndarray
    """How often each word occurs."""
    left: np.ndarray
    """Of each pair the rank of the first word."""
    right: np.ndarray
    """Of each pair the rank of the second word."""
    pair_counts: np.ndarray
    """How often each pair occurs."""
    inside: np.ndarray
    """Whether the pair is counted inside sentences."""
    sentences: int

    @property
    def tokens(self) -> int:
        """Number of words in the corpus."""
        return int(self.counts.sum())

    def pairs(self, within_sentences: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return left words, right words and counts of the pairs, all or inside sentences."""
        pairs = self.left, self.right, self.pair_counts
        return tuple(a[self.inside] for a in pairs) if within_sentences else pairs


def count_bigrams(sentences: Iterable[Sequence[str]]) -> Bigrams:
    """Count the words and bigrams of sentences.

    >>> bigrams = count_bigrams([["the", "cat"], ["the", "dog"]])
    >>> bigrams.words, bigrams.counts.tolist()
    (['the', 'cat', 'dog'], [2, 1, 1])
    """
    ids: defaultdict[str, int] = defaultdict(count().__next__)
    counts = keys = pair_counts = np.zeros(0, np.int64)
    number, last, sentences = 0, [], iter(sentences)
    while True:
        # the last word of the part before, which begins a pair, and the words of this part
        tokens, starts = [*last], []
        for sentence in sentences:
            starts.append(len(tokens))
            tokens.extend(map(ids.__getitem__, sentence))
            if len(tokens) >= _PART:
                break
        if not starts:
            break
        number += len(starts)
        words, across = np.array(tokens, np.int64), np.zeros(len(tokens) + 1, np.int64)
        across[starts] = 1
        counts = np.pad(counts, (0, len(ids) - len(counts)))
        counts += np.bincount(words[len(last) :], minlength=len(ids))
        pairs = (words[:-1] << _WORD_BITS | words[1:]) << 1 | across[1 : len(words)]
        new, new_counts = np.unique(pairs, return_counts=True)
        keys, index = np.unique(np.concatenate([keys, new]), return_inverse=True)
        both = np.concatenate([pair_counts, new_counts])
        pair_counts = np.bincount(index, both, minlength=len(keys)).astype(np.int64)
        last = tokens[-1:]
    # ids are in order of first occurrence, and the sort is stable
    by_rank = np.argsort(-counts, kind="stable")
    rank_of = np.empty(len(ids), np.int32)
    rank_of[by_rank] = np.arange(len(ids))
    names = [*ids]
    return Bigrams(
        words=[names[i] for i in by_rank],
        counts=counts[by_rank],
        left=rank_of[keys >> _WORD_BITS + 1],
        right=rank_of[(keys >> 1) & (1 << _WORD_BITS) - 1],
        pair_counts=pair_counts,
        inside=(keys & 1) == 0,
        sentences=number,
    )


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
