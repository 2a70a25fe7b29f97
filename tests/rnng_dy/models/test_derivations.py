"""Trees that are known in advance cost what a walk along their actions says, with the same gradient."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from nltk import Tree

from oracle.transitions import SYSTEMS as TRANSITIONS
from rnng_dy.engine import dy
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.models.derivations import NEW, Derivations, Forest
from rnng_dy.models.rnng import Rnng
from rnng_dy.search.model import Derived
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater

from ..conftest import make_generator, make_parser, sentences_of

NT, SHIFT, REDUCE = 2, 1, 0
TOGETHER = [c.name for c in COMPOSITIONS.values() if c.together]
SYSTEMS = [
    *product(TOGETHER, ["full"], TRANSITIONS),
    *product(["corrected"], ["stack", "no-stack", "no-history"], ["top-down"]),
]


def trees_of(model, sentences):
    """Trees of two sentences: some that begin alike, and one alone."""
    first, second = (model.derived(model.encode_training(s)) for s in sentences)
    one, other = model.vocabulary.nonterminals[:2]
    words = ["w"] * (first.length - 1)
    flat, unary = (
        model.transitions.encode(model.transitions.actions_of(tree, preterminals=False))
        for tree in (Tree(one, ["w", *words]), Tree(one, [Tree(other, ["w"]), *words]))
    )
    return [
        first._replace(sequences=[*first.sequences, flat, unary, flat]),
        second,
    ]


def costs(model, losses):
    """The cost in nats of each sequence, and the gradient of all of them together by parameter."""
    values = dy.concatenate_to_batch(losses.losses).npvalue().ravel()
    of_choice = np.bincount(losses.owners, values)
    dy.esum([dy.sum_batches(loss) for loss in losses.losses]).backward()
    parameters = {**model.store.dense, **model.store.lookups}
    gradients = {name: np.array(p.grad_as_array()) for name, p in parameters.items()}
    return [of_choice[path].sum() for path in losses.paths], gradients


@pytest.mark.parametrize(("composition", "state", "transitions"), SYSTEMS)
@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_known_trees_cost_what_a_walk_says(kind, composition, state, transitions, trees):
    of_kind = sentences_of(trees, kind == "generative", transitions)
    make = make_parser if kind == "discriminative" else make_generator
    found = []
    for way in ("losses", "walked_losses"):
        model = make(of_kind, composition, state=state)
        known_trees = trees_of(model, of_kind[3:5])
        dy.renew_cg()
        found.append(costs(model, getattr(model, way)(known_trees)))
    (known, known_gradients), (walked, walked_gradients) = found
    assert known == pytest.approx(walked, rel=1e-5)
    assert len(set(np.round(known, 3))) == 4, "equal trees cost the same, others do not"
    for name, gradient in walked_gradients.items():
        scale = np.abs(gradient).max()
        assert known_gradients[name] == pytest.approx(gradient, abs=1e-4 * scale + 1e-6), name


def test_equal_beginnings_and_constituents_of_a_sentence_are_one(generator):
    known = Derivations(generator.transitions)
    one = [NT, NT, SHIFT, REDUCE, SHIFT, REDUCE]
    other = [NT, NT, SHIFT, REDUCE, NT, SHIFT, REDUCE, REDUCE]
    known.add(2, [one, other, one], [3, 4], False)
    assert known.paths[0] == known.paths[2]
    assert known.paths[0][:4] == known.paths[1][:4]
    # the NP over the first word and the one over the second; the root's vector is never needed
    assert [len(of_height) for of_height in known.constituents] == [2]
    # what another sentence has is its own
    known.add(2, [one], [3, 4], False)
    assert [len(of_height) for of_height in known.constituents] == [3]


def test_heights_are_those_of_the_trees(generator):
    known = Derivations(generator.transitions)
    known.add(1, [[NT, NT, NT, NT, SHIFT, REDUCE, REDUCE, REDUCE, REDUCE]], [3], False)
    assert [len(of_height) for of_height in known.constituents] == [1, 1, 1]


def test_states_come_after_those_that_they_depend_on():
    forest = Forest()
    first, second, *_ = forest.add_chain("abc")
    branch = forest.add(first, "d")
    forest.add(branch, "e")
    other = forest.add(NEW, "f")
    levels = forest.by_level()
    assert levels.inputs == ["a", "f", "b", "d", "c", "e"]
    assert levels.ends == [2, 4, 6]
    assert levels.parents == [NEW, NEW, 0, 0, 2, 3]
    assert [levels.inputs[levels.places[k]] for k in (first, second, branch, other)] == list("abdf")


@pytest.mark.parametrize("actions", [[SHIFT], [NT, REDUCE], [NT, SHIFT, SHIFT, SHIFT]])
def test_an_action_that_is_not_valid_is_refused(actions, parser, sentences):
    tokens = parser.encode_training(sentences[0]).tokens._replace(words=[1, 2], tags=[1, 1])
    dy.renew_cg()
    with pytest.raises(ValueError, match="is not valid"):
        parser.losses([Derived(tokens, 2, [actions], None)])


def test_only_what_something_is_made_of_is_looked_up(sentences, monkeypatch):
    """Adam moves all rows that are looked up, by what it remembers: not the label of a root, if nothing else has it."""
    moved = []
    for losses in (Rnng.losses, Rnng.walked_losses):
        monkeypatch.setattr(Rnng, "losses", losses)
        model = make_parser(sentences)
        deep, flat = sorted(sentences, key=lambda s: len(s.actions))[:: len(sentences) - 1][::-1]
        updater = Updater(
            model,
            [model.encode_training(s) for s in (deep, flat)],
            replace(PRESETS["fast", "discriminative"], dropout=0.0),
        )
        for number, example in enumerate([0, 1, 1]):
            updater.update([example], number, 0.01)
        moved.append(model.store.arrays())
    for name, values in moved[1].items():
        assert moved[0][name] == pytest.approx(values, abs=2e-4), name
