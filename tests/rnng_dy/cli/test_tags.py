"""Whose POS tags a parser reads, and the taggers that `train --pos` and `tag --into` keep."""

import re
import shutil
from pathlib import Path

import pytest

from oracle.brackets import format_tree, read_trees
from oracle.tagging import FILES, load_tagger, tags_by
from tests.commands import invoke

from ..conftest import make_generator, make_parser, save_oracle, sentences_of

WORDS = "the cat slept ."
TRAIN = "train discriminative --train 30.oracle --dev 30.oracle --dev-trees 30.trees --model m "
TRAIN += "--hidden 8 --set lstm_input=9 --epochs 1"


def run(command, text="", code=0):
    """A command, its arguments separated by blanks."""
    result = invoke(*command.split(), code=code, input=text)
    assert code == 0 or result.stdout == ""
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory, trees, sentences, tagger, generative_sentences):
    """Parsers with and without a tagger or tags, a generative model, 30 trees, their oracle."""
    folder = tmp_path_factory.mktemp("tags")
    for name, tags, own in [("own", True, tagger), ("none", True, None), ("plain", False, None)]:
        parser = make_parser(sentences, tags=tags)
        parser.tagger = own
        # it closes what it opens
        bias = [2.0, 1.0] + [-1.0] * (len(parser.transitions) - 2)
        parser.store.dense["action_bias"].set_value(bias)
        parser.save(folder / name)
    make_generator(generative_sentences).save(folder / "generator")
    (folder / "30.trees").write_text("".join(f"{format_tree(t.tree)}\n" for t in trees[:30]))
    save_oracle(folder / "30.oracle", sentences_of(trees[:30], generative=False))
    return folder


