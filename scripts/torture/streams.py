"""Commands whose standard streams are closed, full, or have nobody who reads them."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import NamedTuple

from scripts.torture.book import Book
from scripts.torture.jobs import Ended, Started, link_data
from scripts.torture.judge import last_exception
from scripts.torture.targets import (
    COMPARE,
    DISCRIMINATIVE,
    GENERATOR,
    IMPORT,
    KNESER_NEY,
    LSTM_LM,
    PARSE,
    PERPLEXITY,
    REPRODUCE_ANEW,
    SAMPLE,
    SCORE,
)

PATIENCE = 60.0
# whose result is what they print
PRINTING = [
    "prepare --from trees test.trees",
    "oracle --train train.trees test.trees",
    "tag test.trees --jackknife 2",
    "clusters train.gen.oracle -c 4",
    "clusters show clusters.paths",
    PARSE.removesuffix(" -o out"),
    SAMPLE.removesuffix(" -o out"),
    SCORE.removesuffix(" -o out"),
    "generate --model generator -n 2",
    "generate --model lm -n 2",
    "rerank test.props test.likelihoods",
    "perplexity test.gen.oracle --model lm",
    "perplexity test.gen.oracle --kneser-ney train.gen.oracle",
    "evalb test.trees system.trees",
    COMPARE,
    REPRODUCE_ANEW,
    "doctor",
]
# who asks for help hears nothing, which is no result lost
HELP = ["--help", "--version", "parse --help"]
# whose result is a file or a folder
WRITING = [
    "prepare --from trees test.trees -o out",
    "oracle --train train.trees test.trees -o out",
    "tag test.trees --jackknife 2 --jobs 2 -o out",
    "clusters train.gen.oracle -c 4 -o out",
    PARSE,
    f"{SAMPLE} --jobs 2",
    SCORE,
    "generate --model generator -n 2 -o out",
    "rerank test.props test.likelihoods -o out",
    KNESER_NEY,
    PERPLEXITY,
    DISCRIMINATIVE,
    f"{DISCRIMINATIVE} --preset fast --jobs 2",
    GENERATOR,
    LSTM_LM,
    IMPORT,
]


class State(NamedTuple):
    """A state of the standard streams."""

    name: str
    closed: tuple[int, ...] = ()
    full: bool = False
    unread: bool = False


STATES = [
    State("standard input closed", (0,)),
    State("standard output closed", (1,)),
    State("standard error closed", (2,)),
    State("all streams closed", (0, 1, 2)),
    State("standard output full", full=True),
    State("nobody reads standard output", unread=True),
]
Case = tuple[str, State]
CASES: list[Case] = [
    (command, state) for state in STATES for command in (*PRINTING, *HELP, *WRITING)
]


def torture_streams(case: Case, data: Path, folder: Path, book: Book) -> None:
    """Run a command with its streams in that state."""
    command, state = case
    link_data(data, folder)
    stdout = _stdout(state)
    prepare = partial(_close, state.closed) if state.closed else None
    try:
        ended = Started(command.split(), folder, prepare=prepare, stdout=stdout).wait(PATIENCE)
    finally:
        if stdout is not None:
            os.close(stdout)
    book.add_try(state.name)
    problem = _problem(command, state, ended)
    if problem:
        cause = f"{state.name}: {problem}"
        book.add_failure(state.name, cause, f"{command} {_in_a_shell(state)}", state.name, _nothing)
    shutil.rmtree(folder)


def _problem(command: str, state: State, ended: Ended) -> str | None:
    if "Traceback" in ended.stderr or "Exception ignored" in ended.stderr:
        return f"traceback: {last_exception(ended.stderr)}"
    lost = command in PRINTING and (1 in state.closed or state.full)
    if lost:
        return None if ended.code in (1, 2) else f"exit code {ended.code} though the result is lost"
    # what `train` and `import-clab` print besides is no result
    allowed = (0, 2) if state.full or 1 in state.closed else (0,)
    return (
        None if ended.code in allowed else f"exit code {ended.code}: {ended.stderr.strip()[-80:]}"
    )


def _stdout(state: State) -> int | None:
    if state.full:
        return os.open("/dev/full", os.O_WRONLY)
    if not state.unread:
        return None
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def _close(numbers: tuple[int, ...]) -> None:
    for number in numbers:
        os.close(number)


def _in_a_shell(state: State) -> str:
    closed = " ".join(("<&-", ">&-", "2>&-")[number] for number in state.closed)
    return closed or (">/dev/full" if state.full else "| true")


def _nothing(folder: Path) -> None:
    """The command says it all."""
