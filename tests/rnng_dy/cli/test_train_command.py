"""`rnng-dy train`: what its options do, and what --resume insists on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import oracle
from clusters.files import read_clusters
from oracle.files import open_output, write_oracle
from oracle.treebank import read_trees
from rnng_dy import DiscriminativeParser, GenerativeModel, checkpoint
from rnng_dy.cli import main
from rnng_dy.cli.options import PARSER_SIZES, SETTINGS, SIZES
from rnng_dy.training.presets import saved_settings

from ..conftest import sentences_of

TINY = Path(oracle.__file__).parent / "data" / "tiny.trees"
PARSER = [
    "train",
    "discriminative",
    "--train",
    "good.oracle",
    "--dev",
    "good.oracle",
    "--dev-trees",
    "good.trees",
]
GENERATOR = ["train", "generative", "--train", "good.gen.oracle", "--dev", "good.gen.oracle"]
SMALL = ["--hidden", "8", "--lstm-input", "9", "--epochs", "1", "--model", "m"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of 30 sentences, the current one."""
    monkeypatch.chdir(tmp_path)
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)[:30]
    Path("good.trees").write_text("".join(lines), encoding="utf-8")
    for name, generative in (("good.oracle", False), ("good.gen.oracle", True)):
        with open_output(name) as stream:
            write_oracle(sentences_of(list(read_trees("good.trees")), generative), stream)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result


# a value for every number option that no preset has, and where it must arrive
VALUES = {
    "epochs": 2,
    "dropout": 0.45,
    "optimizer": "adam",
    "learning_rate": 0.03,
    "schedule": "linear",
    "decay": 0.3,
    "clip": 2.5,
    "l2": 0.002,
    "batch_size": 3,
    "unknown_probability": 0.25,
    "first_evaluation": 11,
    "evaluate_every": 13,
    "evaluate_from_epoch": 1,
    "checkpoint_every": 17,
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


def test_every_number_option_arrives(data):
    assert VALUES.keys() == {name for name, _, _ in SETTINGS + SIZES + PARSER_SIZES}
    options = [x for k, v in VALUES.items() for x in ("--" + k.replace("_", "-"), str(v))]
    run(*PARSER, "--pos", "--model", "m", *options)
    model = DiscriminativeParser.load("m")
    settings = saved_settings(checkpoint.training_state("m"), "m")
    for name, value in VALUES.items():
        holder = settings if hasattr(settings, name) else model.sizes
        assert (
            getattr(holder, name.removesuffix("_size") if holder is model.sizes else name) == value
        )
    state = checkpoint.training_state("m")
    assert state["progress"]["sentences"] == 60
    assert state["progress"]["updates"] == 20


@pytest.mark.parametrize("composition", ["corrected", "buggy"])
def test_composition_and_records(data, composition):
    run(*PARSER, *SMALL, "--composition", composition)
    assert DiscriminativeParser.load("m").compose.name == composition
    records = [json.loads(line) for line in Path("m/log.jsonl").read_text().splitlines()]
    assert records[-1]["event"] == "evaluation"
    assert {"f1", "epoch", "seconds", "is_best"} <= records[-1].keys()


def test_clusters_are_made_and_kept_where_none_are_given(data):
    result = run(*GENERATOR, *SMALL)
    assert "Brown clusters" in result.stderr
    kept = read_clusters("m/clusters.paths")
    model = GenerativeModel.load("m")
    assert [entry.word for entry in kept] == list(model.vocabulary.words.symbols[1:])
    assert len({entry.path for entry in kept}) == len(model.vocabulary.clusters)


def test_resume_starts_what_is_not_there(data):
    run(*PARSER, *SMALL, "--resume")
    assert DiscriminativeParser.load("m")


def test_resume_takes_more_epochs_and_keeps_the_other_settings(data):
    run(*PARSER, *SMALL, "--dropout", "0.1")
    run(*PARSER, *SMALL[:4], "--model", "m", "--resume", "--epochs", "3")
    state = checkpoint.training_state("m")
    assert state["settings"]["dropout"] == 0.1
    assert state["progress"]["sentences"] == 90


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--dropout", "0.3"], "dropout"),
        (["--hidden", "20"], "dimensions"),
        (["--composition", "buggy"], "composition"),
        (["--pos"], "--pos"),
    ],
)
def test_resume_with_other_options_is_refused(data, options, says):
    run(*PARSER, *SMALL)
    result = run(*PARSER, "--model", "m", "--resume", *options, code=2)
    assert says in result.stderr
