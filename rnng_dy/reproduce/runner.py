"""The runner of stages: runs those whose outputs are missing or were made with other settings, several at a time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from pathlib import Path

from filelock import FileLock, Timeout

import rnng_dy
from oracle.errors import RnngError
from rnng_dy import plugins
from rnng_dy.engine import CPU
from rnng_dy.reproduce.stages import Stage

LOGS, RUNNING, LOCK = "logs", "logs/running", ".lock"
OF_0_3 = "stages.json"


def run(
    folder: Path,
    planned: Sequence[Stage],
    executor: Executor,
    jobs: int = 1,
    device: str = CPU,
    report: Callable[[str], None] = print,
    groups: Iterable[str] | None = None,
) -> None:
    """Run the planned stages that are not done, of the named groups, at most `jobs` at a time.

    Each is a process with a log in `logs/`. Raises RnngError if another reproduction runs in the folder, or with
    the last line of a failed stage's log when the others that run have ended.
    KeyboardInterrupt ends the running stages as Ctrl-C does, so that they can be resumed.
    """
    if (folder / OF_0_3).exists():
        raise RnngError(f"{folder} has results of rnng_dy 0.3 ({OF_0_3}): name another folder")
    (folder / LOGS).mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=0):
            (folder / RUNNING).touch()
            chosen = [s for s in planned if groups is None or s.group in groups]
            _run(folder, chosen, keys(folder, planned), executor, jobs, device, report)
    except Timeout:
        raise RnngError(f"{folder}: another reproduction is running there") from None
    finally:
        (folder / RUNNING).unlink(missing_ok=True)


def _run(
    folder: Path,
    chosen: Sequence[Stage],
    key_of: dict[str, str],
    executor: Executor,
    jobs: int,
    device: str,
    report: Callable[[str], None],
) -> None:
    waiting = [stage for stage in chosen if not is_done(folder, stage, key_of[stage.name])]
    for stage in chosen:
        if stage not in waiting:
            report(f"{stage.name}: up to date")
    running: dict[Future, Stage] = {}
    failed: BaseException | None = None
    try:
        while running or (waiting and not failed):
            unmade = {path for stage in (*waiting, *running.values()) for path in stage.outputs}
            ready = [stage for stage in waiting if not unmade.intersection(stage.inputs)]
            share = max(1, jobs // max(1, len(running) + len(ready)))
            for stage in [] if failed else ready[: jobs - len(running)]:
                waiting.remove(stage)
                values = {"--jobs": [str(share)], "--device": [device], "--resume": []}
                free = [word for flag in stage.free for word in (flag, *values[flag])]
                report(f"{stage.name}: rnng-dy {' '.join(stage.command)}")
                given = (folder.resolve(), stage, key_of[stage.name], free, _plugins())
                running[executor.submit(run_stage, *given)] = stage
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                stage = running.pop(future)
                failed = failed or future.exception()
                if not future.exception():
                    report(f"{stage.name}: done in {future.result():.1f} s")
    except BaseException:
        (folder / RUNNING).unlink()
        wait(running)
        raise
    if failed:
        raise failed


def run_stage(
    folder: Path, stage: Stage, key: str, free: Sequence[str], plugins: Sequence[str]
) -> float:
    """Run a stage and return its seconds. Raises RnngError if it fails; ends it if the file RUNNING is removed."""
    record, log = (folder / LOGS / f"{_file(stage)}.{ending}" for ending in ("json", "log"))
    if not record.exists() or _read(record).get("settings") != key:
        # outputs of other settings cannot be resumed
        _remove(folder, stage)
    record.write_text(json.dumps({"settings": key}) + "\n")
    # a training has nothing to resume before its folder exists
    resumes = (folder / stage.outputs[0]).parent.exists()
    words = [*stage.command, *(word for word in free if resumes or word != "--resume")]
    command = [sys.executable, "-m", "rnng_dy", *plugins, *words]
    begun = time.monotonic()
    with log.open("wb") as messages, (folder / (stage.printed or os.devnull)).open("wb") as output:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": messages}
        process = subprocess.Popen(command, cwd=folder, start_new_session=True, **pipes)
        while process.poll() is None:
            if not (folder / RUNNING).exists():
                process.send_signal(signal.SIGINT)
                process.wait()
            time.sleep(0.05)
    missing = [name for name in stage.outputs if not (folder / name).exists()]
    if process.returncode or missing:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"did not write {', '.join(missing)}"
        raise RnngError(f"{stage.name} ended with code {process.returncode}: {why} (log: {log})")
    seconds = round(time.monotonic() - begun, 1)
    made = {"settings": key, "command": " ".join(words), "seconds": seconds, "done": True}
    record.write_text(json.dumps(made) + "\n")
    return seconds


def keys(folder: Path, planned: Sequence[Stage]) -> dict[str, str]:
    """Return a hash of each stage's settings: version, plugins, command, preset, and the same of all that it reads."""
    own = [Path(path).read_text(encoding="utf-8") for path in _plugins()[1::2]]
    found: dict[str, str] = {}
    makers = {path: stage.name for stage in planned for path in stage.outputs}
    for stage in planned:
        read = [
            found[makers[path]] if path in makers else _state(folder / path)
            for path in stage.inputs
        ]
        parts = [rnng_dy.__version__, own, stage.command, stage.preset, read]
        found[stage.name] = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return found


def is_done(folder: Path, stage: Stage, key: str) -> bool:
    """Return whether the outputs are there and were made with the settings of the key."""
    known = record_of(folder, stage)
    is_made = known.get("done") and known["settings"] == key
    return bool(is_made) and all((folder / output).exists() for output in stage.outputs)


def record_of(folder: Path, stage: Stage) -> dict:
    """Return settings, command and seconds of the stage's last run; empty if there was none."""
    path = folder / LOGS / f"{_file(stage)}.json"
    return _read(path) if path.exists() else {}


def _read(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        # a kill cut it short
        return {}


def _file(stage: Stage) -> str:
    return stage.name.replace(" ", "-")


def _plugins() -> list[str]:
    """Return the options that load this process's plugins."""
    return [word for path in plugins.loaded() for word in ("--plugin", str(Path(path).resolve()))]


def _state(path: Path) -> object:
    """Return what identifies a source: size and time of a file, names and sizes in a folder."""
    if path.is_dir():
        files = (p for p in path.rglob("*") if p.is_file())
        return sorted((str(p.relative_to(path)), p.stat().st_size) for p in files)
    if not path.exists():
        raise RnngError(f"{path}: no such file")
    return path.stat().st_size, path.stat().st_mtime_ns


def _remove(folder: Path, stage: Stage) -> None:
    for output in stage.outputs:
        path = folder / output
        if path.parent != folder:
            shutil.rmtree(path.parent, ignore_errors=True)
        else:
            for old in path.parent.glob(f"{path.name}*"):
                if old.name in (path.name, f"{path.name}.part", f"{path.name}.part.key"):
                    old.unlink()
