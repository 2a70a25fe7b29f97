"""`rnng-dy import-clab`: checkpoints of the original as model folders, or a message that says what does not fit."""

import math
import re
from functools import partial

import numpy as np
import pytest

from oracle.blocks import read_oracle
from oracle.common.errors import InputError
from rnng_dy import DiscriminativeParser, GenerativeModel
from rnng_dy.interop import clab
from tests.commands import invoke

from ..conftest import save_oracle
from ..models.ga_reference import unpacked

run = partial(invoke, "import-clab")


@pytest.fixture(scope="module")
def reference(shared):
    return shared / "clab_reference"


def parser_arguments(reference, params):
    return ["discriminative", params, "--train-oracle", reference / "train.oracle"]


def test_a_parser_becomes_a_folder(reference, tmp_path):
    params = reference / "buggy/disc.params"
    options = ["--pos", "--composition", "buggy", "--model", tmp_path / "m"]
    assert "probable" not in run(*parser_arguments(reference, params), *options).stderr
    model = DiscriminativeParser.load(tmp_path / "m")
    assert model.network.composition.name == "buggy"
    checkpoint = clab.read_checkpoint(params)
    assert np.array_equal(model.store.arrays()["word"], checkpoint.lookups[0])
    assert np.array_equal(model.store.arrays()["stack.0.x2i"], checkpoint.dense[0])


def test_a_generative_model_becomes_a_folder(reference, tmp_path):
    options = ["--clusters", reference / "clusters.paths", "--model", tmp_path / "m"]
    data = ["--train-oracle", reference / "train.gen.oracle"]
    run("generative", reference / "corrected/gen.params", *data, *options)
    assert GenerativeModel.load(tmp_path / "m").sizes.hidden == 24


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_file_cut_short_is_refused(reference, tmp_path, share):
    """The original leaves such files when it is killed."""
    whole = (reference / "corrected/disc.params").read_bytes()
    cut = tmp_path / "cut.params"
    cut.write_bytes(whole[: int(len(whole) * share)].rsplit(b" ", 1)[0])
    given = (*parser_arguments(reference, cut), "--pos", "--model", tmp_path / "m")
    assert "the checkpoint is cut short" in run(*given, code=2).stderr
    assert not (tmp_path / "m").exists()


def test_another_oracle_names_the_parameter_and_both_shapes_or_the_transitions(reference, tmp_path):
    arguments = ["discriminative", reference / "corrected/disc.params"]
    arguments += ["--pos", "--model", tmp_path / "m", "--train-oracle"]
    said = run(*arguments, reference / "dev.oracle", code=2).stderr
    assert re.search(r"parameter \S+ has shape \(\d+.*\), needs \(\d+", said)
    trees, oracle = reference / "train.trees", tmp_path / "o"
    invoke("oracle", "--train", trees, trees, "-o", oracle, "--transitions", "in-order")
    assert "o: the model's transitions are top-down" in run(*arguments, oracle, code=2).stderr
    # labels have other ids in another order
    save_oracle(oracle, reversed(read_oracle(reference / "train.oracle")))
    said = "disc.params: actions are less probable than by their frequencies: is this the oracle"
    assert said in run(*arguments, oracle).stderr


@pytest.mark.parametrize(
    ("options", "says"), [([], "--pos"), (["--pos", "--pretrained", "vectors"], "--pretrained")]
)
def test_missing_or_needless_options_are_suggested(reference, tmp_path, options, says):
    options = [reference / "pretrained/vectors.w2v" if o == "vectors" else o for o in options]
    params = reference / "corrected/disc.params"
    given = (*parser_arguments(reference, params), *options, "--model", tmp_path / "m")
    assert says in run(*given, code=2).stderr


