"""docs/api.md runs line by line, as doctests, on a small treebank."""

from __future__ import annotations

import doctest
from pathlib import Path

from rnng_dy.cli import COMMANDS

from . import pages
from .conftest import tiny_trees

PAGE = pages.CHECKOUT / "docs" / "api.md"


def test_every_line_runs_and_gives_what_the_page_says(here, monkeypatch):
    # the page sets it, for this test alone
    monkeypatch.setenv("RNNG_DY_MODELS", "")
    for name, part in {"train": (0, 60), "dev": (60, 75), "test": (75, 90)}.items():
        Path(f"{name}.trees").write_text(tiny_trees(*part), encoding="utf-8")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags)
    assert (outcome.failed, outcome.attempted > 40) == (0, True)


def test_every_command_has_a_place_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    headings = {
        name.strip()
        for line in text.splitlines()
        if line[:3] == "## "
        for name in line[3:].split(",")
    }
    assert set(COMMANDS) - {"reproduce"} <= headings
