"""What each test file executes, and a mutant at a time in copies of the checkout."""

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
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from coverage import CoverageData
from coverage.exceptions import CoverageException

from scripts.mutants.changes import Mutant

PYTEST = ("-m", "pytest", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=1")
COVERAGE = "[run]\nparallel = true\npatch = subprocess, _exit\nsigterm = true\n"
RECORDING = 1800
"""Seconds that a test file may take when its lines are recorded."""
_running: set[subprocess.Popen] = set()


def copied(checkout: Path, folder: Path) -> Path:
    """All that git knows of a checkout, as it is now."""
    listed = ["git", "-C", str(checkout), "ls-files", "-z"]
    for name in subprocess.check_output(listed, text=True).split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.copy2(checkout / name, folder / name)
    return folder


def each(copies: list[Path], items: Iterable, work: Callable) -> Iterator[dict]:
    """The results of `work(copy, item)` as they come, one item a copy at a time."""
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
            for process in list(_running):
                _end(process)


def _end(process: subprocess.Popen) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _run(copy: Path, seconds: float, *arguments: str) -> tuple[int | None, str]:
    """Exit code of Python in a copy, None if it takes longer, and its output; no process of it is left."""
    path = os.pathsep.join([str(copy), *filter(None, [os.environ.get("PYTHONPATH")])])
    # bytecode of a mutant must not outlive it
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments, f"--basetemp={copy}.tmp"]
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        process = subprocess.Popen(
            command,
            cwd=copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        _running.add(process)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
            process.wait()
            _running.discard(process)
        said.seek(0)
        return code, said.read()


def recorded(path: Path, sound: Path, copies: list[Path]) -> list[dict]:
    """A record of each test file that passes: its seconds, and the lines of every module that it runs."""
    tests = {p: p.read_bytes() for p in sorted(sound.glob("tests/**/test_*.py"))}
    others = b"".join(p.read_bytes() for p in sorted(sound.rglob("*.py")) if p not in tests)
    keys = {
        str(p.relative_to(sound)): hashlib.sha256(others + text).hexdigest()[:16]
        for p, text in tests.items()
    }
    known = {r["test"]: r for r in read(path) if keys.get(r["test"]) == r["key"]}
    missing = [test for test in keys if test not in known]
    say(f"{len(missing)} of {len(keys)} test files to record")
    for record in each(copies, missing, _record):
        known[record["test"]] = {**record, "key": keys[record["test"]]}
        append(path, known[record["test"]])
        if not record["passes"]:
            say(f"{record['test']} does not pass and is left out")
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
            with suppress(CoverageException):  # of a process that was killed
                data.read()
            for module in data.measured_files():
                found = lines.setdefault(str(Path(module).relative_to(copy)), set())
                found.update(data.lines(module))
    listed = {
        module: sorted(found) for module, found in lines.items() if not module.startswith("tests/")
    }
    return {"test": test, "passes": code == 0, "seconds": seconds, "lines": listed}


def chosen(mutant: Mutant, records: list[dict], seconds: float) -> tuple[list[dict], int]:
    """Records of the test files to run in order, and the number of those there is no time for.

    Where none is seen to run the lines (as in processes that are killed), all that run something of the module.
    """
    users = [r for r in records if mutant.module in r["lines"]] or records
    lines = set(range(mutant.line, mutant.last + 1))
    hits = [r for r in users if not lines.isdisjoint(r["lines"].get(mutant.module, ()))] or users
    room, some = Path("tests", mutant.module).parent, []
    for record in sorted(hits, key=lambda r: (Path(r["test"]).parent != room, r["seconds"])):
        if not some or sum(r["seconds"] for r in some) + record["seconds"] <= seconds:
            some.append(record)
    return some, len(hits) - len(some)


def tried(sound: Path, copy: Path, mutant: Mutant, records: list[dict], seconds: float) -> dict:
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


def read(path: Path) -> list[dict]:
    # a line that was cut off by a kill has no end
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def append(path: Path, record: dict) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
