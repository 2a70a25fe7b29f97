"""Compressed files: .gz, .bz2 and .xz, which their names tell."""

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import IO, Any


def plain_name(path: str | os.PathLike[str]) -> str:
    """Return the file's name without the ending for compression.

    >>> plain_name("wsj_0001.mrg.gz")
    'wsj_0001.mrg'
    """
    return os.fspath(path)[: -len(compression(path)) or None]


def compression(path: str | os.PathLike[str]) -> str:
    """Return the ending of a compressed file's name, in lower case; "" for another file."""
    ending = os.path.splitext(path)[1].lower()
    return ending if ending in COMPRESSED else ""


class _Streams(io.RawIOBase):
    """The content of an .xz or .bz2 file.

    Python's own readers stop at padding, or at a damaged second stream.
    """

    def __init__(self, decompressor: Callable[[], Any], stream: IO[bytes]):
        self._stream, self._input = stream, b""
        self._new, self._decompressor = decompressor, decompressor()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        content = b""
        while not content:
            if self._decompressor.eof:
                # after padding there may be another stream
                rest = self._decompressor.unused_data.lstrip(b"\0")
                while not rest and (more := self._stream.read(io.DEFAULT_BUFFER_SIZE)):
                    rest = more.lstrip(b"\0")
                if not rest:
                    return 0
                self._input, self._decompressor = rest, self._new()
            elif self._decompressor.needs_input and not self._input:
                self._input = self._stream.read(io.DEFAULT_BUFFER_SIZE)
                if not self._input:
                    raise EOFError("cut short")
            content = self._decompressor.decompress(self._input, len(buffer))
            self._input = b""
        buffer[: len(content)] = content
        return len(content)


DECOMPRESSED: dict[str, Callable[[Any], Any]] = {
    "": nullcontext,
    ".gz": partial(gzip.GzipFile, "", "rb", 6),
    ".bz2": lambda stream: io.BufferedReader(_Streams(bz2.BZ2Decompressor, stream)),
    ".xz": lambda stream: io.BufferedReader(_Streams(lzma.LZMADecompressor, stream)),
}
COMPRESSED: dict[str, Callable[[Any], Any]] = {
    "": nullcontext,
    # without the name and time that gzip would store; level 6 is the gzip program's default
    ".gz": lambda stream: gzip.GzipFile("", "wb", 6, stream, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
}
