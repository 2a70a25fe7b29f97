"""`rnng-dy attention`: weights, measures and a page; what cannot be is told."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

from oracle.brackets import format_tree
from oracle.treebank import words
from rnng_dy.language_model import GenerativeModel
from tests.commands import invoke

from ..conftest import make_generator, make_parser

GATED = "gated-attention"


@pytest.fixture(scope="module")
def place(tmp_path_factory, trees, sentences, generative_sentences):
    """Models that have attention and such that have not, and trees."""
    folder = tmp_path_factory.mktemp("attention")
    generator = make_generator(generative_sentences, GATED, state="stack")
    # trained, as far as it knows
    generator.updates = 1
    generator.save(folder / "generator")
    make_parser(sentences, GATED).save(folder / "parser")
    make_generator(generative_sentences).save(folder / "corrected")
    make_generator(generative_sentences, GATED, state="no-stack").save(folder / "no-stack")
    some = "".join(f"{format_tree(t.tree)}\n" for t in trees[:5])
    (folder / "some.trees").write_text(some, encoding="utf-8")
    (folder / "bare.trees").write_text(re.sub(r"\(\S+ ([^()]+)\)", r"\1", some), encoding="utf-8")
    (folder / "unseen.trees").write_text(f"{some}(ZZZ (XX a) (XX b))\n", encoding="utf-8")
    (folder / "none.trees").write_text("(ZZZ (XX a) (XX b))\n", encoding="utf-8")
    (folder / "bad.heads").write_text("NP nowhere NN\n", encoding="utf-8")
    return folder


def run(place, *arguments, code=0):
    options = [str(place / a) if (place / a).exists() or "/" in a else a for a in arguments]
    return invoke("attention", *options, code=code)


@pytest.mark.parametrize("kind", ["generator", "parser"])
def test_a_line_for_each_constituent_has_the_models_weights(place, trees, kind):
    rows = [
        line.split("\t") for line in run(place, "--model", kind, "some.trees").stdout.splitlines()
    ]
    subtrees = [(i, t.label()) for i, located in enumerate(trees[:5])
                for t in located.tree.subtrees(lambda t: t.height() > 2)]  # fmt: skip
    assert sorted((int(i), label) for i, label, _ in rows) == sorted(subtrees)
    for *_, weights in rows:
        assert sum(map(float, weights.split())) == pytest.approx(1, abs=1e-5)
    # the root is completed last, and has as many weights as children
    last = [label for i, label, _ in rows if i == "0"][-1]
    assert last == trees[0].tree.label()
    assert len(rows[-1][2].split()) == len(trees[4].tree)


def test_csv_has_a_line_of_names_and_the_same_cells(place):
    with_tabs = run(place, "--model", "generator", "some.trees").stdout
    as_csv = run(place, "--model", "generator", "some.trees", "--format", "csv").stdout
    names, *rows = csv.reader(as_csv.splitlines(), strict=True)
    assert names == ["tree", "label", "weights"]
    assert rows == [line.split("\t") for line in with_tabs.splitlines()]


def test_trees_without_tags_have_the_same_weights(place):
    tagged = run(place, "--model", "generator", "some.trees").stdout
    assert run(place, "--model", "generator", "bare.trees").stdout == tagged


def test_nothing_but_the_weights_is_said(place):
    assert run(place, "--model", "generator", "some.trees").stderr == ""
    assert "not trained" in run(place, "--model", "parser", "some.trees").stderr


def test_in_python(place, trees):
    model = GenerativeModel.load(place / "generator")
    found = model.attention(trees[0].tree)
    assert (found[-1][0], len(found[-1][1])) == (trees[0].tree.label(), len(trees[0].tree))
    assert all(np.isclose(weights.sum(), 1) for _, weights in found)


def test_analysis_is_printed_and_weights_go_into_a_file(place, tmp_path):
    files = ["-o", str(tmp_path / "w.tsv"), "--json", str(tmp_path / "a.json")]
    result = run(place, "--model", "generator", "some.trees", "--analysis", *files)
    assert re.search(r"^NP +\d+( +\d+\.\d\d){6}$", result.stdout, re.MULTILINE)
    assert "without punctuation" in result.stdout
    lines = (tmp_path / "w.tsv").read_text(encoding="utf-8")
    assert lines == run(place, "--model", "generator", "some.trees").stdout
    found = json.loads((tmp_path / "a.json").read_text())
    several = sum(" " in line.split("\t")[2] for line in lines.splitlines())
    assert found["all"]["constituents"] == several


def test_a_page_has_the_weights_on_the_edges(place, tmp_path, trees):
    page = tmp_path / "page.html"
    assert run(place, "--model", "generator", "some.trees", "--html", str(page)).stdout == ""
    text = page.read_text(encoding="utf-8")
    rows = run(place, "--model", "generator", "some.trees").stdout.splitlines()
    shown = re.findall(r">(\d\.\d\d)<", text)
    expected = [f"{float(w):.2f}" for row in rows for w in row.split("\t")[2].split()]
    assert len(shown) == len(expected)
    assert sorted(map(float, shown)) == pytest.approx(sorted(map(float, expected)), abs=0.011)
    assert " ".join(words(trees[0].tree)) in text


def test_a_tree_that_the_model_cannot_derive_is_named_and_left_out(place):
    result = run(place, "--model", "generator", "unseen.trees")
    assert "unseen.trees:6: left out: " in result.stderr and "ZZZ" in result.stderr
    assert "1 of 6 trees left out" in result.stderr
    assert result.stdout == run(place, "--model", "generator", "some.trees").stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--model", "corrected", "some.trees"], "composition corrected and state full has no att"),
        (["--model", "no-stack", "some.trees"], "state no-stack has no attention weights"),
        (["--model", "generator", "none.trees"], "no tree in this file that the model can derive"),
        (["--model", "generator", "bare.trees", "--analysis"], "head rules need (TAG word)"),
        (["--model", "generator", "some.trees", "--json", "x"], "--json are for --analysis"),
        (["--model", "generator", "some.trees", "--analysis", "-o", "-"], "name a file with -o"),
        (["--model", "generator", "some.trees", "--analysis", "--head-rules", "bad.heads"], "bad.heads:1: "),
        (["--model", "generator", "some.trees", "-o", "some.trees"], "some.trees"),
        (["--model", "absent/", "some.trees"], "there is no folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(place, options, says):
    assert says in " ".join(run(place, *options, code=2).stderr.split())
