"""Training that goes on from a model: what stays as it was, and what --extend adds."""

from dataclasses import replace

import numpy as np
import pytest

from oracle.blocks import counted
from oracle.brackets import LocatedTree, parse_line
from oracle.common.errors import RnngError
from rnng_dy.engine import dy
from rnng_dy.models.configuration import Derivation
from rnng_dy.training.initial_models import as_read_by, extended, unseen

from ..conftest import make_generator, make_parser, sentences_of

NEW = "(SX (QP (ZZ xyzzy) (NN cat)) (VP (VBD plughed) (QP (ZZ xyzzy))) (. .))"


@pytest.fixture
def old(trees):
    return trees[:40]


def new_sentences(generative):
    return sentences_of([LocatedTree(parse_line(NEW), "new.trees", 1)], generative)


@pytest.fixture(params=["discriminative", "generative"])
def made(request, old):
    """A model of some trees, and other sentences for it."""
    generative = request.param == "generative"
    make = make_generator if generative else make_parser
    return make(sentences_of(old, generative)), new_sentences(generative)


def step_table(model, tree):
    """log p of all actions at each decision of a tree."""
    ids = model.transitions.encode(model.transitions.actions_of(tree))
    words = tree.leaves()
    dy.renew_cg()
    if model.kind == "discriminative":
        tokens = model.encode(words, [tag for _, tag in tree.pos()])
        decisions, _ = model.network.walk([Derivation(tokens, [ids], None)])
    else:
        generated = model.vocabulary.word_ids(model.vocabulary.unknown.unkify(words, True))
        decisions, _ = model.network.walk([Derivation(None, [ids], generated)])
    return model.network.step([d.configuration for d in decisions]).action_log_probs()


def test_another_transition_system_is_refused(made):
    model, [sentence] = made
    with pytest.raises(RnngError, match="the model's transitions are top-down, these sideways"):
        unseen(model, counted([replace(sentence, transitions="sideways")]))


def test_an_extended_model_is_the_old_one_up_to_the_mass_of_new_actions(made, old):
    model, sentences = made
    larger = extended(model, counted(sentences), seed=3)
    actions = len(model.transitions)
    assert larger.transitions.names == (*model.transitions.names, "NT(SX)", "NT(QP)")
    for located in old[:5]:
        before, after = step_table(model, located.tree), step_table(larger, located.tree)
        valid_new = after[:, actions:] > -1e20
        assert valid_new.any()
        mass = np.exp(after[:, actions:]).sum(axis=1)
        assert 0 < mass.max() < 1
        renormalised = after[:, :actions] - np.log1p(-mass)[:, None]
        assert renormalised[before > -1e20] == pytest.approx(before[before > -1e20], abs=2e-5)


def test_old_rows_keep_their_ids_and_values_and_new_ones_come_from_the_seed(made):
    model, sentences = made
    before, counts = model.store.arrays(), counted(sentences)
    first, again, other = (extended(model, counts, s).store.arrays() for s in (3, 3, 4))
    grown = {"action_weights", "action_bias", "action", "open_nonterminal", "nonterminal"}
    grown |= {"tag", "word"} if model.kind == "discriminative" else set()
    for name, values in before.items():
        n = len(values)
        assert (len(first[name]) > n) == (name in grown), name
        assert np.array_equal(first[name][:n], values)
        assert np.array_equal(first[name], again[name])
        # new words begin as their classes
        assert np.array_equal(first[name], other[name]) == (name not in grown - {"word"})


def test_a_parser_gets_the_words_that_come_twice(old):
    model = make_parser(sentences_of(old, False))
    v = extended(model, counted(new_sentences(False)), seed=3).vocabulary
    assert v.words.symbols == (*model.vocabulary.words.symbols, "xyzzy")
    assert v.unknown.unkify(["xyzzy", "plughed"]) == ["xyzzy", "UNK-LC-ed"]
    assert v.tags.symbols[-1] == "ZZ" and v.tag_counts[-1] == 2
    assert v.singletons == model.vocabulary.singletons


def test_words_that_the_parser_has_read_but_does_not_know_become_known_as_their_classes(old):
    """Those seen once have a row, as has the lower-cased form of every word.

    Both are parsed as their classes.
    """
    sentences = sentences_of(old, False)
    model = make_parser(sentences)
    v = model.vocabulary
    seen = {word for s in sentences for word in s.tokens}
    once = next(s for s in map(v.words.symbols.__getitem__, sorted(v.singletons)) if s.islower())
    lowered = next(
        w.lower() for w in sorted(seen) if w.lower() in v.words and w.lower() not in seen
    )
    words = (once, lowered, "xyzzy")
    assert not v.unknown.known & {*words}
    line = f"(NP {' '.join(f'(NN {word}) (NN {word})' for word in words)})"
    [sentence] = sentences_of([LocatedTree(parse_line(line), "new.trees", 1)], False)
    assert sentence.actions[0] == "NT(NP)"
    larger = extended(model, counted([sentence]), seed=3)
    after = larger.vocabulary
    assert after.unknown.unkify(words) == list(words)
    assert after.words.symbols == (*v.words.symbols, "xyzzy")
    assert v.singletons - after.singletons == {v.words[once]}
    rows, before = larger.store.arrays()["word"], model.store.arrays()["word"]
    assert np.array_equal(rows[after.word_ids(words)], before[v.word_ids(v.unknown.unkify(words))])
    others = [i for i, word in enumerate(v.words.symbols) if word not in words]
    assert np.array_equal(rows[others], before[others])
    tree = parse_line(line)
    assert larger.log_prob(tree) == model.log_prob(tree)


def test_words_are_seen_as_the_model_knows_them(made, old):
    """Whatever the new oracle takes for known: xyzzy is there twice, each old word once."""
    model, [sentence] = made
    [seen] = as_read_by(model, [sentence])
    assert sentence.unkified[0] == "xyzzy"
    assert seen.unkified[0] == "UNK-LC-y"
    assert seen.tokens == sentence.tokens
