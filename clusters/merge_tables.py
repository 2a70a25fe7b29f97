"""Tables of the mutual information that each possible merge of two clusters would lose."""

import numpy as np

from clusters.bigrams import n_log_n


class MergeTables:
    """Pairwise merge losses of the clusters in a window of slots (Liang 2005, section 4.2).

    All quantities are counts: with f(n) = n log n, A(s) the bigram ends in cluster s, c(s) its
    tokens in the corpus and n(s, y) how often s occurs in context y, T times the loss of s and t is

        sum over contexts y of f(n(s, y)) + f(n(t, y)) - f(n(s, y) + n(t, y))
        + (A(s) + A(t)) log (c(s) + c(t)) - A(s) log c(s) - A(t) log c(t)

    A context is a cluster to the right or one to the left. A term of the sum is 0 if s or t never
    occurs in the context. An update therefore costs (contexts of the rarer cluster) x (slots) and
    not (slots)^2: it is Liang's O(1) update of a loss, skipped for losses that cannot change. The
    search for the least loss reads all pairs.
    """

    def __init__(self, slots: int):
        self.slots = slots
        # n(s, y) at [y, s]: row y < slots is "followed by y", row slots + y is "preceded by y"
        self.contexts = np.zeros((2 * slots, slots))
        # f(n(s, y)) at [y, s]
        self._f = np.zeros((2 * slots, slots))
        # the sum over contexts y for s and t, which counts s and t as contexts of their own
        self._shared = np.zeros((slots, slots))
        # the correction of that sum for the contexts s and t, which the merge makes one
        self._own = np.zeros((slots, slots))
        # all of the loss but the sum: the correction, and the terms of A and c; infinite where
        # there is no pair
        self._rest = np.full((slots, slots), np.inf)
        # log (c(s) + c(t))
        self._log_size = np.zeros((slots, slots))
        # c(s); 1 in a free slot
        self._size = np.ones(slots)
        # A(s)
        self._ends = np.zeros(slots)
        # whether the slot has a cluster
        self._active = np.zeros(slots, dtype=bool)
        # the losses, T L2(s, t), which `losses` returns
        self._loss = np.empty((slots, slots))

    def losses(self) -> np.ndarray:
        """Return T times the loss, in nats, for each pair of slots.

        It is infinite for slots that form no pair. The array is overwritten by the next call.
        """
        return np.add(self._shared, self._rest, out=self._loss)

    def add(self, slot: int, tokens: int, right: np.ndarray, left: np.ndarray) -> None:
        """Fill a free slot with a cluster of that many tokens.

        `right[y]` and `left[y]` count how often the cluster in slot y follows and precedes it.
        """
        slots = self.slots
        for offset, there, back in ((0, right, left), (slots, left, right)):
            self.contexts[offset : offset + slots, slot] = there
            self._f[offset : offset + slots, slot] = n_log_n(there)
            self.contexts[offset + slot] = back
            self._f[offset + slot] = n_log_n(back)
            self._share_context(offset + slot, slot)
        self._active[slot] = True
        used = np.flatnonzero(self.contexts[:, slot])
        n, f = self.contexts[used, slot][:, None], self._f[used, slot][:, None]
        shared = (self._f[used] + f - n_log_n(self.contexts[used] + n)).sum(axis=0)
        self._shared[slot] = self._shared[:, slot] = shared
        self._ends += right + left
        self._ends[slot] = right.sum() + left.sum()
        self._size[slot] = tokens
        changed = (right + left) > 0
        changed[slot] = True
        self._update(slot, np.flatnonzero(changed))

    def merge(self, kept: int, freed: int) -> None:
        """Merge two clusters; the slot `freed` becomes empty."""
        self._merge_counts(kept, freed)
        for offset in (0, self.slots):
            self._merge_contexts(offset + kept, offset + freed)
        self._size[kept] += self._size[freed]
        self._ends[kept] += self._ends[freed]
        self._size[freed], self._ends[freed] = 1, 0
        self._active[freed] = False
        self._shared[freed] = self._shared[:, freed] = 0
        self._rest[freed] = self._rest[:, freed] = np.inf
        self._update(kept, np.array([kept]))

    def _share_context(self, context: int, slot: int) -> None:
        """Add a new context, the cluster in `slot`, to the sums of all other clusters."""
        used = np.flatnonzero(self.contexts[context])
        used = used[used != slot]
        n, f = self.contexts[context, used], self._f[context, used]
        self._shared[np.ix_(used, used)] += f[:, None] + f - n_log_n(n[:, None] + n)

    def _merge_counts(self, kept: int, freed: int) -> None:
        """Add the counts of one cluster to the other's, without merging contexts."""
        used = np.flatnonzero(self.contexts[:, freed])
        before = self.contexts[used, kept]
        after = before + self.contexts[used, freed]
        f_after = n_log_n(after)
        others = self.contexts[used]
        change = (f_after - self._f[used, kept])[:, None]
        change = change - n_log_n(others + after[:, None]) + n_log_n(others + before[:, None])
        self._shared[kept] += change.sum(axis=0)
        self._shared[:, kept] = self._shared[kept]
        self.contexts[used, kept], self._f[used, kept] = after, f_after
        self.contexts[:, freed] = self._f[:, freed] = 0

    def _merge_contexts(self, kept: int, freed: int) -> None:
        """Merge two contexts in the sums of all clusters."""
        n_freed, n_kept = self.contexts[freed], self.contexts[kept]
        used = np.flatnonzero(n_freed)
        n = n_freed + n_kept
        f = n_log_n(n)
        rise, f_freed, n_used = f - self._f[kept], self._f[freed, used], n_freed[used]
        change = rise[used][:, None] + rise
        change += n_log_n(n_kept[used][:, None] + n_kept) - n_log_n(n[used][:, None] + n)
        change[:, used] += n_log_n(n_used[:, None] + n_used) - f_freed[:, None] - f_freed
        # pairs with both members in `used` are added twice, once as row and once as column
        change[:, used] *= 0.5
        self._shared[used] += change
        self._shared[:, used] += change.T
        self.contexts[kept], self._f[kept] = n, f
        self.contexts[freed] = self._f[freed] = 0

    def _update(self, slot: int, changed: np.ndarray) -> None:
        """Update the quantities that depend on one cluster, and on the changed ends of some."""
        self._log_size[slot] = self._log_size[:, slot] = np.log(self._size[slot] + self._size)
        self._own[slot] = self._own[:, slot] = self._own_contexts(slot)
        # A(s) and A(s) log c(s)
        ends, weighted = self._ends, self._ends * np.log(self._size)
        rest = (ends[changed][:, None] + ends) * self._log_size[changed] + self._own[changed]
        rest -= weighted[changed][:, None] + weighted
        rest[:, ~self._active] = np.inf
        rest[np.arange(len(changed)), changed] = np.inf
        self._rest[changed] = rest
        self._rest[:, changed] = rest.T

    def _own_contexts(self, s: int) -> np.ndarray:
        """Return the correction of the sum for s and each t, which are contexts themselves.

        Of n(s, s), n(s, t), n(t, s), n(t, t) one count remains after the merge; the sum has two
        rows and two columns.
        """
        ss, st, ts = self.contexts[s, s], self.contexts[: self.slots, s], self.contexts[s]
        tt = np.diagonal(self.contexts)
        pairs = n_log_n(np.stack([ss + st, ts + tt, ss + ts, st + tt])).sum(axis=0)
        singles = self._f[s, s] + self._f[: self.slots, s] + self._f[s] + np.diagonal(self._f)
        return pairs - singles - n_log_n(ss + st + ts + tt)
