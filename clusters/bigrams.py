"""Counts of words and of adjacent words, in memory that grows only with the number of distinct bigrams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

_CHUNK = 1 << 22
_WORD_BITS = 31


@dataclass(frozen=True)
class Bigrams:
    """Words by falling count, equal counts by first occurrence, and the pairs of ranks that are adjacent.

    A pair is listed at most twice: once for its occurrences inside sentences, once for those across sentence ends.
    """

    words: list[str]
    counts: np.ndarray
    left: np.ndarray
    right: np.ndarray
    pair_counts: np.ndarray
    inside: np.ndarray
    """Whether the pair is counted inside sentences."""
    sentences: int

    @property
    def tokens(self) -> int:
        """Number of words in the corpus."""
        return int(self.counts.sum())

    def pairs(self, within_sentences: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return left words, right words and counts of the pairs of the running text, or of those inside sentences."""
        pairs = self.left, self.right, self.pair_counts
        return tuple(a[self.inside] for a in pairs) if within_sentences else pairs


class BigramCounter:
    """Counts bigrams, one sentence at a time. Words are UTF-8 bytes (surrogates escaped)."""

    def __init__(self) -> None:
        self._ids: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._counts = np.zeros(0, dtype=np.int64)
        self._chunk: list[int] = []
        self._ends: list[int] = []
        self._last: int | None = None
        self._runs: list[tuple[np.ndarray, np.ndarray]] = []
        self.sentences = 0

    def add(self, sentence: Iterable[bytes]) -> None:
        """Count a sentence; it follows the last one in the running text."""
        self._chunk.extend(map(self._ids.__getitem__, sentence))
        self._ends.append(len(self._chunk))
        self.sentences += 1
        if len(self._chunk) >= _CHUNK:
            self._flush()

    def finish(self) -> Bigrams:
        """Return all counts so far."""
        keys, pair_counts = self._merged()
        rank_of = np.empty(len(self._ids), dtype=np.int32)
        # ids are in order of first occurrence, and the sort is stable
        by_rank = np.argsort(-self._counts, kind="stable")
        rank_of[by_rank] = np.arange(len(by_rank))
        words = list(self._ids)
        return Bigrams(
            words=[words[i].decode("utf-8", "surrogateescape") for i in by_rank],
            counts=self._counts[by_rank],
            left=rank_of[keys >> _WORD_BITS + 1],
            right=rank_of[(keys >> 1) & (1 << _WORD_BITS) - 1],
            pair_counts=pair_counts,
            inside=(keys & 1) == 0,
            sentences=self.sentences,
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the state for saving."""
        keys, pair_counts = self._merged()
        return {
            "words": np.frombuffer(b"\n".join(self._ids), dtype=np.uint8),
            "counts": self._counts,
            "keys": keys,
            "pair_counts": pair_counts,
            "last": np.array([] if self._last is None else [self._last]),
            "sentences": np.array(self.sentences),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> BigramCounter:
        """Return a counter with a saved state."""
        counter = cls()
        for word in arrays["words"].tobytes().split(b"\n") if len(arrays["words"]) else []:
            counter._ids[word]
        counter._counts = arrays["counts"]
        if len(arrays["keys"]):
            counter._runs.append((arrays["keys"], arrays["pair_counts"]))
        counter._last = int(arrays["last"][0]) if len(arrays["last"]) else None
        counter.sentences = int(arrays["sentences"])
        return counter

    def _flush(self) -> None:
        """Convert the buffered words to counts of words and a sorted run of pairs."""
        start = [] if self._last is None else [self._last]
        ids = np.array(start + self._chunk, dtype=np.int64)
        counts = np.bincount(ids[len(start) :], minlength=len(self._ids))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        across = np.zeros(len(ids) + 1, dtype=np.int64)
        across[np.array([0, *self._ends], dtype=np.int64) + len(start)] = 1
        pairs = (ids[:-1] << _WORD_BITS | ids[1:]) << 1 | across[1 : len(ids)]
        self._runs.append(np.unique(pairs, return_counts=True))
        while len(self._runs) > 1 and 2 * len(self._runs[-1][0]) >= len(self._runs[-2][0]):
            self._runs.append(_merge(self._runs.pop(), self._runs.pop()))
        self._last = int(ids[-1])
        self._chunk, self._ends = [], []

    def _merged(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all pairs as one run."""
        if self._chunk:
            self._flush()
        while len(self._runs) > 1:
            self._runs.append(_merge(self._runs.pop(), self._runs.pop()))
        if not self._runs:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return self._runs[0]


def _merge(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Merge two sorted runs, adding the counts of equal keys."""
    keys = np.concatenate([one[0], other[0]])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    counts = np.concatenate([one[1], other[1]])[order]
    return keys[first], np.add.reduceat(counts, first)


def count_bigrams(sentences: Iterable[Sequence[str]]) -> Bigrams:
    """Count the words and bigrams of sentences.

    >>> bigrams = count_bigrams([["the", "cat"], ["the", "dog"]])
    >>> bigrams.words, bigrams.counts.tolist()
    (['the', 'cat', 'dog'], [2, 1, 1])
    """
    counter = BigramCounter()
    for sentence in sentences:
        counter.add(word.encode("utf-8", "surrogateescape") for word in sentence)
    return counter.finish()
