"""`rnng-dy train`: what its options do, and what --resume insists on."""

import json
import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

from oracle.blocks import read_oracle
from oracle.brackets import read_trees
from rnng_dy import DiscriminativeParser, GenerativeModel, checkpoint, engine
from rnng_dy.cli.train import OPTIONS
from rnng_dy.settings import ParserSizes, Sizes, option_name
from rnng_dy.training.loop import saved_state
from rnng_dy.training.presets import LEAST_UPDATES, NAMES, QUICK_SIZES, Settings, settings_for
from tests.commands import invoke
from tests.conftest import tiny_trees

from ..conftest import save_oracles

PARSER = ["train", "discriminative", "--train", "good.oracle", "--dev", "good.oracle"]
PARSER += ["--dev-trees", "good.trees"]
GENERATOR = ["train", "generative", "--train", "good.gen.oracle", "--dev", "good.gen.oracle"]
SMALL = ["--hidden", "8", "--set", "lstm_input=9", "--epochs", "1", "--model", "m"]


@pytest.fixture
def data(here):
    """A folder of 30 sentences, the current one."""
    Path("good.trees").write_text(tiny_trees(0, 30), encoding="utf-8")
    save_oracles(".", "good", list(read_trees("good.trees")))
    return here


def settings_of(folder):
    return saved_state(Path(folder))["settings"]


# a value for every setting, other than that of the preset, and where it must arrive
VALUES = {
    "preset": "fast",
    "epochs": 2,
    "dropout": 0.45,
    "optimizer": "sgd",
    "learning_rate": 0.03,
    "schedule": "inverse",
    "decay": 0.3,
    "clip": 2.5,
    "l2": 0.002,
    "batch_size": 3,
    "unknown_probability": 0.25,
    "gold": 4,
    "gold_weight": 2,
    "first_evaluation": 11,
    "evaluate_every": 13,
    "evaluate_from_epoch": 1,
    "patience": 9,
    "save_every": 1.7,
    "report_every": 19,
    "seed": 77,
    "jobs": 2,
    "layers": 1,
    "lstm_input": 9,
    "hidden": 8,
    "action_size": 7,
    "word_size": 6,
    "tag_size": 5,
}


@pytest.mark.parametrize("command", [GENERATOR, PARSER], ids=["generative", "discriminative"])
def test_a_training_that_diverged_in_its_last_update_is_told(data, command):
    result = invoke(*command, *SMALL, "--learning-rate", "1e20", "--batch-size", "30", code=2)
    assert "diverged before update 1: " in result.stderr and "--learning-rate" in result.stderr


def test_every_number_option_arrives(data):
    every = (*fields(Settings), *fields(ParserSizes))
    assert VALUES.keys() == {option_name(of.name) for of in every}
    options = [
        x
        for k, v in VALUES.items()
        for x in (("--" + k.replace("_", "-"), str(v)) if k in OPTIONS else ("--set", f"{k}={v}"))
    ]
    invoke(*PARSER, "--pos", "--model", "m", *options)
    model = DiscriminativeParser.load("m")
    settings = settings_of("m")
    for name, value in VALUES.items():
        if hasattr(settings, name):
            assert getattr(settings, name) == value
        else:
            assert getattr(model.sizes, name.removesuffix("_size")) == value
    progress = checkpoint.training_state("m")["progress"]
    # two epochs of 30 trees, of which 4 are there twice
    assert (progress["sentences"], progress["updates"]) == (68, 24)


def test_patience_ends_training_and_says_so(data):
    """A learning rate so small that no score changes: the first evaluation is the best one."""
    patience = ["--set", "patience=2", "--learning-rate", "1e-30", "--set", "evaluate_every=5"]
    still = ["--set", "l2=0", "--set", "first_evaluation=5", "--epochs", "3", "--model", "m"]
    result = invoke(*PARSER, *SMALL[:4], *patience, *still)
    says = "15 sentences: no new best in 2 evaluations: training ends here (patience)"
    assert says in result.stderr
    assert result.stdout.startswith("m: best: epoch 0.17, 5 sentences: dev F1 ")


