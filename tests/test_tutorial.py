"""Every command of both tutorials runs, in the order of the page, on a small corpus."""

from __future__ import annotations

import pytest

from . import pages

TUTORIAL = pages.CHECKOUT / "docs" / "tutorial.md"
SURPRISALS = pages.CHECKOUT / "docs" / "tutorial-surprisal.md"


@pytest.fixture(scope="module")
def ran(shared, tmp_path_factory):
    """The folder in which all commands of the tutorial have run, and what each printed."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "treebank").mkdir()
    tree = "( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD sat) (NP (-NONE- *T*-1))) (. .)) )\n"
    (folder / "treebank" / "one.mrg").write_text(tree, encoding="utf-8")
    return folder, pages.run_pages(folder, TUTORIAL)


def test_every_command_leaves_what_the_page_says(ran):
    folder, _ = ran
    for name in ("notes.html", "errors.html", "surprisals.html"):
        assert "<html" in (folder / name).read_text(encoding="utf-8"), name
    table = (folder / "surprisals.tsv").read_text(encoding="utf-8").splitlines()
    assert [row.split("\t")[0] for row in table[1:]] == ["1"] * 7 + ["2"] * 9
    nbest = (folder / "best.trees").read_text(encoding="utf-8")
    assert [row.split(" ||| ")[0] for row in nbest.splitlines()] == ["0"] * 3 + ["1"] * 3


def test_both_parsers_held_out_the_same_trees(ran):
    folder, _ = ran
    held_out = [(folder / name / "dev.trees").read_bytes() for name in ("parser", "buggy")]
    assert held_out[0] == held_out[1] and len(held_out[0].splitlines()) == pages.TREES // 10


def test_the_python_example_runs(ran, monkeypatch, capsys):
    monkeypatch.chdir(ran[0])
    [example] = pages.blocks(TUTORIAL, "python")
    exec(example, {})
    assert "Friday" in capsys.readouterr().out


def test_the_tutorial_of_surprisals_goes_from_a_table_to_an_effect(
    shared, tmp_path, monkeypatch, capsys
):
    pages.run_pages(tmp_path, SURPRISALS)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    [example] = pages.blocks(SURPRISALS, "python")
    exec(example, {})
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows[:2]] == [["1", "ambiguous", "lost"], ["1", "comma", "lost"]]
    effects = (tmp_path / "effects.csv").read_text(encoding="utf-8").splitlines()
    of_region = next(line for line in effects if ",ambiguous - comma,3," in line).split(",")
    difference = (
        sum(float(a[3]) - float(b[3]) for a, b in zip(rows[::2], rows[1::2], strict=True)) / 2
    )
    assert float(of_region[7]) == pytest.approx(difference, abs=0.01)
    assert "<html" in (tmp_path / "garden-paths.html").read_text(encoding="utf-8")
    assert ">item 2</text>" in (tmp_path / "items.svg").read_text(encoding="utf-8")
