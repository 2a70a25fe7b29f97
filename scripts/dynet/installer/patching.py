"""Applies unified diffs strictly: every line where and as the diff says, or an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from oracle.errors import InputError

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def apply_patch(patch: Path, tree: Path) -> list[str]:
    """Apply one diff (paths `a/…`, `b/…`) to the files below `tree`; gives the paths it changed.

    Unlike patch(1) it allows neither fuzz nor offset, and changes no file unless all hunks fit.
    Raises InputError with the line of the diff that does not fit.
    """
    changed = {name: _patched(patch, tree, name, body) for name, body in _files(patch)}
    for name, text in changed.items():
        (tree / name).write_text(text, encoding="utf-8", newline="")
    return list(changed)


def _files(patch: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """For each file of the diff its path and its (line number, line) pairs after `+++`."""
    name, body = None, []
    with patch.open(encoding="utf-8", newline="") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("--- a/"):
                if name:
                    yield name, body
                name, body = None, []
            elif line.startswith("+++ b/"):
                name = line[len("+++ b/") :].strip()
            elif name:
                body.append((number, line))
    if not name:
        raise InputError("no file to change: a unified diff has `--- a/…` and `+++ b/…`", patch)
    yield name, body


def _patched(patch: Path, tree: Path, name: str, body: list[tuple[int, str]]) -> str:
    """The text of `name` after the hunks in `body`."""
    with (tree / name).open(encoding="utf-8", newline="") as lines:
        old = list(lines)
    new: list[str] = []
    position, awaited = 0, 0
    for number, line in body:
        hunk = HUNK.match(line) if awaited == 0 else None
        if hunk:
            start = int(hunk[1]) - 1
            new += old[position:start]
            position = start
            awaited = int(hunk[2] or 1) + int(hunk[3] or 1)
            continue
        kind, text = line[:1], line[1:]
        if awaited == 0 or kind not in " +-":
            raise InputError(f"not a line of a unified diff: {line.rstrip()!r}", patch, number)
        if kind in " -":
            if position >= len(old) or old[position] != text:
                raise InputError(f"does not fit {name} at line {position + 1}", patch, number)
            position += 1
        if kind in " +":
            new.append(text)
        awaited -= 2 if kind == " " else 1
    if awaited:
        raise InputError("the last hunk is cut short", patch)
    return "".join(new + old[position:])
