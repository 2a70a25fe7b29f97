"""Ctrl-C: exit code 130, one line, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from rnng_dy.cli import evalb
from rnng_dy.process import ending_at_once

from ...commands import COMMAND, PYTHON, invoke, run, started, until


@pytest.mark.parametrize("said", ["", "stopped; what is done is in x.part, --resume continues"])
def test_an_interrupt_in_a_command_ends_with_130(monkeypatch, tmp_path, said):
    def interrupted(*_):
        raise KeyboardInterrupt(*filter(None, [said]))

    monkeypatch.setattr(evalb, "score_systems", interrupted)
    result = invoke("evalb", "a", "b", code=130)
    assert result.stderr == f"\n{said or 'stopped'}\n"


def test_ctrl_c_while_a_command_waits_for_its_input(tmp_path):
    command = [*COMMAND, "prepare", "--from", "trees", "-", "-o", str(tmp_path / "out")]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(*command, **pipes, text=True) as process:
        # it reads when its output stands under a temporary name
        until(lambda: list(tmp_path.iterdir()))
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.strip()) == (130, "stopped")
    assert list(Path(tmp_path).iterdir()) == []


ENDS_SLOWLY = """
import os, signal, sys
from rnng_dy.__main__ import main

class Last:
    def __del__(self):
        # at this moment Python has given the signals back
        os.kill(os.getpid(), signal.SIGINT)

sys.modules["last"] = Last()
sys.argv = ["rnng-dy", *{arguments}]
main()
"""


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["evalb", "a", "b"], 2)])
def test_ctrl_c_while_python_ends_leaves_the_exit_code(tmp_path, arguments, code):
    program = ENDS_SLOWLY.format(arguments=arguments)
    run(tmp_path, program, code=code, command=PYTHON)


LOADS = """
import os, signal, sys

class Destroyed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "rnng_dy.cli.evalb":
            Destroyed()

from rnng_dy.__main__ import main
sys.meta_path.insert(0, Finder)
sys.argv = ["rnng-dy", "evalb", "--help"]
main()
"""


def test_ctrl_c_raises_again_after_an_error_in_what_is_loaded():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ImportError), ending_at_once():
        raise ImportError
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_a_destructor_of_what_is_being_loaded_is_not_lost():
    done = run(None, LOADS, code=130, command=PYTHON)
    assert (done.stdout, done.stderr) == ("", "")
