"""Trees and their actions (Dyer et al. 2016, section 3; Liu and Zhang 2017, section 3)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from oracle.brackets import format_tree, parse_line
from oracle.common.errors import RnngError
from oracle.transitions import TOP_DOWN, InOrder, TopDown, unlimited
from oracle.treebank import tags, with_words, words

actions_of, tree_of = TOP_DOWN.actions_of, TOP_DOWN.tree_of
IN_ORDER = unlimited(InOrder)
DEPTH = 20000

LABELS = st.sampled_from(["S", "NP", "ADVP|PRT", "#", "-LRB-", "中", "A\u00a0B"])
WORDS = st.sampled_from(["a", "#", "|||", "x\u3000y", "REDUCE", "NT(X)"])
PRETERMINALS = st.builds(lambda tag, word: Tree(tag, [word]), LABELS, WORDS)


def constituents(children):
    return st.builds(Tree, LABELS, st.lists(children, min_size=1, max_size=4))


@given(constituents(st.recursive(PRETERMINALS, constituents, max_leaves=15)))
def test_actions_build_the_tree_that_they_come_from(tree):
    actions = actions_of(tree, preterminals=True)
    assert tree_of(actions, words(tree), tags(tree)) == tree
    bare = tree_of(actions, words(tree))
    assert with_words(bare, words(tree), tags(tree)) == tree
    assert actions_of(bare, preterminals=False) == actions


@given(constituents(st.recursive(WORDS, constituents, max_leaves=15)))
def test_so_they_do_without_preterminals(tree):
    assert tree_of(actions_of(tree, preterminals=False), words(tree)) == tree


def test_the_figures_tree():
    # Dyer et al. 2016, figure 2: The hungry cat meows .
    noun_phrase = ["NT(NP)", "SHIFT", "SHIFT", "SHIFT", "REDUCE"]
    verb_phrase = ["NT(VP)", "SHIFT", "REDUCE"]
    actions = ["NT(S)", *noun_phrase, *verb_phrase, "SHIFT", "REDUCE"]
    tagged = "(S (NP (DT The) (JJ hungry) (NN cat)) (VP (VBZ meows)) (. .))"
    assert actions_of(parse_line(tagged)) == actions
    assert actions_of(parse_line("(S (NP The hungry cat) (VP meows) .)")) == actions


def test_lone_words_without_tags_need_to_be_told():
    tree = parse_line("(S (NP it) (VP ran))")
    assert actions_of(tree) == ["NT(S)", "SHIFT", "SHIFT", "REDUCE"]
    bare = ["NT(S)", "NT(NP)", "SHIFT", "REDUCE", "NT(VP)", "SHIFT", "REDUCE", "REDUCE"]
    assert actions_of(tree, preterminals=False) == bare


@pytest.mark.parametrize(
    ("system", "actions"),
    [
        (TOP_DOWN, [*["NT(S)"] * DEPTH, "SHIFT", *["REDUCE"] * DEPTH]),
        (IN_ORDER, ["SHIFT", *["PJ(S)", "REDUCE"] * DEPTH, "FINISH"]),
    ],
)
def test_a_deep_tree_has_actions(system, actions):
    assert system.actions_of(system.tree_of(actions, ["a"]), preterminals=False) == actions


@pytest.mark.parametrize("text", ["(NN yes)", "( (S (NN yes)))"])
def test_some_trees_have_no_actions(text):
    with pytest.raises(RnngError):
        actions_of(parse_line(text), preterminals=True)


@pytest.mark.parametrize(
    ("system", "actions", "length", "message"),
    [
        (TOP_DOWN, "", 0, "no actions"),
        (TOP_DOWN, "SHIFT", 1, "action 1, 'SHIFT', puts a word outside all constituents"),
        (TOP_DOWN, "REDUCE", 0, "action 1, 'REDUCE', finds no open constituent"),
        (TOP_DOWN, "NT(S) REDUCE", 1, "action 2, 'REDUCE', would close an empty constituent"),
        (TOP_DOWN, "NT(S) SHIFT", 1, "the actions end with 1 constituents open"),
        (TOP_DOWN, "NT(S)", 0, "action 1, 'NT(S)', opens a constituent when no word is left for it"),
        (TOP_DOWN, "NT(S) SHIFT REDUCE", 2, "action 3, 'REDUCE', would close the tree before its last word"),
        (TOP_DOWN, "NT(S) SHIFT SHIFT REDUCE", 1, "action 3, 'SHIFT', needs one word more than there are"),
        (TOP_DOWN, "NT(S) SHIFT REDUCE REDUCE", 1, "action 4, 'REDUCE', comes after the tree is complete"),
        (TOP_DOWN, "NT(S) SHIFT REDUCE NT(S)", 1, "action 4, 'NT(S)', comes after the tree is complete"),
        (TOP_DOWN, "NT(S) GEN REDUCE", 1, "action 2, 'GEN', is none of NT(X), REDUCE, SHIFT"),
        (TOP_DOWN, "NT() SHIFT REDUCE", 1, "action 1, 'NT()', is none of NT(X), REDUCE, SHIFT"),
        (IN_ORDER, "", 0, "no actions"),
        (IN_ORDER, "PJ(S)", 1, "action 1, 'PJ(S)', finds nothing to be its first child"),
        (IN_ORDER, "SHIFT SHIFT", 2, "action 2, 'SHIFT', puts a word outside all constituents"),
        (IN_ORDER, "SHIFT REDUCE", 1, "action 2, 'REDUCE', finds no open constituent"),
        (IN_ORDER, "SHIFT FINISH", 1, "action 2, 'FINISH', finds no constituent"),
        (IN_ORDER, "SHIFT PJ(S) PJ(S)", 1, "action 3, 'PJ(S)', finds an open constituent without a second"),
        (IN_ORDER, "SHIFT PJ(S) FINISH", 1, "action 3, 'FINISH', finds 1 constituents open"),
        (IN_ORDER, "SHIFT PJ(S) SHIFT", 1, "action 3, 'SHIFT', needs one word more than there are"),
        (IN_ORDER, "SHIFT PJ(S) REDUCE FINISH", 2, "action 4, 'FINISH', finds 1 words left"),
        (IN_ORDER, "SHIFT PJ(S) REDUCE FINISH REDUCE", 1, "action 5, 'REDUCE', comes after the tree is"),
        (IN_ORDER, "SHIFT PJ(S)", 1, "the actions end with 1 constituents open"),
        (IN_ORDER, "SHIFT PJ(S) REDUCE", 1, "the actions end without FINISH"),
        (IN_ORDER, "SHIFT NT(S) REDUCE FINISH", 1, "'NT(S)', is none of PJ(X), REDUCE, SHIFT, FINISH"),
    ],
)  # fmt: skip
def test_what_builds_no_tree_is_refused(system, actions, length, message):
    with pytest.raises(RnngError, match=re.escape(message)):
        system.check(actions.split(), length)


@given(constituents(st.recursive(WORDS, constituents, max_leaves=15)))
def test_partial_brackets_grow_into_those_of_the_tree(tree):
    actions, words = actions_of(tree, preterminals=False), tree.leaves()
    begun = ""
    for end in range(len(actions) + 1):
        taken = words[: actions[:end].count("SHIFT")]
        text = TOP_DOWN.partial_brackets(actions[:end], taken)
        assert text.startswith(begun)
        begun = text
        if end and not actions[end - 1].startswith("NT"):
            still_open = sum(1 - 2 * (a == "REDUCE") for a in actions[:end] if a != "SHIFT")
            closed = tree_of([*actions[:end], *["REDUCE"] * still_open], taken)
            assert text + ")" * still_open == format_tree(closed)
    assert begun == format_tree(tree)


@pytest.mark.parametrize(
    ("system", "actions", "words", "expected"),
    [
        (TOP_DOWN, "", [], ""),
        (TOP_DOWN, "NT(S)", [], "(S"),
        (TOP_DOWN, "NT(S) NT(NP) SHIFT", ["The"], "(S (NP The"),
        (TOP_DOWN, "NT(S) NT(NP) SHIFT NT(PP)", ["a"], "(S (NP a (PP"),
        (TOP_DOWN, "NT(S) SHIFT SHIFT", ["(", "b)"], "(S -LRB- b-RRB-"),
        (TOP_DOWN, "NT(S) SHIFT REDUCE", ["a"], "(S a)"),
        (IN_ORDER, "", [], ""),
        (IN_ORDER, "SHIFT", ["The"], "The"),
        (IN_ORDER, "SHIFT PJ(NP)", ["The"], "(NP The"),
        (IN_ORDER, "SHIFT PJ(NP) SHIFT", ["The", "cat"], "(NP The cat"),
        (IN_ORDER, "SHIFT PJ(NP) SHIFT REDUCE", ["The", "cat"], "(NP The cat)"),
        (IN_ORDER, "SHIFT PJ(NP) REDUCE PJ(S) SHIFT", ["It", "sat"], "(S (NP It) sat"),
        (IN_ORDER, "SHIFT PJ(NP) REDUCE PJ(S) SHIFT PJ(VP) SHIFT", ["It", "sat", "up"], "(S (NP It) (VP sat up"),
        (IN_ORDER, "SHIFT PJ(S) REDUCE FINISH", ["Go"], "(S Go)"),
    ],
)  # fmt: skip
def test_what_is_open_lacks_its_bracket(system, actions, words, expected):
    assert system.partial_brackets(actions.split(), words) == expected


@pytest.mark.parametrize(
    ("actions", "words", "message"),
    [
        ("SHIFT", ["a"], "action 1, 'SHIFT', puts a word outside all constituents"),
        ("NT(S) GEN", ["a"], "action 2, 'GEN', is none of NT(X), REDUCE, SHIFT"),
        ("NT(S) SHIFT", [], "the actions take 1 words, not 0"),
        ("NT(S) SHIFT", ["a", "b"], "the actions take 1 words, not 2"),
    ],
)
def test_what_no_derivation_begins_with_is_refused(actions, words, message):
    with pytest.raises(RnngError, match=re.escape(message)):
        TOP_DOWN.partial_brackets(actions.split(), words)


def test_tags_must_be_as_many_as_words():
    with pytest.raises(RnngError, match="2 POS tags for 1 words"):
        tree_of(["NT(S)", "SHIFT", "REDUCE"], ["a"], ["A", "B"])


@pytest.mark.parametrize("label", ["S", "-LRB-", "ADVP|PRT", "a)b", "中"])
def test_a_label_is_read_from_its_action(label):
    assert TopDown.label_of(TopDown.open_action(label)) == label