@pytest.mark.parametrize("preset", ["fast", "quick"])
def test_a_preset_is_fitted_to_the_treebank_and_resumed_as_it_was(data, preset, monkeypatch):
    small = [*GENERATOR, *SMALL, "--jobs", "1"]
    invoke(*small, "--preset", preset)
    fitted = replace(settings_for(preset, "generative", 30), epochs=1, jobs=1)
    assert fitted.batch_size == 4
    state = checkpoint.training_state("m")
    assert settings_of("m") == fitted
    assert state["progress"]["updates"] == 8
    # a rule that another version of the program has
    monkeypatch.setitem(LEAST_UPDATES, (preset, "generative"), (100, 1))
    invoke(*small, "--preset", preset, "--resume")
    assert settings_of("m") == fitted


def test_quick_models_are_small_unless_sizes_are_given(data, monkeypatch):
    monkeypatch.setattr("rnng_dy.training.presets.QUICK_FROM", 30)
    quick = [*GENERATOR, "--preset", "quick", "--epochs", "1", "--jobs", "1"]
    invoke(*quick, "--model", "small")
    assert asdict(GenerativeModel.load("small").sizes) == {**asdict(Sizes()), **QUICK_SIZES}
    invoke(*quick, "--model", "smaller", "--hidden", "8")
    assert GenerativeModel.load("smaller").sizes.hidden == 8


def test_resume_takes_what_no_number_depends_on_and_keeps_the_other_settings(data):
    invoke(*PARSER, *SMALL, "--dropout", "0.1")
    more = ["--epochs", "3", "--set", "save_every=0", "--set", "report_every=7"]
    invoke(*PARSER, *SMALL[:4], "--model", "m", "--resume", *more)
    state = checkpoint.training_state("m")
    assert state["settings"]["dropout"] == 0.1
    assert state["progress"]["sentences"] == 90


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--dropout", "0.3"], "dropout"),
        (["--hidden", "20"], "dimensions"),
        (["--composition", "buggy"], "composition"),
        (["--state", "stack"], "m has another state: leave --state out"),
        (["--pos"], "--pos"),
    ],
)
def test_resume_with_other_options_is_refused(data, options, says):
    invoke(*PARSER, *SMALL)
    assert says in invoke(*PARSER, "--model", "m", "--resume", *options, code=2).stderr


def deep_block(words, depth):
    """The generative block of a tree with `depth` constituents open at its first word."""
    tree = "(S " * depth + " ".join(f"(XX {w})" for w in words) + ")" * depth
    line = " ".join(words)
    actions = "NT(S)\n" * depth + "SHIFT\n" * len(words) + "REDUCE\n" * depth
    return f"# {tree}\n{line}\n{line}\n{actions}\n"


def test_trees_deeper_than_101_are_scored_as_impossible(data):
    invoke(*GENERATOR, *SMALL)
    words = read_oracle("good.gen.oracle")[0].tokens[:2]
    trees = [f"{'(S ' * depth}{' '.join(words)}{')' * depth}" for depth in (102, 101)]
    Path("deep.props").write_text("".join(f"0 ||| -1 ||| {tree}\n" for tree in trees))
    result = invoke("score", "--model", "m", "deep.props", "-o", "-")
    assert result.stdout.startswith("2\tinf\n2\t")
    assert "inf" not in result.stdout.splitlines()[1]
    assert "sentence 1: p = 0, action 102, 'NT(S)', opens one constituent more" in result.stderr


