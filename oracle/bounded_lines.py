"""Lines of a bounded length: a file without line feeds, such as /dev/zero, would fill the memory."""

from __future__ import annotations

import io
import os

from oracle.errors import InputError

LONGEST_LINE = 1 << 27
"""Bytes of a line that is read: whole corpora of a hundred megabytes are one line, and memory holds it."""


def bounded_lines(stream: io.BufferedIOBase, path: str | os.PathLike) -> io.BufferedReader:
    """The bytes of a stream as they come; what is read ends with an InputError at a line that is too long."""
    return io.BufferedReader(_Lines(stream, path), 1 << 17)


class _Lines(io.RawIOBase):
    """Bytes of a stream, as long as there are line feeds among them."""

    def __init__(self, stream: io.BufferedIOBase, path: str | os.PathLike):
        self._stream, self._path = stream, path
        self._line, self._size = 1, 0
        """The line that is being read, and its bytes so far."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        content = self._stream.read1(min(len(buffer), LONGEST_LINE))
        first = content.find(b"\n")
        self._size += len(content) if first < 0 else first
        if self._size > LONGEST_LINE:
            raise InputError(
                f"a line of more than {LONGEST_LINE:,} bytes: the file is no text, or its lines must be divided",
                self._path,
                self._line,
            )
        if first >= 0:
            self._line += content.count(b"\n")
            self._size = len(content) - content.rfind(b"\n") - 1
        buffer[: len(content)] = content
        return len(content)
