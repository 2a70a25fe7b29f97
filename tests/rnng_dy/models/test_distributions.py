"""The distributions are distributions: everything that can happen, counted up."""

import numpy as np
import pytest

from oracle.brackets import parse_line
from oracle.transitions import SHIFT
from rnng_dy.engine import dy
from rnng_dy.search.importance import estimate
from rnng_dy.search.sampling import sample_batch
from rnng_dy.search.scoring import joint_log_probs

from ..conftest import make_generator, make_parser
from ..tiny_models import (
    COMPOSITIONS,
    WORDS,
    all_trees,
    exact_log_q,
    make_tiny_generator,
    make_tiny_parser,
    next_steps,
    state_after,
    tokens_of,
)


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("alpha", [1.0, 0.8])
def test_q_over_all_trees_of_a_sentence_sums_to_one(composition, alpha):
    parser = make_tiny_parser(composition, max_open=1)
    trees = all_trees(parser.transitions, 3)
    assert len(trees) > 50
    assert np.exp(exact_log_q(parser, WORDS, trees, alpha)).sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_generator_mass_of_finished_and_unfinished_sequences_is_one(composition):
    """All sequences of at most 6 actions: what has ended and what goes on make up everything."""
    model = make_tiny_generator(composition, max_open=2)
    finished = 0.0
    frontier = [((), (), 0.0)]
    for _ in range(6):
        grown = []
        for words, actions, log_p in frontier:
            for word, action, step in next_steps(model, words, actions):
                words_after = words if word is None else (*words, word)
                if state_after(model, (*actions, action)).is_finished:
                    finished += np.exp(log_p + step)
                else:
                    grown.append((words_after, (*actions, action), log_p + step))
        frontier = grown
    unfinished = sum(np.exp(log_p) for _, _, log_p in frontier)
    assert finished > 0.001
    assert finished + unfinished == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_next_steps_agree_with_joint_log_probs(composition):
    """The step by step probabilities above are those that `joint_log_probs` adds up."""
    model = make_tiny_generator(composition, max_open=2)
    system, words = model.transitions, (1, 2)
    actions = system.encode(system.actions_of(parse_line("(S a (X b))"), preterminals=False))
    total, used = 0.0, 0
    for i, action in enumerate(actions):
        word = words[used] if action == SHIFT else None
        steps = {(w, a): step for w, a, step in next_steps(model, words[:used], actions[:i])}
        total += steps[word, action]
        used += action == SHIFT
    assert joint_log_probs(model, words, [actions])[0] == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_importance_sampling_converges_to_the_exact_marginal(composition):
    parser, model = make_tiny_parser(composition, 1), make_tiny_generator(composition, 1)
    trees = all_trees(parser.transitions, 3)
    ids = model.vocabulary.word_ids(WORDS)
    joint = dict(zip(trees, joint_log_probs(model, ids, trees), strict=True))
    exact = np.log(np.exp(list(joint.values())).sum())
    [samples] = sample_batch(parser, [tokens_of(parser, WORDS)], 4000, 0.8, [[1]])
    e = estimate([log_q for _, log_q in samples], [joint[tuple(actions)] for actions, _ in samples])
    assert 0 < e.standard_error < (0.15 if parser.transitions.opens_after else 0.1)
    assert abs(e.log_marginal - exact) < 5 * e.standard_error


def test_sampled_trees_follow_the_exact_flattened_q():
    """Chi-square over whole trees, rare ones taken together."""
    parser, n, alpha = make_tiny_parser("corrected", 1), 5000, 0.8
    trees = all_trees(parser.transitions, 3)
    expected = n * np.exp(exact_log_q(parser, WORDS, trees, alpha))
    [samples] = sample_batch(parser, [tokens_of(parser, WORDS)], n, alpha, [[2]])
    index = {tree: i for i, tree in enumerate(trees)}
    observed = np.bincount([index[tuple(actions)] for actions, _ in samples], minlength=len(trees))
    common = expected >= 5
    pairs = [*zip(observed[common], expected[common], strict=True)]
    pairs.append((observed[~common].sum(), expected[~common].sum()))
    statistic = sum((o - e) ** 2 / e for o, e in pairs if e > 0)
    freedom = len(pairs) - 1
    assert freedom > 10
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("composition", ["corrected", "gated-attention"])
@pytest.mark.parametrize("n", [1, 16])
def test_minibatches_and_autobatching_change_nothing(
    sentences, generative_sentences, n, composition
):
    for make, data in ((make_parser, sentences), (make_generator, generative_sentences)):
        model = make(data, composition)
        examples = [model.encode_training(s) for s in data[:16]]
        losses = []
        for autobatching in (True, False):
            for i in range(0, 16, n):
                dy.renew_cg(autobatching=autobatching)
                losses.append(model.training_loss(examples[i : i + n], 0.0).value())
        batched, plain = np.array_split(np.array(losses), 2)
        dy.renew_cg(autobatching=True)
        assert batched == pytest.approx(plain, rel=1e-4)
        alone = []
        for example in examples:
            dy.renew_cg()
            alone.append(model.training_loss([example], 0.0).value())
        assert batched.sum() == pytest.approx(sum(alone), rel=1e-4)
