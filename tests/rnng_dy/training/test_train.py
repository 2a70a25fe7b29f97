"""`rnng_dy.train`: what a command does, from Python."""

import json
import os
import signal
import sys
import warnings
from pathlib import Path

import nltk
import numpy as np
import pytest

import rnng_dy
from oracle.common.errors import RnngError
from rnng_dy import checkpoint
from tests.commands import invoke, run

from .trainings import KINDS, assert_same_bits

SMALL = {"hidden": 8, "lstm_input": 9, "epochs": 2}
SMALL |= {"evaluate_from_epoch": 0, "first_evaluation": 10}
OPTIONS = ["--hidden", 8, "--set", "lstm_input=9", "--epochs", 2]
OPTIONS += ["--set", "evaluate_from_epoch=0", "--set", "first_evaluation=10"]

pytestmark = pytest.mark.usefixtures("train_and_dev")


def trees(name):
    return [nltk.Tree.fromstring(line) for line in Path(name).read_text("utf-8").splitlines()]


def records_of(folder):
    return [json.loads(line) for line in Path(folder, "log.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_trains_as_the_command_does(kind):
    heard = []
    given = {"folder": "python", "on_record": heard.append, **SMALL}
    model = rnng_dy.train(kind, "t.trees", "d.trees", **given)
    invoke("train", kind, "--trees", "t.trees", "--dev-trees", "d.trees", *OPTIONS, "--model", "m")
    assert_same_bits("python", "m")
    assert heard == records_of("python")
    assert isinstance(model, type(rnng_dy.load("m")))
    best = checkpoint.read_arrays(Path("python", "parameters.npz"))
    assert all(np.array_equal(a, best[name]) for name, a in model.store.arrays().items())


def test_trees_in_memory_train_the_model_of_their_files():
    rnng_dy.train("discriminative", "t.trees", "d.trees", folder="files", pos=True, **SMALL)
    given = {"folder": "memory", "pos": True, **SMALL}
    rnng_dy.train("discriminative", trees("t.trees"), trees("d.trees"), **given)
    assert_same_bits("files", "memory")
    # as the command is, a resume is refused if the trees are others
    rnng_dy.train("discriminative", trees("t.trees"), trees("d.trees"), resume=True, **given)
    with pytest.raises(RnngError, match=r"other data \(train, dev\)"):
        rnng_dy.train("discriminative", trees("d.trees"), trees("t.trees"), resume=True, **given)


def test_a_training_that_is_stopped_can_be_resumed_to_the_same_numbers():
    rnng_dy.train("lstm-lm", "t.trees", hold_out=0.2, folder="straight", **SMALL)
    left = {"hold_out": 0.2, "folder": "left", "report_every": 5, **SMALL}
    records = []
    given = {"on_record": records.append, "stop": lambda: len(records) > 0}
    stopped = rnng_dy.train("lstm-lm", "t.trees", **left, **given)
    assert records == records_of("left")
    assert 0 < stopped.updates < 48
    with pytest.raises(RnngError, match="left exists: continue with `resume`"):
        rnng_dy.train("lstm-lm", "t.trees", **left)
    with pytest.raises(RnngError, match=r"^`resume` needs the same data again$"):
        rnng_dy.train("lstm-lm", folder="left", resume=True)
    rnng_dy.train("lstm-lm", "t.trees", resume=True, **left)
    assert_same_bits("left", "straight", ["parameters.npz"])


CALLER = """
import gc, os, resource, signal, sys, rnng_dy

def process():
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    limits = [resource.getrlimit(n) for n in (resource.RLIMIT_DATA, resource.RLIMIT_AS)]
    return gc.get_threshold(), gc.get_freeze_count(), gc.isenabled(), handlers, limits, dict(os.environ), sys.path

def heard(record):
    assert process()[0] == before[0] and process()[3:] == before[3:]

before = process()
if __name__ == "__main__":
    for jobs in (1, 2):
        rnng_dy.train("lstm-lm", "t.trees", hold_out=0.2, folder=f"m{jobs}", hidden=8, lstm_input=9, epochs=1,
            report_every=5, batch_size=2, jobs=jobs, on_record=heard)
    rnng_dy.parse("It works."), rnng_dy.surprisals("It works.")
    assert process() == before
"""


def test_a_call_changes_nothing_of_the_process():
    Path("caller.py").write_text(CALLER, encoding="utf-8")
    done = run(None, "caller.py", command=(sys.executable,), timeout=120)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"epochs": 0}, "epochs: 0 is not in the range x>=1."),
        ({"dropout": 1}, "dropout: 1.0 is not in the range 0<=x<1."),
        ({"learning_rate": float("nan")}, "learning_rate: nan is no finite number."),
        ({"epochs": "many"}, "epochs: 'many' is not a valid integer range."),
        ({"optimizer": "sdg"}, "optimizer: 'sdg' is not one of 'sgd', 'adam'."),
        ({"word_size": 0}, "word_size: 0 is not in the range x>=1."),
        ({"droput": 0.1}, "no setting of a discriminative training is called 'droput'"),
        ({"settings": {}}, "no setting of a discriminative training is called 'settings'"),
        ({"clusters": "c"}, "`clusters` goes with `kind` generative/lstm-lm"),
        ({"transitions": "odd"}, "no transition system is called 'odd': top-down, in-order"),
        ({"preset": "slow"}, "preset: 'slow' is not one of 'paper', 'fast', 'quick'."),
        ({"hold_out": 0.1, "dev_trees": "d.trees"}, "`hold_out` goes without `dev_trees`"),
        ({"extend": True}, "`extend` goes with `init`"),
        ({"tagger": False}, "`tagger` goes with `pos` or `init`"),
        ({"gold": 3}, "`gold` goes with `gold_weight`"),
        ({"state": "history", "composition": "buggy"}, "goes without `state` no-stack/history"),
        ({"preset": "fast", "decay": 0.1}, "`decay` goes with `schedule` inverse"),
        (
            {"jobs": 2},
            "2 processes share the sentences of an update, which are 1: give `batch_size` 2",
        ),
        ({"hold_out": 10}, "`hold_out` is a share of the trees between 0 and 1, not 10"),
        ({"hold_out": 0}, "`hold_out` is a share of the trees between 0 and 1, not 0"),
    ],
)
def test_settings_are_checked(settings, says):
    with pytest.raises(RnngError) as error:
        rnng_dy.train("discriminative", "t.trees", **{"folder": "m", "hold_out": 0.1, **settings})
    assert says in str(error.value)
    assert sorted(os.listdir()) == ["d.trees", "t.trees"]


