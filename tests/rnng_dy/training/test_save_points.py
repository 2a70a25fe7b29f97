"""Going on from any save point, in a process of its own, gives the bits of an uninterrupted run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from oracle.blocks import write_oracle
from oracle.files import replacing
from rnng_dy import checkpoint, registry
from rnng_dy.engine import dy
from rnng_dy.parameters import ParameterStore
from tests import commands

from ..conftest import sentences_of
from .trainings import Training

CHECKOUT = Path(__file__).resolve().parents[3]
SETTINGS = {"epochs": 2, "dropout": 0.2, "decay": 0.05, "first_evaluation": 10**6}
SETTINGS |= {"evaluate_every": 10**6, "evaluate_from_epoch": 9, "checkpoint_every": 1}
KINDS = {
    "discriminative": {},
    "generative": {},
    "lstm-lm": {},
    # rows enter by their moments, too
    "generative, adam": {"optimizer": "adam", "schedule": "linear", "learning_rate": 0.01},
}
SAVE_POINTS = (1, 4, 9, 15, 22)

GO_ON = """
import json, sys
from pathlib import Path
sys.path.insert(0, {checkout!r})
from oracle.blocks import read_oracle
from tests.rnng_dy.training.test_save_points import run_of
folder, oracle, settings = json.loads(sys.argv[1])
run = run_of(Path(folder), read_oracle(oracle), settings)
run.resume()
assert run.run()
"""


def run_of(folder: Path, sentences, settings) -> Training:
    """A training in a folder, of the model that the folder has."""
    model = registry.kind_of(folder).build(folder)
    return Training(model, sentences, folder, **settings)


def new_model(kind, sentences, generative):
    from ..conftest import make_generator, make_parser, simple_clusters

    if kind == "discriminative":
        return make_parser(sentences)
    if kind == "generative":
        return make_generator(generative)
    from rnng_dy.baselines.lstm_lm import LanguageModelSizes, LstmLanguageModel
    from rnng_dy.vocabulary import GeneratorVocabulary

    vocabulary = GeneratorVocabulary.build(simple_clusters(generative), generative)
    return LstmLanguageModel(vocabulary, LanguageModelSizes(layers=1, lstm_input=8, hidden=8))


@pytest.mark.parametrize("name", KINDS)
def test_a_run_that_goes_on_from_a_save_point_ends_with_the_same_bits(trees, tmp_path, name):
    kind, settings = name.partition(",")[0], {**SETTINGS, **KINDS[name]}
    sentences, generative = (sentences_of(trees[:14], g) for g in (False, True))
    used = sentences if kind == "discriminative" else generative
    with replacing(tmp_path / "data.oracle") as stream:
        write_oracle(used, stream)
    new_model(kind, sentences, generative).save(tmp_path / "whole")
    run = run_of(tmp_path / "whole", used, settings)
    run.create_folder()

    def copy() -> bool:
        if run.progress.updates in SAVE_POINTS:
            shutil.copytree(tmp_path / "whole", tmp_path / str(run.progress.updates))
        return False

    assert run.run(copy)
    expected = checkpoint.read_arrays(tmp_path / "whole" / "training.npz")
    program = GO_ON.format(checkout=str(CHECKOUT))

    for point in SAVE_POINTS:
        given = json.dumps([str(tmp_path / str(point)), str(tmp_path / "data.oracle"), settings])
        commands.run(CHECKOUT, program, given, command=commands.PYTHON)
        found = checkpoint.read_arrays(tmp_path / str(point) / "training.npz")
        assert found.keys() == expected.keys()
        for array in found.keys() - {"state"}:
            assert np.array_equal(found[array], expected[array]), (point, array)


def test_the_norm_of_a_gradient_does_not_depend_on_what_a_table_was_used_for_before():
    """DyNet added rows in the order of a hash table, which grows and keeps its size."""
    random = np.random.default_rng(1)
    norms = []
    for history in (0, 3, 40, 700):
        store = ParameterStore(1)
        table = store.lookup("x", 1000, 7)
        trainer = dy.SimpleSGDTrainer(store.collection)
        trainer.learning_rate = 0.0
        for rows in (range(history), random.permutation(history)):
            dy.renew_cg()
            if len(rows):
                loss = dy.esum([dy.squared_norm(dy.lookup(table, int(i))) for i in rows])
                loss.forward()
                loss.backward()
                trainer.update()
        found = []
        for seed in range(30):
            rows = np.random.default_rng(seed).choice(1000, 60, replace=False)
            dy.renew_cg()
            loss = dy.esum([dy.squared_norm(dy.lookup(table, int(i))) for i in rows])
            loss.forward()
            loss.backward()
            found.append(store.gradient_norm())
            trainer.update()
        norms.append(found)
    assert norms[0] == norms[1] == norms[2] == norms[3]
