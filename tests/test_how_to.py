"""Every command of the how-to pages runs, page after page in one folder, on a small corpus."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from . import pages
from .commands import run

NAMES = ["treebanks", "perplexity", "raw-text", "surprisal", "suites", "systems", "models"]
NAMES += ["reproduce", "install"]
PAGES = [pages.CHECKOUT / "docs" / f"{name}.md" for name in NAMES]


@pytest.fixture(scope="module")
def ran(shared, tmp_path_factory):
    """The folder in which all commands of the pages have run, and what each printed."""
    folder = tmp_path_factory.mktemp("pages")
    return folder, pages.run_pages(folder, *PAGES)


def test_every_command_runs(ran):
    folder, printed = ran
    assert len(printed) > 40
    assert (folder / "map.trees").read_text(encoding="utf-8").count("\n") == pages.TREES


def test_the_commands_print_what_the_pages_say(ran):
    output = dict(ran[1])
    rerank = next(text for line, text in output.items() if " rerank " in line)
    assert [line.partition("=")[0] for line in rerank.splitlines()[-2:]] == ["LLH", "PPL"]
    generate = next(text for line, text in output.items() if " generate " in line)
    assert len(generate.splitlines()) == 10


INSTALL = pages.CHECKOUT / "docs" / "install.md"


NOT_RUN = {
    "python3": "makes an environment",
    ".": "enters an environment",
    "pip": "changes the environment, and needs the network",
    "python": "downloads NLTK's sample",
    "export": "is for the shell that the user has",
    "docker": "needs a daemon",
    "dask": "runs until it is stopped; tests/rnng_dy/test_parallel.py runs it",
    "rnng-dy sample": "needs the scheduler of the lines before it",
}
"""Commands of docs/install.md that do not run here, and why."""


def test_every_line_of_the_page_runs_or_is_known_not_to():
    text = re.sub(r"^```.*?^```", "", INSTALL.read_text(encoding="utf-8"), flags=re.S | re.M)
    lines = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    met = {name: [line for line in lines if line.startswith(f"{name} ")] for name in NOT_RUN}
    assert all(met.values()), met
    assert sorted(lines) == sorted(line for of_name in met.values() for line in of_name)


def test_the_script_for_slurm_trains(ran, monkeypatch):
    [script] = pages.blocks(INSTALL, "bash")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert script.startswith("#!/bin/bash\n#SBATCH ")
    [command] = [line for line in script.splitlines() if "rnng-dy" in line]
    monkeypatch.chdir(ran[0])
    pages.result_of(command.removeprefix("exec ").replace('"$SLURM_NTASKS"', "2"))
    assert (ran[0] / "slurm" / "parameters.npz").exists()


def test_a_pool_of_processes_parses(tmp_path):
    [program] = pages.blocks(pages.CHECKOUT / "docs" / "serve.md", "python")
    (tmp_path / "service.py").write_text(program, encoding="utf-8")
    assert run(tmp_path, "service.py", command=(sys.executable,)).stdout.count("(S") == 3


def test_no_page_links_to_nowhere():
    for page in [pages.CHECKOUT / "README.md", *(pages.CHECKOUT / "docs").glob("**/*.md")]:
        for target in pages.links(page):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            assert file.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in pages.anchors(file), f"{page.name}: {target}"


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), [pages.CHECKOUT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page.suffix == ".md" and page not in reached:
            reached.add(page)
            targets = [target.partition("#")[0] for target in pages.links(page)]
            waiting += [(page.parent / target).resolve() for target in targets if target]
    there = set((pages.CHECKOUT / "docs").glob("**/*.md")) - {pages.CHECKOUT / "docs" / "index.md"}
    assert there <= reached, sorted(there - reached)
