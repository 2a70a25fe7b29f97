"""Names of systems, and how their models are trained."""

from __future__ import annotations

import pytest

from oracle.errors import RnngError
from rnng_dy.reproduce.systems import parse


def test_a_name_is_as_short_as_can_be():
    for given, name in (
        ("corrected", "corrected"),
        ("corrected/full", "corrected"),
        ("corrected/full/top-down", "corrected"),
        ("buggy/no-terms", "buggy/no-terms"),
        ("corrected/in-order", "corrected/in-order"),
        ("gated-attention/stack/in-order", "gated-attention/stack/in-order"),
    ):
        assert parse(given).name == name
        assert parse(name) == parse(given)
    assert parse("gated-attention/stack/in-order").slug == "gated-attention-stack-in-order"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gold",
        "stack",
        "corrected/",
        "corrected/gold",
        "corrected/stack/stack",
        "corrected/stack/no-stack",
        "corrected/in-order/stack",
        "corrected/buggy",
    ],
)
def test_another_name_is_refused_with_those_that_there_are(name):
    with pytest.raises(RnngError) as refused:
        parse(name)
    said = str(refused.value)
    assert said.startswith(f"no system is called {name!r}: ")
    assert "corrected, buggy, " in said
    assert "full, stack, no-stack, no-history, no-terms, history; " in said
    assert "top-down, " in said


def test_options_are_no_defaults():
    for name, more in (
        ("buggy", ""),
        ("buggy/no-terms", " --state no-terms"),
        ("buggy/in-order", " --transitions in-order"),
    ):
        assert parse(name).options == f"--composition buggy{more}"
