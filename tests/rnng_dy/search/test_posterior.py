"""Posterior probabilities of brackets, and trees of minimum Bayes risk."""

import itertools
import math
from collections import Counter

import nltk
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.brackets import format_tree
from oracle.common.errors import RnngError
from rnng_dy.search.importance import estimate
from rnng_dy.search.posterior import posterior

LABELS = "S", "NP"


def tree(text):
    return nltk.Tree.fromstring(text)


def samples(*texts):
    return [(tree(text), -1.0) for text in texts]


def brackets(tree, start=0):
    """The brackets of a tree without tags, with how often it has each."""
    counts, end = Counter(), start
    for child in tree:
        if isinstance(child, str):
            end += 1
        else:
            counts += brackets(child, end)
            end += len(child.leaves())
    counts[tree.label(), start, end] += 1
    return counts


def binary_trees(words):
    """All trees of LABELS over words, of up to two children, unary over a word or as the root."""

    def over(words):
        if len(words) == 1:
            yield words[0]
            yield from (nltk.Tree(label, list(words)) for label in LABELS)
            return
        for split in range(1, len(words)):
            for pair in itertools.product(over(words[:split]), over(words[split:])):
                yield from (nltk.Tree(label, pair) for label in LABELS)

    for inner in over(words):
        if isinstance(inner, nltk.Tree):
            yield inner
            yield from (nltk.Tree(label, [inner]) for label in LABELS)


def flattened(trees):
    """The trees, and those that arise when constituents below the root are dissolved."""
    for whole in trees:
        inner = [
            place for place in whole.treepositions() if place and not isinstance(whole[place], str)
        ]
        for gone in itertools.chain.from_iterable(
            itertools.combinations(inner, n) for n in range(len(inner) + 1)
        ):
            copy = whole.copy(deep=True)
            for place in sorted(gone, key=len, reverse=True):
                parent, i = copy[place[:-1]], place[-1]
                parent[i : i + 1] = list(parent[i])
            yield copy


TREES = [tree(t) for t in sorted({str(t) for t in flattened(binary_trees(list("abc")))})]


def expected_f1(candidate, of_gold, gold):
    proposed = brackets(candidate)
    matching = sum(
        of_gold.get((*bracket, number), 0.0)
        for bracket, n in proposed.items()
        for number in range(n)
    )
    return 2 * matching / (proposed.total() + gold)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(TREES), min_size=1, max_size=8))
def test_decoding_finds_the_tree_with_the_highest_expected_f1(drawn):
    found = posterior([(tree, 0.0) for tree in drawn], preterminals=False)
    of_gold = {tuple(bracket): p for bracket, p in found.probabilities.items()}
    gold = sum(brackets(tree).total() for tree in drawn) / len(drawn)
    assert sum(of_gold.values()) == pytest.approx(gold)
    best = max(expected_f1(candidate, of_gold, gold) for candidate in TREES)
    # it may join chains that none of TREES has
    assert expected_f1(found.decode(), of_gold, gold) > best - 1e-9


def test_probabilities_are_shares_of_samples():
    drawn = samples("(S (NP a b) c)", "(S a (NP b c))", "(S (NP a b) c)", "(S (NP a b c))")
    found = posterior(drawn)
    assert found.probability("NP", 0, 2) == pytest.approx(0.5)
    assert found.probability("NP", 0, 3) == pytest.approx(0.25)
    assert found.probability("S", 0, 3) == pytest.approx(1)
    assert found.probability("VP", 0, 3) == 0


@pytest.mark.parametrize(
    ("texts", "best"),
    [
        # no sample is this tree
        (
            "(S (NP a b) c (X d e)) (S (NP a b) (X c d) e) (S (X a b) c (NP d e)) "
            "(S (NP a b) c d e) "
            "(S a b c (NP d e)) (S a b c (NP d e))",
            "(S (NP a b) c (NP d e))",
        ),
        # equal brackets of a unary chain are counted one by one
        ("(S (NP (NP a))) (S (NP a)) (S (NP (NP a)))", "(S (NP (NP a)))"),
        ("(S (NP (NP a))) (S (NP a)) (S (NP a)) (S (NP a))", "(S (NP a))"),
        # a chain keeps the order of its labels
        ("(S (VP (NP a b))) (S (VP (NP a b))) (S (NP a b))", "(S (VP (NP a b)))"),
    ],
)
def test_decoding_joins_what_most_samples_have(texts, best):
    drawn = list(tree(f"(ALL {texts})"))
    assert str(posterior([(one, -1.0) for one in drawn], preterminals=False).decode()) == best


