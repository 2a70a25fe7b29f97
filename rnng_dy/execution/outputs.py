"""Output of long jobs: nothing half-done under the final name, nothing done lost."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, Protocol, TypeVar

import numpy as np

from oracle.errors import RnngError
from oracle.files import open_input, open_output
from oracle.json_lines import finite
from oracle.locks import locked
from oracle.packing import is_packed
from oracle.regular_files import read_regular
from oracle.streams import is_replaced

T = TypeVar("T")

_SIZE = re.compile(rb"[0-9]{1,12}")


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


class PartialFile:
    """A file written batch by batch as NAME.part, which gets its name when it is complete.

    NAME.part.key says what the part belongs to, so that only the same job goes on with it. A line for each batch says
    how many bytes it has, with a hash of all before and of it. What does not agree is made again.
    """

    def __init__(self, path: str, key: str, resume: bool):
        self._given = path
        # through a symbolic link, whose target is replaced and not the link
        self.path = Path(os.path.realpath(path))
        self.part = Path(f"{self.path}.part")
        self._key_path = Path(f"{self.path}.part.key")
        self._stream, self._key_stream = _own(self.part), _own(self._key_path)
        self.done, self._proof = 0, key
        self.is_another = False
        """Is a part there that cannot be gone on with?"""
        if not (resume and self._go_on()):
            self._stream.truncate(0)
            self._key_stream.truncate(0)
            self._write_record(key)

    def _go_on(self) -> bool:
        """Cut both files behind the batches that are proved to be whole, if it is this job's part."""
        found, newline, rest = self._key_path.read_bytes().partition(b"\n")
        if found != self._proof.encode() or not newline:
            self.is_another = bool(found) or self.part.stat().st_size > 0
            return False
        content = self.part.read_bytes()
        end, size_of_key = 0, len(found) + 1
        # the last one is empty, or cut
        for record in rest.split(b"\n")[:-1]:
            size = _SIZE.match(record)
            lines = content[end : end + int(size[0])] if size else b""
            if record != self._record(lines):
                break
            self._proof = record.decode()
            self.done += 1
            end += len(lines)
            size_of_key += len(record) + 1
        # cut and not written anew: a kill in between would lose the batches
        self._stream.truncate(end)
        self._key_stream.truncate(size_of_key)
        return True

    def _record(self, lines: bytes) -> bytes:
        """What the key says of a batch that comes after those that are proved."""
        proof = hashlib.sha256(f"{self._proof}\n".encode() + lines).hexdigest()
        return f"{len(lines)} {proof}".encode()

    def _write_record(self, record: str) -> None:
        self._key_stream.write(f"{record}\n".encode())
        self._key_stream.flush()
        self._proof = record

    def write(self, lines: Sequence[str]) -> None:
        """Add a batch."""
        # words of a treebank that is not UTF-8 keep their bytes
        content = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        self._stream.write(content)
        self._stream.flush()
        self._write_record(self._record(content).decode())

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


def _own(path: Path) -> BinaryIO:
    """A file to add to, which is made if there is none. Raises RnngError for a link, a pipe or the like."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise RnngError(f"{path} is in the way of the output, since it is no file: remove it")
    # a link that somebody else makes now is not followed either
    return open(path, "ab", opener=_without_links)


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


class Shown(Protocol):
    """What shows progress."""

    def skip(self, n: int) -> None:
        """n items were done before."""

    def advance(self, n: int) -> None:
        """n more are done."""

    def warn(self, message: str) -> None:
        """Something is not as it was asked for."""


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

    `lines_of` is given the batches that are left and gives the lines of each, one batch after the other. `make` makes
    the output of all lines, which are in the file that it is given; where `output` is a file and `make` is stopped,
    they stay there. Raises RnngError where `output` is a folder, KeyboardInterrupt that says where what is done is.
    """
    if Path(output).is_dir():
        raise RnngError(f"{output} is a folder: name a file for the output")
    if is_replaced(output):
        with locked(output):
            _write_file(PartialFile(output, key, resume), batches, lines_of, shown, make)
        return
    # a device or a pipe is written to as it is; words may hold any bytes
    with (
        NamedTemporaryFile("w", encoding="utf-8", errors="surrogateescape")
        if make
        else open_output(output)
    ) as stream:
        for batch, lines in zip(batches, lines_of(batches), strict=True):
            stream.writelines(f"{line}\n" for line in lines)
            stream.flush()
            shown.advance(len(batch))
        if make:
            make(Path(stream.name))


def _write_file(
    file: PartialFile,
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    shown: Shown,
    make: Callable[[Path], None] | None,
) -> None:
    if file.is_another:
        shown.warn(f"{file.part} is not of this model, input and options, or damaged: begun anew")
    shown.skip(sum(len(batch) for batch in batches[: file.done]))
    left = batches[file.done :]
    try:
        for batch, lines in zip(left, lines_of(left), strict=True):
            file.write(lines)
            shown.advance(len(batch))
        if make is not None:
            make(file.part)
    except KeyboardInterrupt as stop:
        said = f"stopped; what is done is in {file.part}, --resume goes on"
        raise type(stop)(said) from None
    if make is None:
        file.finish()
    else:
        file.remove()
