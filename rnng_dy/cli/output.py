"""Output of long jobs: nothing half-done under the final name, nothing done lost."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import click

from oracle.errors import RnngError
from oracle.files import open_output
from rnng_dy.cli.progress import Progress

T = TypeVar("T")


def fingerprint(*parts: object) -> str:
    """A hash of what decides the output: options, input, the bytes of files given as Path."""
    digest = hashlib.sha256()
    for part in parts:
        content = (
            part.read_bytes() if isinstance(part, Path) else repr(part).encode("utf-8", "replace")
        )
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


class PartialFile:
    """A file written batch by batch as NAME.part, which gets its name when it is complete.

    NAME.part.key says what the part belongs to, so that only the same job goes on with it.
    """

    def __init__(self, path: str, key: str, batch_lines: Sequence[int], resume: bool):
        """`batch_lines[i]` is the number of lines of batch i."""
        # through a symbolic link, whose target is replaced and not the link
        self.path = Path(path).resolve()
        path = self.path
        self.part = Path(f"{path}.part")
        self._key = Path(f"{path}.part.key")
        self.done = 0
        if resume and self.part.exists() and self._key.exists() and self._key.read_text() == key:
            self.done = self._keep_complete_batches(batch_lines)
        else:
            self.part.write_bytes(b"")
            self._key.write_text(key)
        # words of a treebank that is not UTF-8 keep their bytes
        self._stream = self.part.open("a", encoding="utf-8", errors="surrogateescape", newline="\n")

    def _keep_complete_batches(self, batch_lines: Sequence[int]) -> int:
        content = self.part.read_bytes()
        lines = (
            content.splitlines(keepends=True)
            if content.endswith(b"\n")
            else content.splitlines(True)[:-1]
        )
        ends = list(accumulate(batch_lines))
        done = sum(end <= len(lines) for end in ends)
        kept = ends[done - 1] if done else 0
        self.part.write_bytes(b"".join(lines[:kept]))
        return done

    def write(self, lines: Iterable[str]) -> None:
        """Add a batch."""
        self._stream.writelines(f"{line}\n" for line in lines)
        self._stream.flush()

    def finish(self) -> None:
        """Give the file its name."""
        os.fsync(self._stream.fileno())
        self._stream.close()
        os.replace(self.part, self.path)
        self._key.unlink()


def run_batches(
    what: str,
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[T]], Iterable[str]],
    line_count: Callable[[Sequence[T]], int],
    output: str,
    key: str,
    resume: bool,
    unit: str = "sentences",
) -> None:
    """Write `lines_of` each batch to a file or, for `-`, standard output; Ctrl-C keeps the batches that are done.

    Raises RnngError where `output` is a folder.
    """
    if Path(output).is_dir():
        raise RnngError(f"{output} is a folder: name a file for the output")
    progress = Progress(what, sum(len(batch) for batch in batches), unit)
    # a device or a pipe is written to as it is
    if output == "-" or (Path(output).exists() and not Path(output).is_file()):
        with open_output(output) as stream:
            for batch in batches:
                stream.writelines(f"{line}\n" for line in lines_of(batch))
                stream.flush()
                progress.advance(len(batch))
        progress.finish()
        return
    file = PartialFile(output, key, [line_count(batch) for batch in batches], resume)
    progress.skip(sum(len(batch) for batch in batches[: file.done]))
    try:
        for batch in batches[file.done :]:
            file.write(lines_of(batch))
            progress.advance(len(batch))
    except KeyboardInterrupt:
        click.echo(f"\nstopped; what is done is in {file.part}, --resume goes on", err=True)
        sys.exit(130)
    file.finish()
    progress.finish()
