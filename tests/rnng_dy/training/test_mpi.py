"""`train --mpi`: ranks make the updates of as many processes, and end together."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rnng_dy import checkpoint

from ... import commands
from ...commands import invoke, started, until
from ...conftest import tiny_trees
from .trainings import OPEN_MPI

pytestmark = pytest.mark.slow
FAULTY = Path(__file__).with_name("faulty_rank.py")
SMALL = shlex.split(
    "--trees t.trees --hold-out 0.2 --hidden 8 --set lstm_input=9 --epochs 2 --set evaluate_every=12 --set save_every=0"
)
PARSER = ["train", "discriminative", *SMALL, "--pos", "--no-tagger", "--set", "report_every=9"]
PARSER += ["--preset", "fast", "--batch-size", "5"]
GENERATOR = ["train", "generative", *SMALL, "--batch-size", "4", "--set", "l2=1e-3"]
LM = ["train", "lstm-lm", *SMALL, "--preset", "fast", "--batch-size", "2"]


@pytest.fixture
def data(here):
    """A folder of 30 trees, the current one."""
    Path("t.trees").write_text(tiny_trees(0, 30), encoding="utf-8")
    return here


def start(mpirun, ranks, *arguments, program=("-m", "rnng_dy")):
    """Start the command in so many ranks; with mpirun's end they end."""
    return started(
        *[mpirun, "-n", str(ranks), sys.executable, *program, *arguments],
        env={**os.environ, **OPEN_MPI},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(mpirun, ranks, *arguments, code=0, **how):
    """Run it to its end; gives both outputs."""
    with start(mpirun, ranks, *arguments, **how) as process:
        # generous: the machine may be busy
        out, err = process.communicate(timeout=120)
    assert code is None or process.returncode == code, err
    assert code is not None or process.returncode > 0, err
    return out, err


def updates(folder):
    """The number of updates in the training state."""
    return checkpoint.training_state(folder)["progress"]["updates"]


def assert_alike(folder, expected):
    """Two trainings have led to the same parameters, but for rounding."""
    ours, theirs = (checkpoint.read_arrays(Path(m, "training.npz")) for m in (folder, expected))
    assert ours.keys() == theirs.keys()
    for name in theirs.keys() - {"state"}:
        assert ours[name] == pytest.approx(theirs[name], abs=1e-4), name
    logs = [Path(m, "log.jsonl").read_text().splitlines() for m in (folder, expected)]
    assert len(logs[0]) == len(logs[1]) > 0


@pytest.mark.parametrize(
    ("command", "ranks"),
    [(PARSER, 3), (GENERATOR, 2), (LM, 2)],
    ids=["parser, three ranks", "generator", "LSTM, batches of two"],
)
def test_ranks_make_the_updates_of_as_many_processes(mpirun, data, command, ranks):
    out, err = run(mpirun, ranks, *command, "--model", "ranks", "--mpi")
    assert out.count("\n") == err.count("epoch 2.00, 48 sentences: dev") == 1
    assert re.fullmatch(r"ranks: best: epoch .*: dev .*\n", out)
    invoke(*command, "--model", "processes", "--jobs", str(ranks))
    assert_alike("ranks", "processes")
    assert {path.name for path in data.iterdir()} == {"t.trees", "ranks", "processes"}


def faulty(fault, rank, number):
    """The command with a fault in a rank from a number of gradients on."""
    return str(FAULTY), fault, str(rank), str(number)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_killed_in_an_update_ends_all_and_resume_goes_on(mpirun, data, rank):
    command = [*PARSER, "--model", "m", "--mpi"]
    said = "".join(run(mpirun, 2, *command, code=None, program=faulty("killed", rank, 6)))
    # by mpirun, which has killed the other one
    assert re.search("signal (9|KILL)|Killed", said)
    assert updates("m") < 6
    run(mpirun, 2, *command, "--resume")
    invoke(*PARSER, "--model", "straight", "--jobs", "2")
    assert_alike("m", "straight")


@pytest.mark.parametrize(
    ("fault", "rank", "says"),
    [
        ("raises", 1, "Error: rank 1: something unforeseen"),
        ("raises", 0, "Error: rank 0: something unforeseen"),
        ("disk_full", 0, "Error: rank 0: .*No space left on device"),
    ],
)
def test_what_goes_wrong_in_a_rank_is_said_and_ends_all(mpirun, data, fault, rank, says):
    program = faulty(fault, rank, 6)
    _, err = run(mpirun, 2, *PARSER, "--model", "m", "--mpi", code=None, program=program)
    assert re.search(says, err)
    assert ("Traceback" in err) == (fault == "raises")
    assert updates("m") < 6


def test_ctrl_c_keeps_what_is_done(mpirun, data):
    if "prterun" in subprocess.check_output([mpirun, "--version"], text=True):
        pytest.skip("Open MPI kills ranks a quarter of a second after Ctrl-C")
    command = [*PARSER, "--model", "m", "--mpi"]
    with start(mpirun, 2, *command, program=faulty("slow", 1, 3)) as process:
        until(Path("m", "log.jsonl").exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert "with --resume continues in m" in err
    assert process.returncode == 130
    assert 2 <= updates("m") < 10
    run(mpirun, 2, *command, "--resume")


def test_resume_goes_on_with_other_numbers_of_ranks_and_processes(mpirun, data):
    command = [*PARSER, "--set", "schedule=inverse", "--model", "m"]
    command.remove("--epochs"), command.remove("2")
    invoke(*command, "--epochs", "1", "--jobs", "1")
    run(mpirun, 2, *command, "--mpi", "--resume", "--epochs", "2")
    assert checkpoint.training_state("m")["settings"]["jobs"] == 2
    invoke(*command, "--resume", "--epochs", "3", "--jobs", "1")
    state = checkpoint.training_state("m")
    assert (state["settings"]["jobs"], state["progress"]["sentences"]) == (1, 3 * 24)


def test_bad_options_and_files_are_told_once(mpirun, data):
    _, err = run(mpirun, 6, *PARSER, "--model", "m", "--mpi", code=None)
    assert err.count("6 processes share the sentences of an update") == 1
    assert "--batch-size 6" in err
    Path("m").mkdir()
    _, err = run(mpirun, 2, *PARSER, "--model", "m", "--mpi", code=None)
    assert err.count("m exists: continue with --resume") == 1


def test_without_an_mpi_it_is_said_what_to_install(mpirun, data, tmp_path):
    """Without mpirun."""
    environment = {**os.environ, "MPI4PY_LIBMPI": str(tmp_path / "none.so")}
    alone = (*PARSER, "--model", "m", "--mpi")
    said = commands.run(None, *alone, code=2, env=environment, timeout=120).stderr
    assert "--mpi needs mpi4py and an MPI" in said
    assert "pip install mpich" in said
