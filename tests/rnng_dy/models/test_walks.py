"""Trees cost the same, with the same gradient, in whatever batches their configurations are computed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from nltk import Tree

from oracle.transitions import SYSTEMS as TRANSITIONS
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.configuration import Derivation
from rnng_dy.models.lstm import Lstm, LstmState
from rnng_dy.models.vectors import Embedding
from rnng_dy.parameters import ParameterStore

from ..conftest import make_generator, make_parser, sentences_of

NT, SHIFT, REDUCE = 2, 1, 0
SYSTEMS = [
    *product(COMPOSITIONS, ["full"], TRANSITIONS),
    *product(["corrected"], ["stack", "no-stack", "no-history", "history"], ["top-down"]),
]


def trees_of(model, sentences):
    """Trees of two sentences: some that begin alike, and one alone."""
    first, second = (model.network.derivation(model.encode_training(s)) for s in sentences)
    one, other = model.vocabulary.nonterminals[:2]
    words = ["w"] * (words_of(first) - 1)
    flat, unary = (
        model.transitions.encode(model.transitions.actions_of(tree, preterminals=False))
        for tree in (Tree(one, ["w", *words]), Tree(one, [Tree(other, ["w"]), *words]))
    )
    return [first._replace(sequences=[*first.sequences, flat, unary, flat]), second]


def words_of(tree):
    return len(tree.sentence.words if tree.generated is None else tree.generated)


def costs(model, losses):
    """The cost in nats of each sequence, and the gradient of all of them together by parameter."""
    values = dy.concatenate_to_batch(losses.losses).npvalue().ravel()
    of_decision = np.bincount(losses.decision_of, values)
    dy.esum([dy.sum_batches(loss) for loss in losses.losses]).backward()
    parameters = {**model.store.dense, **model.store.lookups}
    gradients = {name: np.array(p.grad_as_array()) for name, p in parameters.items()}
    return [of_decision[path].sum() for path in losses.paths], gradients


@pytest.mark.parametrize(("composition", "state", "transitions"), SYSTEMS)
@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_trees_cost_the_same_in_any_batches(
    kind, composition, state, transitions, trees, monkeypatch
):
    of_kind = sentences_of(trees, kind == "generative", transitions)
    make = make_parser if kind == "discriminative" else make_generator
    found = []
    for is_batched in (True, False):
        model = make(of_kind, composition, state=state)
        if not is_batched:
            together = model.network.compute

            def alone(configurations, dropout=0.0, together=together):
                for c in list(configurations):
                    together([c], dropout)

            monkeypatch.setattr(model.network, "compute", alone)
        dy.renew_cg()
        found.append(costs(model, model.network.losses(trees_of(model, of_kind[3:5]))))
    (batched, gradients), (single, single_gradients) = found
    assert batched == pytest.approx(single, rel=1e-5)
    assert len(set(np.round(batched, 3))) == 4, "equal trees cost the same, others do not"
    for name, gradient in single_gradients.items():
        scale = np.abs(gradient).max()
        assert gradients[name] == pytest.approx(gradient, abs=1e-4 * scale + 1e-6), name


def test_equal_prefixes_and_constituents_of_a_sentence_are_one(generator):
    one = [NT, NT, SHIFT, REDUCE, SHIFT, REDUCE]
    other = [NT, NT, SHIFT, REDUCE, NT, SHIFT, REDUCE, REDUCE]
    tree = Derivation(None, [one, other, one], [3, 4])
    decisions, paths = generator.network.walk([tree, tree._replace(sequences=[one])])
    assert paths[0] == paths[2]
    assert paths[0][:4] == paths[1][:4]
    made = [[decisions[i].after.stack.reads for i in p if not decisions[i].action] for p in paths]
    # the NP over the first word is in both, those over the second and the roots are not
    assert [len(set(made[0] + made[i])) for i in (1, 2)] == [4, 2]
    # what another sentence has is its own
    assert not set(made[0]) & set(made[3])


def test_levels_are_the_heights_of_the_trees(generator):
    actions = [NT, NT, NT, NT, SHIFT, REDUCE, REDUCE, REDUCE, REDUCE]
    decisions, _ = generator.network.walk([Derivation(None, [actions], [3])])
    assert [d.after.stack.reads.level for d in decisions[5:]] == [1, 2, 3, 4]


def test_states_come_after_those_that_they_depend_on():
    lstm = Lstm(ParameterStore(1), "x", 2, 3, 4)
    inputs = iter(np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32))

    def read(before):
        x = next(inputs)
        return LstmState(before, Embedding(lambda _: dy.inputTensor(x)))

    first = read(lstm.start)
    second = read(first)
    third, branch = read(second), read(first)
    other = read(lstm.start)
    last = read(branch)
    dy.renew_cg()
    schedule = lstm.schedule([third, last, other])
    assert schedule == [[first, other], [second, branch], [third, last]]
    together = lstm.outputs([third, last, other]).npvalue()
    dy.renew_cg()
    one_by_one = [lstm.outputs([s]) for s in (first, second, third, branch, last, other)]
    assert (
        pytest.approx(np.array([one_by_one[i].npvalue() for i in (2, 4, 5)]), rel=1e-5)
        == together.T
    )


@pytest.mark.parametrize("actions", [[SHIFT], [NT, REDUCE], [NT, SHIFT, SHIFT, SHIFT]])
def test_an_action_that_is_not_valid_is_refused(actions, parser, sentences):
    tokens = parser.encode_training(sentences[0]).tokens._replace(words=[1, 2], tags=[1, 1])
    dy.renew_cg()
    with pytest.raises(ValueError, match="is not valid"):
        parser.network.losses([Derivation(tokens, [actions], None)])


def test_only_what_something_is_made_of_has_a_gradient(sentences):
    """Adam moves the rows that have one: not the label of a root, if nothing else has it, which SGD decays."""
    model = make_parser(sentences)
    example = min(map(model.encode_training, sentences), key=lambda e: len(e.actions))
    root = example.actions[0] - 2
    assert root + 2 not in example.actions[1:]
    dy.renew_cg()
    model.store.forget_used_rows()
    loss = model.training_loss([example], 0.0)
    loss.forward()
    loss.backward()
    assert root in model.store.used_rows()["nonterminal"]
    assert root not in model.store.rows_with_gradient()["nonterminal"]
    assert model.store.rows_with_gradient()["open_nonterminal"] >= {root}


def test_a_generator_needs_a_word_for_each_shift(generator):
    with pytest.raises(ValueError, match="a word is missing after 1"):
        generator.network.walk([Derivation(None, [[NT, SHIFT, SHIFT]], [3])])
    opened = generator.network.advance(generator.network.start(), NT)
    with pytest.raises(ValueError, match="needs a word"):
        generator.network.advance(opened, SHIFT)
