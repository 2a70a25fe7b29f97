"""A command that would write what another one writes is refused before its work."""

import os
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from oracle.common.files import locked
from tests.commands import COMMAND, invoke, run, started, until

from ..conftest import make_parser

SMALL = ["--hidden", "8", "--set", "lstm_input=9", "--epochs", "1", "--set", "first_evaluation=10"]
TREES = ["--trees", "t.trees", "--hold-out", "0.1", "--model", "m"]
TRAIN = ["train", "discriminative", "--pos", *SMALL, *TREES]


@pytest.fixture(autouse=True)
def folder(train_and_dev, tmp_path):
    Path("s.txt").write_text("it works .\n")
    return tmp_path


@contextmanager
def busy(path):
    """While something else, another thread, has the lock of a path."""
    taken, done = threading.Event(), threading.Event()

    def hold():
        with locked(path):
            taken.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


def refused(path, *command):
    with busy(path):
        before = sorted(Path().rglob("*"))
        result = invoke(*command, code=2)
        assert sorted(Path().rglob("*")) == before
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"Error: {path} is being written by another")
    return result


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("out", "sample --model parser s.txt --untagged -o out"),
        ("out", "parse --model parser s.txt -o out"),
        ("out.trees", "surprisal --model english-generative s.txt -o table -o out.trees"),
        ("out", "suite agreement-pp --model english-generative -o out"),
        ("out", "rerank a.props a.likelihoods -o out"),
        ("out", "tag t.trees --jackknife 2 -o out"),
        ("out", "oracle --train t.trees t.trees -o out"),
        ("m", f"{' '.join(TRAIN)} --resume"),
        ("m", "import-clab discriminative a.params --train-oracle t.oracle --model m"),
    ],
)
def test_no_command_begins_to_write_what_another_one_writes(path, command):
    refused(path, *command.split())


def test_a_parser_is_given_no_tagger_while_it_is_trained(sentences):
    make_parser(sentences).save("m")
    refused("m", "tag", "--train", "t.trees", "--into", "m")


def test_two_trainings_of_one_folder(tmp_path):
    """The second is refused; the first is not disturbed, nor are those after its kill."""
    train = [*(w if w != "1" else "1000" for w in TRAIN), "--set", "evaluate_every=30"]
    with started(*COMMAND, *train, stderr=subprocess.DEVNULL) as first:
        until(lambda: Path(".m.data").exists() or Path("m").exists())
        for more in ([], ["--resume"]):
            assert "m is being written by another" in run(None, *TRAIN, *more, code=2).stderr
        until(Path("m").exists)
        run(None, *TRAIN, "--resume", code=2)
        assert first.poll() is None
    assert Path(".m.lock").exists()
    invoke(*train, "--resume", "--set", "patience=1")
    assert sorted(os.listdir()) == ["d.trees", "m", "s.txt", "t.trees"]
