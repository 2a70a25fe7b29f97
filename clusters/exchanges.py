"""Exchange algorithm: each word in turn moves to the cluster of most mutual information."""

import numpy as np

from clusters.bigrams import n_log_n, summed, tolerance


class Exchanges:
    """The exchange algorithm of Martin, Liermann and Ney (1998), starting from any clusters.

    "Algorithms for bigram and trigram word clustering", Speech Communication 24. All quantities are
    counts: with f(n) = n log n, n(s, t) the pairs of a word of cluster s and one of t, a dot for
    the sum over all clusters and T pairs, T times the average mutual information is

        f(T) + sum over s, t of f(n(s, t)) - sum over s of f(n(s, .)) - sum over t of f(n(., t))

    A word is taken out and put where this rises most. If several clusters are equal, the one with
    the earliest word is chosen. That costs (contexts of the word) x (clusters); a context is a
    cluster to the right or one to the left. The last word of a cluster does not leave it, so that
    the number of clusters is constant.

    >>> from clusters.bigrams import count_bigrams
    >>> pairs = count_bigrams([["a", "x", "b", "y", "a", "y", "b", "x"]]).pairs(True)
    >>> exchanges = Exchanges(pairs, np.array([0, 1, 1, 1]), slots=2)
    >>> exchanges.sweep(), exchanges.class_of.tolist(), exchanges.sweep()
    (1, [0, 1, 0, 1], 0)
    """

    def __init__(
        self, pairs: tuple[np.ndarray, np.ndarray, np.ndarray], class_of: np.ndarray, slots: int
    ):
        """`class_of` has the slot of each word and is changed in place; slots may be empty.

        `pairs` are left words, right words and counts; pairs with words beyond `class_of` are
        ignored.
        """
        known = np.maximum(pairs[0], pairs[1]) < len(class_of)
        left, right, counts = (a[known].astype(np.int64) for a in pairs)
        words = len(class_of)
        self.class_of, self._slots = class_of, slots
        self._size = np.bincount(class_of, minlength=slots)
        self._tolerance = tolerance(int(counts.sum()))
        # the context that a word is when it follows, then when it precedes
        self._context_of = np.concatenate([class_of, class_of + slots]).astype(np.int64)
        cells = class_of[left].astype(np.int64) * slots + class_of[right]
        joint = summed(cells, counts, slots**2).reshape(slots, slots)
        # context x cluster: row y < slots is "followed by y", row slots + y is "preceded by y"
        self._contexts = np.concatenate([joint.T, joint])
        self.joint = self._contexts[slots:]
        """n(s, t) of every two slots."""
        self._within = self.joint.diagonal()
        self._ends = np.stack([joint.sum(axis=1), joint.sum(axis=0)])
        self._word_ends = np.stack([summed(left, counts, words), summed(right, counts, words)])
        twice = left == right
        self._after_itself = summed(left[twice], counts[twice], words)
        left, right, counts = left[~twice], right[~twice], counts[~twice]
        word = np.concatenate([left, right])
        order = np.argsort(word, kind="stable")
        self._start = np.searchsorted(word[order], np.arange(words + 1)).tolist()
        self._neighbour = np.concatenate([right, words + left])[order]
        self._counts = np.tile(counts, 2)[order].astype(np.float64)

    def sweep(self) -> int:
        """Try every word once, in the order of ranks; return how many moved."""
        return sum(self._exchange(word) for word in range(len(self.class_of)))

    def gains(self, word: int) -> np.ndarray:
        """Return T times the gain of information, in nats, if the word moves to each slot."""
        current, beside = int(self.class_of[word]), self._beside(word)
        self._put(word, current, beside, -1)
        rises = self._rises(word, beside)
        self._put(word, current, beside, 1)
        return rises - rises[current]

    def _exchange(self, word: int) -> bool:
        current = int(self.class_of[word])
        if self._size[current] == 1:
            return False
        gains = self.gains(word)
        gains[self._size == 0] = -np.inf
        highest = gains.max()
        if highest <= self._tolerance:
            return False
        best = np.flatnonzero(gains >= highest - self._tolerance)
        chosen = min(best.tolist(), key=lambda slot: np.argmax(self.class_of == slot))
        beside = self._beside(word)
        self._put(word, current, beside, -1)
        self._put(word, chosen, beside, 1)
        self._size[current] -= 1
        self._size[chosen] += 1
        self.class_of[word] = chosen
        self._context_of[[word, len(self.class_of) + word]] = chosen, self._slots + chosen
        return True

    def _beside(self, word: int) -> np.ndarray:
        """Return how often other words are in each context of the word, by slot."""
        entries = slice(self._start[word], self._start[word + 1])
        contexts = self._context_of[self._neighbour[entries]]
        return summed(contexts, self._counts[entries], 2 * self._slots)

    def _put(self, word: int, slot: int, beside: np.ndarray, sign: int) -> None:
        """Add the word's counts to a cluster's (sign 1), or subtract them (-1)."""
        slots, counts = self._slots, sign * beside
        self._contexts[:, slot] += counts
        # the cluster is a context too
        self._contexts[slot] += counts[slots:]
        self._contexts[slots + slot] += counts[:slots]
        if after_itself := sign * self._after_itself[word]:
            self._contexts[slot, slot] += after_itself
            self._contexts[slots + slot, slot] += after_itself
        self._ends[:, slot] += sign * self._word_ends[:, word]

    def _rises(self, word: int, beside: np.ndarray) -> np.ndarray:
        """Return how much the sum rises if a word that was taken out joins each slot."""
        used = beside.nonzero()[0]
        before = self._contexts[used]
        rises = (n_log_n(before + beside[used, None]) - n_log_n(before)).sum(axis=0)
        # a cluster's pairs with itself count in both kinds of contexts, but are one count in the
        # sum
        within, right, left = self._within, beside[: self._slots], beside[self._slots :]
        both = n_log_n(within + (right + left + self._after_itself[word])) + n_log_n(within)
        rises += both - n_log_n(within + right) - n_log_n(within + left)
        ends = n_log_n(self._ends + self._word_ends[:, word, None]) - n_log_n(self._ends)
        return rises - ends[0] - ends[1]
