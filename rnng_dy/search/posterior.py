"""Posterior probabilities of brackets from samples; trees of minimum Bayes risk (Goodman 1996)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.lazy import nltk
from oracle.transitions import TOP_DOWN
from oracle.treebank import has_tags, tags, words


class Bracket(NamedTuple):
    """A constituent: its label, its first word from 0, and the word after its last one."""

    label: str
    start: int
    end: int
    number: int = 0
    """Number, from 0, among equal brackets of one tree, as in (NP (NP ...))."""


@dataclass(frozen=True)
class Posterior:
    """A distribution over the trees of one sentence, as samples show it."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None
    probabilities: dict[Bracket, float]
    depths: dict[Bracket, float]
    """The mean number of brackets above this one that have the same words."""
    entropy: float
    """Entropy over trees, in nats."""

    def probability(self, label: str, start: int, end: int) -> float:
        """Return the probability of a constituent of this label over words[start:end]."""
        return self.probabilities.get(Bracket(label, start, end), 0.0)

    def of_constituents(self, tree: nltk.Tree) -> list[float]:
        """Return the probabilities of constituents, from the top down, from left to right."""
        brackets = brackets_of(tree, self.tags is not None)
        return [self.probabilities.get(bracket, 0.0) for bracket, _ in brackets]

    def decode(self) -> nltk.Tree:
        """Return the tree with the highest expected F1.

        This is 2 E[matching] / (its brackets + E[gold brackets]). Dinkelbach's method maximizes it:
        a bracket gains 2 P - F in a chart search, which is repeated with the F that the last one
        reached. The time is cubic in the number of words.
        """
        expected = sum(self.probabilities.values())
        chosen, f1, reached = [], -1.0, 0.0
        while reached > f1 + 1e-12:
            f1 = reached
            chosen = self._best_brackets(f1)
            matching = sum(map(self.probabilities.__getitem__, chosen))
            reached = 2 * matching / (len(chosen) + expected)
        opened, closed = defaultdict(list), Counter(bracket.end for bracket in chosen)
        for bracket in chosen:
            opened[bracket.start].append(TOP_DOWN.open_action(bracket.label))
        actions = []
        for i in range(len(self.words)):
            actions += [*opened[i], "SHIFT", *["REDUCE"] * closed[i + 1]]
        return TOP_DOWN.tree_of(actions, self.words, self.tags)

    def _best_brackets(self, f1: float) -> list[Bracket]:
        """Return the brackets of a tree with the highest sum of gains, in preorder."""
        n = len(self.words)
        gains = {bracket: 2 * p - f1 for bracket, p in self.probabilities.items()}
        outer_first = sorted(gains, key=lambda b: (self.depths[b], b))
        roots = [bracket for bracket in outer_first if (bracket.start, bracket.end) == (0, n)]
        # a tree has a root, even if no label of it is likely
        root, worth = max(roots, key=gains.__getitem__), defaultdict(list)
        for bracket in outer_first:
            if gains[bracket] > 0 or bracket == root:
                worth[bracket.start, bracket.end].append(bracket)
        best, split = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1), int)
        for end in range(1, n + 1):
            for start in reversed(range(end)):
                if end - start > 1:
                    sums = best[start, start + 1 : end] + best[start + 1 : end, end]
                    split[start, end] = start + 1 + sums.argmax()
                    best[start, end] = sums.max()
                best[start, end] += sum(gains[b] for b in worth[start, end])
        chosen, agenda = [], [(0, n)]
        while agenda:
            start, end = agenda.pop()
            chosen += worth[start, end]
            if end - start > 1:
                middle = int(split[start, end])
                agenda += [(middle, end), (start, middle)]
        return chosen


