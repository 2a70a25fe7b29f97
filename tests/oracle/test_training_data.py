"""Trees of one's own: cleaned, some held out, and the oracles of the command."""

from dataclasses import replace
from fractions import Fraction
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp

import pytest
from nltk import Tree

from oracle.blocks import write_oracle
from oracle.common.errors import InputError
from oracle.training_data import cleaned_trees, held_out, make_training_data
from oracle.unknown import RULES
from tests.commands import invoke as run

RAW = "( (S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBD sat) (NP (-NONE- *-1))) (. .)) )"
CLEAN = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"


def write(name, *lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return name


def made(trees, dev, unk=RULES[0], generative=False):
    """The files of trees and oracles of both parts, by name."""
    files, folder = {}, Path(mkdtemp(dir="."))
    train, dev = make_training_data(folder, trees, dev, unk, "top-down", generative)
    texts = (folder / "train.trees").read_text(encoding="utf-8").splitlines()
    train = [replace(s, tree=text) for s, text in zip(train, texts, strict=True)]
    for part, oracle in (("train", train), ("dev", dev)):
        write_oracle(oracle, stream := StringIO())
        files[f"{part}.oracle"] = stream.getvalue()
        files[f"{part}.trees"] = "".join(f"{sentence.tree}\n" for sentence in oracle)
    return files


@pytest.mark.parametrize(
    ("share", "count", "held"),
    [
        ("1/10", 20, [10, 20]),
        ("1/10", 19, [10]),
        ("1/10", 9, [9]),
        ("1/2", 4, [2, 4]),
        ("9/10", 2, [2]),
        ("99/100", 3, [2, 3]),
        ("1/10", 1, [1]),
        ("1/10", 0, []),
    ],
)
def test_held_out_items_are_evenly_spaced_and_at_least_one(share, count, held):
    found = held_out(range(1, count + 1), Fraction(share))
    assert [number for number, is_held_out in found if is_held_out] == held


@pytest.mark.parametrize("generative", [False, True])
@pytest.mark.parametrize("unk", RULES)
def test_oracles_are_those_of_the_oracle_command_byte_for_byte(
    here, tiny_reference, unk, generative
):
    train, dev = (str(tiny_reference / f"{part}.trees") for part in ("train", "dev"))
    files = made(cleaned_trees(train), cleaned_trees(dev), unk, generative)
    options = ["--unk", unk] + ["--generative"] * generative
    for part, path in (("train", train), ("dev", dev)):
        assert run("oracle", "--train", train, path, *options).stdout == files[f"{part}.oracle"]
        assert files[f"{part}.trees"] == Path(path).read_text(encoding="utf-8")


def test_trees_are_those_that_prepare_makes(here):
    """On one line or several, with function tags, traces, wrappers, or nothing but a trace."""
    path = write("raw.trees", RAW, "", CLEAN.replace(" (VP", "\n  (VP"), "(S (-NONE- *))", CLEAN)
    file = cleaned_trees(path)
    files = made(file, cleaned_trees(path))
    assert files["train.trees"] == run("prepare", "--from", "trees", path).stdout
    assert files["train.trees"] == 3 * f"{CLEAN}\n"
    assert (file.read, file.changed, file.emptied, file.kept) == (4, 1, 1, 3)


def test_a_tree_that_is_wrapped_twice_is_unwrapped(here):
    file = cleaned_trees(write("t.trees", f"( ({CLEAN}))", CLEAN))
    assert [located.text for located in file] == [CLEAN, CLEAN]
    assert file.changed == 1


def test_words_of_the_held_out_part_are_unknown(here):
    """A word that is there twice, once of it in the held-out tree, is known to nobody."""
    trees = [CLEAN, CLEAN.replace("cat", "dog"), CLEAN.replace("cat", "dog"), CLEAN]
    files = made(cleaned_trees(write("t.trees", *trees)), Fraction(1, 2))
    assert "The dog sat .\nthe dog sat .\nThe UNK-LC sat .\n" in files["dev.oracle"]
    assert "The UNK-LC sat ." in files["train.oracle"]


def test_preterminals_are_refused_with_their_place(here):
    path = write("t.trees", CLEAN, "(NN yes)", CLEAN)
    with pytest.raises(InputError, match=r"^t.trees:2: .*--skip-preterminals"):
        made(cleaned_trees(path), Fraction(1, 2))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "t.trees: no tree in this input"),
        (["", "  "], "t.trees: no tree in this input"),
        (["(S (-NONE- *))"], "t.trees: no tree is left of 1"),
        (["(S (-NONE- *))"] * 2, "t.trees: no tree is left of 2"),
        ([CLEAN], "t.trees: one tree alone: held out, it leaves none to train on; give --dev"),
        ([CLEAN, "(S (NN a)"], "t.trees:2: "),
        ([CLEAN, "(S (NN a) b)"], "t.trees:2: the word 'b' has no POS tag"),
    ],
)
def test_what_cannot_be_trained_on_is_named(here, lines, says):
    with pytest.raises(InputError) as raised:
        made(cleaned_trees(write("t.trees", *lines)), Fraction(1, 10))
    assert str(raised.value).startswith(says)


@pytest.mark.parametrize(
    ("trees", "says"),
    [
        ([Tree.fromstring(CLEAN), CLEAN], f"trees:2: {CLEAN!r} is no nltk.Tree"),
        ([None], "trees:1: None is no nltk.Tree"),
        ([Tree.fromstring(CLEAN), Tree("S", [Tree("NN", [""])])], "trees:2: "),
        (Tree.fromstring(CLEAN), "trees: one tree, and a list of them is needed"),
    ],
)
def test_what_is_given_for_trees_and_is_none_is_named(trees, says):
    with pytest.raises(InputError) as raised:
        list(cleaned_trees(trees))
    assert str(raised.value).startswith(says)