def other_sentence(path):
    """Exchange two sentences of an oracle: as many sentences, other data."""
    blocks = Path(path).read_text(encoding="utf-8").split("\n\n")
    Path(path).write_text("\n\n".join([blocks[1], blocks[0], *blocks[2:]]), encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "change", "says"),
    [
        (PARSER, lambda: other_sentence("train.oracle"), "other data (train)"),
        (PARSER, lambda: other_sentence("dev.oracle"), "words are not those"),
        (GENERATOR, lambda: other_sentence("train.oracle"), "other data (train)"),
        (GENERATOR, lambda: other_sentence("dev.oracle"), "other data (dev)"),
    ],
)
def test_resume_with_other_data_names_what_changed(data, command, change, says):
    for part in ("train", "dev"):
        kind = ".gen.oracle" if command is GENERATOR else ".oracle"
        Path(f"{part}.oracle").write_bytes(Path(f"good{kind}").read_bytes())
    command = [*command[:2], "--train", "train.oracle", "--dev", "dev.oracle", *command[6:]]
    invoke(*command, *SMALL)
    before = Path("m/training.npz").read_bytes()
    change()
    assert says in invoke(*command, "--model", "m", "--resume", "--epochs", "2", code=2).stderr
    assert Path("m/training.npz").read_bytes() == before


def test_resume_with_other_clusters_is_refused(data):
    for name, classes in (("few.paths", 2), ("many.paths", 3)):
        invoke("clusters", "good.gen.oracle", "-c", classes, "-o", name)
    command = [*GENERATOR, *SMALL, "--clusters"]
    invoke(*command, "few.paths")
    assert "other data (clusters)" in invoke(*command, "many.paths", "--resume", code=2).stderr
    invoke(*command[:-1], "--resume")
    invoke(*command, "few.paths", "--resume")
    other = [*command[:-2], "n"]
    invoke(*other)
    said = invoke(*other, "--clusters", "few.paths", "--resume", code=2).stderr
    assert "other data (clusters)" in said


def resumed(code, **changes):
    """Resume a training after some parts of its saved state have changed; return what is said."""
    invoke(*PARSER, *SMALL)
    arrays = checkpoint.read_arrays(Path("m", "training.npz"))
    state = json.loads(str(arrays["state"])) | changes
    np.savez("m/training.npz", **arrays | {"state": np.array(json.dumps(state))})
    return invoke(*PARSER, "--model", "m", "--resume", "--epochs", "2", code=code).stderr


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"progress": {"odd": 1}}, r"m/training\.npz: .*; damaged\n"),
        ({"settings": None}, r"m/training\.npz: .*; damaged\n"),
        ({"format": None}, r"m/training\.npz: a training state of an older version"),
        ({"settings": {"state_dropout": 0}}, r"m/training\.npz: a training state of an older vers"),
    ],
)
def test_a_training_state_that_is_damaged_or_old_is_refused(data, changes, says):
    assert re.search(says, resumed(2, **changes))


def test_a_resume_needs_the_best_model_so_far(data):
    invoke(*PARSER, *SMALL)
    more = ["--model", "m", "--resume", "--epochs", "2"]
    whole = Path("m/parameters.npz").read_bytes()
    Path("m/parameters.npz").write_bytes(whole[:5000])
    says = "m/parameters.npz: File is not a zip file; missing or damaged"
    assert says in invoke(*PARSER, *more, code=2).stderr
    Path("m/parameters.npz").unlink()
    assert "m/parameters.npz" in invoke(*PARSER, *more, code=2).stderr
    Path("m/parameters.npz").write_bytes(whole)
    invoke(*PARSER, *more)


def test_what_cannot_be_trained_on_or_judged_by_is_named(data):
    result = invoke(*PARSER[:3], "good.gen.oracle", *PARSER[4:], *SMALL, code=2)
    assert "good.gen.oracle:1: this is a generative oracle" in result.stderr
    other = deep_block(["xyzzy", "plugh"], 2).replace("NT(S)", "NT(QQ)")
    Path("bad.gen.oracle").write_text(other, encoding="utf-8")
    result = invoke(*GENERATOR[:-1], "bad.gen.oracle", *SMALL, code=2)
    assert "bad.gen.oracle: every sentence has p = 0" in result.stderr
    Path("deep.gen.oracle").write_text(deep_block(["xyzzy", "plugh"], 102), encoding="utf-8")
    Path("flat.gen.oracle").write_text(deep_block(["xyzzy", "plugh"], 1), encoding="utf-8")
    both = ["--train", "deep.gen.oracle", "--dev", "flat.gen.oracle"]
    result = invoke("train", "generative", *both, *SMALL, code=2)
    assert "deep.gen.oracle: left out, since action 102" in result.stderr
    assert "deep.gen.oracle: every sentence has p = 0" in result.stderr


