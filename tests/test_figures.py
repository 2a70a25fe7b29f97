"""Figures of README and docs: each stands in docs/dev/figures.tsv with its command, and pages agree."""

from __future__ import annotations

import csv
import re

import pytest

from . import pages

TABLE = pages.CHECKOUT / "docs" / "dev" / "figures.tsv"
MADE = {"faithfulness.md"}
"""Pages that a command writes as a whole."""
PAGES = [
    path
    for path in (pages.CHECKOUT / "README.md", *sorted((pages.CHECKOUT / "docs").glob("*.md")))
    if path.name not in MADE
]
_WORD = "half|one|two|three|four|five|six|seven|eight|nine|ten|fifteen|twelve|twenty"
_UNIT = "ms|s|min|minutes?|seconds?|hours?|days?|MB|GB|MiB|times|points?|bits|nats|sentences per"
_FIGURE = re.compile(
    "|".join(
        (
            # a decimal number with its deviation
            r"(?<![\w./-])[−-]?\d[\d,]*\.\d+(?: ± \d+\.\d+)?",
            # a share
            r"\b\d+ of \d+\b",
            # a number with a unit
            rf"(?<![\w.])\d[\d,]*(?= (?:(?:to|and) \d+ )?(?:%|(?:{_UNIT})\b))",
            rf"\b(?:{_WORD})(?= (?:to (?:{_WORD}) )?(?:{_UNIT})\b)",
            # a cell of a table
            r"(?<=\| )[\d,]+(?= \|)",
        )
    )
)
_CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)


def figures(text: str) -> list[str]:
    """The figures in the prose and the tables of a page."""
    return _FIGURE.findall(_CODE.sub("", text).replace("**", ""))


def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_figures_are_found_in_prose_and_tables():
    text = "F1 is 83.2 ± 0.1 after 3 to 5 minutes, two times, 3 of 4.\n\n| a | 1,430 | 5.3 ms |\n"
    text += "\n    7.7\n\n`x 9.9` v2.1\n"
    assert figures(text) == ["83.2 ± 0.1", "3", "5", "two", "3 of 4", "1,430", "5.3"]


def test_each_row_has_its_source():
    names = [row["name"] for row in rows()]
    assert len(names) == len(set(names))
    for row in rows():
        assert all(row[column] for column in ("values", "pages", "command")), row["name"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_figures_of_a_page_are_those_of_the_table(page):
    of_page = [row for row in rows() if page.name in row["pages"].split()]
    table = {value: row["name"] for row in of_page for value in row["values"].split("; ")}
    found = set(figures(page.read_text(encoding="utf-8")))
    unsourced = sorted(found - table.keys())
    assert not unsourced, "figures without a row in docs/dev/figures.tsv"
    missing = {value: name for value, name in table.items() if value not in found}
    assert not missing, "rows of docs/dev/figures.tsv whose figures the page lacks"
