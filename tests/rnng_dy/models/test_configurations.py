"""Configurations are immutable: branches go on from one without a trace in each other."""

import gc

import numpy as np
import pytest

from oracle.transitions import REDUCE, SHIFT
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.configuration import Configuration
from rnng_dy.models.parser_state import GENERATOR_STATES
from rnng_dy.models.vectors import value_of
from rnng_dy.search.scoring import joint_log_probs
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater

from ..conftest import make_generator, make_parser

NT = 2


def walk(model, root, steps):
    """The configuration after (action, word) pairs."""
    for action, word in steps:
        root = model.network.advance(root, action, word)
    return root


def next_log_probs(model, configurations):
    step = model.network.step(configurations)
    return step.action_log_probs(), step.every_word_log_prob(range(len(configurations)))


def test_branches_that_generate_different_words_at_one_position_differ(generator):
    """Each branch has the distributions that it has alone in a graph, whatever stands beside it."""
    opened = [(NT, None), (NT + 1, None)]
    one, other = ([*opened, (SHIFT, word), (REDUCE, None), (SHIFT, 5)] for word in (3, 4))
    alone = []
    for steps in (one, other):
        dy.renew_cg()
        alone.append(next_log_probs(generator, [walk(generator, generator.network.start(), steps)]))
    dy.renew_cg()
    root = walk(generator, generator.network.start(), opened)
    both = [walk(generator, root, steps[2:]) for steps in (one, other)]
    together = next_log_probs(generator, both)
    for i in range(2):
        for shared, single in zip(together, alone[i], strict=True):
            assert shared[i] == pytest.approx(single[0], rel=1e-4)
    assert np.abs(alone[0][1][0, 1:] - alone[1][1][0, 1:]).max() > 1e-3


def test_a_given_word_has_its_share_of_every_word(generator):
    dy.renew_cg()
    root = walk(generator, generator.network.start(), [(NT, None)])
    step = generator.network.step([root, walk(generator, root, [(SHIFT, 3)])])
    table = step.every_word_log_prob([1, 0, 1])
    assert np.exp(table).sum(axis=1) == pytest.approx(np.ones(3), rel=1e-5)
    # `<s>` is never generated
    assert np.isneginf(table[:, 0]).all()
    given, clusters = step.word_log_probs([1, 0, 1], [2, 7, 9])
    assert given == pytest.approx(table[[0, 1, 2], [2, 7, 9]], rel=1e-5)
    others = [next(c for c in generator.vocabulary.clusters if w in c) for w in (2, 7, 9)]
    expected = [np.logaddexp.reduce(row[list(c)]) for row, c in zip(table, others, strict=True)]
    assert clusters == pytest.approx(expected, rel=1e-4, abs=1e-5)


def trees_with_an_equal_constituent():
    """Over words a b c: X over a b, as one child has all attention, in S or in S over another S."""
    inner = [NT + 1, SHIFT, SHIFT, REDUCE]
    return [NT, *inner, SHIFT, REDUCE], [NT, NT, *inner, REDUCE, SHIFT, REDUCE]


def test_a_constituent_is_shared_unless_its_composition_looks_below_it(generative_sentences):
    for name, shared in (("corrected", True), ("buggy", True), ("gated-attention", False)):
        model = make_generator(generative_sentences, name)
        dy.renew_cg()
        root, vectors = model.network.start(), []
        for actions in trees_with_an_equal_constituent():
            steps = [(a, 3 if a == SHIFT else None) for a in actions]
            closed = walk(model, root, steps[: actions.index(REDUCE) + 1])
            model.network.compute([closed])
            vectors.append(closed.stack.reads)
        assert (vectors[0] is vectors[1]) == shared
        one, other = (value_of([vector]).npvalue() for vector in vectors)
        assert np.allclose(one, other) == shared


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_a_tree_has_the_same_score_alone_and_among_others(generative_sentences, name):
    model = make_generator(generative_sentences, name)
    trees = trees_with_an_equal_constituent()
    together = joint_log_probs(model, [3, 4, 5], trees)
    alone = [joint_log_probs(model, [3, 4, 5], [tree])[0] for tree in trees]
    assert together == pytest.approx(alone, rel=1e-5)


def test_the_state_that_a_composition_sees_is_the_one_that_the_reduce_came_from(sentences):
    """One u a configuration, dropout masks included; and it trains."""
    model = make_parser(sentences, "gated-attention")
    dy.renew_cg()
    root = model.network.start(model.encode_training(sentences[0]).tokens)
    c = walk(model, root, [(NT, None), (SHIFT, None)])
    closed = model.network.advance(c, REDUCE)
    u = model.network.parser_states([closed], 0.5)
    # the masks of u were drawn for the constituent
    before = model.network.parser_states([c], 0.5).npvalue()
    assert closed.stack.reads.configuration is c
    assert np.array_equal(value_of([c]).npvalue(), before)
    assert u.npvalue().shape == before.shape
    data = [model.encode_training(s) for s in sentences[:3]]
    updater = Updater(model, data, PRESETS["paper", "discriminative"])
    losses = [updater.update(range(3), i, 0.1) for i in range(8)]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("state", GENERATOR_STATES)
def test_rows_that_are_kept_go_on_as_before_in_each_state(generative_sentences, state):
    model = make_generator(generative_sentences, "gated-attention", state=state)
    steps = [(NT, None), (SHIFT, 3), (NT + 1, None), (SHIFT, 4), (REDUCE, None)]
    dy.renew_cg()
    expected = next_log_probs(model, [walk(model, model.network.start(), [*steps, (SHIFT, 5)])])
    dy.renew_cg()
    c = walk(model, model.network.start(), steps)
    model.network.keep([c])
    dy.renew_cg()
    found = next_log_probs(model, [walk(model, c, [(SHIFT, 5)])])
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_what_nobody_kept_is_computed_again(kind_and_sentences, composition):
    """In whatever order configurations are asked for, and in however many graphs."""
    make, data = kind_and_sentences
    model = make(data, composition)
    dy.renew_cg()
    tree = model.network.derivation(model.encode_training(data[3]))
    configurations = [d.configuration for d in model.network.walk([tree])[0]]
    expected = model.network.step(configurations).action_log_probs()
    for i, number in enumerate(np.random.default_rng(1).permutation(len(configurations)).tolist()):
        if i % 3 == 0:
            dy.renew_cg()
        if i % 5 == 0:
            model.network.keep([configurations[number]])
            dy.renew_cg()
        [found] = model.network.step([configurations[number]]).action_log_probs()
        assert found == pytest.approx(expected[number], rel=1e-4), number


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_what_is_kept_holds_nothing_that_came_before(composition, generative_sentences):
    """A long search needs no more memory than a short one."""

    def alive():
        gc.collect()
        return sum(isinstance(x, Configuration) for x in gc.get_objects())

    model = make_generator(generative_sentences, composition)
    dy.renew_cg()
    before = alive()
    c, steps = model.network.start(), [(NT, None), (SHIFT, 3), (SHIFT, 4), (REDUCE, None)]
    c = model.network.advance(c, NT)
    for _ in range(12):
        c = walk(model, c, steps)
        model.network.keep([c])
        dy.renew_cg()
    assert alive() <= before + 1, "the one that is kept"