@pytest.fixture(autouse=True)
def here(folder, tmp_path, monkeypatch):
    """A copy of it, the current folder."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def tagged(tagger, text=WORDS):
    words = text.split()
    return " ".join(f"{w}_{t}" for w, t in zip(words, tags_by(tagger, words), strict=True))


def test_words_are_tagged_by_the_parsers_own_tagger(tagger):
    own = run("-q parse --model own -", WORDS)
    assert own.stdout == run("-q parse --model own --tagged -", tagged(tagger)).stdout
    assert "tags: by the model's own tagger\n" in run("parse --model own -", WORDS).stderr
    samples = run("-q sample --model own --samples 3 -", WORDS).stdout
    assert samples == run("-q sample --model own --tagged --samples 3 -", tagged(tagger)).stdout


@pytest.mark.parametrize(
    ("form", "tagged"),
    [("the_NN cat_NN slept_NN ._NN", "--tagged"), ("(S (NN the) (NN cat) (NN slept) (NN .))", "")],
)
def test_given_tags_are_read_unless_its_own_are_asked_for(form, tagged):
    own = run("-q parse --model own -", WORDS).stdout
    result = run(f"parse --model own {tagged} -", form)
    assert result.stdout.count("(NN ") == 4
    assert "tags:" not in result.stderr
    result = run(f"parse --model own {tagged} --own-tags -", form)
    assert result.stdout == own != run(f"-q parse --model own {tagged} -", form).stdout
    assert "tags: by the model's own tagger\n" in result.stderr


def test_an_oracles_tags_are_given_ones(trees):
    words = "".join(f"{' '.join(t.tree.leaves())}\n" for t in trees[:30])
    own = run("-q parse --model own -", words).stdout
    assert run("-q parse --model own --own-tags 30.oracle").stdout == own
    with_oracles = run("-q parse --model own 30.oracle").stdout
    Path("given").write_text(with_oracles)
    assert [t.tree.pos() for t in read_trees("given")] == [t.tree.pos() for t in trees[:30]]


def test_trees_without_tags_are_tagged_one_by_one():
    text = "(S (XX the) (XX cat))\n(S (DT the) (NN cat))\n"
    result = run("parse --model own -", text)
    assert "tags: by the model's own tagger in 1 of 2 sentences\n" in result.stderr
    assert "XX" not in result.stdout


NO_TAGGER = "-:1: this parser was trained with POS tags and has no tagger"


@pytest.mark.parametrize(
    ("command", "text", "says"),
    [
        ("parse --model none -", WORDS, NO_TAGGER),
        ("sample --model none -", WORDS, "rnng-dy tag --train TREES --into MODEL"),
        ("parse --model none --tagged --own-tags -", "the_DT", NO_TAGGER),
        ("parse --model own -", "snake_case", "-:1: 'snake_case' looks like word_TAG"),
        ("parse --model plain --own-tags -", WORDS, "reads no POS tags"),
        ("parse --model generator --own-tags -", WORDS, "reads no POS tags"),
    ],
)
def test_tags_that_cannot_be_had(command, text, says):
    assert says in run(command, text, code=2).stderr


# taggers that are made


def test_training_with_tags_keeps_a_tagger_and_says_how_good_it_is():
    result = run(f"{TRAIN} --pos --seed 5")
    assert "training a POS tagger\n" in result.stderr
    said = re.search(r"dev accuracy ([\d.]+) % of 296 words", result.stderr)
    assert 90 < float(said[1]) <= 100
    assert run("-q parse --model m -", WORDS).stdout.startswith("(")


@pytest.mark.parametrize("options", ["", "--pos --no-tagger"])
def test_training_may_do_without_a_tagger(options):
    result = run(f"{TRAIN} {options}")
    assert not Path("m/tagger").exists()
    assert "POS tagger" not in result.stderr


def test_a_folder_is_given_the_tagger_that_training_would_have_made():
    run(f"{TRAIN} --pos")
    of_training = {p.name: p.read_bytes() for p in Path("m/tagger").iterdir()}
    shutil.rmtree("m/tagger")
    assert "has no tagger" in run("parse --model m -", WORDS, code=2).stderr
    result = run("tag --train 30.trees --into m")
    tags = len(load_tagger(Path("m/tagger")).classes)
    assert result.stdout == f"m: a tagger with {tags} POS tags\n"
    assert {p.name: p.read_bytes() for p in Path("m/tagger").iterdir()} == of_training
    assert of_training.keys() == set(FILES)
    # this process has the parser without a tagger in memory
    run("parse --model m -", WORDS)
    shutil.rmtree("m/tagger")
    Path("other.trees").write_text(Path("30.trees").read_text().replace("(NN ", "(NN1 "))
    said = run("tag --train other.trees --into m").stderr
    assert "POS tags of the tagger that the parser lacks, taken for an average tag: NN1" in said


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("tag --train 30.trees --into own", "own has a tagger: remove own/tagger first"),
        ("tag --train 30.trees --into plain", "trained without --pos"),
        ("tag --train 30.trees --into generator", "a generative model; a discriminative one is needed"),
        ("tag --train 30.trees --into nowhere", "there is no folder nowhere"),
        ("tag --train empty --into none", "empty: no trees"),
        ("tag --train other --into none", "3 of the tagger's 3 POS tags are none of the parser's"),
        ("tag --train untagged --into none", "untagged:1: the word 'cat' has no POS tag"),
        ("tag --train absent --into none", "absent"),
        ("tag 30.trees --train 30.trees --into none", "--into goes without TREES"),
        ("tag --jackknife 2 --into none", "--into goes with --train"),
        ("tag --train 30.trees", "name the TREES to tag"),
        ("tag copied.trees --train 30.trees", "copied.trees: most trees are in 30.trees: tag them by"),
    ],
)  # fmt: skip
def test_a_tagger_that_cannot_be_given(command, says):
    Path("empty").write_text("\n")
    Path("copied.trees").write_text(Path("30.trees").read_text() + "(S (UH No) (. .))\n")
    Path("other").write_text("(S (PRON it) (VERB rains) (PUNCT .))\n")
    Path("untagged").write_text("(S (NP the cat) sleeps)\n")
    assert says in run(command, code=2).stderr
    assert not Path("none/tagger").exists()


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_tagger_is_named(name):
    path = Path("own/tagger", name)
    path.write_text("{")
    commands = ("parse --model own -", "sample --model own -", "tag --train 30.trees --into own")
    for command in commands:
        assert f"Error: {path}: " in run(command, WORDS, code=2).stderr
