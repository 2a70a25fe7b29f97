"""Trees of one's own: cleaned, a part held out, and the oracles that `rnng-dy oracle` makes of them."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from nltk import Tree

from oracle.brackets import read_trees
from oracle.errors import InputError
from oracle.files import file_hash
from oracle.training_data import Recipe, TreesFile, held_out, make_training_data
from oracle.treebank import words
from oracle.unknown import RULES

from .test_cli import run

RECIPE = Recipe(RULES[0], "top-down", generative=False)
RAW = "( (S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBD sat) (NP (-NONE- *-1))) (. .)) )"
CLEAN = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("made").mkdir()
    return Path("made")


def write(name, *lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return name


def made(folder, trees, dev, recipe=RECIPE):
    make_training_data(folder, trees, dev, recipe)
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


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


@pytest.mark.parametrize("share", ["1/100", "1/10", "1/3", "1/2", "99/100"])
def test_the_first_item_is_never_held_out_where_there_are_two(share):
    for count in range(2, 40):
        parts = list(held_out(range(count), Fraction(share)))
        assert [item for item, _ in parts] == [*range(count)]
        assert not parts[0][1] and any(is_held_out for _, is_held_out in parts)


@pytest.mark.parametrize("generative", [False, True])
@pytest.mark.parametrize("unk", RULES)
def test_oracles_are_those_of_the_oracle_command_byte_for_byte(
    folder, tiny_reference, unk, generative
):
    train, dev = (str(tiny_reference / f"{part}.trees") for part in ("train", "dev"))
    files = made(folder, TreesFile(train), TreesFile(dev), Recipe(unk, "top-down", generative))
    options = ["--unk", unk] + ["--generative"] * generative
    for part, path in (("train", train), ("dev", dev)):
        assert run("oracle", "--train", train, path, *options).stdout == files[f"{part}.oracle"]
        assert files[f"{part}.trees"] == Path(path).read_text(encoding="utf-8")


def test_trees_are_those_that_prepare_makes(folder):
    """On one line or several, with function tags, traces, wrappers, or nothing but a trace."""
    path = write("raw.trees", RAW, "", CLEAN.replace(" (VP", "\n  (VP"), "(S (-NONE- *))", CLEAN)
    file = TreesFile(path)
    files = made(folder, file, TreesFile(path))
    assert files["train.trees"] == run("prepare", "--from", "trees", path).stdout
    assert files["train.trees"] == 3 * f"{CLEAN}\n"
    assert (file.read, file.changed, file.emptied, file.left) == (4, 1, 1, 3)


def test_words_of_the_held_out_part_are_unknown(folder):
    """A word that is there twice, once of it in the held-out tree, is known to nobody."""
    trees = [CLEAN, CLEAN.replace("cat", "dog"), CLEAN.replace("cat", "dog"), CLEAN]
    made(folder, TreesFile(write("t.trees", *trees)), Fraction(1, 2))
    text = (folder / "dev.oracle").read_text()
    assert "The dog sat .\nthe dog sat .\nThe UNK-LC sat .\n" in text
    assert "The UNK-LC sat ." in (folder / "train.oracle").read_text()


def test_parts_are_disjoint_and_complete(folder, tiny_reference):
    path = tiny_reference / "train.trees"
    files = made(folder, TreesFile(str(path)), Fraction(1, 10))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert files["dev.trees"] == "".join(lines[9::10])
    assert files["train.trees"] == "".join(x for i, x in enumerate(lines, 1) if i % 10)


def test_the_hash_is_of_the_bytes_that_were_read(folder):
    file = TreesFile(write("t.trees", CLEAN, "", f" {CLEAN}"))
    list(file)
    assert file.hash == file_hash("t.trees") == sha256(Path("t.trees").read_bytes()).hexdigest()


def test_preterminals_are_refused_with_their_place(folder):
    path = write("t.trees", CLEAN, "(NN yes)", CLEAN)
    with pytest.raises(InputError, match=r"^t.trees:2: .*--skip-preterminals"):
        made(folder, TreesFile(path), Fraction(1, 2))
    with pytest.raises(InputError, match=r"t.trees: no tree is left of 2"):
        list(TreesFile(write("t.trees", *["(S (-NONE- *))"] * 2)))


def test_a_tree_of_one_word_trains(folder):
    path = write("t.trees", "(S (NN yes))", "(S (NN yes))", "(X (UH no))")
    made(folder, TreesFile(path), TreesFile(path))
    located = list(read_trees(folder / "train.trees"))
    assert [words(t.tree) for t in located] == [["yes"], ["yes"], ["no"]]
    assert "\nno\nno\nUNK-LC\nNT(X)\nSHIFT\nREDUCE\n" in (folder / "dev.oracle").read_text()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "t.trees: no tree in this input"),
        (["", "  "], "t.trees: no tree in this input"),
        (["(S (-NONE- *))"], "t.trees: no tree is left of 1"),
        ([CLEAN], "t.trees: one tree alone: held out, it leaves none to train on; give --dev"),
        ([CLEAN, "(S (NN a)"], "t.trees:2: "),
        ([CLEAN, "(S (NN a) b)"], "t.trees:2: the word 'b' has no POS tag"),
    ],
)
def test_what_cannot_be_trained_on_is_named(folder, lines, says):
    with pytest.raises(InputError) as raised:
        made(folder, TreesFile(write("t.trees", *lines)), Fraction(1, 10))
    assert str(raised.value).startswith(says)


@pytest.mark.parametrize(
    ("trees", "says"),
    [
        ([Tree.fromstring(CLEAN), CLEAN], f"trees:2: {CLEAN!r} is no nltk.Tree"),
        ([None], "trees:1: None is no nltk.Tree"),
        (Tree.fromstring(CLEAN), "trees: one tree, and a list of them is needed"),
    ],
)
def test_what_is_given_for_trees_and_is_none_is_named(trees, says):
    with pytest.raises(InputError) as raised:
        list(TreesFile("trees", trees=trees))
    assert str(raised.value).startswith(says)
