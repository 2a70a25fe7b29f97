"""`--quiet`: no progress, but results and warnings as ever."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rnng_dy.cli import main
from tests.conftest import DATA, TINY

MODELS = DATA / "models-0.1.0"
SENTENCES = "the_DT dog_NN ran_VBD ._.\n"
TRAIN = (
    "train generative --train gen.oracle --dev gen.oracle --model {} --hidden 6 --lstm-input 6"
    " --epochs 1 --report-every 5 --first-evaluation 10"
)


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def all_commands(command, *names):
    yield names
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from all_commands(command.get_command(context, name), *names, name)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of trees, an oracle and sentences, the current one."""
    monkeypatch.chdir(tmp_path)
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)[:20]
    Path("some.trees").write_text("".join(lines), encoding="utf-8")
    Path("in.txt").write_text(SENTENCES)
    run("oracle", "--train", "some.trees", "some.trees", "--generative", "-o", "gen.oracle")


@pytest.mark.parametrize("names", [*all_commands(main), ("clusters", "show")], ids=" ".join)
def test_every_command_takes_it(names):
    assert "-q, --quiet" in run(*names, "--help").stdout


@pytest.mark.parametrize(
    "command",
    [
        ("parse", "--model", MODELS / "parser", "in.txt"),
        ("score", "--model", MODELS / "generator", "some.trees"),
        ("prepare", "--from", "trees", "some.trees"),
        ("oracle", "--train", "some.trees", "some.trees"),
        ("clusters", "gen.oracle", "--unk", "none"),
    ],
    ids=lambda command: command[0],
)
def test_nothing_but_the_result_is_printed(data, command):
    loud = run(*command)
    assert loud.stderr
    for quiet in (run("--quiet", *command), run(*command, "-q")):
        assert (quiet.stdout, quiet.stderr) == (loud.stdout, "")


def test_training_prints_its_result_and_keeps_its_log(data):
    loud, quiet = run(*TRAIN.format("a").split()), run("-q", *TRAIN.format("b").split())
    assert "making Brown clusters" in loud.stderr
    assert "nats/word" in loud.stderr
    assert "dev perplexity" in loud.stderr
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout.replace("a: ", "b: ", 1)
    events = [json.loads(line)["event"] for line in Path("b/log.jsonl").read_text().splitlines()]
    assert {"progress", "evaluation"} <= set(events)
    again = run(*TRAIN.format("b").split(), "--resume", "--epochs", 2, "--quiet")
    assert again.stderr == ""


def test_warnings_stay(data):
    Path("in.txt").write_text("the_DT dog_NN ran_VBD ._ODD\n")
    quiet = run("-q", "parse", "--model", MODELS / "parser", "in.txt")
    assert quiet.stderr == "POS tags unseen in training, taken for an average tag: ODD (1)\n"
    shutil.copy("gen.oracle", "train.oracle")
    with Path("train.oracle").open("a") as stream:
        stream.write("# (S (NN a))\na\na\n" + "NT(S)\n" * 102 + "SHIFT\n" + "REDUCE\n" * 102 + "\n")
    trained = run("-q", *TRAIN.format("c").replace("gen.oracle", "train.oracle", 1).split())
    assert "1 of 21 training sentences left out" in trained.stderr
    assert "nats/word" not in trained.stderr


def test_one_command_does_not_quieten_the_next(data):
    run("-q", "prepare", "--from", "trees", "some.trees")
    assert "20 trees read" in run("prepare", "--from", "trees", "some.trees").stderr
