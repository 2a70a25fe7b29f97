"""The commands of docs/reading-times.md run, on times that we make up."""

from __future__ import annotations

import csv
import shutil

import pytest

from . import pages
from .conftest import DATA, TINY

PAGE = pages.CHECKOUT / "docs" / "reading-times.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The folder of the commands, and what each printed."""
    from oracle.brackets import read_trees

    folder = tmp_path_factory.mktemp("times")
    for model in ("generator", "lm"):
        shutil.copytree(DATA / "models-0.1.0" / model, folder / model)
    trees = [located.tree for _, located in zip(range(24), read_trees(TINY), strict=False)]
    sentences = [[word for word in tree.leaves() if word.isalpha()] for tree in trees]
    text = "".join(f"{' '.join(words)}\n" for words in sentences)
    (folder / "stories.txt").write_text(text, encoding="utf-8")
    rows = ["item,position,word,time,count"]
    for item in range(4):
        words = [word for words in sentences[6 * item : 6 * item + 6] for word in words]
        rows += [
            f"{item + 1},{i},{word},{250 + 37 * i % 91 + 5 * len(word)},{10 * len(word) + i % 7}"
            for i, word in enumerate(words, 1)
        ]
    (folder / "times.csv").write_text("\n".join(rows), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return folder, pages.run_commands(PAGE)


def test_every_command_runs(printed):
    folder, outputs = printed
    assert len(outputs) == 4
    for name in ("joined.csv", "mixed.R"):
        assert (folder / name).stat().st_size > 60
    printed_names = [line.split()[0] for line in outputs[-1][1].splitlines() if line]
    assert printed_names[:6] == ["system", "rnng", "lstm", "first", "rnng", "system"]


def test_natural_stories_become_inputs(shared, here):
    from scripts.natural_stories import main

    arguments = ["stories.txt", "times.tsv", "--corpus", str(shared / "reading_times")]
    main(arguments, standalone_mode=False)
    sentences = (here / "stories.txt").read_text(encoding="utf-8").splitlines()
    with (here / "times.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [*csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    rows.sort(key=lambda row: (int(row["item"]), int(row["position"])))
    # the numbers of the corpus' own description
    assert (len(sentences), len(rows)) == (485, 10256)
    assert " ".join(sentences).split(" ") == [row["word"] for row in rows]
    assert {row["item"] for row in rows} == {str(item) for item in range(1, 11)}
    assert all(100 < float(row["time"]) < 3000 for row in rows)
    assert sum(row["count"] == "NA" for row in rows) < 20
