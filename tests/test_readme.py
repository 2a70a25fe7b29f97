"""Every command of the README runs, in the order of the page, on a small corpus."""

from __future__ import annotations

import pytest

from . import pages

README = pages.CHECKOUT / "README.md"


@pytest.fixture(scope="module")
def ran(shared, tmp_path_factory):
    """The folder in which all commands of the README have run, and what each printed."""
    folder = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLTK_DATA", str(shared / "nltk_data"))
        patch.chdir(folder)
        return folder, pages.run_commands(README)


def test_every_command_runs(ran):
    folder, printed = ran
    assert len(printed) > 15
    assert (folder / "map.trees").read_text(encoding="utf-8").count("\n") == pages.TREES


def test_the_commands_print_what_the_page_says(ran):
    output = dict(ran[1])
    rerank = next(text for line, text in output.items() if " rerank " in line)
    assert [line.partition("=")[0] for line in rerank.splitlines()[-2:]] == ["LLH", "PPL"]
    generate = next(text for line, text in output.items() if " generate " in line)
    assert len(generate.splitlines()) == 10


def test_the_python_example_runs(ran, monkeypatch, capsys):
    monkeypatch.chdir(ran[0])
    surprisals, calls, trees = pages.blocks(README, "python")
    exec(calls, {})
    printed = capsys.readouterr().out
    assert "'Smith'" in printed and "<DiscriminativeParser" in printed
    names = {}
    exec(trees, names)
    joint, conditional = map(float, capsys.readouterr().out.split())
    assert joint < 0 and conditional < 0
    assert len(names["samples"]) == 100
    assert names["tree"].leaves() == ["The", "company", "grew", "."]
    exec(surprisals, names)
    assert names["first"] == pytest.approx(names["words"][0].surprisal, rel=1e-4)
    assert len(names["likely"]) == 5 and names["grew"].surprisal != names["fell"].surprisal
