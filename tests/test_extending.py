"""docs/extending.md: every plugin on the page is loaded, and every command does what the page says."""

from __future__ import annotations

import re

import pytest

from . import pages
from .conftest import tiny_trees
from .plugin_state import no_plugins

PAGE = pages.CHECKOUT / "docs" / "extending.md"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder in which all commands of the page have run, each in a process without plugins, and what they gave."""
    folder = tmp_path_factory.mktemp("extending")
    (folder / "train.trees").write_text(tiny_trees(0, pages.TREES), encoding="utf-8")
    (folder / "sentences.txt").write_text("the cat saw a dog .\nshe slept .\n", encoding="utf-8")
    for block in pages.blocks(PAGE, "python"):
        name = re.match(r"# (\w+\.py)\n", block)[1]
        (folder / name).write_text(block, encoding="utf-8")
    given = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in re.findall(
            r"^```(?:sh|console)\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M
        ):
            for line in re.findall(r"^(?:\$ )?((?:rnng-dy|echo) .*)$", block, re.MULTILINE):
                with no_plugins():
                    given[line] = pages.result_of(line)
    return folder, given


def test_all_that_the_page_runs_ends_well_but_for_the_refusal(ran):
    codes = {line: result.exit_code for line, result in ran[1].items() if result}
    assert len(codes) > 8
    refused = "rnng-dy parse --model parser sentences.txt"
    assert {line for line, code in codes.items() if code} == {refused}


def test_what_the_page_shows_is_what_one_sees(ran):
    for block in pages.blocks(PAGE, "console"):
        line, shown = re.search(r"^\$ (rnng-dy .*)\n((?:.*\n)+)", block, re.MULTILINE).groups()
        seen = ran[1][line]
        cut = re.sub(r"[0-9a-f]{64}", "…", seen.stderr if seen.exit_code else seen.stdout)
        assert cut == shown


@pytest.mark.parametrize("name", ["parsed.trees", "short.trees", "in-context.trees"])
def test_parsers_with_plugins_parse(ran, name):
    trees = (ran[0] / name).read_text("utf-8").splitlines()
    assert [re.findall(r"XX ([^)]+)\)", tree)[0] for tree in trees] == ["the", "she"]


def test_the_search_has_the_surprisals_of_its_one_derivation(ran):
    lines = (ran[0] / "one.tsv").read_text("utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines)
    rows = [dict(zip(header, row, strict=True)) for row in rows]
    assert len(rows) == 9
    for row in rows:
        assert float(row["entropy"]) == 0 and float(row["word_in_cluster"]) > 0
