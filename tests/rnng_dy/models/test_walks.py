"""Losses and gradients of trees do not depend on the batches of their configurations."""

from itertools import product

import numpy as np
import pytest
from nltk import Tree

from oracle.transitions import SYSTEMS as TRANSITIONS
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.configuration import Derivation

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
    read = first.sentence.words if first.generated is None else first.generated
    words = ["w"] * (len(read) - 1)
    flat, unary = (
        model.transitions.encode(model.transitions.actions_of(tree, preterminals=False))
        for tree in (Tree(one, ["w", *words]), Tree(one, [Tree(other, ["w"]), *words]))
    )
    return [first._replace(sequences=[*first.sequences, flat, unary, flat]), second]


def costs(model, losses):
    """The cost in nats of each sequence, and the gradient of all of them together by parameter."""
    losses, decision_of, paths = losses
    of_decision = np.bincount(decision_of, dy.concatenate_to_batch(losses).npvalue().ravel())
    dy.esum([dy.sum_batches(loss) for loss in losses]).backward()
    parameters = {**model.store.dense, **model.store.lookups}
    gradients = {name: np.array(p.grad_as_array()) for name, p in parameters.items()}
    return [of_decision[path].sum() for path in paths], gradients


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

            def alone(configurations, *options, together=together):
                for c in list(configurations):
                    together([c], *options)

            monkeypatch.setattr(model.network, "compute", alone)
        dy.renew_cg()
        found.append(costs(model, model.network.losses(trees_of(model, of_kind[3:5]))))
    (batched, gradients), (single, single_gradients) = found
    assert batched == pytest.approx(single, rel=1e-5)
    assert len(set(np.round(batched, 3))) == 4, "equal trees cost the same, others do not"
    for name, gradient in single_gradients.items():
        scale = np.abs(gradient).max()
        assert gradients[name] == pytest.approx(gradient, abs=1e-4 * scale + 1e-6), name


@pytest.mark.parametrize("actions", [[SHIFT], [NT, REDUCE], [NT, SHIFT, SHIFT, SHIFT]])
def test_an_action_that_is_not_valid_is_refused(actions, parser, sentences):
    tokens = parser.encode_training(sentences[0]).tokens._replace(words=[1, 2], tags=[1, 1])
    dy.renew_cg()
    with pytest.raises(ValueError, match="is not valid"):
        parser.network.losses([Derivation(tokens, [actions], None)])


def test_only_what_something_is_made_of_has_a_gradient(sentences):
    """Adam moves the rows with one: not the label of roots alone, which SGD decays."""
    model = make_parser(sentences)
    example = min(map(model.encode_training, sentences), key=lambda e: len(e.actions))
    root = example.actions[0] - 2
    assert root + 2 not in example.actions[1:]
    dy.renew_cg()
    model.store.forget_used_rows()
    model.training_loss([example], 0.0).backward()
    assert root in model.store.used_rows()["nonterminal"]
    assert root not in model.store.rows_with_gradient()["nonterminal"]
    assert model.store.rows_with_gradient()["open_nonterminal"] >= {root}


def test_a_generator_needs_a_word_for_each_shift(generator):
    with pytest.raises(ValueError, match="a word is missing after 1"):
        generator.network.walk([Derivation(None, [[NT, SHIFT, SHIFT]], [3])])
    opened = generator.network.advance(generator.network.start(), NT)
    with pytest.raises(ValueError, match="needs a word"):
        generator.network.advance(opened, SHIFT)