def test_there_is_a_root_though_no_label_of_it_is_likely():
    labels = [f"X{i}" for i in range(9)]
    found = posterior(samples(*(f"({label} (NP a b) (VP c d))" for label in labels)))
    assert found.decode().label() in labels
    assert [child.label() for child in found.decode()] == ["NP", "VP"]


def test_tags_stay():
    found = posterior(samples("(S (NP (DT the) (NN cat)) (VP (VBZ sits)))"))
    assert str(found.decode()) == "(S (NP (DT the) (NN cat)) (VP (VBZ sits)))"
    assert found.probability("DT", 0, 1) == 0


def test_weights_are_of_the_joint_probability():
    two = [(tree("(S (NP a b) c)"), math.log(0.8)), (tree("(S a (NP b c))"), math.log(0.2))]
    # p / q is 0.1 / 0.8 and 0.3 / 0.2
    found = posterior(two, [math.log(0.1), math.log(0.3)])
    assert found.probability("NP", 1, 3) == pytest.approx(1.5 / (0.125 + 1.5))
    assert str(found.decode()) == "(S a (NP b c))"


@pytest.mark.parametrize("number", [math.nan, math.inf, None])
def test_what_is_no_log_probability_is_refused(number):
    one = tree("(S a b)")
    for arguments in ([(one, number)], None), ([(one, -1.0)], [number]):
        with pytest.raises(RnngError, match="is no log probability"):
            posterior(*arguments)
    for log_q, log_p in ([number], [-1.0]), ([-1.0], [number]):
        with pytest.raises(RnngError, match="is no log probability"):
            estimate(log_q, log_p)


def test_both_models_decide_by_their_weights():
    two = [(tree("(S (NP a b) c)"), math.log(0.8)), (tree("(S a (NP b c))"), math.log(0.2))]
    found = posterior(two, [math.log(0.1), math.log(0.3)], weight=0.25)
    shares = [0.1**0.25 * 0.8**0.75 / 0.8, 0.3**0.25 * 0.2**0.75 / 0.2]
    assert found.probability("NP", 1, 3) == pytest.approx(shares[1] / sum(shares))
    assert posterior(two, [math.log(0.1), -math.inf], weight=0.25).probability("NP", 0, 2) == 1


def test_entropy_is_the_mean_surprisal_of_the_tree():
    assert posterior([(tree("(S a b)"), math.log(0.25))] * 3).entropy == pytest.approx(math.log(4))
    # p(y | x) = p(x, y) / p(x), estimated as 0.5 and 0.5
    both = [(tree("(S a b)"), math.log(0.5)), (tree("(S (NP a) b)"), math.log(0.5))]
    assert posterior(both, [-7.0, -7.0]).entropy == pytest.approx(math.log(2))
    assert posterior(both, [-7.0, -math.inf]).entropy == pytest.approx(0)


def test_long_sentences_do_not_recurse():
    words = " ".join(f"w{i}" for i in range(300))
    deep = "(S " * 300 + words + ")" * 300
    assert format_tree(posterior(samples(deep, deep)).decode()) == deep


def test_probabilities_are_at_most_1():
    for n in range(1, 101):
        assert posterior(samples("(S a b)") * n).probability("S", 0, 2) <= 1


@pytest.mark.parametrize(
    ("drawn", "more", "message"),
    [
        (["(S a b)"] * 2, {"log_joint": [-1.0]}, "1 joint log probabilities for 2 samples"),
        (["(S a b)", "(S a c)"], {}, "of different sentences"),
        ([], {}, "p > 0"),
        (["(S a)"], {"log_joint": [-math.inf]}, "p > 0"),
        *((["(S a b)"], {"weight": x}, "not in the range 0<x<=1") for x in (0, -1, 1.5, math.nan)),
    ],
)
def test_samples_that_say_nothing_are_refused(drawn, more, message):
    with pytest.raises(RnngError, match=message):
        posterior(samples(*drawn), **more)


def test_a_sample_has_a_probability_by_its_proposal():
    with pytest.raises(RnngError, match="q = 0"):
        posterior([(tree("(S a b)"), -math.inf), (tree("(S a b)"), -1.0)])
