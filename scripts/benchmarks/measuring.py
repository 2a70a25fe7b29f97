"""Common parts of benchmarks: measuring in separate processes and in turns, and printing rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

KINDS = ("discriminative", "generative")
CALLING = "from {0} import {1}; {1}(*{2!r})"
PRINTING = "import json; from {0} import {1}; print(json.dumps({1}(*{2!r})))"


def printed_by(
    work: Callable,
    *arguments: object,
    program: str = CALLING,
    start: Iterable[str] = (),
    environment: Mapping[str, str] = {},
) -> list[str]:
    """Return the lines that a function prints in a process of its own; `start` are words before its command."""
    called = program.format(work.__module__, work.__name__, arguments)
    command = [*start, sys.executable, "-c", called]
    environment = {**os.environ, **environment}
    return subprocess.check_output(command, env=environment, text=True).splitlines()


def apart(work: Callable, *arguments: object) -> Any:
    """Return the result of a function, called in a process of its own so that its memory peak is its own."""
    return json.loads(printed_by(work, *arguments, program=PRINTING)[-1])


def fastest(
    work: Callable[[], object], times: int = 1, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the seconds of the fastest of several calls."""
    found = []
    for _ in range(times):
        begun = clock()
        work()
        found.append(clock() - begun)
    return min(found)


processor_time = partial(fastest, clock=time.process_time)


def in_turns(works: Mapping[str, Callable], rounds: int) -> dict[str, list]:
    """Return the results of each work per round; in a round all take turns."""
    found: dict[str, list] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(work())
    return found


def print_row(layout: str, *cells: object, **named: object) -> None:
    """Print a row of a table immediately."""
    print(layout.format(*cells, **named), flush=True)
