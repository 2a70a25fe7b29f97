"""The English models of the package, and how their treebanks are made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rnng_dy
from oracle.brackets import parse_line
from rnng_dy import known_models, model_card
from scripts.english import treebanks
from tests.commands import invoke

NAMES = ("english", "english-generative")
LARGEST = 20e6
SENTENCE = "The board will meet on Friday."
TREE = "(S (NP (DT The) (NN board)) (VP (MD will) (VP (VB meet) (PP (IN on) (NP (NNP Friday))))) (. .))"


def test_the_archives_are_small_and_name_their_terms():
    paths = [known_models.SHIPPED / f"{name}.rnng.zip" for name in NAMES]
    assert sum(path.stat().st_size for path in paths) <= LARGEST
    sources = (known_models.SHIPPED / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for path in paths:
        terms = model_card.read(path)["terms"]
        assert terms["licence"] == "CC BY 4.0" and "ATTRIBUTION.md" in terms["data"]
    assert all(name in sources for name in ("MASC", "CRAFT", "GUM"))


def test_three_lines_parse_a_sentence():
    [tree] = rnng_dy.load("english")(SENTENCE)
    assert tree == parse_line(TREE)


def test_one_name_gives_trees_and_surprisals():
    parsed = invoke("parse", "--model", "english", "--text", "-", input=SENTENCE).stdout
    assert parsed == f"{TREE}\n"
    rows = invoke("surprisal", "--model", "english", "--text", "-", input=SENTENCE).stdout
    cells = [row.split("\t") for row in rows.splitlines()[1:]]
    assert [row[2] for row in cells] == ["The", "board", "will", "meet", "on", "Friday", "."]
    assert all(0 < float(row[5]) < 30 for row in cells)


def test_what_is_no_word_and_what_cannot_be_read_is_left_out(tmp_path):
    path = tmp_path / "VOL15_3.mrg"
    path.write_text(
        "( (S (NP-SBJ (PRP it)) (EDITED (CODE <x>)) (VP (VBZ works)) (SU /)) )\n(CODE <TURN>)\n"
        "( (SBAR (WRB how) ( (S (NP-SBJ-1 (NNP Mr.) (NNP Whopsle))))) )\n"
    )
    assert treebanks.tree_lines(path) == [
        "(S (NP (PRP it)) (VP (VBZ works)))\n",
        "(SBAR (WRB how) (S (S (NP (NNP Mr.) (NNP Whopsle)))))\n",
    ]


@pytest.mark.slow
def test_the_parts_have_the_trees_that_the_page_counts(shared, tmp_path):
    found = list(treebanks.write_trees(shared / "treebanks" / "open", tmp_path))
    page = (Path(__file__).parents[1] / "docs" / "english.md").read_text(encoding="utf-8")
    numbers = {int(re.search(r": (\d+) trees", line)[1]) for line in found}
    assert len(found) == 10 and all(f"{number:,}" in page for number in numbers)
