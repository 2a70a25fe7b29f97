"""Searches whose partial trees do not compete within a word: the particle filter and the variable beam."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from oracle.errors import RnngError
from oracle.transitions import SHIFT, TransitionSystem
from rnng_dy.models.configuration import Configuration
from rnng_dy.search.word_search import (
    ExpansionRequest,
    Hypothesis,
    Search,
    SearchOptions,
    SearchState,
    WordSearch,
    completes_tree,
    log_sum,
    without_words,
)

Weighted = list[tuple[Hypothesis, np.ndarray]]
"""Derivations, each with its share of the `weights`."""


def _walk(
    system: TransitionSystem,
    state: SearchState,
    word: int | None,
    share_out: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> Search[tuple[Weighted, int, int]]:
    """Return every derivation that reaches the next word, or the end; also the rounds and actions carried out.

    `share_out` takes the weights of a derivation and the probabilities of its actions, shape (actions,). It returns
    the weights after each action, shape (actions, ...), and which actions have any weight left.
    """
    begun = [h._replace(at_word=h.score, lexical=0.0) for h in state.hypotheses]
    following = list(zip(begun, state.weights, strict=True))
    reached: Weighted = []
    rounds = done = 0
    while following:
        answer = yield ExpansionRequest([h for h, _ in following], word, [h for h, _ in reached])
        rounds += 1
        closing = completes_tree(system, answer)
        allowed = answer.actions if word is not None else without_words(system, answer.actions)
        open_ones = []
        for row, ((h, weights), c) in enumerate(zip(following, answer.configurations, strict=True)):
            shares, left = share_out(weights, np.exp(allowed[row]))
            for action in left.nonzero()[0].tolist():
                done += 1
                after = h.then(c, action, h.score + float(answer.actions[row, action]))
                if action == SHIFT:
                    lexical = float(answer.word[row])
                    after = after._replace(word=word, lexical=lexical, score=after.score + lexical)
                    reached.append((after, shares[action]))
                elif not closing[row, action]:
                    open_ones.append((after, shares[action]))
                elif word is None:
                    reached.append((after, shares[action]))
        following = open_ones
    return reached, rounds, done


class ParticleFilter(WordSearch):
    """The bootstrap filter: particles draw actions up to the next word, whose probability becomes their weight.

    The mean over particles is an unbiased estimate of the probability of the words. Its logarithm, and so a surprisal,
    is only consistent. Equal particles of all runs are one derivation, which stores per run their number and the
    logarithm of the weight of each in nats.
    """

    name = "particles"
    reads = ("particles", "runs", "threshold")
    lacks = ("syntactic", "lexical")

    def __init__(self, system: TransitionSystem, options: SearchOptions, index: int = 0):
        """See `WordSearch`.

        Runs are independent. They are resampled if their effective sample size is below `threshold` of the particles.
        """
        super().__init__(system, options, index)
        o = options
        if o.particles < 1 or o.runs < 1 or not 0 <= o.threshold <= 1 or o.seed < 0:
            raise RnngError(
                f"{o.particles} particles, {o.runs} runs, threshold {o.threshold}, seed {o.seed}: particles and runs "
                "are from 1 on, the threshold from 0 to 1, the seed from 0 on"
            )

    def start(self, configuration: Configuration) -> SearchState:
        """Return the state before the first word."""
        runs = self.options.runs
        log_mass, counts = np.zeros(runs), np.full(runs, float(self.options.particles))
        weights = [np.stack([counts, log_mass])]
        return replace(super().start(configuration), log_mass=log_mass, weights=weights)

    def read(self, state: SearchState, word: int | None) -> Search[SearchState]:
        """See `WordSearch`; at the end only actions that complete a tree are drawn, which lowers the weights."""
        # the draws of a word depend on the seed and the words before it, not on the rest of the batch
        words = state.hypotheses[0].action_ids().count(SHIFT) if state.hypotheses else 0
        random = np.random.default_rng([self.options.seed, self.index, words])

        def share_out(weights: np.ndarray, probs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            counts, log_weights = weights
            total = probs.sum()
            if not total > 0:
                return np.zeros((0, 2, len(counts))), np.zeros(0)
            drawn = random.multinomial(counts.astype(np.int64), probs / total).T
            # barred actions lower the weight instead; if none is barred, the total is 1 but for rounding
            weighed = log_weights if word is not None else log_weights + math.log(total)
            shares = np.stack([drawn, np.broadcast_to(weighed, drawn.shape)], axis=1)
            return shares, drawn.any(axis=1)

        reached, rounds, done = yield from _walk(self.system, state, word, share_out)
        reached = [(h, w) for h, w in reached if h.lexical > -math.inf]
        return self._resampled(reached, random, rounds, done)

    def _resampled(
        self, reached: Weighted, random: np.random.Generator, rounds: int, done: int
    ) -> SearchState:
        particles, runs = self.options.particles, self.options.runs
        reached = sorted(reached, key=lambda item: -item[0].score)
        if not reached:
            return SearchState([], np.full(runs, -np.inf), np.zeros(0), None, rounds, done)
        hypotheses = [h for h, _ in reached]
        weights = np.stack([w for _, w in reached])
        weights[:, 1] += np.array([h.lexical for h in hypotheses])[:, None]
        with np.errstate(divide="ignore"):
            joint = np.log(weights[:, 0]) + weights[:, 1]
        log_sums = np.array([log_sum(column) for column in joint.T])
        log_mass = log_sums - math.log(particles)
        total = log_sum(log_sums)
        shares = np.exp([log_sum(row) - total for row in joint])
        for run in np.flatnonzero(log_sums > -np.inf):
            share = np.exp(joint[:, run] - log_sums[run])
            each = np.exp(weights[:, 1, run] - log_sums[run])
            effective = 1 / (share * each).sum()
            if effective < self.options.threshold * particles:
                weights[:, 0, run] = random.multinomial(particles, share / share.sum())
                weights[:, 1, run] = log_mass[run]
        left = weights[:, 0].any(axis=1).nonzero()[0].tolist()
        # probabilities of partial trees estimate the entropy; their shares among few draws would make it too low
        log_probs = np.array([h.score for h in hypotheses])
        entropy = log_sum(log_mass) - math.log(runs) - float(shares @ log_probs)
        return SearchState(
            [hypotheses[i] for i in left],
            log_mass,
            shares[left] / shares[left].sum(),
            None,
            rounds,
            done,
            [weights[i] for i in left],
            entropy,
        )


class VariableBeam(WordSearch):
    """A search that divides a budget of particles among actions instead of drawing (Crabbé et al. 2019).

    A derivation with k particles passes round(k p(action)) to each action. After a word, all particles are distributed
    again in proportion to the joint probabilities of the derivations that reached it. Sums over derivations are lower
    bounds, as in a beam.
    """

    name = "variable"
    reads = ("particles",)

    def __init__(self, system: TransitionSystem, options: SearchOptions, index: int = 0):
        """See `WordSearch`."""
        super().__init__(system, options, index)
        if options.particles < 1:
            raise RnngError(f"{options.particles} particles: from 1 on")

    def start(self, configuration: Configuration) -> SearchState:
        """Return the state before the first word."""
        weights = [np.array(float(self.options.particles))]
        return replace(super().start(configuration), weights=weights)

    def read(self, state: SearchState, word: int | None) -> Search[SearchState]:
        """See `WordSearch`."""

        def share_out(k: np.ndarray, probs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            total = probs.sum()
            dealt = np.rint(k * probs / total) if total > 0 else probs
            return dealt, dealt

        reached, rounds, done = yield from _walk(self.system, state, word, share_out)
        hypotheses = sorted((h for h, _ in reached), key=lambda h: -h.score)
        hypotheses = [h for h in hypotheses if h.score > -math.inf]
        log_probs = np.array([h.score for h in hypotheses])
        log_mass = log_sum(log_probs)
        shares = np.exp(log_probs - log_mass)
        dealt = np.rint(self.options.particles * shares)
        if len(dealt) and not dealt.any():
            dealt[0] = self.options.particles
        left = dealt.nonzero()[0].tolist()
        return SearchState(
            [hypotheses[i] for i in left],
            np.array([log_mass]),
            shares[left] / shares[left].sum(),
            log_sum([h.score - h.lexical for h in hypotheses]),
            rounds,
            done,
            [dealt[i] for i in left],
        )
