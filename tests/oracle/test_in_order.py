"""The in-order system: Liu and Zhang 2017, section 3, and the limits of the authors' program."""

import pytest

from oracle.blocks import read_oracle
from oracle.brackets import parse_line
from oracle.common.errors import UnderivableError
from oracle.transitions import FINISH, REDUCE, SHIFT, InOrder, unlimited

PJ = 3
IN_ORDER = unlimited(InOrder)
UNARY = [PJ, REDUCE]


def valid(words, actions, **limits):
    system = InOrder(["S"], **limits)
    state = system.start(words)
    for action in actions:
        assert system.is_valid(state, action), f"{action} in {state}"
        state = state.after(action)
    return {action for action in (REDUCE, SHIFT, FINISH, PJ) if system.is_valid(state, action)}


# words on the buffer (None: the generator), actions so far, what is valid then
CASES = [
    ("first a word", 2, [], {SHIFT}),
    ("the generator, too", None, [], {SHIFT}),
    ("a word must get a parent", 2, [SHIFT], {PJ}),
    ("a lone word is no tree", 1, [SHIFT], {PJ}),
    ("also for the generator", None, [SHIFT], {PJ}),
    ("a second child or none", 2, [SHIFT, PJ], {SHIFT, REDUCE}),
    ("only none after the last word", 1, [SHIFT, PJ], {REDUCE}),
    ("the generator always has words", None, [SHIFT, PJ], {SHIFT, REDUCE}),
    ("all but FINISH inside", 3, [SHIFT, PJ, SHIFT], {SHIFT, REDUCE, PJ}),
    ("no SHIFT after the last word", 2, [SHIFT, PJ, SHIFT], {REDUCE, PJ}),
    ("a tree that lacks words goes on", 2, [SHIFT, *UNARY], {PJ}),
    ("a tree with all words may end", 1, [SHIFT, *UNARY], {PJ, FINISH}),
    ("the generator's, too", None, [SHIFT, *UNARY], {PJ, FINISH}),
    ("nothing comes after the end", 1, [SHIFT, *UNARY, FINISH], set()),
    ("three unary constituents in a row are enough", 1, [SHIFT, *UNARY * 3], {FINISH}),
    ("whatever is below them", 2, [SHIFT, PJ, SHIFT, *UNARY * 3], {REDUCE}),
    ("a fourth one needs another child", 2, [SHIFT, *UNARY * 3], {PJ}),
    ("which it then must get", 2, [SHIFT, *UNARY * 3, PJ], {SHIFT}),
    ("a generator's, too", None, [SHIFT, *UNARY * 3, PJ], {SHIFT}),
    ("a constituent with two children begins anew", 2, [SHIFT, *UNARY * 3, PJ, SHIFT, REDUCE], {PJ, FINISH}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "actions", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_valid_actions(words, actions, expected):
    assert valid(words, actions) == expected


@pytest.mark.parametrize("words", [300, None])
def test_at_most_101_nonterminals_are_open(words):
    deep = [SHIFT, PJ] * 100
    assert PJ in valid(words, [*deep, SHIFT])
    assert valid(words, [*deep, SHIFT, PJ, SHIFT]) == {SHIFT, REDUCE}
    assert PJ in valid(words, [*deep, SHIFT, PJ, SHIFT, REDUCE])


def test_the_tree_of_the_paper():
    # Liu and Zhang 2017, figures 1 and 4
    tree = (
        "(S (NP (DT The) (JJ little) (NN boy)) (VP (VBZ likes) (NP (JJ red) (NNS tomatoes))) (. .))"
    )
    noun_phrase = ["SHIFT", "PJ(NP)", "SHIFT", "SHIFT", "REDUCE"]
    verb_phrase = ["SHIFT", "PJ(VP)", "SHIFT", "PJ(NP)", "SHIFT", "REDUCE", "REDUCE"]
    expected = [*noun_phrase, "PJ(S)", *verb_phrase, "SHIFT", "REDUCE", "FINISH"]
    assert IN_ORDER.actions_of(parse_line(tree)) == expected


def test_actions_have_ids():
    system = InOrder(["S", "NP"])
    names = ["PJ(NP)", "SHIFT", "REDUCE", "FINISH", "PJ(S)"]
    assert system.encode(names) == [4, SHIFT, REDUCE, FINISH, 3]
    assert [system.label(i) for i in range(5)] == [None, None, None, 0, 1]
    assert system.masks.shape == (16, 5)


def test_trees_beyond_the_limits_are_written_but_not_derived():
    chain_of_four = IN_ORDER.actions_of(parse_line("(A (B (C (D a))))"), preterminals=False)
    IN_ORDER.check(chain_of_four, 1)
    with pytest.raises(UnderivableError, match=r"action 8, .* unary chain of more than 3"):
        InOrder("ABCD").check(chain_of_four, 1)
    right = "SHIFT PJ(S) " * 101 + "SHIFT PJ(S) SHIFT" + " REDUCE" * 102 + " FINISH"
    IN_ORDER.check(right.split(), 103)
    with pytest.raises(UnderivableError, match=r"action 204, 'PJ\(S\)', opens one .* than the 101"):
        InOrder(["S"]).check(right.split(), 103)


ROWS = ["# (S (NP The cat) sat)", "The cat sat", "The cat sat"]
ACTIONS = ["SHIFT", "PJ(NP)", "SHIFT", "REDUCE", "PJ(S)", "SHIFT", "REDUCE", "FINISH"]


def read(tmp_path, lines):
    path = tmp_path / "x.oracle"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_oracle(path)


def test_an_oracle_is_told_by_its_actions(tmp_path):
    [sentence] = read(tmp_path, [*ROWS, *ACTIONS])
    assert sentence.transitions == "in-order"
    assert sentence.actions == tuple(ACTIONS)
