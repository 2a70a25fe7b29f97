"""Formulas of predictions: SyntaxGym's grammar, values by hand, and any text at all."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnng_dy.evaluation.suites import Formula, FormulaError

VALUES = {("a", 1): 2.0, ("a", 2): 5.0, ("b", 1): 3.0, ("b", 2): 5.0005, ("no-1_x", 12): 0.0}
IMPOSSIBLE = {("a", 1): math.inf, ("a", 2): 1.0, ("b", 1): math.inf, ("b", 2): math.nan}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        # those of SyntaxGym's documentation and suites, with other names
        ("(2;%a%) > (1;%a%)", True),
        ("((2;%a%)<(2;%b%))&((1;%a%)<(1;%b%))", True),
        ("[(2;%a%) + (1;%a%)] < [(2;%b%) + (1;%b%)]", True),
        ("(*;%a%) > (*;%b%)", False),
        ("(12;%no-1_x%) = 0", True),
        ("[(2;%a%)-(1;%a%)]+[[(2;%a%)+(1;%a%)]-[(2;%a%)+(1;%b%)]]>0", True),
        # equal within 1e-3 + 1e-5 * 5.0005
        ("(2;%a%) = (2;%b%)", True),
        ("(2;%a%) = 5.002", False),
        # chains go from left to right, and signs of one kind bind alike
        ("10 - 3 - 2 = 5", True),
        ("1 < 2 | 1 < 2 & 2 < 1", False),
        ("1 < 2 | [1 < 2 & 2 < 1]", True),
        ("-2 < 1 & .5e1 = 5.", True),
        ("( 1 ; %a% ) < 3", True),
    ],
)
def test_values_by_hand(text, holds):
    assert Formula(text).decide(VALUES) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("(1;%a%) > (1;%b%)", None),
        ("(1;%a%) - (1;%b%) > 0", None),
        ("(2;%b%) > 0", None),
        # one finite side decides
        ("(1;%a%) > (2;%a%)", True),
        ("(1;%a%) = 1", False),
        ("(*;%a%) > 3", True),
        # what is not decided may not matter
        ("(1;%a%) > (1;%b%) & 2 < 1", False),
        ("(1;%a%) > (1;%b%) | 1 < 2", True),
        ("(1;%a%) > (1;%b%) | 2 < 1", None),
    ],
)
def test_a_comparison_of_infinities_decides_nothing(text, holds):
    assert Formula(text).decide(IMPOSSIBLE) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ""),
        ("(1;%a%)", "a comparison is missing"),
        ("(1;%a%) <", ""),
        ("(1;a) < 2", "';' at column 3"),
        ("1 < x;%a%", "'x' at column 5"),
        ("1 < 2 < 3", "a comparison is missing"),
        ("1 + (1 < 2) > 2", "a number or a region is missing"),
        ("(1 < 2]", ""),
        ("1 == 2", ""),
        ("2 * 3 > 1", "'*' at column 3"),
        ("1 <= 2", ""),
        ("!1 < 2", "'!' at column 1"),
        ("__import__('os') < 1", "'_' at column 1"),
        ("1 < ²", "'²' at column 5"),
        ("(" * 1000 + "1 < 2" + ")" * 1000, ""),
        ("-" * 10_000 + "1 < 2", ""),
        (" + ".join(["1"] * 5000) + " = 5000", ""),
    ],
)
def test_what_is_wrong_is_told(text, says):
    with pytest.raises(FormulaError) as told:
        Formula(text)
    assert says in str(told.value)


def test_references_are_conditions_with_their_regions():
    assert Formula("[(1;%a%) - 2] < (*;%b c%)").references == (("a", 1), ("b c", None))
    named = Formula("(main verb ;%a%) < (1;%b%)")
    assert named.references == (("a", "main verb"), ("b", 1))
    assert named.numbered({"main verb": 2}).references == (("a", 2), ("b", 1))
    with pytest.raises(FormulaError, match="'main verb' names no region, or regions of several"):
        named.numbered({"verb": 2})


@given(st.text("()[];%*ab12.<>=!&|+-/ e", max_size=40) | st.text(max_size=20))
def test_any_text_is_a_formula_or_an_error(text):
    try:
        formula = Formula(text)
    except FormulaError as error:
        assert str(error).startswith(f"{text!r:.80}: ")
    else:
        named = {(c, 1 if r is None else r): 1.0 for c, r in formula.references}
        assert formula.decide(named) in (True, False, None)
