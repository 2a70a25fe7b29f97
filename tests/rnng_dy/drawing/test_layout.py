"""Where the nodes of a tree stand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.brackets import parse_line
from rnng_dy.drawing.layout import TAG, WORD, depth, nodes_of, place


def placed(text, width_of=lambda node: len(node.text), gap=2):
    nodes = nodes_of(parse_line(text))
    return nodes, place(nodes, width_of, gap)


def test_words_stand_side_by_side_and_labels_above_the_middle():
    nodes, width = placed("(S (NP (DT the) (NN cat)) (VP (V ran)))")
    assert [(node.text, node.x) for node in nodes] == [
        ("S", 7.75),
        ("NP", 4.0),
        ("DT", 1.5),
        ("the", 1.5),
        ("NN", 6.5),
        ("cat", 6.5),
        ("VP", 11.5),
        ("V", 11.5),
        ("ran", 11.5),
    ]
    assert width == 13


def test_constituents_are_numbered_as_evaluation_numbers_them_and_words_counted():
    nodes = nodes_of(parse_line("(S (NP (DT the) (NN cat)) ran (VP (V it)))"))
    assert [(n.text, n.number) for n in nodes if n.number is not None] == [
        ("S", 0),
        ("NP", 1),
        ("VP", 2),
    ]
    assert [n.words for n in nodes] == [4, 2, 1, 1, 1, 1, 1, 1, 1, 1]
    assert [n.text for n in nodes if n.kind == WORD] == ["the", "cat", "ran", "it"]
    assert [n.text for n in nodes if n.kind == TAG] == ["DT", "NN", "V"]
    assert depth(nodes) == 3


def trees():
    words = st.sampled_from(["a", "(XX-LONG-TAG b)", "(T a-long-word)", "(X y)"])
    inner = st.recursive(
        words,
        lambda below: st.builds(
            lambda label, children: f"({label} {' '.join(children)})",
            st.sampled_from(["S", "A-VERY-LONG-LABEL", "NP"]),
            st.lists(below, min_size=1, max_size=4),
        ),
        max_leaves=20,
    )
    return inner.map(lambda text: f"(ROOT {text} (Z z))")


@given(trees())
def test_nothing_overlaps_and_no_label_leaves_the_span_of_its_children(text):
    nodes, width = placed(text)
    rows = {}
    bottom = depth(nodes)
    for node in nodes:
        rows.setdefault(bottom if node.kind == WORD else node.level, []).append(node)
        assert node.x - len(node.text) / 2 >= 0 and node.x + len(node.text) / 2 <= width
        if node.children:
            assert node.children[0].x <= node.x <= node.children[-1].x
    for row in rows.values():
        for left, right in pairwise(sorted(row, key=lambda node: node.x)):
            assert right.x - len(right.text) / 2 - (left.x + len(left.text) / 2) >= 2


@pytest.mark.parametrize("text", ["(A " * 5000 + "b" + ")" * 5000, "(A" + " (B b)" * 20_000 + ")"])
def test_depth_and_width_are_no_limits(text):
    nodes, width = placed(text)
    assert width >= 1
    assert depth(nodes) in (5000, 2)
