"""Pages of the documentation: their commands run, at a size that a test can wait for."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from glob import glob
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rnng_dy.cli import main
from rnng_dy.reproduce.stages import SECTIONS

CHECKOUT = Path(__file__).resolve().parent.parent
TREES = 30
"""So many of a treebank."""
_SMALLER = {
    "train": "--set lstm_input=12 --hidden 12 --epochs 1",
    "reproduce nltk": "--stages data --tags gold",
    "prepare --sections": "",
    "prepare nltk": "--sections 1-9",
    "clusters": "-c 8",
    "sample": "--samples 5",
    "parse mbr": "--samples 5",
    "parse --generator": "--samples 5",
    "--along-trees": "",
    "one-analysis": "",
    "generator particles": "--particles 20",
    "perplexity generator": "--beam 9 --fast-track 1 --word-beam 3",
    "surprisal generator": "--beam 9 --fast-track 1 --word-beam 3",
    "suite garden-path-npz": "--beam 9 --fast-track 1 --word-beam 3",
}
"""Options in place of a command's own, by words that it has; the first that fit."""
_FILES = {"train": "1-9", "dev": "160", "test": "180"}
"""In which `reproduce nltk` finds its trees."""


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


def links(page: Path) -> list[str]:
    """What a page links to inside the project."""
    found = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    return [target for target in found if "://" not in target]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def run_commands(page: Path) -> list[tuple[str, str]]:
    """Run all commands of a page in the current folder; each with what it printed."""
    return [(line, _run(line)) for line in "".join(blocks(page, "sh")).splitlines()]


def run_pages(folder: Path, *found: Path) -> list[tuple[str, str]]:
    """Run all commands of pages in a folder, page after page; each with what it printed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setitem(SECTIONS, "nltk", _FILES)
        return [command for page in found for command in run_commands(page)]


def run_examples(page: Path) -> list[tuple[str, str]]:
    """Run what stands after `$` in blocks of commands; what the page shows below it, and what it prints."""
    parts = re.split(r"^\$ (.*)\n", "".join(blocks(page, "console")), flags=re.MULTILINE)
    return [(shown, _cut_run(line)) for line, shown in zip(parts[1::2], parts[2::2], strict=True)]


def _cut_run(line: str) -> str:
    """What a line prints, of whose columns `cut -f` keeps some."""
    line, _, columns = line.partition(" | cut -f")
    rows = [row.split("\t") for row in _run(line).splitlines()]
    kept = [int(column) - 1 for column in columns.split(",")] if columns else [0]
    return "\n".join("\t".join(row[k] for k in kept) for row in rows)


def _run(line: str, given: str | None = None) -> str:
    """What a line prints, which ends well; `given` is its standard input."""
    result = result_of(line, given)
    if result is None:
        return ""
    if isinstance(result, str):
        return result
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def result_of(line: str, text: str | None = None) -> Result | str | None:
    """Run `rnng-dy …`, commands joined by |, `echo TEXT > FILE` (or >>) or `mpirun …`; what mpirun prints."""
    words = shlex.split(line)
    if words[0] == "mpirun":
        mpirun, n, ranks, program, *arguments = words
        command = [_installed(mpirun), n, ranks, _installed(program), *_smaller(arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        return done.stdout
    while "|" in words:
        first = words[: words.index("|")]
        words = words[len(first) + 1 :]
        text = first[1] if first[0] == "echo" else _run(shlex.join(first), text)
    if words[0] == "echo":
        _, text, sign, name = words
        with open(name, {">": "w", ">>": "a"}[sign], encoding="utf-8") as file:
            file.write(f"{text}\n")
        return None
    program, *arguments = words
    assert program == "rnng-dy", line
    arguments = [found for word in arguments for found in (sorted(glob(word)) or [word])]
    result = CliRunner().invoke(main, _smaller(arguments), input=text)
    if arguments[0] == "prepare" and result.exit_code == 0:
        _cut(Path(arguments[-1]))
    return result


def _installed(program: str) -> str:
    """The program of this environment."""
    return str(Path(sys.executable).with_name(program))


def _smaller(arguments: list[str]) -> list[str]:
    """The command's arguments with the options that make it small in place of its own."""
    has = set(arguments)
    added = next((more for names, more in _SMALLER.items() if has.issuperset(names.split())), "")
    kept, words = list(arguments), added.split()
    for flag, value in zip(words[::2], words[1::2], strict=True):
        name = value.partition("=")[0] if flag == "--set" else ""
        for i in reversed(range(len(kept) - 1)):
            if kept[i] == flag and kept[i + 1].startswith(name):
                del kept[i : i + 2]
    return kept + words


def _cut(trees: Path) -> None:
    lines = trees.read_text(encoding="utf-8").splitlines(keepends=True)
    trees.write_text("".join(lines[:TREES]), encoding="utf-8")
