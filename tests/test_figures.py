"""Figures of README and docs that take less than a minute are computed again."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from statistics import fmean

import pytest

from rnng_dy.serve.limits import Limits
from scripts.english import treebanks
from scripts.natural_stories import main as natural_stories

from . import pages
from .commands import invoke, table

WIDTHS = ("20, 5, 10", "100, 5, 10", "600, 30, 60")


def text_of(page):
    return (pages.CHECKOUT / page).read_text(encoding="utf-8")


def measured(*arguments):
    """The rows of `surprisal` with the English model."""
    return table(invoke("surprisal", *arguments).stdout)


def widths(text):
    """The options of a beam with these widths."""
    return [*sum(zip(("--beam", "--fast-track", "--word-beam"), text.split(", "), strict=True), ())]


def film(shared):
    text = "The patient reported the treatment seemed worse than the disease."
    invoke("surprisal", text, "-o", "film.html")
    frame = Path("film.html").read_text(encoding="utf-8").partition('id="1.5"')[2]
    return re.findall(r"</svg>([\d.]+) %, dies", frame)[:4]


def garden_paths(shared):
    [rows] = re.findall(r"( +item,condition,text\n(?: +\S.*\n)+)", text_of("docs/english.md"))
    Path("paths.csv").write_text(re.sub("^ +", "", rows, flags=re.M), encoding="utf-8")
    invoke("surprisal", "--stimuli", "paths.csv", "--open", "--by-region", "-o", "regions.csv")
    with open("regions.csv", encoding="utf-8", newline="") as stream:
        regions = [row for row in csv.DictReader(stream) if row["region"] == "3"]
    return [row["surprisal"] for row in regions if row["item"] != "NP/S"]


def fell(shared):
    text = "The horse raced past the barn fell."
    of_widths = [measured(text, *widths(w)) for w in ("100, 5, 10", "400, 20, 40", "1000, 50, 100")]
    return [rows[6]["surprisal"] for rows in of_widths]


def widening(shared):
    corpus = ["--corpus", str(shared / "reading_times")]
    natural_stories(["stories.txt", "times.tsv", *corpus], standalone_mode=False)
    lines = Path("stories.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("five.txt").write_text("".join(lines[:5]), encoding="utf-8")
    names = ("surprisal", "structure", "cluster", "word_in_cluster")
    for w in WIDTHS:
        rows = measured("--text", "--one-per-line", "five.txt", *widths(w))
        yield from (fmean(float(row[name]) for row in rows) for name in names)


def gum(shared):
    paths = treebanks.unpacked(shared / "treebanks" / "open" / "gum.tar.xz", Path("gum"))
    test = [path for path in paths if treebanks.DOCUMENTS.get(path.stem, "d")[0] == "test"]
    lines = [line for path in test for line in treebanks.tree_lines(path)]
    Path("gold.trees").write_text("".join(lines), encoding="utf-8")
    invoke("parse", "gold.trees", "--own-tags", "-o", "parsed.trees")
    for option, name in (([], "Tagging accuracy"), (["--gold-tags"], "F1")):
        printed = invoke("evalb", "gold.trees", "parsed.trees", *option).stdout
        yield re.search(rf"^{name} +(\S+)", printed, re.MULTILINE)[1]


def clusters(shared):
    invoke("prepare", "--from", "nltk", "--sections", "1-159", "-o", "train.trees")
    train = ["--train", "train.trees", "train.trees", "--generative"]
    invoke("oracle", *train, "-o", "train.oracle")
    for option in ([], ["--refine"]):
        made = invoke("clusters", "train.oracle", "-c", 140, *option, "-o", "c.paths")
        yield re.search(r"mutual information (\S+) nats", made.stderr)[1]


def items_right(suite):
    def count(shared):
        [row] = re.findall(r"all predictions +(\d+) +(\d+)", invoke("suite", suite).stdout)
        return row[::-1]

    return count


FILM = 'after "treatment": {} %, {} %, {} %, {} %, ...]'
FELL = "has {} bits by default, {} with 400, 20, 40 and {} with 1000, 50, 100"
PATHS = "took has {} bits without the comma and {} with it, fell {} and {}, are {}, is {}]"
WIDENED = "".join(f"| {w} | {{}} | {{}} | {{}} | {{}} | " for w in WIDTHS)
SUITES = ("garden-path-npz", "garden-path-nps", "filler-gap", "agreement-pp", "agreement-relative")
FIGURES = [
    ("README.md", FILM, film),
    ("docs/serve.md", FILM, film),
    ("docs/serve.md", "up to {} requests wait", lambda shared: [Limits().queue]),
    ("docs/english.md", PATHS, garden_paths),
    ("docs/surprisal.md", FELL, fell),
    ("docs/english.md", "| GUM, test | {} | {} |", gum),
    ("README.md", "F1 is {} by the parser", lambda shared: [*gum(shared)][1:]),
    ("docs/glossary.md", "1 nat is {} bits", lambda shared: [1 / math.log(2)]),
]
LONG = [
    ("docs/surprisal.md", WIDENED, widening),
    ("docs/treebanks.md", "raises it from {} to {} nats", clusters),
    *(("docs/english.md", f"| `{suite}` | {{}} | {{}} |", items_right(suite)) for suite in SUITES),
]


@pytest.mark.parametrize(
    ("page", "said", "figures"),
    [*FIGURES, *(pytest.param(*row, marks=pytest.mark.slow) for row in LONG)],
)
def test_a_page_says_what_is_computed(page, said, figures, shared, here):
    pattern = re.escape(said).replace(r"\{\}", r"([\d.]*\d)")
    numbers = re.search(pattern, " ".join(text_of(page).split())).groups()
    digits = [len(number.partition(".")[2]) for number in numbers]
    computed = zip(figures(shared), digits, strict=True)
    assert [f"{float(x):.{n}f}" for x, n in computed] == [*numbers]
