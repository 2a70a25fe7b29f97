"""Binary streams that look at what is read: hashed ones, and lines of a bounded length."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable

from oracle.errors import InputError

LONGEST_LINE = 1 << 27
"""Bytes of a line that is read: whole corpora of a hundred megabytes are one line, and memory holds it."""


class _Read(io.RawIOBase):
    """The bytes that a function gives."""

    def __init__(self, read: Callable[[int], bytes]):
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        content = self._read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def stream_of(read: Callable[[int], bytes]) -> io.BufferedReader:
    """A stream of the bytes of a function, which gives some, at most as many as it is asked for; none at the end."""
    return io.BufferedReader(_Read(read), 1 << 17)


def hashed(stream: io.BufferedIOBase, digest: hashlib._Hash) -> io.BufferedReader:
    """The bytes of a stream, hashed as they are read."""

    def read(size: int) -> bytes:
        content = stream.read1(size)
        digest.update(content)
        return content

    return stream_of(read)


def bounded_lines(stream: io.BufferedIOBase, path: str | os.PathLike) -> io.BufferedReader:
    """The bytes of a stream as they come; what is read ends with an InputError at a line that is too long.

    A file without line feeds, such as /dev/zero, would fill the memory.
    """
    line, size = 1, 0

    def read(most: int) -> bytes:
        nonlocal line, size
        content = stream.read1(min(most, LONGEST_LINE))
        first = content.find(b"\n")
        size += len(content) if first < 0 else first
        if size > LONGEST_LINE:
            raise InputError(
                f"a line of more than {LONGEST_LINE:,} bytes: the file is no text, or its lines must be divided",
                path,
                line,
            )
        if first >= 0:
            line += content.count(b"\n")
            size = len(content) - content.rfind(b"\n") - 1
        return content

    return stream_of(read)
