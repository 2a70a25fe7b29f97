"""`--quiet`: no progress, but results and warnings as ever."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import click
import pytest

from rnng_dy.cli import main
from tests.commands import invoke
from tests.conftest import DATA, TINY

MODELS = DATA / "models-0.1.0"
SENTENCES = "the_DT dog_NN ran_VBD ._.\n"
TRAIN = (
    "train generative --train gen.oracle --dev gen.oracle --model {} --hidden 6 --lstm-input 6"
    " --epochs 1 --set report_every=5 --set first_evaluation=10"
)


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
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    lines = TINY.read_text(encoding="utf-8").splitlines(keepends=True)[:20]
    Path("some.trees").write_text("".join(lines), encoding="utf-8")
    Path("in.txt").write_text(SENTENCES)
    Path("some.props").write_text("0 ||| -1.5 ||| (S (NP the dog) (VP ran) .)\n" * 2)
    Path("some.likelihoods").write_text("4\t9.5\n" * 2)
    Path("few.trees").write_text("".join(lines[:2]), encoding="utf-8")
    for name in ("few", "gen"):
        trees = "few.trees" if name == "few" else "some.trees"
        invoke("oracle", "--train", "some.trees", trees, "--generative", "-o", f"{name}.oracle")


@pytest.mark.parametrize("names", [*all_commands(main), ("clusters", "show")], ids=" ".join)
def test_every_command_takes_it(names):
    assert "-q, --quiet" in invoke(*names, "--help").stdout


SAYS_MORE = f"""
prepare --from trees some.trees
oracle --train some.trees some.trees
clusters gen.oracle --unk none
parse --model {MODELS}/parser in.txt --tagged
sample --model {MODELS}/parser --samples 2 in.txt --tagged
score --model {MODELS}/generator some.trees
surprisal --kneser-ney gen.oracle some.trees
perplexity --model {MODELS}/generator --beam 9 --fast-track 1 few.oracle
suite garden-path-npz --model {MODELS}/lm
models export {MODELS}/parser -o m.rnng.zip
reproduce trees --train some.trees --dev some.trees --test some.trees -o out --tags gold --stages data
""".strip().splitlines()
SAYS_NO_MORE = f"""
tag --train some.trees some.trees -o tagged.trees
rerank some.props some.likelihoods
evalb some.trees some.trees
show some.trees --sentences 1-2
evalb some.trees some.trees ./some.trees
generate --model {MODELS}/generator -n 2
models show {MODELS}/parser
models
doctor
""".strip().splitlines()
"""Commands that say nothing but their results in any case. Those that make models are below."""
CHANGING = re.compile(r"^seconds=.*\n|^memory .*\n|As of [^.]*", re.MULTILINE)
"""What is another time another."""


def one_stage(folder, planned, executor, jobs, device, report, groups):
    """Stands for the stages of a reproduction, which take long."""
    report("a stage: done in 1.0 s")


@pytest.mark.parametrize("command", [*SAYS_MORE, *SAYS_NO_MORE])
def test_nothing_but_the_result_is_printed(data, command, monkeypatch):
    monkeypatch.setattr("rnng_dy.cli.reproduce.run", one_stage)
    words = command.split()
    loud = invoke(*words)
    for flagged in (["--quiet", *words], [*words, "-q"]):
        quiet = invoke(*flagged)
        assert CHANGING.sub("", quiet.stdout) == CHANGING.sub("", loud.stdout)
        assert quiet.stderr == ""
    assert bool(loud.stderr) == (command in SAYS_MORE)


def test_no_command_is_left_out():
    tried = {command.split()[0] for command in (*SAYS_MORE, *SAYS_NO_MORE)}
    elsewhere = {
        "train",
        "import-clab",
        "reading-times",
        "serve",
    }
    assert tried | elsewhere == set(main.list_commands(click.Context(main)))


def test_training_prints_its_result_and_keeps_its_log(data):
    loud, quiet = invoke(*TRAIN.format("a").split()), invoke("-q", *TRAIN.format("b").split())
    assert "Brown clusters of" in loud.stderr
    assert "nats/word" in loud.stderr
    assert "dev perplexity" in loud.stderr
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout.replace("a: ", "b: ", 1)
    events = [json.loads(line)["event"] for line in Path("b/log.jsonl").read_text().splitlines()]
    assert {"progress", "evaluation"} <= set(events)
    again = invoke(*TRAIN.format("b").split(), "--resume", "--epochs", 2, "--quiet")
    assert again.stderr == ""


def test_warnings_stay(data):
    Path("in.txt").write_text("the_DT dog_NN ran_VBD ._ODD\n")
    quiet = invoke("-q", "parse", "--model", MODELS / "parser", "in.txt", "--tagged")
    assert quiet.stderr == "POS tags unseen in training, taken for an average tag: ODD (1)\n"
    shutil.copy("gen.oracle", "train.oracle")
    with Path("train.oracle").open("a") as stream:
        stream.write("# (S (NN a))\na\na\n" + "NT(S)\n" * 102 + "SHIFT\n" + "REDUCE\n" * 102 + "\n")
    trained = invoke("-q", *TRAIN.format("c").replace("gen.oracle", "train.oracle", 1).split())
    assert "1 of 21 sentences left out" in trained.stderr
    assert "nats/word" not in trained.stderr


def test_one_command_does_not_quieten_the_next(data):
    invoke("-q", "prepare", "--from", "trees", "some.trees")
    assert "20 trees read" in invoke("prepare", "--from", "trees", "some.trees").stderr
