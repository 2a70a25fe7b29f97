"""Ctrl-C: exit code 130, one line, no traceback."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from rnng_dy.cli import evalb

from ...commands import COMMAND, invoke, started, until


@pytest.mark.parametrize("said", ["", "stopped; the same command continues with x.part"])
def test_an_interrupt_in_a_command_ends_with_130(monkeypatch, tmp_path, said):
    def interrupted(*_):
        raise KeyboardInterrupt(*filter(None, [said]))

    monkeypatch.setattr(evalb, "score_systems", interrupted)
    assert invoke("evalb", "a", "b", code=130).stderr == f"\n{said or 'stopped'}\n"


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
