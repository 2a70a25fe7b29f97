"""Damaged inputs: drawn by a seed, each in its own folder, run and judged."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random

from scripts.torture.arrays import FORGED
from scripts.torture.judge import judge, missing_lines
from scripts.torture.limits import Limits, Outcome
from scripts.torture.mutations import TEXT
from scripts.torture.options import change_option
from scripts.torture.packed import ENDINGS, bomb, truth
from scripts.torture.places import CONTENT, FED, OTHERS, VICTIM, Put, fed
from scripts.torture.structures import JSON
from scripts.torture.targets import OPTIONS, Target

MOST_MUTATIONS = 3
SECONDS = 20.0
"""Time limit for finding the smallest content that still fails."""
MOST_BYTES = 3000
"""Largest content that is reduced byte by byte."""
WRITING = (CONTENT, FORGED)
"""Ways to put damaged content, not something else, into a file's place."""


@dataclass(frozen=True)
class DamagedInput:
    """A damaged file for a command, or a command with a damaged option."""

    target: Target
    content: bytes
    mutations: tuple[str, ...]
    number: int = 0
    put: Put = CONTENT
    """The way to put the content into its place."""


def damaged_inputs(
    targets: Sequence[Target], data: Path, seed: int, skip: int = 0
) -> Iterator[DamagedInput]:
    """Yield damaged inputs without end; the n-th depends on seed, targets and n alone."""
    formats: dict[str, list[Target]] = {}
    for target in targets:
        formats.setdefault(target.format, []).append(target)
    for number in count(skip):
        random = Random(f"{seed} {number}")
        # formats in turn, so that each has its share even if few commands read it
        of_format = list(formats.values())[number % len(formats)]
        target = random.choice(of_format)
        if target.format == OPTIONS:
            command, name = change_option(random, target.command)
            yield DamagedInput(target._replace(command=command), b"", (name,), number)
            continue
        file, put = data / target.file, random.choice(target.puts)
        sound = file.read_bytes() if file.is_file() else b""
        if put not in WRITING:
            yield DamagedInput(target, sound, (put.name,), number, put)
            continue
        content, names = _damaged(random, target, sound)
        if content != sound:
            yield DamagedInput(target, content, names, number, put)


def _damaged(random: Random, target: Target, content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a content with one or several mutations, and their names."""
    names: list[str] = []
    for _ in range(random.choice([1, 1, 1, 2, MOST_MUTATIONS])):
        if bomb.__name__ in names:
            # a further mutation would unpack the bomb: 150 million lines exceed a machine's memory
            break
        mutation = random.choice(target.mutations)
        try:
            content = mutation(random, content)
        except Exception:
            # an earlier mutation destroyed the structure that this one changes
            continue
        names.append(mutation.__name__)
    return content, tuple(names)


def set_up(damaged: DamagedInput, data: Path, folder: Path) -> list[str]:
    """Make a folder with the damaged file and all others that the command names; return its arguments."""
    target = damaged.target
    arguments = shlex.split(target.command.replace("{data}", str(data)))
    folder.mkdir(parents=True)
    for name in dict.fromkeys([*arguments, *target.also, target.file.split("/")[0]]):
        source = data / name
        if name.startswith(("/", "-", ".", "~")) or not name or not os.path.exists(source):
            continue
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copyfile(source, folder / name)
    if target.file:
        place = folder / target.file
        place.unlink(missing_ok=True)
        damaged.put.make(place, damaged.content)
    return arguments


def try_input(
    damaged: DamagedInput, data: Path, folder: Path, limits: Limits
) -> tuple[Outcome, str | None]:
    """Run the command on the damaged file in a new folder, which keeps what the command left."""
    arguments = set_up(damaged, data, folder)
    before = {path.relative_to(folder) for path in folder.rglob("*")}
    with fed(folder / damaged.target.file, damaged.put, damaged.content):
        outcome = limits.run(arguments, folder)
    problem = judge(arguments, folder, before, outcome, limits)
    return outcome, problem or _not_whole(damaged, data, folder, arguments, outcome)


def _not_whole(
    damaged: DamagedInput, data: Path, folder: Path, arguments: Sequence[str], outcome: Outcome
) -> str | None:
    """Return a problem if part of a file's content, or a file of others, is lost."""
    verb, file = arguments[0], damaged.target.file
    if (folder / VICTIM).exists() and (folder / VICTIM).read_bytes() != OTHERS:
        return f"a file of others was changed: {verb}: {Path(file).suffix}"
    plain = Path(file).stem if file.endswith(ENDINGS) else file
    if file.endswith(ENDINGS) and bomb.__name__ not in damaged.mutations:
        held = truth(damaged.content, Path(file).suffix)
        if held is None and outcome.code == 0:
            return f"an archive that is damaged was accepted: {verb}"
        if held != (data / plain).read_bytes():
            return None
        if outcome.code != 0:
            return f"a sound archive was refused: {verb}"
    elif damaged.put is not FED:
        return None
    # the equivalent plain file must give as many lines
    shutil.copyfile(data / plain, folder / "plain")
    as_plain = ["plain" if word in (plain, file) else word for word in arguments]
    return missing_lines(as_plain, folder) if outcome.code == 0 else None


def write_smallest(
    damaged: DamagedInput, problem: str, data: Path, example: Path, limits: Limits
) -> None:
    """Write the smallest input with the same problem, the other files of the command, and its output."""
    again, content = example / "again", damaged.content

    def tried(content: bytes) -> tuple[Outcome, str | None]:
        found = try_input(replace(damaged, content=content), data, again, limits)
        shutil.rmtree(again, ignore_errors=True)
        return found

    def still_fails(content: bytes) -> bool:
        return tried(content)[1] == problem

    can_shrink = damaged.target.mutations in (TEXT, JSON) and not problem.startswith("time:")
    if can_shrink and still_fails(content):
        content = minimized(content, still_fails)
    outcome, _ = tried(content)
    set_up(replace(damaged, content=content), data, example / "folder")
    shown = outcome.stdout[-5000:] + outcome.stderr[-5000:] + outcome.traceback
    (example / "output.txt").write_text(shown, errors="replace")


def minimized(
    content: bytes, still_fails: Callable[[bytes], bool], seconds: float = SECONDS
) -> bytes:
    r"""Leave out lines, then bytes, as long as `still_fails` is true of the rest; return the rest.

    >>> minimized(b"a\nbcd\ne\n", lambda c: b"c" in c)
    b'c'
    """
    until = time.monotonic() + seconds
    content = _without_pieces(content.splitlines(keepends=True), still_fails, until)
    size = len(content) // (MOST_BYTES + 1) + 1
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    return _without_pieces(pieces, still_fails, until)


def _without_pieces(
    pieces: list[bytes], still_fails: Callable[[bytes], bool], until: float
) -> bytes:
    """Leave out runs of pieces, ever shorter ones, until no single piece can be left out."""
    size = len(pieces)
    while size:
        start, before = 0, len(pieces)
        while start < len(pieces) and time.monotonic() < until:
            rest = [*pieces[:start], *pieces[start + size :]]
            if still_fails(b"".join(rest)):
                pieces = rest
            else:
                start += size
        size = size // 2 if size > 1 else int(len(pieces) < before)
    return b"".join(pieces)
