"""The runner of stages: reruns those with missing or outdated outputs, several at a time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import rnng_dy
from oracle.archives import read_regular
from oracle.errors import RnngError
from oracle.files import from_json, locked, replacing
from rnng_dy import plugins
from rnng_dy.engine import CPU
from rnng_dy.execution.local import Command, LocalCommands, RunningProcess
from rnng_dy.reproduce.plan import Stage

RECORD, HASHES, LOGS = "stages.json", "hashes.json", "logs"
LONGEST = 1e9
"""Upper limit of plausible seconds, and numbers of processes, of a stage."""


class Runner:
    """The stages of one folder, and the record of earlier runs."""

    def __init__(
        self,
        folder: str | Path,
        stages: Sequence[Stage],
        executor: LocalCommands,
        report: Callable[[str], None],
        device: str = CPU,
    ):
        """Read the record of earlier runs; `report` receives a line per stage that begins, ends or is up to date.

        Models are trained and used on `device`.
        """
        self.folder, self.stages = Path(folder), list(stages)
        self._executor, self._report, self._device = executor, report, device
        self._record: dict[str, dict] = _read(self.folder / RECORD, _is_entry)
        self._hashes: dict[str, list] = _read(
            self.folder / HASHES, lambda value: isinstance(value, list)
        )
        self._makers = {output: stage for stage in stages for output in stage.outputs}
        self._running: dict[RunningProcess, tuple[Stage, str, float]] = {}

    def is_done(self, stage: Stage) -> bool:
        """Return whether the outputs exist, unchanged, and were made from the present inputs."""
        known = self._record.get(stage.name, {})
        return known.get("done") == self.key(stage) is not None and known.get("outputs") == {
            output: self._hash(output) for output in stage.outputs
        }

    def key(self, stage: Stage) -> str | None:
        """Return a hash of the command and its inputs; None if an input is missing."""
        hashes = [self._hash(path) for path in stage.inputs]
        if None in hashes:
            return None
        parts = [rnng_dy.__version__, stage.also, stage.command, list(stage.inputs), hashes]
        # without plugins, keys equal those of earlier versions
        parts += [used] if (used := plugins.hashes(stage.command)) else []
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def run(self) -> None:
        """Run the missing stages. Raises RnngError, with a failed stage and its log, after the running stages end.

        KeyboardInterrupt ends the running stages as Ctrl-C does, so that they can be resumed.
        """
        (self.folder / LOGS).mkdir(parents=True, exist_ok=True)
        with locked(self.folder / RECORD), locked(self.folder / HASHES):
            self._run()

    def _run(self) -> None:
        waiting = list(self.stages)
        failed = None
        try:
            while waiting or self._running:
                while (
                    not failed
                    and len(self._running) < self._executor.jobs
                    and (stage := self._next(waiting))
                ):
                    waiting.remove(stage)
                    if self.is_done(stage):
                        self._report(f"{stage.name}: up to date")
                    else:
                        self._start(stage)
                if not self._running:
                    break
                failed = self._wait() or failed
        except BaseException:
            for process in self._running:
                process.interrupt()
            for process in self._running:
                process.wait()
            raise
        if failed:
            raise RnngError(failed)

    def _next(self, waiting: Sequence[Stage]) -> Stage | None:
        """Return the first stage that waits for no other."""
        unfinished = {stage.name for stage in waiting} | {
            s.name for s, _, _ in self._running.values()
        }
        for stage in waiting:
            makers = (self._makers.get(path) for path in stage.inputs)
            if not any(maker and maker.name in unfinished for maker in makers):
                return stage
        return None

    def _start(self, stage: Stage) -> None:
        key = self.key(stage)
        if key is None:
            missing = next(path for path in stage.inputs if self._hash(path) is None)
            raise RnngError(f"{stage.name}: {missing} is missing")
        known = self._record.get(stage.name, {})
        if known.get("begun") != key or "done" in known:
            # outputs of another run, or changed ones, cannot be resumed
            self._remove(stage)
        jobs = self._executor.processes(len(self._running))
        processes = jobs if "{jobs}" in stage.free else 1
        device = self._device if "{device}" in stage.free else CPU
        self._record[stage.name] = {"begun": key, "processes": processes, "device": device}
        self._save()
        # a training has nothing to resume before its folder exists
        resumes = (self.folder / stage.outputs[0]).parent.exists()
        given = {"jobs": jobs, "device": device}
        free = [x.format(**given) for x in stage.free if resumes or x != "--resume"]
        printed = self.folder / f"{stage.printed}.new" if stage.printed else None
        arguments = (*stage.command, *free)
        command = Command(arguments, self.folder, self._log(stage), printed, plugins.loaded())
        process = self._executor.start(command)
        on = f"on {process.place}: " if process.place else ""
        self._report(f"{stage.name}: {on}rnng-dy {' '.join(stage.command)}")
        self._running[process] = (stage, key, time.monotonic())

    def _log(self, stage: Stage) -> Path:
        return self.folder / LOGS / f"{stage.name.replace(' ', '-')}.log"

    def _remove(self, stage: Stage) -> None:
        for output in stage.outputs:
            path = self.folder / output
            if path.parent != self.folder:
                with locked(path.parent):
                    shutil.rmtree(path.parent, ignore_errors=True)
                continue
            with locked(path):
                for old in (path, Path(f"{path}.part"), Path(f"{path}.part.key")):
                    old.unlink(missing_ok=True)

    def _wait(self) -> str | None:
        """Wait until a stage ends; return the error message if it failed."""
        while True:
            for process, (stage, key, start) in self._running.items():
                if process.poll() is not None:
                    del self._running[process]
                    return self._finish(stage, key, process, time.monotonic() - start)
            time.sleep(0.05)

    def _finish(
        self, stage: Stage, key: str, process: RunningProcess, seconds: float
    ) -> str | None:
        code, on = process.poll(), f" on {process.place}" if process.place else ""
        if code != 0:
            log = self._log(stage)
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return f"{stage.name} ended with code {code}{on}: {lines[-1] if lines else 'no message'} (log: {log})"
        if stage.printed:
            os.replace(self.folder / f"{stage.printed}.new", self.folder / stage.printed)
        outputs = {output: self._hash(output) for output in stage.outputs}
        if None in outputs.values():
            return f"{stage.name} did not write {', '.join(o for o, h in outputs.items() if h is None)}"
        self._record[stage.name] |= {
            "done": key,
            "outputs": outputs,
            "seconds": round(seconds, 1),
            "place": process.place,
        }
        self._save()
        self._report(f"{stage.name}: done in {seconds:.1f} s{on}")
        return None

    def last_run(self, stage: Stage) -> dict[str, object]:
        """Return seconds, number of processes, device and the outputs' SHA-256 of the last run; None if not known."""
        known = self._record.get(stage.name, {})
        return {
            "seconds": known.get("seconds"),
            # earlier versions did not record it
            "processes": known.get("processes"),
            "device": known.get("device"),
            "outputs": known.get("outputs", {}),
        }

    def _hash(self, name: str) -> str | None:
        """Return the SHA-256 of a file, or of the names and sizes in a folder (a treebank); None if it is missing."""
        path = self.folder / name
        if path.is_dir():
            listing = sorted(
                (str(p.relative_to(path)), p.stat().st_size) for p in path.rglob("*") if p.is_file()
            )
            return hashlib.sha256(json.dumps(listing).encode()).hexdigest()
        try:
            state = path.stat()
        except OSError:
            return None
        *seen, known = self._hashes.get(name) or [None]
        if seen != [state.st_size, state.st_mtime_ns]:
            try:
                known = hashlib.sha256(read_regular(path)).hexdigest()
            except OSError:
                return None
            self._hashes[name] = [state.st_size, state.st_mtime_ns, known]
        return known

    def _save(self) -> None:
        for name, content in ((RECORD, self._record), (HASHES, self._hashes)):
            with replacing(self.folder / name) as stream:
                stream.write(json.dumps(content, indent=1) + "\n")


def _read(path: Path, is_sound: Callable[[object], bool]) -> dict:
    """Return the sound values of a JSON object; damaged ones are dropped."""
    try:
        content = from_json(read_regular(path))
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {name: value for name, value in content.items() if is_sound(value)}


def _is_entry(value: object) -> bool:
    """Return whether a value is a valid record of a stage; earlier versions recorded less."""
    if not isinstance(value, dict):
        return False
    outputs, seconds = value.get("outputs", {}), value.get("seconds", 0)
    return (
        isinstance(outputs, dict)
        and all(isinstance(hash, str) for hash in outputs.values())
        and isinstance(value.get("device", CPU), str)
        and type(seconds) in (int, float)
        and 0 <= seconds < LONGEST
        and type(value.get("processes", 1)) is int
        and 0 < value.get("processes", 1) < LONGEST
    )
