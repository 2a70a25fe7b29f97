"""Brown clustering: the greedy algorithm of Brown et al. (1992) with a window."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from clusters.bigrams import Bigrams, count_bigrams, summed, tolerance
from clusters.exchanges import Exchanges
from clusters.files import ClusteredWord, place_unseen, rules_of
from clusters.merge_tables import MergeTables
from oracle.common.errors import RnngError
from oracle.unknown import unknown_classes

# the first five sweeps bring nine tenths of the gain of exchanges; each takes a sixth of the
# clustering's time
SWEEPS = 5


class BrownClustering:
    """The clustering of a corpus.

    Words enter by falling frequency, equal ones by first occurrence. The first C words get a
    cluster each. Each later word becomes cluster C + 1. Then the pair whose merge loses the least
    mutual information is merged (Brown et al. 1992, section 3; Liang 2005, section 4). Among pairs
    of equal loss, the pair with the earliest word goes first, then the pair whose other cluster has
    the earliest word. In the end the C clusters are merged to a tree likewise.

    Pairs are counted in the running text, across sentence ends, as wcluster counts them; with
    `within_sentences` only inside sentences. Words with fewer than `min_count` occurrences only
    join the cluster with the smallest loss: they never cause other clusters to merge.

    With `refine`, `SWEEPS` sweeps of exchanges follow when the frequent words are in C clusters. A
    sweep moves each of these words to the cluster with the highest mutual information
    (`clusters.exchanges`). Then the rare words join, and the tree is built.
    """

    def __init__(
        self,
        bigrams: Bigrams,
        classes: int | None = None,
        *,
        min_count: int = 1,
        within_sentences: bool = False,
        refine: bool = False,
    ):
        """`classes` is C, at most the number of frequent words.

        None means the square root of the number of words.

        Raises RnngError if no word is frequent enough.
        """
        self.words, self.counts = bigrams.words, bigrams.counts
        self._frequent = int(np.count_nonzero(self.counts >= min_count))
        if not self._frequent:
            raise RnngError(
                f"no word occurs {min_count} times: the corpus is empty, or --min-count too high"
            )
        self.classes = min(classes or max(1, round(len(self.words) ** 0.5)), self._frequent)
        self._pairs = bigrams.pairs(within_sentences)
        left, right, counts = self._pairs
        key = 2 * np.maximum(left, right).astype(np.int64) + (left < right)
        order = np.argsort(key, kind="stable")
        # by the later word of each pair, which counts from when that word enters
        self._earlier, self._pair_counts = np.minimum(left, right)[order], counts[order]
        self._start = np.searchsorted(key[order], np.arange(2 * len(self.words) + 1))
        self._tables = MergeTables(self.classes + 1)
        self._tolerance = tolerance(bigrams.tokens)
        self.class_of = np.full(len(self.words), -1, dtype=np.int32)
        """Slot of each word's cluster, by rank; final after all words have entered."""
        self._members: list[list[int]] = [[] for _ in range(self.classes + 1)]
        self._first_word = np.zeros(self.classes + 1, dtype=np.int64)
        # wcluster's cluster numbers: a word's rank, and from V on for merged clusters
        self._number = np.zeros(self.classes + 1, dtype=np.int64)
        self._merges = np.zeros((self.classes - 1, 2), dtype=np.int32)
        self._free = 0
        self._refine = refine

    def steps(self) -> Iterator[None]:
        """Cluster the words; yield after each word, sweep of exchanges and merge of the tree.

        `total` is the number of these steps.
        """
        for word in range(self._frequent):
            self._bring_in(word)
            yield
        if self._refine:
            exchanges = Exchanges(self._pairs, self.class_of[: self._frequent], self.classes + 1)
            for _ in range(SWEEPS):
                exchanges.sweep()
                yield
            self._fill_tables(exchanges.joint)
        for word in range(self._frequent, len(self.words)):
            self._bring_in(word)
            yield
        for merge in range(self.classes - 1):
            kept, freed = self._best_pair()
            self._merges[merge] = sorted((kept, freed), key=self._number.__getitem__)
            self._merge(kept, freed, len(self.words) + merge)
            yield

    @property
    def total(self) -> int:
        """The number of steps."""
        return len(self.words) + SWEEPS * self._refine + self.classes - 1

    def run(self) -> BrownClustering:
        """Take all steps and return the clustering."""
        deque(self.steps(), maxlen=0)
        return self

    def paths(self) -> list[str]:
        """Return the bit string of each word's cluster, by rank.

        Of two merged clusters, the one that was merged or made earlier gets the 0; exchanges do not
        count.
        """
        path_of = {int(self._merges[-1][0]) if len(self._merges) else int(self.class_of[0]): ""}
        for older, newer in self._merges[::-1].tolist():
            path = path_of[older] if older in path_of else path_of[newer]
            path_of[older], path_of[newer] = f"{path}0", f"{path}1"
        # a single cluster has an empty path, which a line of a file would hardly show
        return [path_of[slot] or "0" for slot in self.class_of.tolist()]

    def entries(self, rules: str | None = None) -> list[ClusteredWord]:
        """Return all words with their paths, in the order of the tree, then by rank.

        Classes of unknown words that `rules` give and that never occur are among them.
        """
        rows = zip(self.paths(), self.words, self.counts.tolist(), strict=True)
        return place_unseen([ClusteredWord(*row) for row in rows], unknown_classes(rules))

    def _bring_in(self, word: int) -> None:
        slot = self._free
        self.class_of[word] = slot
        self._members[slot] = [word]
        self._first_word[slot] = self._number[slot] = word
        self._tables.add(slot, self.counts[word], *self._beside(word))
        if word < self.classes:
            self._free += 1
        else:
            kept, freed = self._best_pair(None if word < self._frequent else slot)
            self._merge(kept, freed, word)
            self.class_of[self._members[freed]] = kept
            self._members[kept] += self._members[freed]
            self._free = freed

    def _beside(self, word: int) -> list[np.ndarray]:
        """Return how often the words so far follow and precede `word`, summed by slot."""
        start, middle, end = self._start[2 * word : 2 * word + 3]
        right, left = (
            summed(self.class_of[self._earlier[a:b]], self._pair_counts[a:b], self.classes + 1)
            for a, b in ((start, middle), (middle, end))
        )
        # `word` after itself is a pair of both kinds
        left[self.class_of[word]] = right[self.class_of[word]]
        return [right, left]

    def _fill_tables(self, joint: np.ndarray) -> None:
        """Refill the tables from the clusters of frequent words, with pair counts `joint`."""
        self._tables = MergeTables(self.classes + 1)
        entered = np.zeros(self.classes + 1)
        for slot, members in enumerate(self._members):
            members[:] = np.flatnonzero(self.class_of == slot).tolist()
            if members:
                entered[slot] = 1
                right, left = joint[slot] * entered, joint[:, slot] * entered
                self._tables.add(slot, self.counts[members].sum(), right, left)
                self._first_word[slot] = members[0]

    def _best_pair(self, slot: int | None = None) -> tuple[int, int]:
        """Return the pair to merge, of all slots or with one slot.

        The slot with more contexts comes first.
        """
        losses = self._tables.losses()
        flat = losses.ravel() if slot is None else losses[slot]
        best = np.flatnonzero(flat <= flat.min() + self._tolerance) + (slot or 0) * len(losses)
        one, other = np.divmod(best, len(losses))
        firsts = np.sort([self._first_word[one], self._first_word[other]], axis=0)
        chosen = np.lexsort((firsts[1], firsts[0]))[0] if len(best) > 1 else 0
        pair = int(one[chosen]), int(other[chosen])
        sizes = np.count_nonzero(self._tables.contexts[:, pair], axis=0)
        return pair if sizes[0] >= sizes[1] else pair[::-1]

    def _merge(self, kept: int, freed: int, step: int) -> None:
        self._tables.merge(kept, freed)
        self._first_word[kept] = min(self._first_word[kept], self._first_word[freed])
        self._number[kept] = len(self.words) + step


def brown_clusters(
    sentences: Iterable[Sequence[str]], classes: int | None = None, rules: str | None = None
) -> list[ClusteredWord]:
    """Cluster the words of sentences; classes of unknown words that never occur are placed too.

    `rules` are those of the classes, None for those that the words show; corpora without classes
    get none. Raises RnngError if there are no words.

    >>> corpus = [["the", "cat", "ran"], ["a", "cat", "sat"], ["the", "dog", "sat"]]
    >>> [(entry.path, entry.word) for entry in brown_clusters(corpus, 3)]
    [('0', 'cat'), ('0', 'dog'), ('10', 'sat'), ('10', 'ran'), ('11', 'the'), ('11', 'a')]
    """
    clustering = BrownClustering(count_bigrams(sentences), classes).run()
    shown = rules_of(clustering.words)
    return clustering.entries(shown and (rules or shown))
