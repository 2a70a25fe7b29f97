"""`rnng-dy import-clab`: checkpoints of the original as model folders, or a message that says what does not fit."""

from __future__ import annotations

import re

import numpy as np
import pytest
from click.testing import CliRunner

from rnng_dy import DiscriminativeParser, GenerativeModel
from rnng_dy.cli import main
from rnng_dy.interop import clab


@pytest.fixture(scope="module")
def reference(shared):
    return shared / "clab_reference"


def run(*arguments):
    return CliRunner().invoke(main, ["import-clab", *map(str, arguments)])


def parser_arguments(reference, params):
    return ["discriminative", params, "--train-oracle", reference / "train.oracle"]


def test_a_parser_becomes_a_folder(reference, tmp_path):
    params = reference / "buggy/disc.params"
    options = ["--pos", "--composition", "buggy", "--model", tmp_path / "m"]
    result = run(*parser_arguments(reference, params), *options)
    assert result.exit_code == 0, result.output
    model = DiscriminativeParser.load(tmp_path / "m")
    assert model.compose.name == "buggy"
    checkpoint = clab.read_checkpoint(params)
    assert np.array_equal(model.store.arrays()["word"], checkpoint.lookups[0])
    assert np.array_equal(model.store.arrays()["stack.0.x2i"], checkpoint.dense[0])


def test_pretrained_vectors_are_those_of_the_checkpoint(reference, tmp_path):
    params, vectors = reference / "pretrained/disc.params", reference / "pretrained/vectors.w2v"
    options = ["--pos", "--pretrained", vectors, "--model", tmp_path / "m"]
    assert run(*parser_arguments(reference, params), *options).exit_code == 0
    model = DiscriminativeParser.load(tmp_path / "m")
    table = clab.read_checkpoint(params).lookups[-1]
    ids = [model.vocabulary.words.id(word) for word in model.vocabulary.pretrained.symbols]
    assert np.abs(table[ids] - model.vectors).max() < 1e-6


def test_a_generative_model_becomes_a_folder(reference, tmp_path):
    options = ["--clusters", reference / "clusters.paths", "--model", tmp_path / "m"]
    data = ["--train-oracle", reference / "train.gen.oracle"]
    result = run("generative", reference / "corrected/gen.params", *data, *options)
    assert result.exit_code == 0, result.output
    assert GenerativeModel.load(tmp_path / "m").sizes.hidden == 24


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_file_cut_short_is_refused_with_the_position(reference, tmp_path, share):
    """The original leaves such files when it is killed."""
    whole = (reference / "corrected/disc.params").read_bytes()
    cut = tmp_path / "cut.params"
    cut.write_bytes(whole[: int(len(whole) * share)].rsplit(b" ", 1)[0])
    result = run(*parser_arguments(reference, cut), "--pos", "--model", tmp_path / "m")
    assert result.exit_code == 2
    assert re.search(r"cut short.* token \d+ of \d+", result.stderr)
    assert not (tmp_path / "m").exists()


def test_another_oracle_names_the_parameter_and_both_shapes(reference, tmp_path):
    arguments = ["discriminative", reference / "corrected/disc.params"]
    arguments += ["--train-oracle", reference / "dev.oracle", "--pos", "--model", tmp_path / "m"]
    result = run(*arguments)
    assert result.exit_code == 2
    assert re.search(r"parameter \S+ has shape \(\d+.*\), needs \(\d+", result.stderr)


@pytest.mark.parametrize(
    ("options", "says"),
    [([], "--pos"), (["--pos", "--pretrained", "vectors"], "--pretrained")],
)
def test_missing_or_needless_options_are_suggested(reference, tmp_path, options, says):
    options = [reference / "pretrained/vectors.w2v" if o == "vectors" else o for o in options]
    params = reference / "corrected/disc.params"
    result = run(*parser_arguments(reference, params), *options, "--model", tmp_path / "m")
    assert result.exit_code == 2
    assert says in result.stderr


def test_other_files_are_refused(reference, tmp_path):
    result = run(
        *parser_arguments(reference, reference / "train.oracle"), "--model", tmp_path / "m"
    )
    assert result.exit_code == 2
    assert "Boost" in result.stderr


def test_a_parser_is_given_a_tagger_of_trees(reference, tmp_path):
    trees = tmp_path / "train.trees"
    lines = (reference / "train.oracle").read_text().splitlines()
    trees.write_text(
        "".join(f"{line[2:]}\n" for line in lines if line.startswith("# "))[:20_000].rpartition(
            "\n"
        )[0]
    )
    params = reference / "corrected/disc.params"
    options = ["--pos", "--tagger", trees, "--model", tmp_path / "m"]
    result = run(*parser_arguments(reference, params), *options)
    assert result.exit_code == 0, result.output
    tree = DiscriminativeParser.load(tmp_path / "m").parse_one(["The", "company", "rose", "."])
    assert tree.pos()[0] == ("The", "DT")


def test_a_tagger_is_for_parsers_of_tags(reference, tmp_path):
    params = reference / "corrected/disc.params"
    result = run(*parser_arguments(reference, params), "--tagger", "t", "--model", tmp_path / "m")
    assert result.exit_code == 2
    assert "--tagger is for a parser with --pos" in result.stderr
