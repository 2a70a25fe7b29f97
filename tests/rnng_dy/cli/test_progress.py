"""Progress: redrawn on a terminal that can, plain lines elsewhere."""

from __future__ import annotations

import os
import pty
from functools import partial
from itertools import count
from types import SimpleNamespace

import pytest

from rnng_dy.cli.progress import ByteProgress, Progress
from tests.commands import PYTHON, run, started

# a clock that a test need not wait for: 11 seconds pass between any two looks at it
PROGRAM = """
import itertools, time
ticks = itertools.count(0, 11)
time.monotonic = lambda: float(next(ticks))
from rnng_dy.cli.progress import Progress
progress = Progress("parse", 3)
for _ in range(3):
    progress.advance()
progress.finish()
"""
LINES = [
    "parse: 1/3 sentences, 0.1/s, 0:22 left",
    "parse: 2/3 sentences, 0.1/s, 0:11 left",
    "parse: 3/3 sentences, 0.1/s, 0:00 left",
    "parse: 3 sentences in 44.0 s, 0.1/s",
]


def shown_on_a_terminal(**variables):
    """What the program writes to standard error where that is a terminal."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("TERM", "NO_COLOR")}
    master, slave = pty.openpty()
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
def test_a_line_is_redrawn_on_a_terminal(variables):
    shown = shown_on_a_terminal(**variables)
    assert shown == "".join(f"\r\033[K{x}" for x in [*LINES[:3], ""]) + f"{LINES[3]}\r\n"


@pytest.mark.parametrize(
    "variables", [{"TERM": "dumb"}, {}, {"TERM": ""}, {"TERM": "xterm", "NO_COLOR": "1"}]
)
def test_no_escapes_on_a_dumb_terminal_or_where_nobody_wants_them(variables):
    assert shown_on_a_terminal(**variables).splitlines() == LINES


def test_plain_lines_where_there_is_no_terminal():
    done = run(None, PROGRAM, command=PYTHON, env=os.environ | {"TERM": "xterm"})
    assert done.stderr.splitlines() == LINES


def test_no_time_left_is_shown_where_nobody_knows_the_end(capsys):
    progress = Progress("reading", None, "kB")
    progress._shown -= 60
    progress.advance(7)
    line = capsys.readouterr().err
    assert line.startswith("reading: 7 kB, ")
    assert "left" not in line


def test_kilobytes_of_a_file_are_counted_however_short_its_lines(tmp_path, monkeypatch, capsys):
    clock = SimpleNamespace(monotonic=partial(next, count(0, 11)))
    monkeypatch.setattr("rnng_dy.cli.progress.time", clock)
    (tmp_path / "corpus").write_bytes(b"x" * 4096)
    progress = ByteProgress("reading", str(tmp_path / "corpus"))
    for _ in range(3):
        progress.advance(700)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["reading: 1/4 kB", "reading: 2/4 kB"]
