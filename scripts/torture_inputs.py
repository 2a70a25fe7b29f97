"""Damaged inputs: one after the other from a seed, each in a folder of its own, given to a worker and judged."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from scripts.torture_judge import Problem, judge
from scripts.torture_options import change_option
from scripts.torture_targets import OPTIONS, Target
from scripts.torture_workers import Outcome, Worker

MOST_MUTATIONS = 3


@dataclass(frozen=True)
class DamagedInput:
    """A file, damaged, for a command; or a command with an option that is."""

    target: Target
    content: bytes
    mutations: tuple[str, ...]
    number: int = 0


def damaged_inputs(
    targets: Sequence[Target], data: Path, seed: int, skip: int = 0
) -> Iterator[DamagedInput]:
    """Endlessly many; the n-th depends on seed, targets and n alone."""
    formats: dict[str, list[Target]] = {}
    for target in targets:
        formats.setdefault(target.format, []).append(target)
    number = skip
    while True:
        random = Random(f"{seed} {number}")
        # formats in turn, so that each has its share however few commands read it
        of_format = list(formats.values())[number % len(formats)]
        target = random.choice(of_format)
        if target.format == OPTIONS:
            command, name = change_option(random, target.command)
            yield DamagedInput(target._replace(command=command), b"", (name,), number)
        else:
            sound = (data / target.file).read_bytes()
            content, names = _damaged(random, target, sound)
            if content != sound:
                yield DamagedInput(target, content, tuple(names), number)
        number += 1


def _damaged(random: Random, target: Target, content: bytes) -> tuple[bytes, list[str]]:
    """A content with one mutation, or with some."""
    names = []
    for _ in range(random.choice([1, 1, 1, 2, MOST_MUTATIONS])):
        mutation = random.choice(target.mutations)
        try:
            content = mutation(random, content)
        except Exception:
            # what an earlier mutation left has no structure to be changed any more
            continue
        names.append(mutation.__name__)
    return content, names


def set_up(damaged: DamagedInput, data: Path, folder: Path) -> list[str]:
    """Make a folder with the damaged file and all others that the command names; gives its arguments."""
    target = damaged.target
    arguments = shlex.split(target.command.replace("{data}", str(data)))
    folder.mkdir(parents=True)
    for name in dict.fromkeys([*arguments, *target.also, target.file.split("/")[0]]):
        source = data / name
        if name.startswith(("/", "-", ".", "~")) or not name or not _exists(source):
            continue
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copyfile(source, folder / name)
    if target.file:
        (folder / target.file).write_bytes(damaged.content)
    return arguments


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def try_input(
    damaged: DamagedInput, data: Path, folder: Path, worker: Worker
) -> tuple[Outcome, Problem | None]:
    """Run the command on the damaged file in a new folder, which is left as the command left it."""
    arguments = set_up(damaged, data, folder)
    before = {path.relative_to(folder) for path in folder.rglob("*")}
    outcome = worker.run(arguments, folder)
    return outcome, judge(arguments, folder, before, outcome, worker.limits)


def shows(
    damaged: DamagedInput,
    problem: Problem,
    content: bytes,
    data: Path,
    folder: Path,
    worker: Worker,
) -> bool:
    """Whether the command has the same problem with another content."""
    shutil.rmtree(folder, ignore_errors=True)
    _, found = try_input(replace(damaged, content=content), data, folder, worker)
    return found is not None and found.cause == problem.cause
