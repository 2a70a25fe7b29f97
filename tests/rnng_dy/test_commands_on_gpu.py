"""Commands with `--device cuda` do what they do on the CPU: on a GPU, or on the emulated one."""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from oracle.brackets import read_trees
from tests.commands import run
from tests.conftest import tiny_trees

from .conftest import save_oracles

DEVICE = os.environ.get("RNNG_DY_TEST_DEVICE", "cpu")
pytestmark = pytest.mark.skipif(DEVICE == "cpu", reason="runs with RNNG_DY_TEST_DEVICE=cuda")

SIZES = ["--hidden", "8", "--set", "lstm_input=9", "--batch-size", "5"]
ENDS = (
    "--epochs=1 --set evaluate_every=10 --seed=3 --set=evaluate_from_epoch=0 --set=report_every=5"
)
DATA = {
    "discriminative": "--train=some.oracle --dev=some.oracle --dev-trees=some.trees",
    "generative": "--train=some.gen.oracle --dev=some.gen.oracle",
}
TRAIN = {kind: options.split() for kind, options in DATA.items()}
NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Twenty sentences, and a parser and a generative model that were trained on the GPU."""
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "some.trees").write_text(tiny_trees(0, 20), encoding="utf-8")
    save_oracles(folder, "some", list(read_trees(folder / "some.trees")))
    for kind in TRAIN:
        train(folder, kind, kind, DEVICE)
    return folder


def train(folder: Path, kind: str, model: str, device: str, *options: str) -> list[float]:
    """Train a model; the losses that the log has."""
    where = ("--model", model, "--device", device)
    run(folder, "train", kind, *TRAIN[kind], *SIZES, *ENDS.split(), *where, *options)
    log = (folder / model / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return [number for line in log for name, number in json.loads(line).items() if "loss" in name]


def same(folder: Path, *command: str) -> None:
    """Both devices print the same; numbers may differ in their last digits."""
    found = {device: run(folder, *command, "--device", device).stdout for device in ("cpu", DEVICE)}
    require_same(found[DEVICE], found["cpu"])


def require_same(gpu: str, cpu: str) -> None:
    """Texts that differ at most in the last digits of numbers."""
    assert gpu and NUMBER.sub("", gpu) == NUMBER.sub("", cpu)
    numbers = [np.array([*map(float, NUMBER.findall(text))]) for text in (gpu, cpu)]
    np.testing.assert_allclose(*numbers, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("kind", TRAIN)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_training_without_dropout_has_the_losses_of_the_cpu(folder, kind, optimizer):
    rest = ("--dropout", "0", "--set", "unknown_probability=0", "--set", f"optimizer={optimizer}")
    rate = ("--learning-rate", "0.01", "--set", "clip=1", "--set", "l2=0.001")
    losses = [
        train(folder, kind, f"{kind}-{optimizer}-{i}", device, *rest, *rate)
        for i, device in enumerate(("cpu", DEVICE))
    ]
    assert losses[0]
    np.testing.assert_allclose(*losses, rtol=1e-3)


@pytest.mark.parametrize("devices", [("cpu", DEVICE), (DEVICE, "cpu")])
def test_a_training_is_resumed_on_the_other_device(folder, devices):
    name = f"resumed-{devices.index(DEVICE)}"
    train(folder, "discriminative", name, devices[0], "--set", "save_every=0")
    longer = ("--model", name, "--device", devices[1], "--resume", "--epochs", "2")
    done = run(folder, "train", "discriminative", *TRAIN["discriminative"], *longer)
    assert "nan" not in done.stdout
    assert '"epoch": 2' in (folder / name / "log.jsonl").read_text(encoding="utf-8")


def test_greedy_trees_samples_and_their_scores(folder):
    parser, generator = ("--model", "discriminative"), ("--model", "generative")
    same(folder, "parse", "some.oracle", *parser)
    same(folder, "sample", "some.oracle", *parser, "--samples", "5")
    samples = run(folder, "sample", "some.oracle", *parser, "--samples", "5").stdout
    (folder / "samples").write_text(samples, encoding="utf-8")
    same(folder, "score", "samples", *generator)


@pytest.mark.parametrize("search", ["beam", "particles", "variable"])
def test_searches_of_the_generative_model(folder, search):
    few = {"beam": ["--beam", "10", "--word-beam", "3"]}.get(search, ["--particles", "10"])
    same(folder, "surprisal", "some.oracle", "--model", "generative", "--search", search, *few)


def test_generation_and_likelihoods(folder):
    same(folder, "generate", "--model", "generative", "--max-length", "20")


SPLIT = """
from dataclasses import replace
from rnng_dy import engine
engine.start("cuda", memory=1)
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater
from scripts.gpu.numbers import model_of

model, examples = model_of("discriminative", 8)
graphs, whole = [], model.training_loss
model.training_loss = lambda examples, dropout: graphs.append(len(examples)) or whole(examples, dropout)
settings = replace(PRESETS["paper", "discriminative"], dropout=0.0)
loss = Updater(model, examples, settings).update(range(20), 0, 0.1)
print(round(loss, 1), *graphs)
"""


@pytest.mark.skipif(
    "cuda-emulator" not in os.environ.get("LD_LIBRARY_PATH", ""), reason="limits an emulated GPU"
)
def test_a_minibatch_that_the_gpu_has_no_memory_for_is_split():
    command = (sys.executable, "-c", SPLIT)
    found = []
    for megabytes in ("2048", "12"):
        settings = {**os.environ, "CUDA_EMULATOR_MEMORY": megabytes}
        found.append(run(None, command=command, env=settings).stdout.split())
    assert found[0][1:] == ["20"] and found[1] == [found[0][0], "20", "10", "10"]


def test_processes_are_refused(folder):
    many = ("--model", "discriminative", "--device", DEVICE, "--jobs", "2")
    refused = run(folder, "parse", "some.oracle", *many, code=2)
    assert "--jobs is for the CPU: one process keeps a GPU busy" in refused.stderr
    settings = (*TRAIN["generative"], *SIZES, "--model", "m", "--device", DEVICE, "--jobs", "2")
    assert "--jobs" in run(folder, "train", "generative", *settings, code=2).stderr


def test_doctor(folder):
    assert "FAIL" not in run(folder, "doctor", "--device", DEVICE).stdout
