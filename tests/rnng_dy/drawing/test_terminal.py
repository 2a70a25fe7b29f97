"""Trees in characters."""

import pytest

from oracle.brackets import parse_line
from rnng_dy.drawing.sections import Section, drawn_lines, section_lines

CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"
DRAWN = """\
         S
     ┌───┴───┬───┐
     NP      VP  │
 ┌───┴───┐   │   │
 DT      NN VBD  .
 │       │   │   │
The     cat sat  ."""


def drawn(text, columns=80, marked=()):
    return "\n".join(drawn_lines(parse_line(text), columns, marked))


def test_a_tree_that_fits_is_drawn_and_one_that_is_too_wide_is_in_brackets():
    assert drawn(CAT) == drawn(CAT, 18) == DRAWN
    assert drawn(CAT, 17).split() == CAT.split()


def test_marked_constituents_have_stars():
    for columns in (80, 15):
        shown = drawn(CAT, columns, marked={2})
        assert "*VP*" in shown and "*NP*" not in shown


def test_what_a_terminal_would_obey_is_written_as_an_escape():
    for columns in (80, 10):
        shown = drawn("(S (X a\x1b[31m\u202e) (Y b))", columns)
        assert "a\\x1b[31m\\u202e" in shown and "\x1b" not in shown


@pytest.mark.parametrize(
    "text", ["(A (T t) " * 5000 + "b" + ")" * 5000, "(A" + " (N a)" * 3000 + ")"]
)
def test_deep_and_wide_trees_are_in_brackets(text):
    assert drawn(text).split() == text.split()


def test_a_sentence_without_a_tree_says_so():
    assert section_lines(Section("3", [], "no tree"), 80, True) == ["3: no tree", ""]
