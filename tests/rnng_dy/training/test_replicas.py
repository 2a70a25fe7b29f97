"""One process, two processes and two ranks of MPI make the same updates."""

import multiprocessing
import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from oracle.common.errors import RnngError
from rnng_dy.models.composition import COMPOSITIONS
from rnng_dy.training.data import Examples
from rnng_dy.training.replicas import Processes

from ...commands import run
from ...conftest import CHECKOUT
from ..conftest import make_parser
from .trainings import OPEN_MPI, Training

pytestmark = pytest.mark.slow

PROGRAM = f"{__package__}.updates_of_replicas"
# the last is the program's own: to import it here would have every other test know it
NAMES = [*COMPOSITIONS, "own tables"]
SYSTEMS = list(product(("parser", "generator"), NAMES, ("adam", "sgd")))
TABLES = {"open_nonterminal", "nonterminal", "query_nonterminal", "action", "word", "tag"}
OWN = {"counts", "whole"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What the program leads to: called with HOW and the command that starts it, by rank."""
    found = {}

    def led_to(how, *start):
        if how not in found:
            folder = tmp_path_factory.mktemp(how)
            command = (*start, sys.executable, "-m", PROGRAM)
            run(CHECKOUT, folder, how, command=command, env={**os.environ, **OPEN_MPI}, timeout=300)
            found[how] = [dict(np.load(path)) for path in sorted(folder.glob("*.npz"))]
        return found[how]

    return led_to


def of_system(arrays, system):
    """The arrays of one system by name."""
    start = "/".join(system) + "/"
    return {k.removeprefix(start): v for k, v in arrays.items() if k.startswith(start)}


def moved(arrays, name):
    """Which numbers of a table have changed."""
    return arrays[name] != arrays[f"before/{name}"]


def assert_near(found, expected, system):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        # Adam's step hangs on the sign of a gradient that is 0 but for rounding
        if system[-1] == "sgd" or name.startswith("moment"):
            assert found[name] == pytest.approx(values, abs=2e-6), name


@pytest.mark.parametrize("system", SYSTEMS, ids=" ".join)
def test_two_processes_move_the_rows_that_one_moves(results, system):
    one, two = (of_system(*results(how), system) for how in ("alone", "processes"))
    tables = [name for name in one if name in TABLES | OWN]
    assert len(tables) >= 4
    for name in tables:
        assert np.array_equal(moved(one, name), moved(two, name)), name
        assert np.array_equal(moved(one, name).any(1), moved(one, name).all(1)), name
    assert_near(two, one, system)


@pytest.mark.parametrize("system", SYSTEMS, ids=" ".join)
def test_all_ranks_lead_to_the_numbers_of_as_many_processes(results, mpirun, system):
    [processes] = results("processes")
    first, second = results("ranks", mpirun, "-n", "2")
    expected = of_system(processes, system)
    for rank in (first, second):
        assert_near(of_system(rank, system), expected, system)
    np.testing.assert_equal(of_system(second, system), of_system(first, system))


def test_adam_leaves_the_row_of_a_label_that_is_the_roots_alone(results):
    """As a composition reads it: no vector of a root is made. As it is opened, it moves."""
    one = of_system(*results("alone"), ("parser", "corrected", "adam"))
    [row] = np.flatnonzero(
        ~moved(one, "nonterminal").any(1) & moved(one, "open_nonterminal").any(1)
    )
    assert row == one["root"]


class Failing(list):
    """Sentences that a helper fails to read."""

    error: Exception

    def __getitem__(self, index):
        if multiprocessing.parent_process():
            raise self.error
        return super().__getitem__(index)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ValueError("something unforeseen"), "ValueError: something unforeseen"),
        (RnngError("nothing to be read"), "nothing to be read"),
        (OSError(28, "No space left on device"), "OSError: .*No space left on device"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_what_goes_wrong_in_a_helper_is_said(sentences, tmp_path, error, says):
    run = Training(make_parser(sentences), sentences[:8], tmp_path / "m", batch_size=4, jobs=2)
    failing = Failing(sentences[:8])
    failing.error = error
    run.updater.examples = Examples(run.updater.model, failing, np.arange(8))
    run.begin()
    with pytest.raises(RnngError, match=f"^training process 1: {says}; continue with `resume`$"):
        run.run()


def test_a_helper_that_is_killed_is_said(sentences, tmp_path):
    run = Training(make_parser(sentences), sentences[:8], tmp_path / "m", batch_size=4, jobs=2)
    run.begin()
    says = "training process 1 ended with code -9 .* memory ran out"
    with pytest.raises(RnngError, match=says), Processes(run.updater, run.folder):
        for process in multiprocessing.active_children():
            process.kill()
        run.updater.update(range(4), 0, 0.1)


def test_a_python_that_cannot_be_started_is_not_called_killed(sentences, tmp_path, monkeypatch):
    run = Training(make_parser(sentences), sentences[:8], tmp_path / "m", batch_size=4, jobs=2)
    run.begin()
    # of a program that embeds Python
    monkeypatch.setattr(multiprocessing.spawn, "_python_exe", b"")
    says = r"training process 1 ended with code 255 \(it could not start: `multiprocessing\.set"
    with pytest.raises(RnngError, match=says), Processes(run.updater, run.folder):
        pass


def test_a_script_without_a_guard_is_told_so_and_does_not_wait_for_ever(tmp_path):
    # more than a pipe holds, so that a start that sends it all would wait for a helper that has
    # ended
    words = " ".join(f"(NN w{n})" for n in range(40))
    (tmp_path / "some.trees").write_text(f"(S {words})\n" * 400, encoding="utf-8")
    (tmp_path / "script.py").write_text(
        "import rnng_dy\n"
        'rnng_dy.train("discriminative", "some.trees", hold_out=0.1, folder="a", hidden=8, lstm_input=8,\n'
        "    epochs=1, batch_size=8, jobs=2)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "script.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert 'if __name__ == "__main__":' in ended.stderr.splitlines()[-1]
