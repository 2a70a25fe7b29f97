"""Names of systems, and how their models are trained."""

from __future__ import annotations

import pytest

from oracle.common.errors import RnngError
from rnng_dy.reproduce.systems import parse


@pytest.mark.parametrize(
    ("given", "name", "options"),
    [
        ("corrected", "corrected", "corrected"),
        ("corrected/full/top-down", "corrected", "corrected"),
        ("buggy/no-terms", "buggy/no-terms", "buggy --state no-terms"),
        ("corrected/in-order", "corrected/in-order", "corrected --transitions in-order"),
    ],
)
def test_a_name_is_short_and_options_have_no_defaults(given, name, options):
    system = parse(given)
    assert str(system) == name
    assert parse(name) == system and system.options == f"--composition {options}"


@pytest.mark.parametrize("name", ["", "stack", "corrected/", "corrected/in-order/stack"])
def test_another_name_is_refused_with_those_that_there_are(name):
    with pytest.raises(RnngError) as refused:
        parse(name)
    said = str(refused.value)
    assert said.startswith(f"no system is called {name!r}: ")
    assert "corrected, buggy, " in said and "top-down, " in said
    assert "full, stack, no-stack, no-history, no-terms, history; " in said
