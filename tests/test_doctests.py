"""The examples in the docstrings of every module are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
SCRIPTS = ("dynet", "gpu")
PACKAGES = ("oracle", "clusters", "rnng_dy", *(f"scripts.{name}" for name in SCRIPTS))
ELSEWHERE = ("scripts.dynet.setup",)
"""A program that builds DyNet when it is imported."""
PROMPT = ">>> "


def module_names() -> Iterator[str]:
    """The packages and every module below them."""
    for package in PACKAGES:
        yield package
        path = importlib.import_module(package).__path__
        names = (found.name for found in pkgutil.walk_packages(path, f"{package}."))
        yield from (name for name in names if name not in ELSEWHERE)


MODULES = tuple(module_names())


@pytest.mark.parametrize("name", MODULES)
def test_every_example_of_a_module_runs_and_is_true(name: str) -> None:
    module = importlib.import_module(name)
    outcome = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    # as many as the text has: doctest passes over what is no docstring of the module's own
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert outcome.attempted == text.count(PROMPT)
    assert outcome.failed == 0
