"""The transition system: Dyer et al. 2016, sections 3.1, 3.2 and 4.2, and the limits of the original program."""

import pytest

from rnng_dy.state import FIRST_NT, MAX_OPEN, REDUCE, SHIFT, State, TransitionSystem

NT = FIRST_NT


def walk(words, actions):
    state = State(words)
    for action in actions:
        state = state.after(action)
    return state


def valid(words, actions, max_open=MAX_OPEN):
    system = TransitionSystem(1, max_open)
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
    (
        "after a closed child the parent may close",
        2,
        [NT, NT, NT, SHIFT, REDUCE],
        {REDUCE, SHIFT, NT},
    ),
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


def test_the_limit_can_be_lowered():
    assert valid(5, [NT, NT], max_open=1) == {SHIFT}


@pytest.mark.parametrize("words", [1, None])
def test_a_tree_is_finished_when_its_root_is_closed(words):
    assert not walk(words, []).is_finished
    assert not walk(words, [NT, SHIFT]).is_finished
    assert walk(words, [NT, SHIFT, REDUCE]).is_finished


def test_masks_and_penalties_agree():
    system = TransitionSystem(3)
    assert system.masks.shape == system.penalties.shape == (8, 5)
    assert ((system.penalties == 0) == system.masks).all()
    assert system.penalties[~system.masks].max() < -1e29
