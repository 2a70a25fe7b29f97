"""Commands whose standard streams are closed, full, or without a reader."""

from __future__ import annotations

from functools import partial
from pathlib import Path

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


STATES = {
    "standard input closed": "<&-",
    "standard output closed": ">&-",
    "standard error closed": "2>&-",
    "all streams closed": "<&- >&- 2>&-",
    "standard output full": ">/dev/full",
    "nobody reads standard output": "| true",
}
"""States of the standard streams, with what makes them in a shell."""
CANNOT_PRINT = ("standard output closed", "all streams closed", "standard output full")


def run_in_state(command: str, state: str, data: Path, folder: Path) -> Trial:
    """Run a command with its streams in this state."""
    link_data(data, folder)
    redirection = STATES[state]
    ended = Started(command, folder, redirection=redirection).wait(PATIENCE)
    problem = _problem(command, state in CANNOT_PRINT, ended)
    cause = problem and f"{state}: {problem}"
    return Trial(state, cause, f"{command} {redirection}", state, ended.stderr)


STREAM_CASES = [
    partial(run_in_state, command, state)
    for state in STATES
    for command in (*PRINTING, *HELP, *WRITING)
]


def _problem(command: str, cannot_print: bool, ended: Ended) -> str | None:
    if ended.traceback:
        return ended.traceback
    if command in PRINTING and cannot_print:
        is_said = ended.code in (1, 2)
        return None if is_said else f"exit code {ended.code} though the result is lost"
    # other output of `train` and `import-clab` is no result
    return None if ended.code in ((0, 2) if cannot_print else (0,)) else ended.shown
