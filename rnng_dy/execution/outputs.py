"""Output of long jobs: no incomplete file gets the final name, and no finished batch is lost."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, TypeVar

import numpy as np

from oracle.archives import Member, read_regular
from oracle.errors import RnngError
from oracle.files import (
    finite,
    is_compressed,
    is_replaced,
    locked,
    open_text,
    replacing,
)

T = TypeVar("T")

_SIZE = re.compile(rb"[0-9]{1,12}")


def content_hash(*parts: object) -> str:
    """Return a hash of everything that determines an output: options, input, arrays, and contents of files."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path | Member):
            content = read_regular(part)
        elif isinstance(part, np.ndarray):
            content = np.ascontiguousarray(part).tobytes()
        else:
            content = repr(part).encode("utf-8", "replace")
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def write_json(path: str | os.PathLike, content: object) -> None:
    """Write JSON, with null for NaN and infinities, which JSON does not have."""
    with replacing(path) as stream:
        stream.write(json.dumps(finite(content), indent=1, ensure_ascii=False) + "\n")


class PartialFile:
    """A file written batch by batch as NAME.part, which gets its final name when it is complete.

    NAME.part.key identifies the job, so that only the same job resumes from the part. It has a line per batch with its
    number of bytes, and a hash of the batch and all before it. Batches that do not match are made again.
    """

    def __init__(self, path: str, key: str, resume: bool):
        self._given = path
        # replace the target of a symbolic link, not the link
        self.path = Path(os.path.realpath(path))
        self.part = Path(f"{self.path}.part")
        self._key_path = Path(f"{self.path}.part.key")
        self._stream, self._key_stream = _own(self.part), _own(self._key_path)
        self.done, self._proof = 0, key
        self.is_another = False
        """Whether there is a part that belongs to another job or is damaged."""
        if not (resume and self._go_on()):
            self._stream.truncate(0)
            self._key_stream.truncate(0)
            self._write_record(key)

    def _go_on(self) -> bool:
        """Cut both files after the last batch that matches its hash; return whether the part is this job's."""
        key, newline, rest = self._key_path.read_bytes().partition(b"\n")
        if key != self._proof.encode() or not newline:
            self.is_another = bool(key) or self.part.stat().st_size > 0
            return False
        content = self.part.read_bytes()
        end, size_of_key = 0, len(key) + 1
        # after the last newline there is nothing, or a half-written record
        for record in rest.split(b"\n")[:-1]:
            size = _SIZE.match(record)
            lines = content[end : end + int(size[0])] if size else b""
            if record != self._record(lines):
                break
            self._proof = record.decode()
            self.done += 1
            end += len(lines)
            size_of_key += len(record) + 1
        # truncate instead of rewriting: a kill in between would lose the batches
        self._stream.truncate(end)
        self._key_stream.truncate(size_of_key)
        return True

    def _record(self, lines: bytes) -> bytes:
        """Return the record in the key file of the batch that follows the matching ones."""
        proof = hashlib.sha256(f"{self._proof}\n".encode() + lines).hexdigest()
        return f"{len(lines)} {proof}".encode()

    def _write_record(self, record: str) -> None:
        self._key_stream.write(f"{record}\n".encode())
        self._key_stream.flush()
        self._proof = record

    def write(self, lines: Sequence[str]) -> None:
        """Append a batch."""
        # words that are not UTF-8 keep their bytes
        content = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
        self._stream.write(content)
        self._stream.flush()
        self._write_record(self._record(content).decode())

    def finish(self) -> None:
        """Give the file its final name; compress it if the name has such an ending."""
        if is_compressed(self._given):
            with replacing(self._given) as packed, open_text(self.part) as part:
                shutil.copyfileobj(part, packed)
        else:
            os.fsync(self._stream.fileno())
            os.replace(self.part, self.path)
        self.remove()

    def remove(self) -> None:
        """Remove the part, after all outputs have been made from it."""
        self._stream.close()
        self._key_stream.close()
        # it may have its final name already
        self.part.unlink(missing_ok=True)
        self._key_path.unlink()


def _own(path: Path) -> BinaryIO:
    return open(path, "ab")


class Progress:
    """The interface of displays of progress, which shows nothing itself."""

    def skip(self, n: int) -> None:
        """Count n items as done by an earlier run."""

    def advance(self, n: int = 1) -> None:
        """Count n more items as done."""

    def warn(self, message: str) -> None:
        """Show a warning."""

    def finish(self) -> None:
        """Report that the work is done."""


def write_batches(
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    output: str,
    key: str,
    resume: bool,
    progress: Progress,
    make: Callable[[Path], None] | None = None,
) -> None:
    """Write the lines of all batches to a file or, for `-`, to standard output; Ctrl-C keeps finished batches.

    `lines_of` gets the remaining batches and yields the lines per batch, in order. `make` makes the output from the
    file with all lines; if `output` is a file and `make` is interrupted, that file stays. Raises RnngError if `output`
    is a folder, and KeyboardInterrupt with a message that names the file of finished batches.
    """
    if Path(output).is_dir():
        raise RnngError(f"{output} is a folder: name a file for the output")
    if is_replaced(output):
        with locked(output):
            _write_file(PartialFile(output, key, resume), batches, lines_of, progress, make)
        return
    # devices and pipes are written directly; words may hold any bytes
    with (
        NamedTemporaryFile("w", encoding="utf-8", errors="surrogateescape")
        if make
        else replacing(output)
    ) as stream:
        for batch, lines in zip(batches, lines_of(batches), strict=True):
            stream.writelines(f"{line}\n" for line in lines)
            stream.flush()
            progress.advance(len(batch))
        progress.finish()
        if make:
            make(Path(stream.name))


def _write_file(
    file: PartialFile,
    batches: Sequence[Sequence[T]],
    lines_of: Callable[[Sequence[Sequence[T]]], Iterator[Sequence[str]]],
    progress: Progress,
    make: Callable[[Path], None] | None,
) -> None:
    if file.is_another:
        progress.warn(
            f"{file.part} is not of this model, input and options, or damaged: starting again"
        )
    progress.skip(sum(len(batch) for batch in batches[: file.done]))
    left = batches[file.done :]
    try:
        for batch, lines in zip(left, lines_of(left), strict=True):
            file.write(lines)
            progress.advance(len(batch))
        progress.finish()
        if make is not None:
            make(file.part)
    except KeyboardInterrupt as stop:
        said = f"stopped; what is done is in {file.part}, --resume continues"
        raise type(stop)(said) from None
    if make is None:
        file.finish()
    else:
        file.remove()
