"""Commands whose standard streams are closed, full, or without a reader."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path
from typing import NamedTuple

from scripts.torture import commands
from scripts.torture.processes import Ended, Started, Trial, link_data

STREAMS = "streams"
PATIENCE = 60.0
# commands that print their result or write it to a file
EITHER = [
    "prepare --from trees test.trees",
    "oracle --train train.trees test.trees",
    "clusters train.gen.oracle -c 4",
    *(
        command.removesuffix(" -o out")
        for command in (commands.PARSE, commands.SAMPLE, commands.SCORE)
    ),
    "generate --model generator -n 2",
    "rerank test.props test.likelihoods",
]
PRINTING = [
    *EITHER,
    "tag test.trees --jackknife 2",
    "clusters show clusters.paths",
    "generate --model lm -n 2",
    "perplexity test.gen.oracle --model lm",
    "perplexity test.gen.oracle --kneser-ney train.gen.oracle",
    "evalb test.trees system.trees",
    commands.COMPARE,
    commands.REPRODUCE_ANEW,
    "doctor",
]
# unread help is no lost result
HELP = ["--help", "--version", "parse --help"]
# commands whose result is a file or a folder
WRITING = [
    *(f"{command} -o out" for command in EITHER),
    "tag test.trees --jackknife 2 --jobs 2 -o out",
    f"{commands.SAMPLE} --jobs 2",
    commands.KNESER_NEY,
    commands.PERPLEXITY,
    commands.DISCRIMINATIVE,
    f"{commands.DISCRIMINATIVE} --preset fast --jobs 2",
    commands.GENERATOR,
    commands.LSTM_LM,
    commands.IMPORT,
]


class State(NamedTuple):
    """A state of the standard streams."""

    name: str
    in_a_shell: str
    closed: tuple[int, ...] = ()
    is_full: bool = False


STATES = [
    State("standard input closed", "<&-", (0,)),
    State("standard output closed", ">&-", (1,)),
    State("standard error closed", "2>&-", (2,)),
    State("all streams closed", "<&- >&- 2>&-", (0, 1, 2)),
    State("standard output full", ">/dev/full", is_full=True),
    State("nobody reads standard output", "| true"),
]


def run_in_state(command: str, state: State, data: Path, folder: Path) -> Trial:
    """Run a command with its streams in this state."""
    link_data(data, folder)
    prepare = partial(_close, state.closed)
    stdout = subprocess.DEVNULL if state.closed else _stdout(state)
    try:
        started = Started(command, folder, prepare=prepare, stdout=stdout)
        ended = started.wait(PATIENCE)
    finally:
        if not state.closed:
            os.close(stdout)
    problem = _problem(command, state, ended)
    cause = problem and f"{state.name}: {problem}"
    return Trial(state.name, cause, f"{command} {state.in_a_shell}", state.name, ended.stderr)


STREAM_CASES = [
    partial(run_in_state, command, state)
    for state in STATES
    for command in (*PRINTING, *HELP, *WRITING)
]


def _problem(command: str, state: State, ended: Ended) -> str | None:
    if ended.traceback:
        return ended.traceback
    cannot_print = state.is_full or 1 in state.closed
    if command in PRINTING and cannot_print:
        is_said = ended.code in (1, 2)
        return None if is_said else f"exit code {ended.code} though the result is lost"
    # other output of `train` and `import-clab` is no result
    return None if ended.code in ((0, 2) if cannot_print else (0,)) else ended.shown


def _stdout(state: State) -> int:
    if state.is_full:
        return os.open("/dev/full", os.O_WRONLY)
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def _close(numbers: tuple[int, ...]) -> None:
    for number in numbers:
        os.close(number)
