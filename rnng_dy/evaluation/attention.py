"""Attention weights compared with head rules: the measures of Kuncoro et al. 2017, section 5."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from oracle.brackets import LocatedTree
from oracle.lazy import nltk
from oracle.treebank import tags
from rnng_dy.evaluation.dependencies import chances, constituents_of, governors
from rnng_dy.evaluation.evalb import percent
from rnng_dy.evaluation.evalb_params import COLLINS
from rnng_dy.evaluation.head_rules import HeadRules
from rnng_dy.evaluation.tables import aligned

SYSTEMS = ("attention", "first", "last", "random")
"""Ways to choose a head child: the most attended one (the first of equals), and three baselines without weights."""


def perplexity(weights: np.ndarray) -> float:
    """Return exp of the entropy: 1 if one child has all attention, n if n children share it equally.

    >>> perplexity(np.array([1.0, 0.0])), round(perplexity(np.array([0.5, 0.5])), 6)
    (1.0, 2.0)
    """
    some = weights[weights > 0].astype(np.float64)
    return float(np.exp(-(some * np.log(some)).sum()))


class AttendedTree(NamedTuple):
    """A tree, its number in the file from 0, and its constituents' labels and weights in order of completion."""

    number: int
    located: LocatedTree
    labels: Sequence[str]
    weights: Sequence[Sequence[float]]


@dataclass
class OfLabel:
    """Sums over the constituents with a label that have two children or more."""

    constituents: int = 0
    children: int = 0
    perplexities: float = 0.0
    """Sum of the constituents' perplexities."""
    heads: Counter[str] = field(default_factory=Counter)
    """How often each system chooses the head child of the rules; for "random" the expected number."""

    def add(self, weights: np.ndarray, head: int) -> None:
        """Add a constituent, with the index of its head child by the rules."""
        n = len(weights)
        self.constituents += 1
        self.children += n
        self.perplexities += perplexity(weights)
        chosen = (int(weights.argmax()) == head, head == 0, head == n - 1, 1 / n)
        self.heads.update(dict(zip(SYSTEMS, map(float, chosen), strict=True)))

    def to_json(self) -> dict[str, object]:
        """Return means over the constituents; heads in percent."""
        n = self.constituents or math.nan
        return {
            "constituents": self.constituents,
            "perplexity": self.perplexities / n,
            "uniform_perplexity": self.children / n,
            "heads": {name: percent(self.heads[name], n) for name in SYSTEMS},
        }


@dataclass
class Attachment:
    """Numbers of words and, by system, of words with the governor that the rules give them."""

    words: int = 0
    right: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, object]:
        """Return unlabelled attachment scores in percent."""
        scores = {name: percent(self.right[name], self.words) for name in SYSTEMS}
        return {"words": self.words, **scores}


class AttentionAnalysis:
    """Sums over trees: how sharp attention is, and whether it is on the heads that rules find."""

    def __init__(self, rules: HeadRules):
        self._rules = rules
        self.trees = self.unary = 0
        self.labels: dict[str, OfLabel] = defaultdict(OfLabel)
        self.overall = OfLabel()
        self.attachment = {"without punctuation": Attachment(), "with punctuation": Attachment()}

    def add(self, tree: nltk.Tree, weights: Sequence[np.ndarray]) -> None:
        """Add a tree with tags, and the weights of its constituents in order of completion."""
        constituents = constituents_of(tree)
        heads = [self._rules.head(c.label, c.children) for c in constituents]
        for c, head, of_children in zip(constituents, heads, weights, strict=True):
            if len(c.children) > 1:
                self.labels[c.label].add(of_children, head)
                self.overall.add(of_children, head)
        self.trees += 1
        self.unary += sum(len(c.children) == 1 for c in constituents)
        expected = np.array(governors(constituents, heads))
        chosen = {
            "attention": [int(of_children.argmax()) for of_children in weights],
            "first": [0] * len(heads),
            "last": [len(c.children) - 1 for c in constituents],
        }
        right = {name: governors(constituents, found) == expected for name, found in chosen.items()}
        right["random"] = np.array(chances(constituents, expected.tolist()))
        is_punctuation = np.array([tag in COLLINS.delete_labels for tag in tags(tree)])
        for found, counted in zip(
            self.attachment.values(), (~is_punctuation, is_punctuation | True), strict=True
        ):
            found.words += int(counted.sum())
            found.right.update({name: float(of[counted].sum()) for name, of in right.items()})

    def to_json(self) -> dict[str, object]:
        """Return all figures: perplexities, and agreement in percent."""
        return {
            "trees": self.trees,
            "unary_constituents": self.unary,
            "all": self.overall.to_json(),
            "labels": {label: of.to_json() for label, of in self._ordered()},
            "attachment": {name: found.to_json() for name, found in self.attachment.items()},
        }

    def _ordered(self) -> list[tuple[str, OfLabel]]:
        """Return labels and their sums, the most frequent labels first."""
        return sorted(self.labels.items(), key=lambda item: (-item[1].constituents, item[0]))

    def tables(self) -> Iterator[str]:
        """Yield the parts of the printed report."""
        yield (
            f"{self.trees:,} trees; constituents of one child ({self.unary:,}) are not counted.\n"
            "Perplexity of attention, and head children (percent) that are those of the head rules\n\n"
        )
        rows = [("label", "constituents", "perplexity", "uniform", *SYSTEMS)]
        for label, of in [*self._ordered(), ("all", self.overall)]:
            found = of.to_json()
            means = (found["perplexity"], found["uniform_perplexity"], *found["heads"].values())
            rows.append((label, f"{of.constituents:,}", *(f"{mean:.2f}" for mean in means)))
        yield aligned(rows)
        yield "\nUnlabelled attachment (percent) against the head rules\n\n"
        rows = [("", "words", *SYSTEMS)]
        for name, found in self.attachment.items():
            words, *scores = found.to_json().values()
            rows.append((name, f"{words:,}", *(f"{score:.2f}" for score in scores)))
        yield aligned(rows)
