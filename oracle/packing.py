"""Packed files, known by the end of their names: what is read and written is what they hold."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from typing import IO

from oracle.errors import InputError

ENDINGS = (".gz", ".xz")


def is_packed(path: str | os.PathLike) -> bool:
    """Whether a file with this name is packed.

    >>> is_packed("dev.trees.gz"), is_packed("dev.trees"), is_packed("-")
    (True, False, False)
    """
    return os.fspath(path).lower().endswith(ENDINGS)


def plain_name(path: str | os.PathLike) -> str:
    """The name that the file would have unpacked.

    >>> plain_name("wsj_0001.mrg.gz")
    'wsj_0001.mrg'
    """
    path = os.fspath(path)
    return path[:-3] if is_packed(path) else path


def unpacked(stream: IO[bytes], path: str | os.PathLike) -> io.BufferedIOBase:
    """What a packed file holds, from an open stream of its bytes that `path` names; closing it leaves that open.

    What is read of a file that is damaged, or no such file, ends with an InputError.
    """
    return io.BufferedReader(_Unpacked(_opened(stream, path, "rb"), path), 1 << 17)


def packed(stream: IO[bytes], path: str | os.PathLike) -> IO[bytes]:
    """A stream that packs what is written into another one as `path` says; closing it leaves that open.

    The same content gives the same bytes.
    """
    return _opened(stream, path, "wb")


def _opened(stream: IO[bytes], path: str | os.PathLike, mode: str) -> IO[bytes]:
    if os.fspath(path).lower().endswith(".xz"):
        return lzma.LZMAFile(stream, mode)
    # without the name and the time that gzip would keep; level 6 is that of the program
    return gzip.GzipFile("", mode, 6, stream, mtime=0)


class _Unpacked(io.RawIOBase):
    """Bytes of an unpacking stream, whose errors name the file."""

    def __init__(self, stream: IO[bytes], path: str | os.PathLike):
        self._stream, self._path = stream, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        try:
            content = self._stream.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            kind = os.fspath(self._path)[-2:].lower()
            raise InputError(
                f"no {kind} file, or one that is damaged or cut short ({error}): get it again, or give a file that "
                "is not packed another name",
                self._path,
            ) from None
        buffer[: len(content)] = content
        return len(content)
