"""Mutation testing: copies of the checkout, a record of the lines of each test file, mutants, and their table."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from queue import SimpleQueue
from random import Random
from types import SimpleNamespace
from typing import Any

import click
from coverage import CoverageData
from coverage.exceptions import CoverageException

from scripts.checkout import CHECKOUT, copy_tracked, end_all, run_limited
from scripts.mutants.changes import Mutant, mutants_of

PYTEST = ("-m", "pytest", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=1")
COVERAGE = "[run]\nparallel = true\npatch = subprocess, _exit\nsigterm = true\n"
RECORDING = 1800
"""Seconds that a test file may take while its lines are recorded."""
OUTCOMES = ("killed", "timed out", "survived")
PATH = click.Path(path_type=Path)


@click.command()
@click.argument("packages", nargs=-1)
@click.option("--number", default=200, help="Mutants to try.", show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--jobs", default=2, help="At a time.", show_default=True)
@click.option("--seconds", default=240.0, help="Of tests for each mutant.", show_default=True)
@click.option("--again", is_flag=True, help="Try those that survived again.")
@click.option("--out", type=PATH, default="mutants.jsonl", show_default=True)
@click.option("--checkout", type=PATH, default=CHECKOUT, show_default="this one")
def main(**given: Any) -> None:
    """Does a test fail when one place of the code is changed?

    Changes one place of PACKAGES (of all three, by default) at a time, in copies of the checkout, and runs the test
    files that execute it until one fails: those of its room first, the quickest first. The results go to a file of
    JSON lines, their table to standard output. What is done is not done again.
    """
    options = SimpleNamespace(**given)
    shared = os.environ.get("RNNG_DY_SHARED")
    if not Path(shared or "none").is_dir():
        raise click.UsageError(
            "RNNG_DY_SHARED must be the folder of the reference data: without it tests are skipped"
        )
    os.environ["RNNG_DY_SHARED"] = os.path.abspath(shared)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        # one copy stays unchanged: the checkout may change in the meantime
        sound, *copies = (Path(folder, str(i)) for i in range(options.jobs + 1))
        for copy in (sound, *copies):
            copy_tracked(options.checkout, copy)
        rooms = options.packages or ("oracle", "clusters", "rnng_dy")
        inside = [path for package in rooms for path in sound.glob(f"{package}/**/*.py")]
        modules = sorted(str(path.relative_to(sound)) for path in inside)
        mutants = [mutant for module in modules for mutant in mutants_of(sound, module)]
        Random(options.seed).shuffle(mutants)
        mutants = mutants[: options.number]
        known = {_mutant_of(record): record for record in _read(options.out)}
        known = {mutant: known[mutant] for mutant in mutants if mutant in known}
        kept = OUTCOMES[:2] if options.again else OUTCOMES
        due = [m for m in mutants if m not in known or known[m]["result"] not in kept]
        _say(f"{len(mutants)} mutants of seed {options.seed}, {len(due)} to try")
        try:
            lines = _recorded(options.out.with_suffix(".lines.jsonl"), sound, copies) if due else []
            for record in _each(
                copies, due, lambda copy, m: _tried(sound, copy, m, lines, options.seconds)
            ):
                _append(options.out, record)
                known[_mutant_of(record)] = record
                _say(f"{len(known)}/{len(mutants)} {record['result']}: {_line(record)}")
        except KeyboardInterrupt:
            _say("stopped; the same command continues")
    print(report(list(known.values())))


def _each(copies: list[Path], items: Iterable, work: Callable) -> Iterator[dict]:
    """Yield the results of `work(copy, item)` as they finish, one item per copy at a time."""
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def in_a_copy(item: object) -> dict:
        copy = free.get()
        try:
            return work(copy, item)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as threads:
        futures = [threads.submit(in_a_copy, item) for item in items]
        try:
            yield from (future.result() for future in as_completed(futures))
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            end_all()


def _run(copy: Path, seconds: float, *arguments: str) -> tuple[int | None, str]:
    """Return the exit code and output of Python in a copy, None as code if it takes too long; end its processes."""
    path = os.pathsep.join([str(copy), *filter(None, [os.environ.get("PYTHONPATH")])])
    # bytecode of a mutant must not outlive it
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments, f"--basetemp={copy}.tmp"]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        streams = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
        code = run_limited(command, seconds, cwd=copy, env=environment, **streams)
        said.seek(0)
        return code, said.read()


def _recorded(path: Path, sound: Path, copies: list[Path]) -> list[dict]:
    """Return a record per test file that passes: its seconds, and the lines of every module that it runs."""
    tests = {p: p.read_bytes() for p in sorted(sound.glob("tests/**/test_*.py"))}
    others = b"".join(p.read_bytes() for p in sorted(sound.rglob("*.py")) if p not in tests)
    keys = {
        str(p.relative_to(sound)): hashlib.sha256(others + text).hexdigest()[:16]
        for p, text in tests.items()
    }
    known = {r["test"]: r for r in _read(path) if keys.get(r["test"]) == r["key"]}
    missing = [test for test in keys if test not in known]
    _say(f"{len(missing)} of {len(keys)} test files to record")
    for record in _each(copies, missing, _record):
        known[record["test"]] = {**record, "key": keys[record["test"]]}
        _append(path, known[record["test"]])
        if not record["passes"]:
            _say(f"{record['test']} does not pass and is left out")
    return [known[test] for test in keys if known[test]["passes"]]


def _record(copy: Path, test: str) -> dict:
    lines: dict[str, set[int]] = {}
    with tempfile.TemporaryDirectory(dir=copy.parent) as folder:
        settings = Path(folder, "settings")
        settings.write_text(f"{COVERAGE}data_file = {folder}/data\ninclude = {copy}/*\n")
        started = time.monotonic()
        code, _ = _run(
            copy, RECORDING, "-m", "coverage", "run", f"--rcfile={settings}", *PYTEST, test
        )
        seconds = round(time.monotonic() - started, 1)
        for path in Path(folder).glob("data*"):
            data = CoverageData(str(path))
            with suppress(CoverageException):  # from a process that was killed
                data.read()
            for module in data.measured_files():
                found = lines.setdefault(str(Path(module).relative_to(copy)), set())
                found.update(data.lines(module))
    listed = {
        module: sorted(found) for module, found in lines.items() if not module.startswith("tests/")
    }
    return {"test": test, "passes": code == 0, "seconds": seconds, "lines": listed}


def chosen(mutant: Mutant, records: list[dict], seconds: float) -> tuple[list[dict], int]:
    """Return the records of the test files to run, in order, and the number of those without enough time.

    If no record includes the mutant's lines (as in processes that are killed), all that run part of the module count.
    """
    users = [r for r in records if mutant.module in r["lines"]] or records
    lines = set(range(mutant.line, mutant.last + 1))
    hits = [r for r in users if not lines.isdisjoint(r["lines"].get(mutant.module, ()))] or users
    room, some = Path("tests", mutant.module).parent, []
    for record in sorted(hits, key=lambda r: (Path(r["test"]).parent != room, r["seconds"])):
        if not some or sum(r["seconds"] for r in some) + record["seconds"] <= seconds:
            some.append(record)
    return some, len(hits) - len(some)


def _tried(sound: Path, copy: Path, mutant: Mutant, records: list[dict], seconds: float) -> dict:
    tests, left_out = chosen(mutant, records, seconds)
    limit = 60 + 3 * sum(record["seconds"] for record in tests)
    started = time.monotonic()
    (copy / mutant.module).write_bytes(mutant.applied((sound / mutant.module).read_bytes()))
    try:
        code, said = _run(copy, limit, *PYTEST, *(record["test"] for record in tests))
    finally:
        shutil.copy2(sound / mutant.module, copy / mutant.module)
    by = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    return {
        **asdict(mutant),
        "result": "timed out" if code is None else "killed" if code else "survived",
        "by": by[1] if by else "",
        "seconds": round(time.monotonic() - started, 1),
        "tests": len(tests),
        "tests_left_out": left_out,
    }


def report(records: list[dict]) -> str:
    """Return a table by package, and the surviving mutants."""
    rows = [f"{'':24}" + "".join(f"{name:>11}" for name in ("mutants", *OUTCOMES))]
    packages = [str(Path(record["module"]).parent) for record in records]
    for package in [*sorted(set(packages)), "all"]:
        own = [r["result"] for r, p in zip(records, packages, strict=True) if package in (p, "all")]
        counts = (len(own), *map(own.count, OUTCOMES))
        rows.append(f"{package:24}" + "".join(f"{n:11}" for n in counts))
    survivors = sorted(_line(record) for record in records if record["result"] == "survived")
    return "\n".join([*rows, "", "Survivors:", *survivors])


def _line(record: dict) -> str:
    change = " ".join(f"{record['before']} -> {record['after']}".split())
    tests = f"{record['tests']} test files, {record['tests_left_out']} left out"
    return f"{record['module']}:{record['line']}: {record['kind']}: {change} ({tests})"


def _mutant_of(record: dict) -> Mutant:
    return Mutant(**{field.name: record[field.name] for field in fields(Mutant)})


def _read(path: Path) -> list[dict]:
    # a kill can cut off the last line
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def _append(path: Path, record: dict) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
