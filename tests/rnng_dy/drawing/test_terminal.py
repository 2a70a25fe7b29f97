"""Trees in a terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from oracle.brackets import parse_line
from rnng_dy.drawing.sections import Picture, Section
from rnng_dy.drawing.terminal import drawn_lines, section_lines
from rnng_dy.drawing.words import cells

from .test_layout import trees

CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"
FROM_THE_TOP = """\
         S
    ┌────┴─┬───┐
   NP     VP   .
 ┌──┴─┐    │   │
DT   NN   VBD  │
 │    │    │   │
The  cat  sat  ."""
OUTLINE = """\
S
├─ NP
│  ├─ DT The
│  └─ NN cat
├─ VP ─ VBD sat
└─ . ."""


def drawn(text, columns=80, **options):
    return "\n".join(drawn_lines(parse_line(text), columns, **options))


def test_a_tree_that_fits_is_drawn_from_the_top():
    assert drawn(CAT) == drawn(CAT, 16) == FROM_THE_TOP


def test_one_that_is_too_wide_is_an_outline():
    assert drawn(CAT, 15) == OUTLINE


def test_marked_constituents_have_stars_or_a_colour():
    assert "*NP*" in drawn(CAT, marked={1}) and "*VP*" not in drawn(CAT, marked={1})
    assert "├─ *VP* ─ VBD sat" in drawn(CAT, 15, marked={2})
    coloured = drawn(CAT, marked={1}, colours=True)
    assert "\x1b[1;31mNP\x1b[0m" in coloured and "*" not in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == FROM_THE_TOP


def test_words_may_stand_beside_constituents():
    assert drawn("(S a (NP b c))") == "\n".join(
        [
            "  S",
            "┌─┴──┐",
            "│   NP",
            "│  ┌─┴┐",
            "a  b  c",
        ]
    )


def test_wide_characters_take_two_columns():
    assert drawn("(S (NN 中文) (VV 好))").splitlines()[2:] == [" NN   VV", "  │    │", "中文  好"]


def test_what_a_terminal_would_obey_is_written_as_an_escape():
    assert "a\\x1b[31m\\u202e" in drawn("(S (X a\x1b[31m\u202e) (Y b))")
    assert "\x1b" not in drawn("(S (X a\x1b[31m))", 1)


@given(trees())
def test_every_word_is_in_either_drawing_in_its_place(text):
    words = [cell for cell in re.findall(r"[^() ]+(?=[ )])", text) if cell.islower()]
    bottom = drawn(text, 10**9).splitlines()[-1]
    assert bottom.split() == words
    outline = drawn(text, 1).splitlines()
    found = [word for line in outline for word in line.split() if word.islower()]
    assert [word for word in found if word in words] == words


@pytest.mark.parametrize(
    "text", ["(A (T t) " * 5000 + "b" + ")" * 5000, "(A " * 5000 + "b" + ")" * 5000]
)
def test_deep_trees_stay_narrow(text):
    lines = drawn_lines(parse_line(text), 80)
    assert max(map(cells, lines)) < 120
    if "(T t)" in text:
        assert lines[-1] == "(5000) └─ b"


def test_a_sentence_without_a_tree_says_so():
    assert section_lines(Section("3", [], "no tree"), 80, False, False) == ["3: no tree", ""]


def test_several_trees_stand_under_their_captions():
    pictures = [Picture(parse_line("(S a)"), "first"), Picture(parse_line("(S b)"), "second")]
    lines = section_lines(Section("1", pictures), 80, False, True)
    assert lines == ["1", "first", "S", "│", "a", "", "second", "S", "│", "b", ""]
