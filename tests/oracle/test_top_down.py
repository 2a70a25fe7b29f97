"""The transition system: Dyer et al. 2016, 3.1, 3.2, 4.2, and the original's limits."""

from functools import reduce
from typing import NamedTuple

import pytest

from oracle.common.errors import RnngError, UnderivableError, UnseenSymbolError
from oracle.transitions import MAX_OPEN, REDUCE, SHIFT, SYSTEMS, TOP_DOWN, TopDown, TopDownState

NT = 2


def walk(words, actions):
    return reduce(TopDownState.after, actions, TopDown().start(words))


def valid(words, actions, max_open=MAX_OPEN):
    system = TopDown(["S"], max_open)
    state = walk(words, actions)
    return {action for action in (REDUCE, SHIFT, NT) if system.is_valid(state, action)}


# words on the buffer (None: the generator), actions so far, what is valid then
CASES = [
    ("only NT on an empty stack", 2, [], {NT}),
    ("reduce is barred right after NT", 2, [NT], {SHIFT, NT}),
    ("everything in the middle of an inner constituent", 2, [NT, NT, SHIFT], {REDUCE, SHIFT, NT}),
    ("the root stays open while words are left", 2, [NT, SHIFT], {SHIFT, NT}),
    ("only REDUCE when the buffer is empty", 1, [NT, SHIFT], {REDUCE}),
    ("also inside", 1, [NT, NT, SHIFT], {REDUCE}),
    ("an NT needs a word that is left", 1, [NT, SHIFT, REDUCE], set()),
    ("a parent may close after a child", 2, [NT, NT, NT, SHIFT, REDUCE], {REDUCE, SHIFT, NT}),
    ("the generator begins with NT", None, [], {NT}),
    ("the generator may not reduce right after NT", None, [NT], {SHIFT, NT}),
    ("the generator may close the root at any time", None, [NT, SHIFT], {REDUCE, SHIFT, NT}),
    ("the generator ends with one complete tree", None, [NT, SHIFT, REDUCE], set()),
]


@pytest.mark.parametrize(
    ("words", "actions", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_valid_actions(words, actions, expected):
    assert valid(words, actions) == expected


@pytest.mark.parametrize("words", [5, None])
def test_at_most_101_nonterminals_are_open(words):
    assert NT in valid(words, [NT] * 100)
    assert valid(words, [NT] * 101) == {SHIFT}
    assert NT in valid(words, [NT] * 101 + [SHIFT, REDUCE])


@pytest.mark.parametrize("words", [1, None])
def test_a_tree_is_finished_when_its_root_is_closed(words):
    assert not walk(words, []).is_finished
    assert not walk(words, [NT, SHIFT]).is_finished
    assert walk(words, [NT, SHIFT, REDUCE]).is_finished


def test_masks_say_what_is_valid():
    system = TopDown(["S", "NP", "VP"])
    assert len(system) == 5
    assert system.masks.shape == (8, 5)
    state = walk(2, [NT, NT])
    assert system.masks[system.mask_number(state)].tolist() == [False, True, True, True, True]


def test_actions_have_the_originals_ids():
    """PORTING: REDUCE 0, SHIFT 1, then NT(X) in order of first appearance."""
    system = TopDown(["S", "NP"])
    names = ["NT(NP)", "SHIFT", "REDUCE", "NT(S)"]
    assert system.encode(names) == [3, SHIFT, REDUCE, 2]
    assert system.decode([3, 1, 0, 2]) == names
    assert [system.label(i) for i in range(4)] == [None, None, 0, 1]
    assert TopDown.labels(["NT(S)", "NT(NP)", "SHIFT", "NT(S)", "NT(X)"]) == ("S", "NP", "X")


def test_what_is_no_action_is_not_taken_for_one():
    system = TopDown(["S"])
    with pytest.raises(UnseenSymbolError) as error:
        system.encode(["NT(S)", "NT(QQ)", "NT(ZZ)", "NT(QQ)"])
    assert error.value.symbols == ("QQ", "ZZ")
    for name in ("SHFT", "reduce", "NT()", "NT(S", "GEN(word)", ""):
        with pytest.raises(UnderivableError, match=r"none of NT\(X\), REDUCE, SHIFT"):
            system.encode(["NT(S)", name, "REDUCE"])


def test_trees_deeper_than_the_limit_are_written_but_not_derived():
    """The oracle of any tree can be made; a model's own object says what it cannot derive."""
    actions = ["NT(S)"] * 102 + ["SHIFT"] + ["REDUCE"] * 102
    TOP_DOWN.check(actions, 1)
    with pytest.raises(UnderivableError, match=r"action 102, 'NT\(S\)', opens one .* than the 101"):
        TopDown(["S"]).check(actions, 1)
    TopDown(["S"]).check(actions[1:-1], 1)


class Item(NamedTuple):
    below: object
    label: object
    name: str


def test_reduce_takes_what_stands_above_the_open_nonterminal():
    stack = None
    for label, name in (("S", "S"), (None, "a"), ("NP", "NP"), (None, "b"), (None, "c")):
        stack = Item(stack, label, name)
    opened, children, below = TOP_DOWN.constituent(stack)
    assert (opened.name, [child.name for child in children], below.name) == ("NP", ["b", "c"], "a")


def test_a_system_is_found_by_its_name():
    assert SYSTEMS["top-down"] is TopDown
    with pytest.raises(RnngError, match=r"'sideways': top-down, in-order"):
        SYSTEMS["sideways"]
