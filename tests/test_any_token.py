"""Any token is data: none is a mark of ours, whatever it looks like, in training or only afterwards."""

from __future__ import annotations

import json
import math
from pathlib import Path

import nltk
import pytest

import rnng_dy
from oracle.brackets import parse_line
from oracle.treebank import words
from tests.commands import invoke

TOKENS = {
    "start": "<s>",
    "end": "</s>",
    "root": "ROOT",
    "class": "UNK-LC",
    "bracket": "(",
    "hash": "#",
    "bars": "|||",
    "reduce": "REDUCE",
    "separator": "\u2028",
    "long": "y" * 10_000,
}
KINDS = ("discriminative", "generative", "lstm-lm")
SMALL = ["--hidden", "8", "--set", "lstm_input=9", "--epochs", "1", "--set", "first_evaluation=10"]


def written(token: str) -> str:
    """As trees and tokenised text have it."""
    return "-LRB-" if token == "(" else token


def tree_of(token: str) -> str:
    return f"(S (NP (DT the) (X {written(token)})) (VP (VBD saw) (X {written(token)})) (. .))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models whose training text has each of the tokens twice, and models whose training text has none of them."""
    folder = tmp_path_factory.mktemp("tokens")
    plain = [tree_of(word) for word in ("cat", "dog", "Mr.", "1990", "re-use", "Words")]
    # a word that comes once, so that the models have classes of unknown words
    plain.append("(S (NP (DT the) (X zebra)) (VP (VBD saw) (X cat)) (. .))")
    for name, trees in (("with", [*plain, *map(tree_of, TOKENS.values())]), ("without", plain)):
        path = folder / f"{name}.trees"
        path.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
        for kind in KINDS:
            data = ["--trees", path, "--dev-trees", path, "--model", folder / f"{name}.{kind}"]
            invoke("train", kind, *data, *SMALL)
        invoke("oracle", "--train", path, path, "--generative", "-o", folder / f"{name}.oracle")
    return folder


@pytest.fixture(params=["with", "without"])
def model(request, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return request.param


@pytest.fixture(params=TOKENS.values(), ids=TOKENS.keys())
def token(request, model):
    """One that stands in s.txt, test.trees, and in the generative oracle test.oracle."""
    Path("s.txt").write_text(f"the {request.param} saw {request.param} .\n", encoding="utf-8")
    Path("test.trees").write_text(f"{tree_of(request.param)}\n", encoding="utf-8")
    arguments = ["oracle", "--train", f"{model}.trees", "test.trees", "--generative"]
    invoke(*arguments, "-o", "test.oracle")
    return request.param


def sentence(token: str) -> list[str]:
    return ["the", written(token), "saw", written(token), "."]


@pytest.mark.parametrize("kind", KINDS[:2])
def test_it_is_parsed(model, token, kind):
    found = invoke("parse", "--model", f"{model}.{kind}", "s.txt").stdout
    [line] = found.removesuffix("\n").split("\n")
    assert words(parse_line(line)) == sentence(token)


def test_its_trees_are_sampled_scored_and_reranked(model, token):
    invoke("sample", "--model", f"{model}.discriminative", "--samples", 3, "s.txt", "-o", "props")
    invoke("score", "--model", f"{model}.generative", "props", "-o", "likelihoods")
    invoke("score", "--model", f"{model}.generative", "test.trees", "-o", "of_tree")
    assert math.isfinite(float(Path("of_tree").read_text().split("\t")[1]))
    invoke("rerank", "props", "likelihoods", "-o", "map.trees", "--oracle", "test.oracle")
    [line] = Path("map.trees").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert words(parse_line(line)) == sentence(token)


@pytest.mark.parametrize("scorer", ["generative", "lstm-lm", "n-grams"])
def test_it_has_a_surprisal_and_a_perplexity(model, token, scorer):
    named = ["--model", f"{model}.{scorer}"]
    if scorer == "n-grams":
        named = ["--scorer", f"kneser-ney={model}.oracle"]
    invoke("surprisal", *named, "s.txt", "--end", "-o", "s.jsonl", "-o", "s.tsv")
    [records] = (json.loads(line)["words"] for line in Path("s.jsonl").read_text().splitlines())
    assert [record["token"] for record in records] == [*sentence(token), None]
    if model == "with":
        assert [record["unk"] for record in records] == [*sentence(token), None]
    if model == "with" or scorer != "n-grams":
        assert not any(record.get("infinite") for record in records)
        found = invoke("perplexity", *named, "test.oracle").stdout
        assert "sentences=1 of 1\n" in found and math.isfinite(float(found.rsplit("=", 1)[1]))
    assert Path("s.tsv").read_text(encoding="utf-8").count("\n") == 1 + len(records)


def test_it_goes_through_the_api(model, token):
    parser, generator, lm = (rnng_dy.load(f"{model}.{kind}") for kind in KINDS)
    tokens = ["the", token, "saw", token, "."]
    tree = nltk.Tree.fromstring(tree_of("cat"))
    tree[0][1][0] = tree[1][1][0] = token
    assert math.isfinite(parser.log_prob(parser(tokens)))
    assert math.isfinite(parser.log_prob(tree))
    assert all(math.isfinite(log_q) for _, log_q in parser.sample(tokens, n=3))
    surprisals = [generator.surprisals(tokens), lm.surprisals(tokens)]
    assert all(math.isfinite(r.surprisal) for records in surprisals for r in records)
    assert math.isfinite(generator.log_prob(tree))
    assert generator.next_words(tokens[:1])


def test_drawn_sentences_have_them_too(folder):
    """The models are hardly trained: nearly all words are as probable."""
    drawn = ["generate", "-n", 60, "--words", "--model"]
    lines = invoke(*drawn, folder / f"with.{KINDS[1]}").stdout
    assert "<s>" in lines.replace("\n", " ").split(" ")
    assert "<s>" not in invoke(*drawn, folder / f"without.{KINDS[1]}").stdout
