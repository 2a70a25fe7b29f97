"""`rnng-dy train --trees`: a treebank of one's own instead of oracles."""

from pathlib import Path

import pytest

from oracle.brackets import read_trees
from rnng_dy import load
from tests.commands import invoke, unless_given

from ..training.trainings import KINDS, assert_same_bits

SMALL = ["--hidden", "8", "--set", "lstm_input=9", "--epochs", "1", "--set", "first_evaluation=10"]
CLEAN = "(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))"

pytestmark = pytest.mark.usefixtures("train_and_dev")


def write(name, *lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def train(kind, *options, model="m", code=0):
    usual = unless_given([*SMALL, "--model", model], options)
    return invoke("train", kind, *usual, *options, code=code)


def oracles(generative, train="t.trees", dev="d.trees", options=()):
    """What a user would give instead of --trees and --dev-trees."""
    options = [*options, "--generative"] if generative else options
    for trees in (train, dev):
        invoke("oracle", "--train", train, trees, *options, "-o", f"{trees}.oracle")
    return ["--train", f"{train}.oracle", "--dev", f"{dev}.oracle"]


@pytest.mark.parametrize("kind", KINDS)
def test_trees_train_the_model_of_their_oracles_bit_for_bit(kind):
    more = ["--pos"] if kind == "discriminative" else []
    train(kind, "--trees", "t.trees", "--dev-trees", "d.trees", *more)
    given = oracles(kind != "discriminative")
    golds = ["--dev-trees", "d.trees"] if kind == "discriminative" else []
    train(kind, *given, *golds, *more, model="by-oracles")
    assert_same_bits("m", "by-oracles")
    assert sorted(path.name for path in Path().iterdir() if path.name[0] == ".") == []


def test_unk_is_as_the_oracle_command_has_it():
    more = ["--unk", "single"]
    train("lstm-lm", "--trees", "t.trees", "--dev-trees", "d.trees", *more)
    train("lstm-lm", *oracles(True, options=more), model="by-oracles")
    assert_same_bits("m", "by-oracles")
    assert load("m").vocabulary.unknown.rules == "single"


@pytest.mark.parametrize("kind", KINDS)
def test_unk_stays_where_the_training_words_have_the_same_class_by_other_rules(kind):
    lines = [f"(S (NN {word}) (VB ruft) (. .))" for word in ("hier", "hier", "größe", "maß")]
    write("few.trees", *lines * 2, "(S (NN hört) (VB ruft) (. .))")
    data = ["--trees", "few.trees", "--hold-out", "0.2", "--unk", "berkeley-unicode"]
    train(kind, *data)
    assert load("m").vocabulary.unknown.unkify(["École"]) == ["UNK-INITC"]
    assert "resuming" in train(kind, *data, "--resume").stderr


def test_a_held_out_part_is_kept_to_evaluate_on():
    result = train("discriminative", "--trees", "t.trees", "--hold-out", "0.1")
    lines = Path("t.trees").read_text(encoding="utf-8").splitlines(keepends=True)
    assert Path("m/dev.trees").read_text(encoding="utf-8") == "".join(lines[9::10])
    assert "epoch 1.00, 27 sentences" in result.stderr
    invoke("parse", "--model", "m", "m/dev.trees", "-o", "parsed.trees")
    invoke("evalb", "m/dev.trees", "parsed.trees")


def test_trees_are_cleaned_and_that_is_said_with_the_share_of_words_that_have_vectors():
    write("raw.trees", *["( (S (NP-SBJ (DT A) (NN cat)) (VP (VBD sat) (NP (-NONE- *)))) )"] * 3)
    write("vectors", "2 2", "a 1 2", "dog 3 4")
    data = ["--trees", "raw.trees", "--dev-trees", "raw.trees", "--pretrained", "vectors"]
    result = train("discriminative", *data)
    assert "raw.trees: 3 trees read, 3 cleaned, 0 emptied" in result.stderr
    assert "vectors: 33.3% of the training words have a vector" in result.stderr
    assert load("m").vocabulary.nonterminals == ("S", "NP", "VP")


@pytest.mark.parametrize("kind", KINDS)
def test_resume_makes_the_same_data_again(kind):
    data = ["--trees", "t.trees", "--hold-out", "0.1"]
    train(kind, *data, "--epochs", "2", model="straight")
    train(kind, *data)
    train(kind, *data, "--resume", "--epochs", "2")
    # the best model may be another one: a run is evaluated where it ends, too
    assert_same_bits("m", "straight", ["training.npz"])


GIVE = "give --trees with --dev-trees or --hold-out, or oracles as --train and --dev"
CONTRADICTIONS = [
    ([], GIVE),
    (["--trees", "x"], GIVE),
    (["--trees", "x", "--dev-trees", "x", "--hold-out", "0.1"], "--hold-out goes without --dev-tr"),
    (["--trees", "x", "--train", "x"], "--train goes with --dev"),
    (["--train", "x", "--dev", "x"], "--dev-trees of a parser"),
    (["--train", "x", "--dev", "x", "--unk", "single"], "--unk goes with --trees"),
    (["--trees", "-", "--dev-trees", "-"], "only one of the files can be standard input"),
    (["--trees", "t.trees", "--hold-out", "0"], "0.0 is not in the range 0<x<1"),
    (["--trees", "t.trees", "--hold-out", "nan"], "nan"),
    (["--trees", "absent", "--hold-out", "0.1"], "absent: No such file"),
]


@pytest.mark.parametrize(("options", "says"), CONTRADICTIONS)
def test_options_that_contradict_each_other_say_what_to_give(options, says):
    assert says in " ".join(train("discriminative", *options, code=2).stderr.split())
    assert not Path("m").exists()


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("action_size=5", "'action_size=5' is no NAME=VALUE, with one of layers"),
        ("layers=2.5", "layers: '2.5' is not a valid integer range"),
        ("l2=nan", "l2: nan is no finite number"),
        ("optimizer=", "'optimizer=' is no NAME=VALUE"),
        ("optimizer=x", "'x' is not one of 'sgd', 'adam'"),
    ],
)
def test_a_setting_that_is_none_is_named(setting, says):
    data = ["--trees", "t.trees", "--hold-out", "0.1"]
    assert says in " ".join(train("lstm-lm", *data, "--set", setting, code=2).stderr.split())


