"""The class-factored softmax: log p(w | u) = log p(cluster | u) + log p(w | cluster, u)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from rnng_dy.engine import dy
from rnng_dy.models.vectors import Losses, as_rows, log_softmax, pick
from rnng_dy.parameters import ParameterStore


class ClassFactoredSoftmax:
    """A softmax over clusters, then over the words of one (`cnn::ClassFactoredSoftmaxBuilder`)."""

    def __init__(self, store: ParameterStore, hidden: int, clusters: Sequence[Sequence[int]]):
        """Create the parameters; `clusters[k]` lists the word ids of cluster k in order."""
        self.clusters = clusters
        self._class_weights = store.matrix("class_weights", len(clusters), hidden)
        self._class_bias = store.vector("class_bias", len(clusters))
        self._position: dict[int, tuple[int, int]] = {}
        self._word_parameters: dict[int, tuple[dy.Parameters, dy.Parameters]] = {}
        for k, words in enumerate(clusters):
            self._position |= {word: (k, i) for i, word in enumerate(words)}
            # a cluster of one word needs no softmax of its own
            if len(words) > 1:
                weights = store.matrix(f"word_weights.{k}", len(words), hidden)
                bias = store.vector(f"word_bias.{k}", len(words))
                self._word_parameters[k] = weights, bias
                store.group("class_weights", k, weights, bias)
        self._used = store.used.setdefault("class_weights", {})

    def class_logits(self, u: dy.Expression) -> dy.Expression:
        """Return unnormalised log p(cluster | u): shape (clusters,), batched as u is."""
        return dy.affine_transform([self._class_bias, self._class_weights, u])

    def word_logits(self, cluster: int, u: dy.Expression) -> dy.Expression:
        """Return unnormalised log p(word | cluster, u) for a cluster of several words, batched."""
        weights, bias = self._word_parameters[cluster]
        return dy.affine_transform([bias, weights, u])

    def every_log_prob(self, u: dy.Expression) -> np.ndarray:
        """Return log p(word | u) in nats: shape (batch elements, word ids), float64.

        Runs the graph once. A word without a cluster has -inf.
        """
        several = list(self._word_parameters)
        logits = [self.class_logits(u), *(self.word_logits(k, u) for k in several)]
        rows = as_rows(dy.concatenate(logits))
        ends = np.cumsum([len(self.clusters), *(len(self.clusters[k]) for k in several)])
        of_class, *of_words = map(log_softmax, np.split(rows, ends[:-1], axis=1))
        words = 1 + max(word for cluster in self.clusters for word in cluster)
        table = np.full((len(rows), words), -np.inf)
        for k, cluster in enumerate(self.clusters):
            table[:, cluster] = of_class[:, [k]]
        for k, log_probs in zip(several, of_words, strict=True):
            table[:, self.clusters[k]] += log_probs
        return table

    def negative_log_probs(self, u: dy.Expression, words: Sequence[int]) -> Losses:
        """Return the losses in nats of words[b], the owner b, under batch element b of u."""
        positions = [self._position[word] for word in words]
        losses = [dy.pickneglogsoftmax_batch(self.class_logits(u), [k for k, _ in positions])]
        owners = list(range(len(words)))
        members = defaultdict(list)
        for b, (k, _) in enumerate(positions):
            if k in self._word_parameters:
                members[k].append(b)
        self._used |= members
        for k, group in members.items():
            logits = self.word_logits(k, pick(u, group))
            losses.append(dy.pickneglogsoftmax_batch(logits, [positions[b][1] for b in group]))
            owners += group
        return losses, np.array(owners)
