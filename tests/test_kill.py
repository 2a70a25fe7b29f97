"""kill -9 at any moment of training loses nothing: --resume continues to the numbers of an uninterrupted run."""

from __future__ import annotations

import random

import numpy as np
import pytest

from oracle.brackets import read_trees
from rnng_dy.checkpoint import read_arrays
from tests.commands import PYTHON, run
from tests.conftest import tiny_trees
from tests.rnng_dy.conftest import save_oracles

TRAIN = (
    "train discriminative --train train.oracle --dev dev.oracle --dev-trees dev.trees --pos "
    "--set lstm_input=12 --hidden 12 --epochs 4 --set first_evaluation=40 "
    "--set evaluate_every=90 --set save_every=0 --resume --model"
)
# dies at a random moment of its n-th update or soon after it, in whatever it does then
RUN_AND_DIE_IN_TRAINING = """
import os, signal, threading
from rnng_dy.training.updates import Updater
update, left = Updater.update, [{n}]
def counted(self, *arguments):
    left[0] -= 1
    if left[0] == 0:
        threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return update(self, *arguments)
Updater.update = counted
from rnng_dy.cli import main
main()
"""
# dies in the n-th rename of a checkpoint: before it, with the temporary file complete, or right
# after it
RUN_AND_DIE_IN_A_CHECKPOINT = """
import os, signal
from rnng_dy import checkpoint
rename, left = os.replace, [{n}]
def replace(source, target):
    left[0] -= 1
    if left[0] == 0 and {before}:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(source, target)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = replace
from rnng_dy.cli import main
main()
"""


@pytest.fixture
def folder(tmp_path):
    for name, part in (("train", (0, 150)), ("dev", (500, 515))):
        (tmp_path / f"{name}.trees").write_text(tiny_trees(*part), encoding="utf-8")
        save_oracles(tmp_path, name, list(read_trees(tmp_path / f"{name}.trees")))
    return tmp_path


def test_ten_random_kills_and_two_in_a_checkpoint(folder):
    options = TRAIN.split()
    run(folder, *options, "straight")
    moment = random.Random(9)
    programs = [
        RUN_AND_DIE_IN_TRAINING.format(n=moment.randint(1, 40), delay=moment.uniform(0, 0.02))
        for _ in range(10)
    ]
    programs.insert(4, RUN_AND_DIE_IN_A_CHECKPOINT.format(n=2, before=True))
    programs.insert(9, RUN_AND_DIE_IN_A_CHECKPOINT.format(n=3, before=False))
    for program in programs:
        run(folder, program, *options, "killed", code=-9, command=PYTHON)
        assert (folder / "killed/config.json").exists(), "the model folder is complete or not there"
    run(folder, *options, "killed")
    for name in ("parameters.npz", "training.npz"):
        expected, ours = (read_arrays(folder / of / name) for of in ("straight", "killed"))
        expected.pop("state", None), ours.pop("state", None)
        np.testing.assert_equal(ours, expected)
    straight, killed = ({p.name for p in (folder / of).iterdir()} for of in ("straight", "killed"))
    assert killed == straight
