"""Brown clustering that recomputes the mutual information of every merge from scratch."""

from collections import Counter
from itertools import combinations, pairwise
from math import log

import numpy as np

from clusters.brown import BrownClustering


def random_corpus(seed: int, types: int, tokens: int) -> list[list[str]]:
    """Sentences of 1 to 7 words, word r with a frequency of about 1/r."""
    random = np.random.default_rng(seed)
    ids = np.minimum(random.zipf(1.3, tokens), types)
    ends = np.cumsum(random.integers(1, 8, tokens))
    return [[f"w{i}" for i in part] for part in np.split(ids, ends[ends < tokens])]


class BruteForce:
    """Brown et al. (1992), section 3: the best of all merges, each summed anew."""

    def __init__(self, sentences: list[list[str]], classes: int):
        text = [word for sentence in sentences for word in sentence]
        counts = Counter(text)
        self.words = sorted(counts, key=lambda word: -counts[word])
        self.pairs = Counter(pairwise(text))
        self.counts, self.length = counts, len(text)
        self.clusters: list[tuple[str, ...]] = []
        for word in self.words:
            self.clusters.append((word,))
            if len(self.clusters) > classes:
                self.merge_best()
        self.found = sorted(self.clusters)
        self.tree = []
        while len(self.clusters) > 1:
            self.tree.append(self.merge_best())

    def information(self, clusters: list[tuple[str, ...]]) -> float:
        """Of the words that have a cluster, by frequencies in the whole text."""
        cluster_of = {word: i for i, cluster in enumerate(clusters) for word in cluster}
        sizes = [sum(self.counts[word] for word in cluster) for cluster in clusters]
        joint: Counter[tuple[int, int]] = Counter()
        for (left, right), count in self.pairs.items():
            if left in cluster_of and right in cluster_of:
                joint[cluster_of[left], cluster_of[right]] += count
        pairs = self.length - 1
        return sum(
            n / pairs * log(n / pairs * self.length**2 / (sizes[i] * sizes[j]))
            for (i, j), n in joint.items()
        )

    def merged(self, one: tuple[str, ...], other: tuple[str, ...]) -> list[tuple[str, ...]]:
        rest = [cluster for cluster in self.clusters if cluster not in (one, other)]
        return [*rest, tuple(sorted(one + other, key=self.words.index))]

    def merge_best(self) -> tuple[str, ...]:
        """A cluster's first word is its earliest: pairs come in the order that breaks ties."""
        ordered = sorted(self.clusters, key=lambda cluster: self.words.index(cluster[0]))
        best, highest = None, -1.0
        for pair in combinations(ordered, 2):
            information = self.information(self.merged(*pair))
            if information > highest + 1e-10:
                best, highest = pair, information
        self.clusters = self.merged(*best)
        return self.clusters[-1]


def clusters_of(clustering: BrownClustering) -> list[tuple[str, ...]]:
    members: dict[int, list[str]] = {}
    for word, slot in zip(clustering.words, clustering.class_of.tolist(), strict=True):
        members.setdefault(slot, []).append(word)
    return sorted(map(tuple, members.values()))


def inner_nodes(clustering: BrownClustering) -> list[tuple[str, ...]]:
    """The words under each node of the tree that was made by a merge of clusters."""
    paths = clustering.paths()
    above = {path[:end] for path in paths for end in range(len(path))}
    return sorted(
        tuple(w for w, p in zip(clustering.words, paths, strict=True) if p.startswith(node))
        for node in above
    )
