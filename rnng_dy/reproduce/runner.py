"""The runner of stages, several at a time, whose outputs are missing or of other settings."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import rnng_dy
from oracle.common import plugins
from oracle.common.errors import InputError, RnngError
from oracle.common.files import file_hash, locked
from rnng_dy.checkpoint import content_hash
from rnng_dy.engine import CPU
from rnng_dy.reproduce.stages import Stage

LOGS = "logs"


def run(
    folder: Path,
    planned: Sequence[Stage],
    jobs: int = 1,
    device: str = CPU,
    report: Callable[[str], None] = print,
    groups: Iterable[str] | None = None,
    version: str = rnng_dy.__version__,
) -> None:
    """Run the planned stages that are not done, of the named groups, at most `jobs` at a time.

    The records of stages say the version, which may have the commit of a checkout: outputs of
    another commit stay, and `report` gets its name.

    Each is a process with a log in `logs/`. If one fails, on KeyboardInterrupt, and when this
    process is gone, the others stop as by Ctrl-C, so that they can be resumed.

    Raises:
        RnngError: A stage failed (with the last line of its log), or reads what a stage makes that
            is neither done nor of these groups; another reproduction runs in the folder, or this
            has other files of an output's name, or a changed output.
    """
    (folder / LOGS).mkdir(parents=True, exist_ok=True)
    with locked(folder):
        key_of = keys(folder, planned)
        undone = [stage for stage in planned if not is_done(folder, stage, key_of[stage.name])]
        chosen = [stage for stage in planned if groups is None or stage.group in groups]
        waiting = [stage for stage in chosen if stage in undone]
        # these files may be there, as other settings made them
        left_out = {path: s for s in undone if s not in chosen for path in s.outputs}
        for stage in chosen:
            if stage not in undone:
                report(f"{stage.name}: up to date, of rnng_dy {made_by(folder, stage)}")
            elif read := left_out.keys() & {*stage.words}:
                needed = left_out[min(read)]
                raise RnngError(
                    f"`{stage.name}` reads {min(read)}, which is missing or of other settings: run "
                    f"with `{needed.name}`, of the stages {needed.group}"
                )
        running: dict[Stage, subprocess.Popen[bytes]] = {}
        try:
            while waiting or running:
                unmade = {path for stage in (*waiting, *running) for path in stage.outputs}
                ready = [s for s in waiting if not unmade.intersection(s.words) - {*s.outputs}]
                share = max(1, jobs // max(1, len(running) + len(ready)))
                for stage in ready[: jobs - len(running)]:
                    waiting.remove(stage)
                    report(f"{stage.name}: rnng-dy {stage.command}")
                    running[stage] = _start(folder, stage, key_of[stage.name], share, device)
                time.sleep(0.05)
                for stage, process in [*running.items()]:
                    if process.poll() is not None:
                        del running[stage]
                        _finish(folder, stage, key_of[stage.name], process.returncode, version)
                        report(f"{stage.name}: done")
        finally:
            for process in running.values():
                process.send_signal(signal.SIGINT)
            for process in running.values():
                process.wait()


def _start(folder: Path, stage: Stage, key: str, jobs: int, device: str) -> subprocess.Popen[bytes]:
    """Start the command of a stage, which resumes what was begun with the same settings.

    Waits for the same stage of an earlier run, which ends when its parent is gone. Raises RnngError
    for an output that no stage has made, such as a file of the user's.
    """
    with _path(folder, stage, "log").open("ab") as log:
        # the processes that write a log have its lock
        fcntl.flock(log, fcntl.LOCK_EX)
        log.truncate(0)
        existing = [folder / name for name in stage.outputs if (folder / name).exists()]
        if existing and not _path(folder, stage, "json").exists():
            raise RnngError(f"{existing[0]} is no file of a reproduction: name another folder")
        if record_of(folder, stage).get("settings") != key:
            _remove(folder, stage)
        _record(folder, stage, {"settings": key})
        values = {"--jobs": [str(jobs)], "--device": [device], "--resume": []}
        words = [*stage.words, *(w for flag in stage.free for w in (flag, *values[flag]))]
        return subprocess.Popen(
            [sys.executable, "-m", "rnng_dy.reproduce.command", *_plugins(), *words],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )


def _finish(folder: Path, stage: Stage, key: str, code: int, version: str) -> None:
    """Record that a stage is done. Raises RnngError if its command failed or left an output out."""
    missing = [name for name in stage.outputs if not (folder / name).exists()]
    if code or missing:
        log = _path(folder, stage, "log")
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"did not write {', '.join(missing)}"
        raise RnngError(f"{stage.name} ended with code {code}: {why} (log: {log})")
    made = {name: file_hash(folder / name) for name in stage.outputs if (folder / name).is_file()}
    _record(folder, stage, {"settings": key, "done": True, "version": version, "made": made})


def keys(folder: Path, planned: Sequence[Stage]) -> dict[str, str]:
    """Return a hash of each stage's settings.

    They are version, plugins and command, and those of all that the stage reads.
    """
    code = [Path(path).read_text(encoding="utf-8") for path in _plugins()[1::2]]
    hashes: dict[str, str] = {}
    makers = {path: stage.name for stage in planned for path in stage.outputs}
    for stage in planned:
        read = [
            hashes[makers[word]] if word in makers else _state(folder / word)
            for word in stage.words
            if word not in stage.outputs
        ]
        hashes[stage.name] = content_hash(rnng_dy.__version__, code, stage.command, read)
    return hashes


def is_done(folder: Path, stage: Stage, key: str) -> bool:
    """Return whether the outputs are there and were made with the settings of the key.

    Raises InputError for such a file that somebody has changed since.
    """
    record = record_of(folder, stage)
    is_made = record.items() >= {"settings": key, "done": True}.items()
    is_made = is_made and all((folder / output).exists() for output in stage.outputs)
    for name, made in record.get("made", {}).items() if is_made else ():
        if file_hash(folder / name) != made:
            raise InputError(f"changed since `{stage.name}` made it: remove it", folder / name)
    return is_made


def made_by(folder: Path, stage: Stage) -> str:
    """Return the version of rnng_dy that has made the outputs of a finished stage."""
    return str(record_of(folder, stage).get("version", rnng_dy.__version__))


def record_of(folder: Path, stage: Stage) -> dict:
    """Return the record of the stage's last run; empty if there is none that can be read."""
    with suppress(FileNotFoundError, TypeError, ValueError):
        return dict(json.loads(_path(folder, stage, "json").read_text(encoding="utf-8")))
    return {}


def _record(folder: Path, stage: Stage, content: dict) -> None:
    _path(folder, stage, "json").write_text(json.dumps(content) + "\n", encoding="utf-8")


def _path(folder: Path, stage: Stage, ending: str) -> Path:
    return folder / LOGS / f"{stage.name.replace(' ', '-')}.{ending}"


def _plugins() -> list[str]:
    """Return the options that load this process's plugins."""
    return [word for path in plugins.loaded for word in ("--plugin", str(Path(path).resolve()))]


def _state(path: Path) -> object:
    """Return what identifies a source: sizes and times of its files, with names of a folder's."""
    walked = (Path(at, x) for at, _, names in os.walk(path, followlinks=True) for x in names)
    stats = ((str(p.relative_to(path)), p.stat()) for p in [path, *walked] if p.is_file())
    return sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats) or None


def _remove(folder: Path, stage: Stage) -> None:
    """Remove the outputs of other settings, which cannot be resumed."""
    for output in stage.outputs:
        shutil.rmtree(folder / output, ignore_errors=True)
        for name in (output, f"{output}.part", f"{output}.part.key"):
            (folder / name).unlink(missing_ok=True)
