r"""Text input and output: UTF-8, lines end at "\n" alone, `-` is standard input or output. See also `packing`."""

from __future__ import annotations

import codecs
import errno
import hashlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TextIO

from oracle.byte_streams import bounded_lines
from oracle.errors import InputError, RnngError
from oracle.locks import locked, temporary_name
from oracle.packing import is_packed, packed, unpacked
from oracle.regular_files import open_regular

WHITE_SPACE = " \t\n\r\v\f"
"""The characters that separate words. Unicode's other spaces may be part of a word."""

# surrogateescape: an oracle with bytes that are not UTF-8 is read and written back byte for byte
_TEXT = {"encoding": "utf-8", "errors": "surrogateescape", "newline": "\n"}

_WORD = re.compile(rf"[^{WHITE_SPACE}]+")


def split_words(line: str) -> list[str]:
    r"""Return the words of a line, split at ASCII white space only.

    >>> split_words(" a\u3000b  c ") == ["a\u3000b", "c"]
    True
    """
    return _WORD.findall(line)


@contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a text stream for reading; bytes that are not UTF-8 become lone surrogates.

    Raises OSError if the file cannot be read, InputError for a line longer than LONGEST_LINE.
    """
    with open_lines(path) as content:
        stream = as_text(content)
        try:
            yield stream
        finally:
            # standard input stays open
            stream.detach()


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a text stream for writing, under a temporary name in the same folder until all is written.

    An error leaves the file as before. Raises OSError naming `path`, RnngError if another process writes it.
    """
    path = os.fspath(path)
    descriptor = 1 if path == "-" else descriptor_of(path)
    if descriptor is not None:
        opened = _descriptor_stream(descriptor)
    elif os.path.exists(path) and not os.path.isfile(path):
        # a device or a pipe is written to, not replaced; a folder is refused
        opened = _in_place(path)
    else:
        opened = _locked_file(path)
    with naming(path), opened as stream:
        yield stream


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the output's name into any OSError that writing it raises."""
    try:
        yield
    except OSError as error:
        # a full disk's error has no name, a missing folder's has that of the temporary file
        if error.filename in (None, temporary_name(os.path.realpath(path))):
            error.filename = "standard output" if path == "-" else path
        raise


def as_text(content: io.BufferedIOBase) -> TextIO:
    """Return the text of a binary stream, decoded as in `open_input`."""
    return io.TextIOWrapper(content, **_TEXT)


_DESCRIPTORS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_NUMBERED = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")


def descriptor_of(path: str) -> int | None:
    """Return the number of the open file that a path names, such as 1 for /dev/stdout; None for any other path.

    The target of a redirected standard output must be written to, not replaced, though it may be a file.

    >>> descriptor_of("/dev/stdout"), descriptor_of("/dev/fd/3"), descriptor_of("out.trees")
    (1, 3, None)
    """
    for _ in range(40):
        if path in _DESCRIPTORS:
            return _DESCRIPTORS[path]
        if numbered := _NUMBERED.fullmatch(path):
            return int(numbered[1])
        if not os.path.islink(path):
            return None
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    return None


def is_replaced(path: str | os.PathLike[str]) -> bool:
    """Return whether writing to this name replaces a file; `-`, devices and pipes are written to in place."""
    path = os.fspath(path)
    if path == "-" or descriptor_of(path) is not None:
        return False
    return not os.path.exists(path) or os.path.isfile(path)


def _in_place(path: str | int) -> TextIO:
    return open(path, "w", **_TEXT)


@contextmanager
def _locked_file(path: str) -> Iterator[TextIO]:
    # resolve symbolic links, so that a link stays a link
    target = os.path.realpath(path)
    with locked(path), replacing(target, binary=is_packed(path)) as file:
        if not is_packed(path):
            yield file
            return
        with packed(file, path) as content, io.TextIOWrapper(content, **_TEXT) as stream:
            yield stream


@contextmanager
def _descriptor_stream(descriptor: int) -> Iterator[TextIO]:
    """Open a descriptor for writing without closing it; descriptor 1 is Python's own `sys.stdout`."""
    if descriptor == 1:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "closed")
        sys.stdout.flush()
        stream = io.TextIOWrapper(sys.stdout.buffer, **_TEXT)
    else:
        stream = _in_place(os.dup(descriptor))
    try:
        yield stream
        stream.flush()
    finally:
        if descriptor == 1:
            with suppress(OSError):
                stream.detach()
        else:
            stream.close()