def test_a_folder_in_the_way_is_told_before_anything_is_made(monkeypatch):
    Path("m").mkdir()
    monkeypatch.delattr("rnng_dy.training.data.make_training_data")
    result = train("lstm-lm", "--trees", "t.trees", "--hold-out", "0.1", code=2)
    assert "m exists: continue with --resume" in result.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_twenty_trees_or_one_are_enough(kind):
    write("one.trees", CLEAN)
    train(kind, "--trees", "one.trees", "--dev-trees", "d.trees")
    result = train(kind, "--trees", "one.trees", "--hold-out", "0.5", model="n", code=2)
    assert "one.trees: one tree alone: held out, it leaves none to train on" in result.stderr
    write("words.trees", *["(S (NN yes))", "(S (UH no))"] * 10)
    train(kind, "--trees", "words.trees", "--hold-out", "0.01", model="words")
    assert len(list(read_trees("words/dev.trees"))) == 1


def deep(depth):
    return f"{'(S ' * depth}(UH yes) (. .){')' * depth}"


def test_trees_that_are_too_deep_are_left_out_with_their_place():
    write("t.trees", *Path("t.trees").read_text(encoding="utf-8").splitlines(), deep(102))
    said = train("generative", "--trees", "t.trees", "--dev-trees", "d.trees").stderr
    says = "t.trees: left out, since action 102, 'NT(S)', opens one constituent more than the 101"
    assert says in said
    write("deep.trees", deep(102))
    for kind, first, second, says in (
        ("generative", "deep.trees", "d.trees", "deep.trees: "),
        ("generative", "t.trees", "deep.trees", "Error: deep.trees: every sentence has p = 0"),
        ("discriminative", "deep.trees", "d.trees", "Error: deep.trees: every sentence has p = 0"),
    ):
        given = (kind, "--trees", first, "--dev-trees", second)
        assert says in train(*given, model="n", code=2).stderr
    assert [path.name for path in Path().iterdir() if path.name[0] in ".n"] == []


@pytest.mark.parametrize(
    "where", ["oracle.training_data.make_oracle", "clusters.brown.brown_clusters"]
)
def test_ctrl_c_while_the_data_is_made_leaves_nothing(monkeypatch, where):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, stopped)
    result = train("generative", "--trees", "t.trees", "--hold-out", "0.1", code=130)
    assert "stopped before there was m: the same command starts again" in result.stderr
    assert sorted(path.name for path in Path().iterdir()) == ["d.trees", "t.trees"]


def test_trees_come_from_standard_input():
    text = Path("t.trees").read_text(encoding="utf-8")
    command = ["train", "lstm-lm", *SMALL, "--model", "m", "--trees", "-", "--hold-out", "0.1"]
    for more in ([], ["--resume"]):
        invoke(*command, *more, input=text)
    result = invoke(*command, "--resume", code=2, input=text + text)
    assert "other data (train, dev)" in result.stderr
