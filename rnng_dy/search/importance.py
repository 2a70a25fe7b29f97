"""Importance sampling: marginal likelihood and MAP tree (Dyer et al. 2016, section 4.3).

All log values are in nats.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from oracle.blocks import OracleSentence
from oracle.brackets import format_tree
from oracle.common.errors import InputError, RnngError
from oracle.common.files import FileName
from oracle.samples import Sample, format_sample, read_scored_samples
from oracle.treebank import NO_TAG, with_words, words
from rnng_dy.search.posterior import checked_log_probs, combined, posterior


@dataclass(frozen=True)
class Estimate:
    """Estimates from the samples of one sentence."""

    log_marginal: float
    """log p(x); -inf if every sample has p = 0."""
    best: int
    """The index of the sample with the highest joint probability, the first of equals.

    If every sample has p = 0, that of the highest q.
    """
    effective_sample_size: float
    """1 to the number of samples; 0 if every sample has p = 0."""
    standard_error: float
    """Monte-Carlo standard error of log p(x) (delta method)."""


def estimate(log_q: Iterable[float], log_p: Iterable[float]) -> Estimate:
    """Estimate log p(x) as log (1/N) sum_i p_i / q_i from samples y_i of q.

    Repeated samples count each time.

    Args:
        log_q: Log probability in nats of each sample under the distribution from which it was
            drawn.
        log_p: Joint log probability in nats of each sample.

    Raises:
        RnngError: There are no samples, the numbers of log q and log p differ, a number is not a
            log probability, or a sample has q = 0.

    Examples:
        >>> round(estimate([math.log(0.5)] * 2, [math.log(0.1), math.log(0.3)]).log_marginal, 6)
        -0.916291
    """
    proposed, joint = checked_log_probs(log_q, drawn=True), checked_log_probs(log_p)
    if not len(proposed) or len(proposed) != len(joint):
        raise RnngError(f"{len(proposed)} proposal and {len(joint)} joint log probabilities")
    log_weights = joint - proposed
    if (top := log_weights.max()) == -math.inf:
        return Estimate(-math.inf, int(np.argmax(proposed)), 0.0, math.inf)
    weights = np.exp(log_weights - top)
    total, n = weights.sum(), len(weights)
    ess = total**2 / (weights**2).sum()
    return Estimate(
        log_marginal=float(top + np.log(total / n)),
        best=int(np.argmax(joint)),
        effective_sample_size=float(ess),
        # var(w) / (n mean(w)^2), with var and mean over the samples
        standard_error=float(math.sqrt(max(0.0, 1.0 / ess - 1.0 / n))),
    )


@dataclass(frozen=True)
class Sampled:
    """The samples of a sentence, their log p in nats, and the estimates from them."""

    index: int
    """0-based number of the sentence."""
    samples: tuple[tuple[Sample, float], ...]
    estimate: Estimate
    words: int

    @property
    def has_joint(self) -> bool:
        """Whether some sample has p > 0."""
        return self.estimate.log_marginal > -math.inf


def read_sampled(samples: FileName, likelihoods: FileName, of_one_q: bool = False) -> list[Sampled]:
    """Return the sentences of a file of samples with their likelihoods.

    Raises InputError as `read_scored_samples` does.
    """
    sentences = []
    for group in read_scored_samples(samples, likelihoods, of_one_q):
        estimated = estimate([s.log_q for s, _ in group], [log_p for _, log_p in group])
        first = group[0][0]
        sentences.append(Sampled(first.index, tuple(group), estimated, len(words(first.tree))))
    return sentences


def require_fit(
    sample: Sample, oracle: Sequence[OracleSentence], props: str, oracle_path: str
) -> None:
    """Raise InputError if a sample is not a tree of its sentence in the oracle."""
    if not (sample.index < len(oracle) and oracle[sample.index].has_words(words(sample.tree))):
        sentence = f"sentence {sample.index + 1} of the {len(oracle)} of {oracle_path}"
        raise InputError(f"the tree does not have the words of {sentence}", props, sample.line)


def best_line(
    sampled: Sampled, oracle: Sequence[OracleSentence] | None, weight: float, mbr: bool
) -> str:
    """Return the best sample as the original writes it, or with an oracle's words and tags.

    It has the highest p^weight q^(1 - weight). With an oracle, `mbr` chooses the tree with the
    highest expected F1 instead; `posterior` explains `weight`. If every sample has p = 0, the
    parser alone decides.
    """
    log_q = [sample.log_q for sample, _ in sampled.samples]
    log_joint = [log_p for _, log_p in sampled.samples] if sampled.has_joint else None
    scores = log_q if log_joint is None else combined(log_q, log_joint, weight)
    sample, log_p = sampled.samples[int(np.argmax(scores))]
    if oracle is None:
        return format_sample(sample.index, log_p, format_tree(sample.tree))
    tree, sentence = sample.tree, oracle[sampled.index]
    if mbr:
        samples = [(sample.tree, sample.log_q) for sample, _ in sampled.samples]
        tree = posterior(samples, log_joint, preterminals=False, weight=weight).decode()
    tags = sentence.tags or [NO_TAG] * len(sentence.tokens)
    return format_tree(with_words(tree, sentence.tokens, tags))
