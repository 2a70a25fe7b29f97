"""`rnng-dy train --init`: going on from a model with other data."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from oracle.brackets import read_trees
from rnng_dy import checkpoint, load
from tests.commands import invoke, unless_given

from ...conftest import tiny_trees
from ..training.trainings import KINDS, arrays, assert_same_bits

NEW = "(SX (QP (ZZ xyzzy) (NN cat)) (VP (VBD sat) (QP (ZZ xyzzy))) (. .))"
SMALL = ["--epochs", "1", "--set", "first_evaluation=5"]
SIZES = ["--hidden", "8", "--set", "lstm_input=9"]
# no evaluation changes the parameters that are kept: the rate is so small that no float32 does
STILL = ["--learning-rate", "1e-30", "--set", "l2=0"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model of each kind, and other trees."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "old.trees").write_text(tiny_trees(0, 60), encoding="utf-8")
    (folder / "more.trees").write_text(tiny_trees(60, 90), encoding="utf-8")
    trees = ["--trees", str(folder / "old.trees"), "--hold-out", "0.1"]
    for kind in KINDS:
        pos = ["--pos"] if kind == "discriminative" else []
        invoke("train", kind, *trees, *pos, *SMALL, *SIZES, "--model", str(folder / kind))
    return folder


@pytest.fixture(autouse=True)
def data(made, here):
    for path in made.iterdir():
        (here / path.name).symlink_to(path)


def go_on(kind, *options, code=0, model="m", trees="more.trees"):
    usual = ["--init", kind, *SMALL, "--model", model, "--trees", trees, "--hold-out", "0.2"]
    return invoke("train", kind, *unless_given(usual, options), *options, code=code)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_goes_on_with_its_vocabulary_and_other_data(kind):
    go_on(kind)
    old, new = load(kind), load("m")
    before, after = old.vocabulary.to_json(), new.vocabulary.to_json()
    # words that the model has, and that the new trees have twice, become known
    assert {name for name in after if after[name] != before[name]} <= {"known", "singletons"}
    assert {*after["known"]} >= {*before["known"]}
    assert new.config() == old.config()
    assert checkpoint.training_state("m")["progress"]["updates"] == 24
    both = zip(arrays(kind).values(), arrays("m").values(), strict=True)
    assert any((a != b).any() for a, b in both)


@pytest.mark.parametrize("kind", KINDS)
def test_it_begins_with_the_parameters_of_the_model(kind):
    go_on(kind, *STILL)
    np.testing.assert_equal({**arrays("m"), "updates": 0}, {**arrays(kind), "updates": 0})
    if kind != "lstm-lm":
        old, new = load(kind), load("m")
        for located in list(read_trees("old.trees"))[:2]:
            assert new.log_prob(located.tree) == old.log_prob(located.tree)


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_reaches_the_same_bits_though_the_first_model_is_gone(kind):
    shutil.copytree(Path(kind).resolve(), "first")
    go_on(kind, "--init", "first", "--epochs", "2", model="straight")
    go_on(kind, "--init", "first")
    shutil.rmtree("first")
    go_on(kind, "--init", "first", "--resume", "--epochs", "2")
    assert_same_bits("m", "straight")


@pytest.mark.parametrize(
    ("again", "other"),
    [([], "init"), (["--init", "other"], "init"), (["--init", "generative", "--extend"], "extend")],
)
def test_resume_needs_the_same_beginning_again(again, other):
    go_on("generative")
    command = [*again, "--trees", "more.trees", "--hold-out", "0.2", "--resume", "--model", "m"]
    result = invoke("train", "generative", *command, code=2)
    assert f"m was trained with other data ({other})" in result.stderr


@pytest.mark.parametrize("more", [[], ["--extend"]])
def test_the_tagger_and_how_text_is_split_go_with_the_model(more):
    go_on("discriminative", *more)
    companions = [path.name for path in Path("discriminative/tagger").iterdir()]
    assert companions
    for name in ["text.json", *(f"tagger/{name}" for name in companions)]:
        assert Path("m", name).read_bytes() == Path("discriminative", name).read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_new_symbols_are_named_or_added(kind):
    Path("new.trees").write_text(f"{NEW}\n" * 4, encoding="utf-8")
    if kind == "lstm-lm":
        go_on(kind, trees="new.trees")
        return
    result = go_on(kind, trees="new.trees", code=2)
    tags = " and POS tags ZZ" if kind == "discriminative" else ""
    says = f"new.trees: nonterminals SX, QP{tags} are not in {kind}: add them with --extend"
    assert says in result.stderr
    assert not Path("m").exists()
    result = go_on(kind, "--extend", trees="new.trees")
    assert f"adding nonterminals SX, QP{tags}" in result.stderr
    old, new = (load(folder).vocabulary for folder in (kind, "m"))
    assert new.nonterminals == (*old.nonterminals, "SX", "QP")
    if kind == "discriminative":
        assert new.tags.symbols == (*old.tags.symbols, "ZZ")
        assert "POS tagger: dev accuracy" in result.stderr
    go_on(kind, "--extend", "--resume", "--epochs", "2", trees="new.trees")


def damaged(name):
    shutil.copytree(Path("discriminative").resolve(), "damaged")
    Path("damaged", name).write_bytes(b"{")
    return ["--init", "damaged"]


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("discriminative", lambda: ["--init", "generative"], "a generative model; a discriminative"),
        ("discriminative", lambda: ["--init", "absent"], "there is no folder absent"),
        ("discriminative", lambda: damaged("parameters.npz"), "damaged/parameters.npz: "),
        ("discriminative", lambda: ["--model", "./discriminative/"], "name another --model"),
        ("discriminative", lambda: ["--pretrained", "x"], "--pretrained goes without --init"),
        ("generative", lambda: ["--clusters", "x"], "--clusters goes without --init"),
        ("generative", lambda: ["--hidden", "20"], "generative has other dimensions"),
        ("generative", lambda: ["--composition", "buggy"], "generative has another composition"),
        ("generative", lambda: ["--state", "stack"], "generative has another state"),
        ("generative", lambda: ["--unk", "single"], "the model has --unk berkeley"),
        ("lstm-lm", lambda: ["--extend"], "No such option"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(kind, options, says):
    result = go_on(kind, *options(), code=2)
    assert says in " ".join(result.stderr.split())
    assert not Path("m").exists()


def test_tags_cannot_be_added_to_a_parser_of_words_alone():
    trees = ["--trees", "old.trees", "--hold-out", "0.1"]
    invoke("train", "discriminative", *trees, *SMALL, *SIZES, "--model", "words")
    result = go_on("discriminative", "--init", "words", "--pos", code=2)
    assert "words was trained without --pos" in result.stderr
    go_on("discriminative", "--init", "words")
    assert load("m").vocabulary.tags is None