def test_gold_sentences_are_among_those_that_are_read():
    with pytest.raises(RnngError, match=r"^t.trees: \d+ sentences, fewer than gold=999"):
        given = {"gold": 999, "gold_weight": 2, **SMALL}
        rnng_dy.train("lstm-lm", "t.trees", "d.trees", folder="m", **given)
    assert not os.path.exists("m")


def test_a_quick_training_counts_gold_sentences_as_often_as_it_reads_them():
    model = rnng_dy.train(
        "lstm-lm", "t.trees", "d.trees", folder="m", gold=20, gold_weight=900, preset="quick",
        jobs=1, hidden=8, lstm_input=9, stop=lambda: True,
    )  # fmt: skip
    assert model.about["settings"]["epochs"] == 1


def test_no_kind_and_no_file_are_errors_of_ours():
    with pytest.raises(RnngError, match="no kind of model is called 'dragon': discriminative"):
        rnng_dy.train("dragon", "t.trees", folder="m")
    with pytest.raises(FileNotFoundError):
        rnng_dy.train("lstm-lm", "absent", hold_out=0.1, folder="m")
    assert sorted(os.listdir()) == ["d.trees", "t.trees"]


def test_training_in_a_thread_is_no_matter_of_signals():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool, warnings.catch_warnings():
        job = pool.submit(rnng_dy.train, "lstm-lm", "t.trees", hold_out=0.2, folder="m", **SMALL)
        assert job.result().updates > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
