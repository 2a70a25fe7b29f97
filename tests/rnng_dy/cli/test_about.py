"""`rnng-dy models show`, and the description that training keeps true."""

import hashlib
import json
import shutil

import pytest

from oracle.brackets import format_tree
from oracle.common.files import replacing
from rnng_dy import load, model_folder
from tests.commands import invoke

from ..conftest import save_oracle

SIZES = ["--set", "lstm_input=8", "--hidden", "8", "--epochs", "1"]
SMALL = [*SIZES, "--set", "first_evaluation=20", "--set", "evaluate_every=20"]
DATA = ["--train", "train.oracle", "--dev", "dev.oracle", "--dev-trees", "dev.trees"]
TRAIN = ["train", "discriminative", *DATA, "--pos", "--no-tagger"]


@pytest.fixture
def data(trees, sentences, here):
    for name, part in (("train", slice(40)), ("dev", slice(40, 50))):
        save_oracle(f"{name}.oracle", sentences[part])
        with replacing(f"{name}.trees") as stream:
            stream.writelines(f"{format_tree(located.tree)}\n" for located in trees[part])
    return here


def log(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_training_writes_a_description_with_its_best_score(data):
    invoke(*TRAIN, *SMALL, "--model", "m d")
    about, records = model_folder.read_about("m d"), log(data / "m d")
    best = [r for r in records if r.get("is_best")][-1]
    scores = about["scores"]
    assert all(scores[name] == best[name] for name in ("f1", "recall", "precision", "updates"))
    assert scores["dev"] == about["data"]["dev"] != about["data"]["train"]
    assert (about["settings"]["preset"], about["settings"]["epochs"]) == ("paper", 1)
    assert about["sizes"]["hidden"] == 8
    assert about["made"]["command"].endswith("--set evaluate_every=20 --model 'm d'")
    assert about["made"]["command"].startswith("rnng-dy train discriminative --train train.oracle")
    assert str(data) not in str(about)


def test_a_model_that_begins_as_another_says_as_which(data):
    invoke(*TRAIN, *SMALL, "--model", "one")
    invoke(*TRAIN[:-2], "--no-tagger", "--init", "one", "--epochs", "1", "--model", "two")
    one, two = map(model_folder.read_about, ("one", "two"))
    digest = hashlib.sha256((data / "one" / "parameters.npz").read_bytes()).hexdigest()
    trained_on = model_folder.trained_on(one)
    assert two["origin"] == {"model": "one", "sha256": digest, "trained_on": trained_on}
    assert "--init one" in two["made"]["command"]


def test_show_prints_the_model_and_its_description(data):
    invoke(*TRAIN, *SMALL, "--model", "m")
    printed = invoke("models", "show", "m")
    used = ("config.json", "vocabulary.json", "parameters.npz", "about.json", "text.json")
    size = sum((data / "m" / name).stat().st_size for name in used)
    more = f"size: {size / 1e6:.2f} MB\nlicence: not stated; "
    more += "`rnng-dy models export --licence` states it"
    assert printed.stdout.startswith(f"{load('m')!r}\n{more}\n\nmodel:\n  kind: discriminative\n")
    for section in model_folder.read_about("m").values():
        for key, value in section.items():
            assert f"\n  {key}: {value}\n" in printed.stdout
    model_folder.write_about("m", {"\x1b[1m": {"\r": "b \x1b[31m"}, "model": {"parameters": 1}})
    counted = f"\nmodel:\n  parameters: {load('m').store.count()}\n"
    assert "\n\\x1b[1m:\n  \\r: b \\x1b[31m\n" + counted in invoke("models", "show", "m").stdout


def test_scores_are_those_of_the_parameters_that_are_saved(data):
    invoke(*TRAIN, *SMALL, "--model", "m")
    model = load("m")
    model.save("same")
    model.store.load({name: values * 2 for name, values in model.store.arrays().items()})
    model.save("further")
    model.export("further.zip")
    for name, kept in (("same", True), ("further", False), ("further.zip", False)):
        assert ("scores" in model_folder.read_about(name)) is kept
    # as after a kill between the parameters and their scores
    shutil.copy("further/parameters.npz", "same")
    assert "scores:" not in invoke("models", "show", "same").stdout


def test_an_imported_model_says_where_it_comes_from(tiny_reference, here):
    shutil.copy(tiny_reference / "corrected" / "disc.params", "disc.params")
    trees = tiny_reference / "train.trees"
    invoke("oracle", "--train", trees, trees, "-o", "train.oracle")
    data = ["--train-oracle", "train.oracle", "--pos"]
    invoke("import-clab", "discriminative", "disc.params", *data, "--model", "m")
    about = model_folder.read_about("m")
    digest = hashlib.sha256((here / "disc.params").read_bytes()).hexdigest()
    origin = {"program": "clab/rnng", "checkpoint": "disc.params", "sha256": digest}
    assert about["origin"] == origin
    assert about["corpus"]["sentences"] == 500
