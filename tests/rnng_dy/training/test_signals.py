"""A signal to all processes of a training: the update is finished and kept."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rnng_dy import checkpoint
from tests.commands import invoke, run, started, until

from ...conftest import tiny_trees

pytestmark = pytest.mark.slow

TRAIN = "train discriminative --trees t.trees --hold-out 0.2 --hidden 8 --set lstm_input=9"
TRAIN += " --batch-size 4 --epochs 4 --set report_every=4 --jobs 2 --model"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}
# the helper runs this file, too; a signal comes nearly always while gradients are computed
SLOW = """
import time
from rnng_dy.__main__ import main
from rnng_dy.training.updates import Updater

gradient = Updater._gradient

def slow(updater, batch):
    time.sleep(0.2)
    return gradient(updater, batch)

Updater._gradient = slow
if __name__ == "__main__":
    main()
"""
# the helper runs this file before it knows what it is to do
EARLY = """
import os, signal
from rnng_dy.__main__ import main

if __name__ == "__main__":
    main()
else:
    os.killpg(0, signal.{})
"""


def train(*arguments):
    invoke(*TRAIN.split(), *arguments)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A folder of trees, and of the model that is trained without a stop: the current one."""
    folder = tmp_path_factory.mktemp("straight")
    (folder / "t.trees").write_text(tiny_trees(0, 20), encoding="utf-8")
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        train("straight")
        yield folder


def require_straight(model):
    """Go on with a stopped training, which ends as if it had not been stopped."""
    train(model, "--resume")
    files = (Path(name, "parameters.npz") for name in ("straight", model))
    np.testing.assert_equal(*map(checkpoint.read_arrays, files))


@pytest.mark.parametrize("number", CODES)
def test_a_signal_to_the_group_ends_training_after_an_update_and_resume_goes_on(straight, number):
    model = number.name
    command = (sys.executable, "slow.py", *TRAIN.split(), model)
    with started(*command, stderr=subprocess.PIPE, text=True) as process:
        until(Path(model, "log.jsonl").exists)
        # a signal that comes while a message is written is not announced
        time.sleep(0.1)
        os.killpg(process.pid, number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == CODES[number], said
    assert said.count("stopping after this step; the same again ends at once\n") == 1
    assert f"--resume continues in {model}" in said
    require_straight(model)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_helper_starts_is_for_the_main_process_alone(straight, number):
    model = f"early-{number.name}"
    Path("early.py").write_text(EARLY.format(number.name), encoding="utf-8")
    early = {"command": (sys.executable, "early.py"), "start_new_session": True, "timeout": 60}
    done = run(None, *TRAIN.split(), model, code=128 + number, **early)
    assert f"--resume continues in {model}" in done.stderr
    require_straight(model)
