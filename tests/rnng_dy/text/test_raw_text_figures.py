"""scripts.raw_text: trees as text, and what comes back from it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from nltk import Tree

from oracle.brackets import format_tree
from oracle.tagging import train_tagger
from rnng_dy.text.segmenter import Segmenter
from scripts.raw_text.detokenised import detokenised
from scripts.raw_text.figures import Gold, brackets, segmentation_figures, tree_figures
from tests.commands import run
from tests.conftest import CHECKOUT
from tests.rnng_dy.conftest import make_parser

SENTENCES = {
    "He ca n't -LRB- yet -RRB- ; `` no , '' said Mr. Smith 's dog .": (
        "He can't (yet); \"no,\" said Mr. Smith's dog."
    ),
    "It costs US$ 5 or $ 3 1\\/2 , 5 % more .": "It costs US$5 or $3 1/2, 5% more.",
    "the dogs ' ` bowl ' -- we can not": "the dogs' 'bowl' -- we cannot",
    '" Yes " , " no "': '"Yes", "no"',
    "Acme Corp . in the U.S. .": "Acme Corp. in the U.S.",
}


@pytest.mark.parametrize("tokens", SENTENCES)
def test_tokens_as_the_text_that_they_may_have_been(tokens):
    tokens, expected = tokens.split(), SENTENCES[tokens]
    made = detokenised(tokens, ["X"] * len(tokens))
    assert made.text == expected
    assert made.spans[0][0] == 0
    assert made.spans[-1][1] == len(expected)
    assert all(a[1] <= b[0] for a, b in zip(made.spans, made.spans[1:], strict=False))


def test_compounds_are_put_together():
    words, tags = ["a", "long", "-", "term", "plan"], ["DT", "JJ", "HYPH", "NN", "NN"]
    assert detokenised(words, tags).text == "a long-term plan"


def gold_of(*trees):
    return Gold.of([Tree.fromstring(tree) for tree in trees])


def test_segmentation_is_counted():
    gold = gold_of("(S (X He) (X ca) (X n't) (. .))", "(S (X Go) (. .))")
    assert gold.text(False) == "He can't. Go."
    right = segmentation_figures(gold, Segmenter())
    assert set(right.values()) == {2, 100.0}
    other = Segmenter.of_training([["can't", "don't"]])
    wrong = segmentation_figures(gold, other)
    assert wrong["one per line: sentences with all tokens right, %"] == 50
    assert wrong["one per line: tokens, F1"] == pytest.approx(200 * 4 / (6 + 5))
    assert wrong["running text: sentences, F1"] == 100


def test_brackets_are_counted_by_characters_as_evalb_counts_them():
    tree = Tree.fromstring("(TOP (S (`` ``) (NP (X a) (X b)) (PRT (RP c)) (, ,) (. .)))")
    spans = [(0, 1), (1, 2), (3, 4), (5, 6), (6, 7), (7, 8)]
    assert brackets(tree, spans) == {("S", 1, 6): 1, ("NP", 1, 4): 1, ("ADVP", 5, 6): 1}


@pytest.fixture
def parser(tmp_path, sentences):
    model = make_parser(sentences)
    model.tagger = train_tagger([list(zip(s.tokens, s.tags, strict=True)) for s in sentences], 1)
    model.segmenter = Segmenter.of_training([s.tokens for s in sentences])
    model.save(tmp_path / "parser")
    return str(tmp_path / "parser")


def test_trees_from_text_are_scored_beside_those_from_gold_tokens(parser, trees):
    gold = Gold.of([located.tree for located in trees[:6]])
    figures = tree_figures(gold, parser)
    of_gold = figures["gold tokens: EVALB F1"]
    assert figures["gold tokens: F1 by characters"] == pytest.approx(of_gold)
    assert figures["one per line: sentences with gold's tokens"] == 6
    assert figures["one per line: EVALB F1 of those"] == of_gold
    assert figures["one per line: EVALB F1 of those, from gold tokens"] == of_gold
    assert figures["one per line: F1 by characters, all"] == pytest.approx(of_gold)


def test_the_script_prints_and_writes_figures(tmp_path, trees, parser):
    Path(tmp_path, "test.trees").write_text("".join(f"{format_tree(t.tree)}\n" for t in trees[:3]))
    arguments = ["test.trees", "--model", parser, "--json", "f.json", "--text", "t.txt"]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    command = (sys.executable, "-m", "scripts.raw_text")
    done = run(tmp_path, *arguments, command=command, env=environment)
    figures = json.loads(Path(tmp_path, "f.json").read_text())
    assert len(done.stdout.splitlines()) == len(figures) == 19
    assert len(Path(tmp_path, "t.txt").read_text().splitlines()) == 3