def posterior(
    samples: Iterable[tuple[nltk.Tree, float]],
    log_joint: Iterable[float] | None = None,
    preterminals: bool | None = None,
    weight: float = 1.0,
) -> Posterior:
    """Estimate the distribution over the trees of one sentence from samples.

    Args:
        samples: Trees with their log q in nats, as a parser draws them; draw with alpha=1 for its
            own distribution.
        log_joint: log p(x, y) of each sample in nats. It weights the samples by p / q, so that the
            distribution is the p(y | x) of the generative model. None means the distribution that
            the samples come from.
        preterminals: Whether words have POS tags above them; None detects it.
        weight: The generative model's weight w, above 0 and up to 1. Below 1 both models decide:
            the distribution is that of p^w q^(1 - w), the score combination of Fried et al. (2017).

    Raises:
        RnngError: There is no sample with p > 0, the samples are of different sentences,
            `log_joint` has another length, a number is not a log probability, or a sample has q =
            0.

    >>> trees = map(nltk.Tree.fromstring, ["(S (NP a b) c)", "(S a (NP b c))", "(S (NP a b) c)"])
    >>> estimated = posterior([(tree, math.log(0.5)) for tree in trees])
    >>> round(estimated.probability("NP", 0, 2), 3)
    0.667
    >>> print(estimated.decode())
    (S (NP a b) c)
    """
    samples = list(samples)
    trees = [tree for tree, _ in samples]
    log_q = checked_log_probs([q for _, q in samples], drawn=True)
    sentences = {tuple(words(tree)) for tree in trees}
    if len(sentences) > 1:
        raise RnngError("the samples are trees of different sentences")
    if not 0 < weight <= 1:
        raise RnngError(f"weight: {weight!r} is not in the range 0<x<=1")
    log_p = log_q
    if log_joint is not None:
        log_joint = checked_log_probs(log_joint)
        if len(log_joint) != len(samples):
            raise RnngError(f"{len(log_joint)} joint log probabilities for {len(samples)} samples")
        log_p = combined(log_q, log_joint, weight)
    if not samples or log_p.max() == -math.inf:
        raise RnngError(f"{len(samples)} samples, of which none has p > 0")
    log_weights = log_p - log_q
    top = log_weights.max()
    weights = np.exp(log_weights - top)
    log_marginal = 0.0 if log_joint is None else top + math.log(weights.mean())
    shares = weights / weights.sum()
    entropy = float(shares[shares > 0] @ (log_marginal - log_p[shares > 0]))
    tagged = all(map(has_tags, trees)) if preterminals is None else preterminals
    probabilities, depths = Counter(), Counter()
    for tree, share in zip(trees, shares.tolist(), strict=True):
        for bracket, depth in brackets_of(tree, tagged) if share else ():
            probabilities[bracket] += share
            depths[bracket] += share * depth
    depths = {bracket: depths[bracket] / p for bracket, p in probabilities.items()}
    its_tags = tuple(tags(trees[0])) if tagged else None
    # sums of shares may be above 1 by rounding
    probabilities = {bracket: min(p, 1.0) for bracket, p in probabilities.items()}
    return Posterior(sentences.pop(), its_tags, probabilities, depths, entropy)


def checked_log_probs(numbers: Iterable[float], drawn: bool = False) -> np.ndarray:
    """Return log probabilities, or densities, as an array.

    Raises RnngError for what is none, such as NaN and None, and for q = 0 if they are those of
    `drawn` samples.
    """
    log_probs = np.array(list(numbers), np.float64)
    for number in log_probs[~(log_probs < math.inf)]:
        raise RnngError(f"{number} is no log probability")
    if drawn and log_probs.min(initial=0.0) == -math.inf:
        raise RnngError("a sample has q = 0, so it cannot have been drawn")
    return log_probs


def combined(log_q: Sequence[float], log_joint: Sequence[float], weight: float) -> np.ndarray:
    """Return the log of p^w q^(1 - w) for each sample: what both models say (see `posterior`)."""
    log_p = weight * np.asarray(log_joint, np.float64)
    return log_p if weight == 1 else log_p + (1 - weight) * np.asarray(log_q)


def brackets_of(tree: nltk.Tree, preterminals: bool | None = None) -> Iterator[tuple[Bracket, int]]:
    """Yield a tree's brackets in preorder, each with its depth below the first with its words.

    `preterminals` says whether words have POS tags above them; None detects it.
    """
    spans, opened, word = [], [], 0
    for action in TOP_DOWN.actions_of(tree, preterminals):
        if action == "SHIFT":
            word += 1
        elif action == "REDUCE":
            spans[opened.pop()] += (word,)
        else:
            opened.append(len(spans))
            spans.append((TOP_DOWN.label_of(action), word))
    equal, same_words = Counter(), Counter()
    for label, start, end in spans:
        yield Bracket(label, start, end, equal[label, start, end]), same_words[start, end]
        equal[label, start, end] += 1
        same_words[start, end] += 1
