"""Binary streams made of functions, and a limit on the length of lines."""

from __future__ import annotations

import io
import os
from collections.abc import Callable

from oracle.errors import InputError

LONGEST_LINE = 1 << 27
"""The most bytes that a line may have: whole corpora of a hundred megabytes are one line, which memory can hold."""


class _Read(io.RawIOBase):
    """A raw stream of the bytes that a function returns."""

    def __init__(self, read: Callable[[int], bytes]):
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        content = self._read(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def stream_of(read: Callable[[int], bytes]) -> io.BufferedReader:
    """Return a stream of the bytes that `read` returns: at most as many as asked for, and none at the end."""
    return io.BufferedReader(_Read(read), 1 << 17)


def bounded_lines(stream: io.BufferedIOBase, path: str | os.PathLike) -> io.BufferedReader:
    """Return a stream of the same bytes, whose reading raises InputError at a line longer than LONGEST_LINE.

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
