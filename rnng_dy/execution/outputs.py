"""Output of long jobs: nothing half-done under the final name, nothing done lost."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Protocol, TextIO, TypeVar

import numpy as np

from oracle.errors import RnngError
from oracle.files import open_input, open_output
from oracle.locks import locked
from oracle.packing import is_packed
from oracle.regular_files import read_regular
from oracle.streams import is_replaced

T = TypeVar("T")

_COUNT = re.compile(rb"0|[1-9][0-9]{0,11}")


def content_hash(*parts: object) -> str:
    """A hash of what decides an output: options, input, arrays, the bytes of files given as Path."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            content = read_regular(part)
        elif isinstance(part, np.ndarray):
            content = np.ascontiguousarray(part).tobytes()
        else:
            content = repr(part).encode("utf-8", "replace")
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def write_json(path: str | os.PathLike, content: object) -> None:
    """Write JSON, with null for NaN and infinities, which it has not."""
    with open_output(path) as stream:
        stream.write(json.dumps(finite(content), indent=1, ensure_ascii=False) + "\n")


def finite(value: object) -> object:
    """The value with None for NaN and infinities, however deep in lists and dictionaries."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class PartialFile:
    """A file written batch by batch as NAME.part, which gets its name when it is complete.

    NAME.part.key says what the part belongs to, so that only the same job goes on with it, and how many lines each
    batch has.
    """

    def __init__(self, path: str, key: str, resume: bool):
        self._given = path
        # through a symbolic link, whose target is replaced and not the link
        self.path = Path(os.path.realpath(path))
        self.part = Path(f"{self.path}.part")
        self._key_path = Path(f"{self.path}.part.key")
        # words of a treebank that is not UTF-8 keep their bytes
        self._stream = _own(self.part, errors="surrogateescape")
        self._key_stream = _own(self._key_path)
        counts = self._complete_batches(key) if resume else []
        self.done = len(counts)
        # not splitlines, for which a carriage return ends a line as well
        lines = self.part.read_bytes().split(b"\n")[: sum(counts)] if counts else []
        self._stream.truncate(sum(len(line) + 1 for line in lines))
        # cut and not written anew: a kill in between would lose the batches
        self._key_stream.truncate(sum(len(f"{x}\n") for x in [key, *counts]) if counts else 0)
        if not counts:
            self._key_stream.write(f"{key}\n")
            self._key_stream.flush()

    def _complete_batches(self, key: str) -> list[int]:
        """The numbers of lines of the batches that are whole in the part, if it is this job's."""
        found, *counts = self._key_path.read_bytes().split(b"\n")
        # the last one is empty, or cut
        counts = counts[:-1]
        if found != key.encode() or not all(map(_COUNT.fullmatch, counts)):
            return []
        numbers = [int(count) for count in counts]
        whole = self.part.read_bytes().count(b"\n")
        return [n for n, end in zip(numbers, accumulate(numbers), strict=True) if end <= whole]

    def write(self, lines: Sequence[str]) -> None:
        """Add a batch."""
        self._stream.writelines(f"{line}\n" for line in lines)
        self._stream.flush()
        self._key_stream.write(f"{len(lines)}\n")
        self._key_stream.flush()

    def finish(self) -> None:
        """Give the file its name, packed where that says so."""
        if is_packed(self._given):
            with open_output(self._given) as packed, open_input(self.part) as part:
                shutil.copyfileobj(part, packed)
            self.remove()
            return
        os.fsync(self._stream.fileno())
        self._stream.close()
        self._key_stream.close()
        os.replace(self.part, self.path)
        self._key_path.unlink()

    def remove(self) -> None:
        """Remove the part, of which everything wanted has been made."""
        self._stream.close()
        self._key_stream.close()
        self.part.unlink()
        self._key_path.unlink()


def _own(path: Path, **options: str) -> TextIO:
    """A text file to add to, which is made if there is none. Raises RnngError for a link, a pipe or the like."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise RnngError(f"{path} is in the way of the output, since it is no file: remove it")
    # a link that somebody else makes now is not followed either
    return open(path, "a", encoding="utf-8", newline="\n", opener=_without_links, **options)


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


class Shown(Protocol):
    """What shows progress."""

    def skip(self, n: int) -> None:
        """n items were done before."""

    def advance(self, n: int) -> None:
        """n more are done."""


def write_batches(
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    output: str,
    key: str,
    resume: bool,
    shown: Shown,
    make: Callable[[Path], None] | None = None,
) -> None:
    """Write the lines of all batches to a file or, for `-`, standard output; Ctrl-C keeps the batches that are done.

    `lines_of` is given the batches that are left and gives the lines of each, one batch after the other. `make`, for a
    file, makes the output of all lines, which are in the file that it is given; what stops it leaves them there.
    Raises RnngError where `output` is a folder, KeyboardInterrupt that says where what is done is.
    """
    if Path(output).is_dir():
        raise RnngError(f"{output} is a folder: name a file for the output")
    # a device or a pipe is written to as it is
    if not is_replaced(output):
        with open_output(output) as stream:
            for batch, lines in zip(batches, lines_of(batches), strict=True):
                stream.writelines(f"{line}\n" for line in lines)
                stream.flush()
                shown.advance(len(batch))
        return
    with locked(output):
        _write_file(PartialFile(output, key, resume), batches, lines_of, shown, make)


def _write_file(
    file: PartialFile,
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    shown: Shown,
    make: Callable[[Path], None] | None,
) -> None:
    shown.skip(sum(len(batch) for batch in batches[: file.done]))
    left = batches[file.done :]
    try:
        for batch, lines in zip(left, lines_of(left), strict=True):
            file.write(lines)
            shown.advance(len(batch))
        if make is not None:
            make(file.part)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; what is done is in {file.part}, --resume goes on"
        ) from None
    if make is None:
        file.finish()
    else:
        file.remove()
