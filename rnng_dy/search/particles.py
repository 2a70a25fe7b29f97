"""Searches whose partial trees do not compete within a word: particle filter, variable beam."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from oracle.transitions import SHIFT, TransitionSystem
from rnng_dy.models.configuration import Configuration
from rnng_dy.search import word_search
from rnng_dy.search.word_search import ExpansionRequest, Hypothesis, Search, SearchState, WordSearch

RESAMPLED_BELOW = 0.5
"""Particles are resampled if their effective sample size is below this share of them."""
ShareOut = Callable[[np.ndarray, np.ndarray], Iterable[tuple[int, np.ndarray]]]
"""A function of the weights of a derivation and the probabilities of its actions, shape (actions,).

It returns the actions that get a share of the weights, each with its share.
"""


def _walk(
    system: TransitionSystem, state: SearchState, word: int | None, share_out: ShareOut
) -> Search[tuple[list[Hypothesis], int, int]]:
    """Return every derivation that reaches the next word, or the end, and the rounds and actions.

    The most probable derivation is the first; those with p = 0 are left out.
    """
    following = list(state.hypotheses)
    reached: list[Hypothesis] = []
    rounds = done = 0
    while following:
        answer = yield ExpansionRequest(following, word, reached)
        rounds += 1
        closing = word_search.completes_tree(system, answer)
        allowed = answer.actions
        if word is None:
            allowed = word_search.without_words(system, allowed)
        open_ones = []
        for row, (h, c) in enumerate(zip(following, answer.configurations, strict=True)):
            for action, share in share_out(h.weights, np.exp(allowed[row])):
                done += 1
                score = h.score + float(answer.actions[row, action])
                after = h.then(c, action, score)._replace(weights=share)
                if action == SHIFT:
                    after = after.generating(word, answer, row)
                    reached.append(after._replace(score=score + after.lexical))
                elif not closing[row, action]:
                    open_ones.append(after)
                elif word is None:
                    reached.append(after)
        following = open_ones
    reached = [h for h in reached if h.score > -math.inf]
    return sorted(reached, key=lambda h: -h.score), rounds, done


class ParticleFilter(WordSearch):
    """The bootstrap filter: particles draw actions up to the next word, which weights them.

    A particle's weight is the probability of the word. The mean over particles is an unbiased
    estimate of the probability of the words. Its logarithm, and so a surprisal, is only consistent.
    Equal particles are one derivation, which stores their number and the logarithm of the weight of
    each in nats.
    """

    name = "particles"
    reads = ("particles", "seed")
    width = "particles"

    def start(self, configuration: Configuration) -> SearchState:
        """Return the state before the first word."""
        whole = Hypothesis(configuration, weights=np.array([self.options.particles, 0.0]))
        return SearchState([whole], 0.0, np.ones(1))

    def read(self, state: SearchState, word: int | None) -> Search[SearchState]:
        """Return the state after one more word, or at the end, which lowers the weights.

        There only actions that complete a tree are drawn.
        """
        # the draws of a word depend on the seed and the words before it, not on the rest of the
        # batch
        words = state.hypotheses[0].action_ids().count(SHIFT) if state.hypotheses else 0
        random = np.random.default_rng([self.options.seed, self.index, words])

        def share_out(weights: np.ndarray, probs: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
            count, log_weight = weights.tolist()
            if (total := probs.sum()) > 0:
                drawn = random.multinomial(int(count), probs / total)
                # barred actions lower the weight instead; if none is barred, the total is 1 but for
                # rounding
                weighed = log_weight if word is not None else log_weight + math.log(total)
                for action in drawn.nonzero()[0].tolist():
                    yield action, np.array([drawn[action], weighed])

        hypotheses, rounds, done = yield from _walk(self.system, state, word, share_out)
        return self._resampled(hypotheses, random, rounds, done)

    def _resampled(
        self, hypotheses: Sequence[Hypothesis], random: np.random.Generator, rounds: int, done: int
    ) -> SearchState:
        particles = self.options.particles
        if not hypotheses:
            return SearchState([], -math.inf, np.zeros(0), rounds, done)
        counts, log_weights = np.stack([h.weights for h in hypotheses], axis=1)
        log_weights += np.array([h.lexical for h in hypotheses])
        joint = np.log(counts) + log_weights
        total = float(np.logaddexp.reduce(joint))
        log_mass = total - math.log(particles)
        shares = np.exp(joint - total)
        effective = 1 / (shares * np.exp(log_weights - total)).sum()
        if effective < RESAMPLED_BELOW * particles:
            counts = random.multinomial(particles, shares / shares.sum())
            log_weights[:] = log_mass
        left = counts.nonzero()[0].tolist()
        # probabilities of partial trees estimate the entropy; their shares among few draws would
        # make it too low
        entropy = log_mass - float(shares @ np.array([h.score for h in hypotheses]))
        kept = [hypotheses[i]._replace(weights=np.array([counts[i], log_weights[i]])) for i in left]
        joint = np.log(counts[left]) + log_weights[left]
        shares = np.exp(joint - np.logaddexp.reduce(joint))
        return SearchState(kept, log_mass, shares, rounds, done, entropy)


class VariableBeam(WordSearch):
    """A search that divides its particles among actions, without drawing (Crabbé et al. 2019).

    A derivation with k particles passes round(k p(action)) to each action. After a word, all
    particles are distributed again in proportion to the joint probabilities of the derivations that
    reached it. Sums over derivations are lower bounds, as in a beam.
    """

    name = "variable"
    reads = ("particles",)
    width = "particles"

    def start(self, configuration: Configuration) -> SearchState:
        """Return the state before the first word."""
        whole = Hypothesis(configuration, weights=np.array(float(self.options.particles)))
        return SearchState([whole], 0.0, np.ones(1))

    def read(self, state: SearchState, word: int | None) -> Search[SearchState]:
        """Return the state after one more word, or at the end, with all particles dealt again."""

        def share_out(k: np.ndarray, probs: np.ndarray) -> list[tuple[int, np.ndarray]]:
            total = probs.sum()
            dealt = np.rint(k * probs / total) if total > 0 else probs
            return [(action, dealt[action]) for action in dealt.nonzero()[0].tolist()]

        hypotheses, rounds, done = yield from _walk(self.system, state, word, share_out)
        log_probs = np.array([h.score for h in hypotheses])
        log_mass = float(np.logaddexp.reduce(log_probs))
        shares = np.exp(log_probs - log_mass)
        dealt = np.rint(self.options.particles * shares)
        if len(dealt) and not dealt.any():
            dealt[0] = self.options.particles
        left = dealt.nonzero()[0].tolist()
        kept = [hypotheses[i]._replace(weights=dealt[i]) for i in left]
        shares = shares[left] / shares[left].sum()
        return SearchState(kept, log_mass, shares, rounds, done)
