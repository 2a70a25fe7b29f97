"""Cleaning, and what trees hold."""

import pytest
from nltk import Tree

from oracle.brackets import format_tree, parse_line
from oracle.common.errors import RnngError
from oracle.treebank import clean, has_preterminals, keep_labels, tags, words


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("( (S (NP-SBJ-1 (NN x)) (VP=2 (VB y))) )", "(S (NP (NN x)) (VP (VB y)))"),
        ("(S (NP-LGS=3 (NN x)))", "(S (NP (NN x)))"),
        ("(S (-LRB- -LRB-) (NN x) (-RRB- -RRB-))", "(S (-LRB- -LRB-) (NN x) (-RRB- -RRB-))"),
        ("(S (NP (-NONE- *T*-1)) (VP (VB y)))", "(S (VP (VB y)))"),
        ("(S (NP (NP (-NONE- *)) (SBAR (-NONE- 0))) (VP (VB y)))", "(S (VP (VB y)))"),
        ("(S (ADVP|PRT (RB x)) (PRP$ its))", "(S (ADVP|PRT (RB x)) (PRP$ its))"),
        ("(TOP (S (NN x)))", "(S (NN x))"),
        ("(ROOT (S (NN x)))", "(S (NN x))"),
        ("(VROOT (S (NN x)))", "(S (NN x))"),
        ("(S1 (S (NN x)))", "(S (NN x))"),
        ("( (TOP (S (NN x))))", "(S (NN x))"),
        ("(VROOT (S (NN x)) ($. .))", "(TOP (S (NN x)) ($. .))"),
        ("( (S (NN x)) (. .))", "(TOP (S (NN x)) (. .))"),
        ("( (S (NN x)) (NP (-NONE- *)))", "(S (NN x))"),
        ("( (NN yes))", "(NN yes)"),
        ("(S (NN -NONE-) (NN a-b=c))", "(S (NN -NONE-) (NN a-b=c))"),
    ],
)
def test_cleaning_keeps_categories_and_words_only(raw, cleaned):
    assert format_tree(clean(parse_line(raw))) == cleaned


@pytest.mark.parametrize("raw", ["( (S (NP (-NONE- *))))", "(-NONE- *)"])
def test_nothing_is_left_of_a_tree_of_traces(raw):
    assert clean(parse_line(raw)) is None


def test_labels_end_before_marks():
    tree = parse_line("(IP (: --) (NP;*SBJ* (NN;* a)) (NP##head=N## (N b)) (# #))")
    assert str(clean(tree, marks=";#")) == "(IP (: --) (NP (NN a)) (NP (N b)) (# #))"


def test_cleaning_leaves_the_tree_it_is_given_alone():
    tree = parse_line("( (S (NP-SBJ (NN x))))")
    before = tree.copy(deep=True)
    clean(tree)
    assert tree == before


def test_words_and_tags_stand_in_their_order_however_deep():
    tree = Tree("A", ["x"])
    for _ in range(5000):
        tree = Tree("S", [tree, Tree("B", ["y"])])
    assert words(tree) == ["x"] + ["y"] * 5000
    assert tags(tree) == ["A"] + ["B"] * 5000


@pytest.mark.parametrize("text", ["(S (NP The cat) sleeps)", "(S (NP (N it)) sleeps)"])
def test_a_tree_whose_words_stand_beside_others_has_no_preterminals(text):
    tree = Tree.fromstring(text)
    assert not has_preterminals(tree)
    with pytest.raises(RnngError, match="without POS tags"):
        tags(tree)


@pytest.mark.parametrize(
    ("tree", "kept"),
    [
        ("(S (NP (NN x)) (VP (VB y) (NP (NN z))))", "(S (NP (NN x)) (VB y) (NP (NN z)))"),
        (
            "(S (NP (NP (NN x)) (S (VP (TO to)))) (S (NP (UH so))))",
            "(S (NP (NP (NN x)) (TO to)) (NP (UH so)))",
        ),
        ("(FRAG (ADVP (NP (NN x))) (. .))", "(S (NP (NN x)) (. .))"),
        ("(NP (NP (NN x)) (PP (IN of) (NP (NN y))))", "(S (NP (NP (NN x)) (IN of) (NP (NN y))))"),
        ("(S (VP (VB go)))", "(S (VB go))"),
        ("(NN yes)", "(NN yes)"),
    ],
)
def test_other_labels_than_those_kept_leave_their_children_to_the_parent(tree, kept):
    reduced = keep_labels(parse_line(tree), ["NP"])
    assert format_tree(reduced) == kept
    assert keep_labels(reduced, ["NP"]) == reduced
