"""Progress: a bar on a terminal that can redraw it, plain lines elsewhere."""

from __future__ import annotations

import os
import pty
import re
import termios

import pytest

from rnng_dy.cli.progress import Progress
from tests.commands import PYTHON, run, started

PROGRAM = """
from rnng_dy.cli import progress
progress.LOGGED = progress.REDRAWN = 0
with progress.Progress("parse", 3) as shown:
    for _ in range(3):
        shown.advance()
"""


def shown_on_a_terminal(**variables):
    """What the program writes to standard error where that is a terminal."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR")}
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    with started(*PYTHON, PROGRAM, stderr=slave, env=inherited | variables) as process:
        os.close(slave)
        shown = b""
        # Linux ends a terminal that nobody writes to any more with an error
        try:
            while part := os.read(master, 4096):
                shown += part
        except OSError:
            pass
        process.wait()
    os.close(master)
    assert process.returncode == 0
    return shown.decode()


@pytest.mark.parametrize("variables", [{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": ""}])
def test_a_bar_is_redrawn_on_a_terminal(variables):
    shown = shown_on_a_terminal(**variables)
    assert shown.count("\r") >= 3
    assert "parse: 100%" in shown


@pytest.mark.parametrize(
    "variables", [{"TERM": "dumb"}, {}, {"TERM": ""}, {"TERM": "xterm", "NO_COLOR": "1"}]
)
def test_plain_lines_on_a_dumb_terminal_or_where_nobody_wants_escapes(variables):
    shown = shown_on_a_terminal(**variables)
    assert "\x1b" not in shown
    assert all(line.startswith("parse: ") for line in shown.splitlines())


def test_plain_lines_where_there_is_no_terminal():
    done = run(None, PROGRAM, command=PYTHON, env=os.environ | {"TERM": "xterm"})
    *_, last = done.stderr.splitlines()
    assert re.match(r"parse: 100% 3/3 \[.* sentences/s\]$", last)


def test_what_an_earlier_run_has_done_is_not_in_the_rate(capsys):
    with Progress("parse") as progress:
        progress.skip(1000)
        progress.advance()
    assert "parse: 1001 sentences [" in capsys.readouterr().err
