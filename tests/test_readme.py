"""Every command and example of the README runs, in the order of the page, on a small corpus."""

from __future__ import annotations

import re

import pytest

from . import pages

README = pages.CHECKOUT / "README.md"


@pytest.fixture(scope="module")
def ran(shared, tmp_path_factory):
    """The folder in which all commands of the README have run, and what each printed."""
    folder = tmp_path_factory.mktemp("readme")
    return folder, pages.run_pages(folder, README)


def test_the_quick_start_leaves_trees_and_surprisals(ran):
    folder, printed = ran
    [tree] = [text for line, text in printed if " parse " in line]
    assert "Friday" in tree
    rows = (folder / "surprisals.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 7


def words_and_numbers(text):
    return [float(x) if re.fullmatch(r"\d+\.\d+", x) else x for x in text.split()]


def test_the_examples_print_what_the_page_shows(ran, monkeypatch):
    monkeypatch.chdir(ran[0])
    (tree, drawn), (table, rows) = pages.run_examples(README)
    assert drawn.split() == tree.split()
    shown = words_and_numbers(table)
    assert words_and_numbers(rows) == pytest.approx(shown, abs=1e-4)
    assert len(shown) == 3 * 8


def test_the_python_example_runs(ran, monkeypatch, capsys):
    monkeypatch.chdir(ran[0])
    exec("".join(pages.blocks(README, "python")), {})
    printed = capsys.readouterr().out
    assert "'Smith'" in printed and "<DiscriminativeParser" in printed
    assert float(printed.split()[-1]) > 0


def test_the_readme_is_short():
    """As many words as 150 lines of 120 characters had."""
    assert len(README.read_text(encoding="utf-8").split()) <= 1170
