"""Head rules: Collins' table, and tables of one's own."""

from __future__ import annotations

import pytest

from oracle.errors import InputError
from rnng_dy.evaluation.head_rules import HeadRules, collins


@pytest.mark.parametrize(
    ("parent", "children", "head"),
    [
        ("S", "NP VP .", 1),
        ("S", "PP , NP VP .", 3),
        ("VP", "MD RB VP", 0),
        ("VP", "TO VP", 0),
        ("VP", "ADVP VBD NP", 1),
        ("PP", "IN NP", 0),
        ("PP", "ADVP IN NP", 1),
        ("SBAR", "WHNP S", 0),
        ("SBAR", "IN S", 0),
        # the last noun, not the one in front of it
        ("NP", "DT NN NN", 2),
        ("NP", "NP PP", 0),
        ("NP", "NNP POS", 1),
        ("NP", "DT JJ", 1),
        ("NP", "DT CD", 1),
        ("NP", "DT", 0),
        ("ADVP", "RB RB", 1),
        ("QP", "IN $ CD", 1),
        # no rule of the parent fits: the child at the end from which it searches
        ("VP", "XX YY", 0),
        ("PP", "XX YY", 1),
        ("NP", "XX YY", 1),
        # no rule for the parent
        ("NX", "JJ NN", 0),
        # coordination: the left of two, but not in a base NP
        ("UCP", "ADJP CC NP", 0),
        ("ADVP", "RB CC RB", 0),
        ("NP", "NN CC NN", 2),
        ("NP", "NP CC NN", 0),
        ("S", "CC NP VP", 2),
        ("NP", "NP , NP CC NP", 0),
    ],
)
def test_collins_head_child(parent, children, head):
    assert collins().head(parent, children.split()) == head


def test_rules_of_ones_own(tmp_path):
    path = tmp_path / "my.heads"
    path.write_text("# mine\n\nA last X\nA from-right Y\n* any-from-left Z W\n", encoding="utf-8")
    rules = HeadRules.read(path)
    assert rules.head("A", ["Y", "X"]) == 1
    assert rules.head("A", ["X", "Y", "Y", "Z"]) == 2
    assert rules.head("A", ["X", "Z"]) == 1
    assert rules.head("B", ["Q", "W", "Z"]) == 1


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("NP last NN\nNP sideways NN\n", 2, "from-left"),
        ("NP\n", 1, "is no head rule"),
        ("NP coordination\n", 1, "once, with a label"),
        ("* coordination CC\n* coordination KON\n", 2, "once, with a label"),
        ("# nothing\n", None, "no head rule in this file"),
    ],
)
def test_a_line_that_is_no_rule_is_named(tmp_path, text, line, says):
    path = tmp_path / "bad.heads"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        HeadRules.read(path)
    assert says in str(error.value)
    assert str(error.value).startswith(f"{path}:{line}" if line else f"{path}:")
