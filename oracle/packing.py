"""Packed files (.gz, .xz), recognised by name, which are unpacked and packed transparently."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from typing import IO

from oracle.byte_streams import stream_of
from oracle.errors import InputError

ENDINGS = (".gz", ".xz")
MOST, UNCHECKED = 500, 1 << 23
"""An archive may unpack to MOST times its size, and always to UNCHECKED bytes: text packs 3 to 50 times."""
PART = 1 << 13
"""Bytes of an archive that are read at a time."""


def is_packed(path: str | os.PathLike) -> bool:
    """Return whether a file with this name is packed.

    >>> is_packed("dev.trees.gz"), is_packed("dev.trees"), is_packed("-")
    (True, False, False)
    """
    return os.fspath(path).lower().endswith(ENDINGS)


def plain_name(path: str | os.PathLike) -> str:
    """Return the file's name without the ending for packing.

    >>> plain_name("wsj_0001.mrg.gz")
    'wsj_0001.mrg'
    """
    path = os.fspath(path)
    return path[:-3] if is_packed(path) else path


def unpacked(stream: IO[bytes], path: str | os.PathLike) -> io.BufferedIOBase:
    """Return a stream of the unpacked content of an open packed file, which `path` names; closing it leaves that open.

    Reading raises InputError if the file is damaged, is not packed, or unpacks to far more than text does.
    """
    archive, unpacked_size = _Counted(stream), 0
    content_of = _Xz(archive) if _is_xz(path) else _gzip(archive, "rb")

    def read(size: int) -> bytes:
        nonlocal unpacked_size
        try:
            content = content_of.read(size)
            if not archive.count:
                raise EOFError("it is empty")
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            kind = os.fspath(path)[-2:].lower()
            raise InputError(
                f"no {kind} file, or one that is damaged or cut short ({error}): get it again, or give a file that "
                "is not packed another name",
                path,
            ) from None
        unpacked_size += len(content)
        if unpacked_size > max(UNCHECKED, MOST * archive.count):
            raise InputError(
                f"it unpacks to more than {MOST} times its size, as no text does: if it is what you want, unpack it "
                "and give that file",
                path,
            )
        return content

    return stream_of(read)


def packed(stream: IO[bytes], path: str | os.PathLike) -> IO[bytes]:
    """Return a stream that packs into another one, in the format of `path`'s ending; closing it leaves that open.

    The same content gives the same bytes.
    """
    return lzma.LZMAFile(stream, "wb") if _is_xz(path) else _gzip(stream, "wb")


def _is_xz(path: str | os.PathLike) -> bool:
    return os.fspath(path).lower().endswith(".xz")


def _gzip(stream: IO[bytes], mode: str) -> IO[bytes]:
    # without the name and time that gzip would store; level 6 is the gzip program's default
    return gzip.GzipFile("", mode, 6, stream, mtime=0)


class _Counted:
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: IO[bytes]):
        self._stream, self.count = stream, 0

    def read(self, size: int) -> bytes:
        content = self._stream.read(size)
        self.count += len(content)
        return content


class _Xz:
    """The streams of an .xz file, with padding between and after them: `xz` accepts it and Python's lzma does not."""

    def __init__(self, stream: _Counted):
        self._stream, self._input = stream, b""
        self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; none at the end. Raises EOFError or LZMAError for a damaged file."""
        while not self._decompressor.eof or self._begin_next():
            if not self._input and self._decompressor.needs_input:
                self._input = self._stream.read(PART)
                if not self._input:
                    raise EOFError("it ends within a stream")
            content = self._decompressor.decompress(self._input, size)
            self._input = b""
            if content:
                return content
        return b""

    def _begin_next(self) -> bool:
        """Move to the stream after the padding; return whether there is one."""
        rest, padding = self._decompressor.unused_data, 0
        while True:
            self._input = rest.lstrip(b"\0")
            padding += len(rest) - len(self._input)
            if self._input or not (rest := self._stream.read(PART)):
                break
        if padding % 4:
            raise lzma.LZMAError("its padding is not of four bytes each")
        if self._input:
            self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        return bool(self._input)
