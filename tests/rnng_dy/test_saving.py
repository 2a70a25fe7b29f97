"""Saving over a model: other files stay, and at every moment there is the old model or the new one."""

import os
import shutil
import signal
import sys

import numpy as np
import pytest

from oracle.common.errors import RnngError
from rnng_dy import DiscriminativeParser, checkpoint
from rnng_dy.checkpoint import read_arrays
from rnng_dy.training.presets import PRESETS
from rnng_dy.training.updates import Updater

from .conftest import make_parser

MORE = {
    "log.jsonl": "{}\n",
    "clusters.paths": "01\tthe\t3\n",
    "data/train.oracle": "# (S)\n",
    "data/train.oracle.arrays/symbols.json": "[]",
    "notes/mine.json": "{}",
    "my.npz": "",
    ".my.notes.v2": "a user's own",
    ".a.b.c1/mine": "",
}


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def trained(sentences, tagger, tmp_path):
    """A model folder with all that a training and its user leave there."""
    folder, model = tmp_path / "m", make_parser(sentences)
    model.tagger = tagger
    model.save(folder)
    updater = Updater(model, [], PRESETS["paper", "discriminative"])
    checkpoint.save_training(model.store, folder, {"examples": 3}, updater.optimizer)
    for name, text in MORE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_another_model_is_not_replaced(trained, sentences):
    before = contents(trained)
    (trained.parent / "empty").mkdir()
    for other in make_parser(sentences, state="stack"), make_parser(sentences[:50]):
        with pytest.raises(RnngError, match=r"m holds another model: choose another name"):
            other.save(trained)
        with pytest.raises(RnngError, match=r"empty exists and is no model folder"):
            other.save(trained.parent / "empty")
    assert contents(trained) == before
    assert os.listdir(trained.parent / "empty") == []


def dies_at_its_step(n, act):
    """Run in a process of its own that is killed before its n-th look at the file system; whether it was."""
    process = os.fork()
    if not process:
        left = [n]

        def count(event, _):
            if event.startswith(("os.", "shutil.", "open")):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


def test_a_kill_at_any_moment_leaves_the_old_model_or_the_new_one(trained, tmp_path):
    before = contents(trained)
    model = DiscriminativeParser.load(trained)
    old = model.store.arrays()["stack_guard"].copy()
    model.store.dense["stack_guard"].set_value([7.0] * 10)
    new = model.store.arrays()["stack_guard"].copy()
    was_new, place = [], tmp_path / "there"
    while True:
        place.mkdir()
        shutil.copytree(trained, place / "m")
        killed = dies_at_its_step(len(was_new) + 1, lambda: model.save(place / "m"))
        # reading first, as a user would
        found = DiscriminativeParser.load(place / "m").store.arrays()["stack_guard"]
        was_new.append(np.array_equal(found, new))
        assert was_new[-1] or np.array_equal(found, old)
        now = contents(place / "m")
        # a file that was being written when the process was killed is replaced by the next one
        assert before.keys() <= now.keys()
        assert {name for name in before if now[name] != before[name]} <= {"parameters.npz"}
        if not killed:
            break
        model.save(place / "m")
        assert np.array_equal(read_arrays(place / "m" / "parameters.npz")["stack_guard"], new)
        assert contents(place / "m").keys() == before.keys()
        shutil.rmtree(place)
    assert len(was_new) > 20
    assert was_new == sorted(was_new)
