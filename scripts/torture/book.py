"""The book of a campaign: trials by kind, failures, and a folder per cause."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scripts.torture.processes import Trial


@dataclass
class Failure:
    """A cause, with the first example of it."""

    cause: str
    kind: str
    """The format of the input, or the disturbance of the command."""
    command: str
    how: str
    """Mutations, or the moment of a kill."""
    folder: str
    times: int = 1
    others: list[str] = field(default_factory=list)
    """Further commands that show the failure."""


class Book:
    """A book that counts trials and failures by kind, and gives each cause a numbered folder below `output`."""

    def __init__(self, output: Path):
        self.output = output
        self.tried: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.failures: dict[str, Failure] = {}
        self._lock = threading.Lock()

    def add(self, trial: Trial, folder: Path) -> None:
        """Count a trial; copy `folder` to a folder of its own if its cause is new."""
        with self._lock:
            self.tried[trial.kind] += trial.times
            if trial.cause is None:
                return
            self.failed[trial.kind] += 1
            if known := self.failures.get(trial.cause):
                known.times += 1
                if trial.command not in (known.command, *known.others):
                    known.others.append(trial.command)
                return
            example = self.output / f"{len(self.failures) + 1:03}"
            failure = Failure(trial.cause, trial.kind, trial.command, trial.how, example.name)
            self.failures[trial.cause] = failure
        print(f"{trial.kind}: {trial.cause}", file=sys.stderr, flush=True)
        shutil.rmtree(example, ignore_errors=True)
        example.mkdir(parents=True)
        if trial.write:
            trial.write(example)
        else:
            pipes = shutil.ignore_patterns("pipe")
            shutil.copytree(folder, example / "folder", symlinks=True, ignore=pipes)
            (example / "output.txt").write_text(trial.said, errors="replace")
        text = f"# {trial.kind}: {trial.how}\n# {trial.cause}\nrnng-dy {trial.command}\n"
        # an argument need not be UTF-8
        (example / "command.txt").write_text(text, errors="surrogateescape")

    def table(self) -> str:
        """Return trials and failures of each kind, and the causes, as Markdown."""
        lines = ["| kind | tried | failed |", "|---|--:|--:|"]
        lines += [f"| {kind} | {n} | {self.failed[kind]} |" for kind, n in self.tried.items()]
        total, failed = self.tried.total(), self.failed.total()
        lines += [f"| together | {total} | {failed} |", ""]
        for f in sorted(self.failures.values(), key=lambda failure: -failure.times):
            lines.append(f"- {f.times} x {f.cause} ({f.kind}; {f.folder}; {f.how})")
            more = f" and {len(f.others)} other commands" if f.others else ""
            lines.append(f"  `rnng-dy {f.command}`{more}")
        return "\n".join(lines) + "\n"

    def write(self, **about: object) -> None:
        """Write report.md and report.json."""
        self.output.mkdir(parents=True, exist_ok=True)
        (self.output / "report.md").write_text(self.table(), errors="surrogateescape")
        content = {
            **about,
            "tried": self.tried,
            "failed": self.failed,
            "failures": [asdict(failure) for failure in self.failures.values()],
        }
        (self.output / "report.json").write_text(json.dumps(content, indent=1) + "\n")