def test_other_vectors_than_those_of_the_training_are_refused(reference, tmp_path):
    head, *rows = (reference / "pretrained/vectors.w2v").read_text("utf-8").splitlines()
    values = [row.partition(" ")[2] for row in rows]
    moved = (
        f"{row.split(' ')[0]} {v}" for row, v in zip(rows, values[1:] + values[:1], strict=True)
    )
    (tmp_path / "w2v").write_text("\n".join([head, *moved]), "utf-8")
    given = parser_arguments(reference, reference / "pretrained/disc.params")
    given = (*given, "--pos", "--pretrained", tmp_path / "w2v", "--model", tmp_path / "m")
    assert "the word vectors are not those of the checkpoint" in run(*given, code=2).stderr


@pytest.fixture
def generative(shared, reference, tmp_path):
    """What `import-clab` of an archive of the follow-up paper needs but for its options."""
    data = ["--train-oracle", reference / "train.gen.oracle"]
    data += ["--clusters", reference / "clusters.paths", "--model", tmp_path / "m"]
    return lambda name: ["generative", unpacked(shared, name, tmp_path), *data]


def test_composition_and_state_are_taken_as_said(generative, tmp_path):
    result = run(*generative("ga-stack"), "--composition", "gated-attention", "--state", "stack")
    assert "does not tell its parser state: if it is not stack, scores are wrong" in result.stderr
    config = GenerativeModel.load(tmp_path / "m").config()
    assert (config["composition"], config["state"]) == ("gated-attention", "stack")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("ga", ["--composition", "gated-attention"], "say by --state what its parser state is"),
        ("ga", ["--state", "full"], "see to --pos, --pretrained, --clusters and --composition"),
        ("stack", ["--composition", "gated-attention", "--state", "full"], "and --composition"),
        ("stack", ["--state", "no-buffer"], "no generative model of the state no-buffer"),
        ("stack", ["--state", "history"], "no generative model of the state history"),
        ("stack", ["--state", "half"], "'half' is not one of 'full', 'stack'"),
    ],
)
def test_composition_and_state_that_cannot_be_are_refused(
    generative, tmp_path, name, options, says
):
    assert says in " ".join(run(*generative(name), *options, code=2).stderr.split())
    assert not (tmp_path / "m").exists()


def test_a_parser_of_the_original_has_another_state_but_no_gated_attention(reference, tmp_path):
    arguments = parser_arguments(reference, reference / "corrected/disc.params")
    arguments += ["--pos", "--model", tmp_path / "m"]
    refused = run(*arguments, "--composition", "gated-attention", code=2)
    assert "no parser with gated" in refused.stderr
    run(*arguments, "--state", "no-buffer")
    assert DiscriminativeParser.load(tmp_path / "m").config()["state"] == "no-buffer"


# archives with what no program writes


def archive(*parts):
    return " ".join(["22 serialization::archive 18", *parts]) + "\n"


def dim(*axes):
    """A dimension as the archive has it."""
    return " ".join(map(str, [len(axes), 7, *axes, *[0] * (7 - len(axes))]))


def table(shape, *rows):
    """The only parameter of an archive: a lookup table."""
    first, *others = [f"{dim(*row)} " + "0.5 " * max(0, math.prod(row)) for row in rows] or [""]
    # a class is introduced by two zeros the first time that it comes
    introduced = f"0 0 {first}" if rows else ""
    return archive("0 0 0 1 0 0 0 0", dim(*shape), str(len(rows)), introduced, *others)


FORGED = {
    "a count of 5,000 digits": archive("0 0", "9" * 5000, "0"),
    "a table of no rows": table((2,)),
    "a table of ragged rows": table((2,), (2,), (3,)),
    "an oracle": "# (S (NP it) (VP works))\nit works\n",
}


@pytest.mark.parametrize("content", FORGED.values(), ids=FORGED)
def test_what_no_program_writes_is_refused(tmp_path, content):
    path = tmp_path / "forged"
    path.write_text(content)
    with pytest.raises(InputError, match=f"^{path}: "):
        clab.read_checkpoint(path)
