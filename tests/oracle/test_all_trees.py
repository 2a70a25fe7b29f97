"""Every transition system against all trees of up to five words, counted without it."""

from itertools import product

import pytest

from oracle.brackets import format_tree, parse_line
from oracle.transitions import SHIFT, SYSTEMS, InOrder, TopDown


def compositions_of(n):
    """Ordered ways of writing n as a sum."""
    if n == 0:
        return [()]
    return [(k, *rest) for k in range(1, n + 1) for rest in compositions_of(n - k)]


def trees_over(n, labels, depth, unary):
    """All trees over n words as text, of so many levels and unary constituents in a row.

    And those on top of each.
    """
    if not depth:
        return []
    found = []
    for parts in compositions_of(n):
        if len(parts) > 1:
            columns = [
                [
                    *(["w"] if k == 1 else []),
                    *(t for t, _ in trees_over(k, labels, depth - 1, unary)),
                ]
                for k in parts
            ]
            found += [
                (f"({x} {' '.join(children)})", 0) for x in labels for children in product(*columns)
            ]
        else:
            below = [*([("w", 0)] if n == 1 else []), *trees_over(n, labels, depth - 1, unary)]
            found += [(f"({x} {t})", row + 1) for x in labels for t, row in below if row < unary]
    return found


def open_at_once(tree):
    """The most constituents that are open in order: not while its first child is made."""
    if isinstance(tree, str):
        return 0
    first, *others = map(open_at_once, tree)
    return max(1, first, *(1 + k for k in others)) if others else max(1, first)


def derivations(system, words, most_words):
    """All complete valid sequences.

    Every other one can be gone on with, but for a generator's words.
    """
    finished, frontier = [], [((), system.start(words))]
    while frontier:
        actions, state = frontier.pop()
        valid = [a for a in range(len(system)) if system.is_valid(state, a)]
        assert valid, f"a dead end after {system.decode(actions)}"
        for action in valid:
            if action == SHIFT and actions.count(SHIFT) == most_words:
                continue
            after = state.after(action)
            (finished if after.is_finished else frontier).append(((*actions, action), after))
    return [actions for actions, _ in finished]


DEPTH, UNARY = 3, 1
LIMITED = {
    # as deep as so many are open
    "top-down": lambda labels: TopDown(labels, max_open=DEPTH - 1),
    "in-order": lambda labels: InOrder(labels, max_open=2, max_unary=UNARY),
}


def expected_trees(name, labels, n):
    if name == "top-down":
        return {text for text, _ in trees_over(n, labels, DEPTH, DEPTH)}
    # two constituents a word at most, one of them unary
    found = (text for text, _ in trees_over(n, labels, 2 * n, UNARY))
    return {text for text in found if open_at_once(parse_line(text)) <= 3}


def test_no_system_is_left_out():
    assert set(LIMITED) == set(SYSTEMS)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(("labels", "n"), [("X", 1), ("X", 2), ("X", 3), ("X", 4), ("X", 5), ("XY", 3)])  # fmt: skip
def test_trees_and_valid_sequences_are_one_to_one(name, labels, n):
    system = LIMITED[name](labels)
    sequences = derivations(system, n, n)
    built = {}
    for ids in sequences:
        actions = system.decode(ids)
        tree = system.tree_of(actions, ["w"] * n)
        assert system.actions_of(tree, preterminals=False) == actions
        built[format_tree(tree)] = ids
    assert len(built) == len(sequences)
    assert set(built) == expected_trees(name, labels, n)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_generator_has_the_trees_of_all_lengths(name):
    system = LIMITED[name]("X")
    sequences = derivations(system, None, 4)
    of_parsers = [ids for n in range(1, 5) for ids in derivations(system, n, n)]
    assert sorted(sequences) == sorted(of_parsers)


@pytest.mark.parametrize("name", SYSTEMS)
def test_with_its_own_limits_a_system_has_every_tree_of_two_words(name):
    system = SYSTEMS[name]("X")
    texts = {text for text, _ in trees_over(2, "X", 9, 3)}
    # none to three over each word, and over both
    assert len(texts) == 4**3
    for text in texts:
        actions = system.actions_of(parse_line(text), preterminals=False)
        system.check(actions, 2)
        assert format_tree(system.tree_of(actions, ["w", "w"])) == text