@contextmanager
def replacing(path: str | os.PathLike[str], binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file that takes the name `path` once it is completely written and on the disk.

    An error or a kill leaves the file as before. Raises OSError naming `path`.
    """
    target = os.fspath(path)
    temporary = temporary_name(target)
    try:
        # an earlier process with the same number may have been killed
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        with open(temporary, "xb") if binary else open(temporary, "x", **_TEXT) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            error.filename = target
        raise


def from_json(text: str | bytes) -> object:
    """Return the content of a JSON text; bytes that are not UTF-8 may be in it as `open_input` reads them.

    Raises ValueError for invalid JSON, nesting too deep for Python, and half a surrogate pair.
    """
    try:
        content = json.loads(text)
        # only an escape can produce half of a surrogate pair, which no file can hold
        if "\\u" in text if isinstance(text, str) else b"\\u" in text:
            json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogateescape")
        return content
    except RecursionError:
        raise ValueError("nested too deep") from None


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[io.BufferedIOBase]:
    """Open a binary stream for reading; a packed file is unpacked."""
    if os.fspath(path) == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "closed", "standard input")
        yield sys.stdin.buffer
        return
    with open(path, "rb") as stream:
        if not is_packed(path):
            yield stream
            return
        with unpacked(stream, path) as content:
            yield content


@contextmanager
def open_lines(path: str | os.PathLike[str]) -> Iterator[io.BufferedIOBase]:
    """Open a binary stream of lines. Reading raises InputError at a line longer than LONGEST_LINE."""
    with open_bytes(path) as content:
        yield bounded_lines(content, path)


def file_hash(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes, unpacked if it is packed; only a part is in memory at a time.

    Raises OSError for a pipe or a device: its content is consumed already, or has no end.
    """
    digest = hashlib.sha256()
    if os.fspath(path) != "-":
        open_regular(path).close()
    with open_bytes(path) as stream:
        while part := stream.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def read_lines(
    path: str | os.PathLike[str], encoding: str = "utf-8", stream: io.BufferedIOBase | None = None
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file (or of an open stream that `path` names), numbered from 1.

    Raises InputError at the first line that is not in that encoding, or longer than LONGEST_LINE.
    """
    _check_encoding(encoding)
    if stream is None:
        with open_lines(path) as opened:
            yield from read_lines(path, encoding, opened)
        return
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError as error:
            raise not_in_encoding(error, path, number, encoding) from None
        except UnicodeError as error:
            raise InputError(f"not {encoding}: {error}", path, number) from None
        yield number, text.removeprefix("\ufeff") if number == 1 else text


_FILES = {
    b"PK\x03\x04": "an archive, such as an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}
"""Files that are no UTF-8, by their first bytes."""
_UTF16 = re.compile("(?:[^\0]\0){2}|(?:\0[^\0]){2}")
"""ASCII in UTF-16, which is UTF-8 with a zero at every other place."""


def require_utf8(text: str, path: object, line: int | None) -> None:
    """Raise InputError if a line from `open_input` was not UTF-8, or is UTF-16 without a mark."""
    if _UTF16.match(text):
        raise _no_text("text in UTF-16", path, line)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        try:
            text.encode("utf-8", "surrogateescape").decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_in_encoding(error, path, line) from None


def not_in_encoding(
    error: UnicodeDecodeError, path: object, line: int | None, encoding: str = "utf-8"
) -> InputError:
    """Return the error that names the wrong bytes and suggests a remedy."""
    wrong = error.object[error.start : error.start + 4].hex(" ")
    shown = error.object[max(0, error.start - 20) : error.start].decode(error.encoding, "ignore")
    kind = next((kind for mark, kind in _FILES.items() if error.object.startswith(mark)), None)
    if kind is not None:
        return _no_text(kind, path, line)
    remedy = "name another encoding"
    if encoding == "utf-8":
        remedy = (
            "save the file in UTF-8; for trees, `rnng-dy prepare --encoding gb18030` (Chinese) or cp1252 (Western) "
            "does that"
        )
    return InputError(f"not {encoding} at bytes {wrong} after {shown!r}: {remedy}", path, line)


def _no_text(kind: str, path: object, line: int | None) -> InputError:
    return InputError(f"{kind}: save it as text or CSV in UTF-8", path, line)


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
        ascii_lines = "\n".encode(encoding) == b"\n"
    except (LookupError, TypeError, UnicodeError):
        raise RnngError(f"no text encoding is called {encoding!r}: try utf-8, gb18030") from None
    if not ascii_lines:
        raise RnngError(f"{encoding} cannot be read line by line: convert the file to UTF-8")
