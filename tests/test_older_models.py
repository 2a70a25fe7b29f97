"""Model folders of version 0.1.0 give what the code that wrote them gave (tests/data/README.md)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from oracle.brackets import read_trees
from oracle.samples import read_likelihoods
from rnng_dy import DiscriminativeParser
from tests.commands import invoke

from .conftest import DATA, tiny_trees

MODELS = DATA / "models-0.1.0"
EXPECTED = json.loads((MODELS / "expected.json").read_text(encoding="utf-8"))
# lines of tiny.trees that the models were trained, selected and asked on
PARTS = {"train": (0, 40), "dev": (40, 60), "test": (60, 63)}
# float32, summed in another order: values moved by 1e-7 before 40 updates leave the losses within
# 2.5e-7
TOLERANCE = 1e-5


def approximately(values: object) -> object:
    return pytest.approx(values, rel=TOLERANCE)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """The trees and oracles that the models were made with."""
    folder = tmp_path_factory.mktemp("older")
    for name, part in PARTS.items():
        trees = folder / f"{name}.trees"
        trees.write_text(tiny_trees(*part), encoding="utf-8")
        make = ["oracle", "--train", folder / "train.trees", trees]
        invoke(*make, "-o", folder / f"{name}.oracle")
        invoke(*make, "--generative", "-o", folder / f"{name}.gen.oracle")
    return folder


def test_an_older_parser_parses_with_the_same_log_q(data):
    result = invoke("parse", "--model", MODELS / "parser", data / "test.trees")
    assert result.stdout.splitlines() == EXPECTED["parse"]
    parser = DiscriminativeParser.load(str(MODELS / "parser"))
    values = [parser.log_prob(located.tree) for located in read_trees(data / "test.trees")]
    assert values == approximately(EXPECTED["log_q"])


def test_an_older_generative_model_scores(data, tmp_path):
    output = tmp_path / "likelihoods"
    invoke("score", "--model", MODELS / "generator", data / "test.trees", "-o", output)
    lengths, values = zip(*read_likelihoods(output), strict=True)
    expected_lengths, expected_values = zip(*EXPECTED["score"], strict=True)
    assert lengths == expected_lengths
    assert values == approximately(expected_values)


def test_an_older_language_model_has_the_same_perplexity(data):
    result = invoke("perplexity", "--model", MODELS / "lm", data / "test.gen.oracle")
    found = dict(re.findall(r"^(LLH|PPL)=(\S+)$", result.stdout, re.MULTILINE))
    assert {k: float(v) for k, v in found.items()} == approximately(EXPECTED["perplexity"])


def test_an_older_training_is_refused_by_name(data, tmp_path):
    """Only a new training begins with an older model, by --init."""
    shutil.copytree(MODELS / "parser", tmp_path / "parser")
    files = ["--train", data / "train.oracle", "--dev", data / "dev.oracle"]
    files += ["--dev-trees", data / "dev.trees", "--model", tmp_path / "parser"]
    result = invoke("train", "discriminative", *files, "--pos", "--resume", code=2)
    assert "a training state of an older version of rnng_dy" in result.stderr
    assert f"begin with this one by --init {tmp_path / 'parser'}" in result.stderr
