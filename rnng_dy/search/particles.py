"""Searches whose partial trees do not compete within a word: the particle filter and the variable beam."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from oracle.errors import RnngError
from oracle.transitions import SHIFT, TransitionSystem
from rnng_dy.search.incremental import (
    Configuration,
    ExpansionRequest,
    Hypothesis,
    Search,
    SearchOptions,
    SearchState,
    WordSearch,
    finishing,
    log_sum,
)

Grown = list[tuple[Hypothesis, np.ndarray]]
"""Derivations, each with its share of the `weights`."""


def _walk(
    system: TransitionSystem,
    reading: SearchState,
    word: int | None,
    share_out: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> Search[tuple[Grown, int, int]]:
    """Return every derivation that reaches the next word, or the end; also the rounds and actions carried out.

    `share_out` takes the weights of a derivation and the probabilities of its actions, shape (actions,). It returns
    the weights after each action, shape (actions, ...), and which actions have any weight left.
    """
    following = [
        (h._replace(at_word=h.score, lexical=0.0), weights)
        for h, weights in zip(reading.hypotheses, reading.weights, strict=True)
    ]
    reached: Grown = []
    rounds = done = 0
    while following:
        hypotheses = [h for h, _ in following]
        answer = yield ExpansionRequest(hypotheses, word, [h for h, _ in reached])
        rounds += 1
        closing = finishing(system, answer)
        allowed = answer.actions.copy()
        if word is None:
            allowed[:, SHIFT] = -np.inf
            if system.opening_needs_word:
                allowed[:, system.first_open :] = -np.inf
        grown = []
        for row, ((h, weights), c) in enumerate(zip(following, answer.configurations, strict=True)):
            shares, left = share_out(weights, np.exp(allowed[row]))
            for action in left.nonzero()[0].tolist():
                done += 1
                score = h.score + float(answer.actions[row, action])
                after = h.then(c, action, None, score)
                if action == SHIFT:
                    lexical = float(answer.word[row])
                    after = after._replace(word=word, lexical=lexical, score=score + lexical)
                    reached.append((after, shares[action]))
                elif not closing[row, action]:
                    grown.append((after, shares[action]))
                elif word is None:
                    reached.append((after, shares[action]))
        following = grown
    return reached, rounds, done


class ParticleFilter(WordSearch):
    """The bootstrap filter: particles draw actions up to the next word, whose probability becomes their weight.

    The mean over particles is an unbiased estimate of the probability of the words. Its logarithm, and so a surprisal,
    is only consistent. Equal particles of all runs are one derivation, which stores per run their number and the
    logarithm of the weight of each in nats.
    """

    name = "particles"
    options = ("particles", "runs", "threshold")

    @classmethod
    def open(cls, system: TransitionSystem, options: SearchOptions, index: int) -> ParticleFilter:
        """See `WordSearch`."""
        o = options
        return cls(system, o.particles, o.runs, o.threshold, (o.seed, index))

    @classmethod
    def lacking(cls, options: SearchOptions) -> Sequence[str]:
        """See `WordSearch`: a standard error is estimated from several runs."""
        sums = ("syntactic", "lexical")
        return sums if options.runs > 1 else ("standard_error", *sums)

    def __init__(
        self,
        system: TransitionSystem,
        particles: int = 1000,
        runs: int = 1,
        threshold: float = 0.5,
        seed: Sequence[int] = (1,),
    ):
        """Set up independent runs, resampled if their effective sample size is below `threshold` of the particles."""
        if particles < 1 or runs < 1 or not 0 <= threshold <= 1 or min(seed) < 0:
            raise RnngError(
                f"{particles} particles, {runs} runs, threshold {threshold}, seed {seed[0]}: particles and runs "
                "are from 1 on, the threshold from 0 to 1, the seed from 0 on"
            )
        self._system, self._particles, self._runs = system, particles, runs
        self._threshold = threshold
        self._seed = seed

    def start(self, configuration: Configuration) -> SearchState:
        """Return the state before the first word."""
        log_mass = np.zeros(self._runs)
        weights = np.stack([np.full(self._runs, float(self._particles)), log_mass])
        return replace(super().start(configuration), log_mass=log_mass, weights=[weights])

    def read(self, reading: SearchState, word: int | None) -> Search[SearchState]:
        """See `WordSearch`; at the end only actions that complete a tree are drawn, which lowers the weights."""
        # the draws of a word depend on the seed and the words before it, not on the rest of the batch
        words = reading.hypotheses[0].action_ids().count(SHIFT) if reading.hypotheses else 0
        random = np.random.default_rng([*self._seed, words])

        def share_out(weights: np.ndarray, probs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            counts, log_weights = weights
            total = probs.sum()
            if not total > 0:
                return np.zeros((0, 2, self._runs)), np.zeros(0)
            drawn = random.multinomial(counts.astype(np.int64), probs / total).T
            # barred actions lower the weight instead; if none is barred, the total is 1 but for rounding
            weighed = log_weights if word is not None else log_weights + math.log(total)
            shares = np.stack([drawn, np.broadcast_to(weighed, drawn.shape)], axis=1)
            return shares, drawn.any(axis=1)

        grown, rounds, done = yield from _walk(self._system, reading, word, share_out)
        grown = [(h, w) for h, w in grown if h.lexical > -math.inf]
        return self._resampled(grown, random, rounds, done)

    def _resampled(
        self, grown: Grown, random: np.random.Generator, rounds: int, done: int
    ) -> SearchState:
        grown = sorted(grown, key=lambda item: -item[0].score)
        if not grown:
            return SearchState([], np.full(self._runs, -np.inf), np.zeros(0), None, rounds, done)
        hypotheses = [h for h, _ in grown]
        weights = np.stack([w for _, w in grown])
        weights[:, 1] += np.array([h.lexical for h in hypotheses])[:, None]
        with np.errstate(divide="ignore"):
            joint = np.log(weights[:, 0]) + weights[:, 1]
        log_sums = np.array([log_sum(column) for column in joint.T])
        log_mass = log_sums - math.log(self._particles)
        total = log_sum(log_sums)
        shares = np.exp([log_sum(row) - total for row in joint])
        for run in np.flatnonzero(log_sums > -np.inf):
            share = np.exp(joint[:, run] - log_sums[run])
            each = np.exp(weights[:, 1, run] - log_sums[run])
            effective = 1 / (share * each).sum()
            if effective < self._threshold * self._particles:
                weights[:, 0, run] = random.multinomial(self._particles, share / share.sum())
                weights[:, 1, run] = log_mass[run]
        left = weights[:, 0].any(axis=1).nonzero()[0].tolist()
        return SearchState(
            [hypotheses[i] for i in left],
            log_mass,
            shares[left] / shares[left].sum(),
            None,
            rounds,
            done,
            [weights[i] for i in left],
            # probabilities of partial trees estimate the entropy; their shares among few draws would make it too low
            log_sum(log_mass)
            - math.log(self._runs)
            - float(shares @ [h.score for h in hypotheses]),
        )


class VariableBeam(WordSearch):
    """A search that divides a budget of particles among actions instead of drawing (Crabbé et al. 2019).

    A derivation with k particles passes round(k p(action)) to each action. After a word, all particles are distributed
    again in proportion to the joint probabilities of the derivations that reached it. Sums over derivations are lower
    bounds, as in a beam.
    """

    name = "variable"
    options = ("particles",)

    @classmethod
    def open(cls, system: TransitionSystem, options: SearchOptions, index: int) -> VariableBeam:
        """See `WordSearch`."""
        return cls(system, options.particles)

    def __init__(self, system: TransitionSystem, particles: int = 1000):
        if particles < 1:
            raise RnngError(f"{particles} particles: from 1 on")
        self._system, self._particles = system, particles

    def start(self, configuration: Configuration) -> SearchState:
        """Return the state before the first word."""
        weights = [np.array(float(self._particles))]
        return replace(super().start(configuration), weights=weights)

    def read(self, reading: SearchState, word: int | None) -> Search[SearchState]:
        """See `WordSearch`."""

        def share_out(k: np.ndarray, probs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            total = probs.sum()
            dealt = np.rint(k * probs / total) if total > 0 else probs
            return dealt, dealt

        grown, rounds, done = yield from _walk(self._system, reading, word, share_out)
        hypotheses = sorted((h for h, _ in grown), key=lambda h: -h.score)
        hypotheses = [h for h in hypotheses if h.score > -math.inf]
        scores = [h.score for h in hypotheses]
        log_mass = log_sum(scores)
        read = SearchState(
            hypotheses,
            np.array([log_mass]),
            np.exp(np.array(scores) - log_mass) if scores else np.zeros(0),
            log_sum([h.score - h.lexical for h in hypotheses]),
            rounds,
            done,
        )
        return self._dealt_again(read)

    def _dealt_again(self, read: SearchState) -> SearchState:
        dealt = np.rint(self._particles * read.shares)
        if len(dealt) and not dealt.any():
            dealt[0] = self._particles
        left = dealt.nonzero()[0].tolist()
        return replace(
            read,
            hypotheses=[read.hypotheses[i] for i in left],
            shares=read.shares[left] / read.shares[left].sum() if left else read.shares,
            weights=[dealt[i] for i in left],
        )