def test_an_oracle_of_other_transitions_than_the_models_is_named(data):
    oracle = ("oracle", "--train", "good.trees", "good.trees", "--generative")
    invoke(*oracle, "--transitions", "in-order", "-o", "o.gen.oracle")
    message = ": the model's transitions are {}, these {}: make the oracle with --transitions {}"
    for train, dev, transitions, wrong in (
        ("o.gen.oracle", "good.gen.oracle", "in-order", "good.gen.oracle"),
        ("good.gen.oracle", "o.gen.oracle", "top-down", "o.gen.oracle"),
        ("good.gen.oracle", "o.gen.oracle", "in-order", "good.gen.oracle"),
    ):
        given = ["--train", train, "--dev", dev, "--transitions", transitions]
        result = invoke("train", "generative", *given, *SMALL, code=2)
        other = "top-down" if transitions == "in-order" else "in-order"
        assert wrong + message.format(transitions, other, transitions) in result.stderr
        assert not Path("m").exists()


@pytest.fixture
def gpu(monkeypatch):
    """A GPU to all appearance: the processor computes."""
    start = engine.start
    monkeypatch.setattr(engine, "start", lambda device=engine.CPU: start())
    monkeypatch.setattr(engine, "device", lambda: "cuda:0")


@pytest.mark.parametrize("preset", NAMES)
def test_every_preset_trains_on_a_gpu_in_one_process(data, gpu, preset):
    invoke(*GENERATOR, *SMALL, "--preset", preset, "--device", "cuda")
    assert settings_of("m").jobs == 1


@pytest.mark.parametrize(
    ("option", "says"),
    [(["--jobs", "2"], "--jobs is for the CPU"), (["--mpi"], "--mpi goes with --device cpu")],
)
def test_several_processes_on_a_gpu_are_refused_before_anything_is_made(data, gpu, option, says):
    trees = ["--trees", "good.trees", "--hold-out", "0.2"]
    before = sorted(data.rglob("*"))
    for kind in ("discriminative", "generative", "lstm-lm"):
        command = ["train", kind, *trees, *SMALL, "--device", "cuda", *option]
        said = invoke(*command, code=2).stderr
        # no oracles, no clusters
        assert says in said and said.count("\n") == 1
    assert sorted(data.rglob("*")) == before


def test_a_resumed_training_says_what_differs(data):
    invoke(*PARSER, *SMALL, "--preset", "fast")
    said = invoke(*PARSER, *SMALL, "--preset", "paper", "--resume", code=2).stderr
    assert "m was trained with other settings (preset): resume with the same" in said
    said = invoke("train", "discriminative", "--model", "m", "--resume", code=2).stderr
    assert "--resume needs the same data again; m was made by: rnng-dy train" in said
    Path("m/about.json").unlink()
    said = invoke(*PARSER, *SMALL, "--resume").stdout
    assert re.fullmatch(r"m: best(: epoch .*| after \d+ sentences)\n", said)
    invoke(*PARSER, *SMALL, "--resume")


def test_a_training_of_two_processes_is_resumed_on_a_gpu_by_one(data, monkeypatch):
    two = ["--batch-size", "2"]
    invoke(*PARSER, *SMALL, "--preset", "paper", *two, "--jobs", "2")
    monkeypatch.setattr(engine, "device", lambda: "cuda:0")
    invoke(*PARSER, "--model", "m", *two, "--resume", "--epochs", "2")
    assert settings_of("m").jobs == 1
