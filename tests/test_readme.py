"""Every command of the README runs, in the order of the page, on a small corpus."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from rnng_dy.cli import main

README = Path(__file__).resolve().parent.parent / "README.md"
# the same commands at a size that a test can wait for
SMALLER = {
    "prepare": 60,
    "train discriminative": "--lstm-input 12 --hidden 12 --epochs 1",
    "train generative": "--lstm-input 12 --hidden 12 --epochs 1",
    "train lstm-lm": "--lstm-input 12 --hidden 12 --epochs 1",
    "reproduce nltk": "--stages data --tags gold",
    "clusters": "-c 8",
    "sample": "--samples 10",
}


def blocks(language):
    return re.findall(
        rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.S | re.M
    )


def smaller(arguments):
    """The command's arguments with the options that make it small; the last of an option counts."""
    added = SMALLER.get(" ".join(arguments[:2]), SMALLER.get(arguments[0], ""))
    if arguments[0] in ("perplexity", "surprisal") and "generator" in arguments:
        added = "--particles 20" if "particles" in arguments else "--beam 9 --fast-track 1"
    return arguments + (added.split() if isinstance(added, str) else [])


@pytest.fixture(scope="module")
def ran(shared, tmp_path_factory):
    """The folder in which all commands of the README have run, and what each printed."""
    folder = tmp_path_factory.mktemp("readme")
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLTK_DATA", str(shared / "nltk_data"))
        patch.chdir(folder)
        for line in "".join(blocks("sh")).splitlines():
            program, *arguments = shlex.split(line)
            assert program == "rnng-dy"
            result = CliRunner().invoke(main, smaller(arguments))
            assert result.exit_code == 0, f"{line}\n{result.output}"
            printed.append((line, result.stdout))
            if arguments[0] == "prepare":
                trees = Path(arguments[-1])
                lines = trees.read_text(encoding="utf-8").splitlines(keepends=True)
                trees.write_text("".join(lines[: SMALLER["prepare"]]), encoding="utf-8")
    return folder, printed


def test_every_command_runs(ran):
    folder, printed = ran
    assert len(printed) > 15
    assert (folder / "map.trees").read_text(encoding="utf-8").count("\n") == SMALLER["prepare"]


def test_the_commands_print_what_the_page_says(ran):
    output = dict(ran[1])
    rerank = next(text for line, text in output.items() if " rerank " in line)
    assert [line.partition("=")[0] for line in rerank.splitlines()[-2:]] == ["LLH", "PPL"]
    generate = next(text for line, text in output.items() if " generate " in line)
    assert len(generate.splitlines()) == 10


def test_the_python_example_runs(ran, monkeypatch, capsys):
    monkeypatch.chdir(ran[0])
    surprisals, trees = blocks("python")
    names = {}
    exec(trees, names)
    joint, conditional = map(float, capsys.readouterr().out.split())
    assert joint < 0 and conditional < 0
    assert len(names["samples"]) == 100
    assert names["tree"].leaves() == ["The", "company", "grew", "."]
    exec(surprisals, names)
    assert names["first"] == pytest.approx(names["words"][0].surprisal, rel=1e-4)
    assert len(names["likely"]) == 5 and names["grew"].surprisal != names["fell"].surprisal
