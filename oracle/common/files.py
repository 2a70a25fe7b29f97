r"""Files: `open_text` reads, `reading` and `placed` locate errors, `replacing` writes.

Text is UTF-8, its lines end at "\n" alone, and names that end in .gz, .bz2 or .xz are compressed.
`-` is standard input or output. Other bytes become lone surrogates, and are written as they were.
"""

import errno
import hashlib
import io
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain
from types import SimpleNamespace
from typing import IO, Any, TextIO

from oracle.common.compression import COMPRESSED, DECOMPRESSED, compression
from oracle.common.errors import InputError, RnngError

WHITE_SPACE = " \t\n\r\v\f"
"""The characters that separate words. Unicode's other spaces may be part of a word."""

FileName = str | os.PathLike[str]
NumberedLines = Iterable[tuple[int, str]]
"""Lines and their numbers, from 1."""
_WORD = re.compile(rf"[^{WHITE_SPACE}]+")
# bytes that are not UTF-8, and where some readers end a line
_NOT_IN_LINES = re.compile("[\ud800-\udfff\x7f\x85\u2028\u2029]")
# ASCII in UTF-16, which is UTF-8 with a zero at every other place
_UTF16 = re.compile("(?:[^\0]\0){2}|(?:\0[^\0]){2}")


def split_words(line: str) -> list[str]:
    r"""Return the words of a line, split at ASCII white space only.

    >>> split_words(" a\u3000b  c ") == ["a\u3000b", "c"]
    True
    """
    return _WORD.findall(line)


@contextmanager
def open_bytes(path: FileName) -> Iterator[IO[bytes]]:
    """Open a binary stream for reading, decompressed by the ending of its name."""
    if os.fspath(path) == "-":
        if sys.stdin is None:
            raise InputError("closed", "standard input")
        yield sys.stdin.buffer
        return
    with open(path, "rb") as stream, DECOMPRESSED[compression(path)](stream) as content:
        yield content


@contextmanager
def open_text(path: FileName, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Open a text stream for reading, without its byte order mark."""
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    with open_bytes(path) as content, _as_text(content, encoding) as stream:
        yield stream


def read_lines(path: FileName, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the lines of a text, numbered from 1. Raises InputError as `numbered_lines`."""
    with reading(path), open_text(path, encoding) as stream:
        yield from numbered_lines(stream, path)


def numbered_lines(lines: Iterable[str], path: object) -> Iterator[tuple[int, str]]:
    """Yield lines, numbered from 1. Raises InputError for bytes that are no text, and old Macs'."""
    with reading(path) as location:
        for location.line, line in enumerate(lines, 1):
            require_text(line)
            if location.line == 1 and "\r" in line.rstrip("\r\n"):
                raise ValueError("lines end in CR alone, as on old Macs: save it with other ends")
            yield location.line, line


def peeked(lines: Iterable[str]) -> tuple[str, Iterator[str]]:
    """Return the first line that is not empty ("" if there is none), and all lines."""
    lines, begin = iter(lines), []
    for line in lines:
        begin.append(line)
        if line.strip(WHITE_SPACE):
            return line, chain(begin, lines)
    return "", iter(begin)


def require_text(line: str) -> None:
    """Raise UnicodeEncodeError for a line that was not in its encoding, or is UTF-16."""
    if utf16 := _UTF16.match(line):
        raise UnicodeEncodeError("utf-8", line, *utf16.span(), "UTF-16")
    line.encode("utf-8")


@contextmanager
def reading(path: object, line: int | None = None, remedy: str = "") -> Iterator[Any]:
    """Turn what a reader raises into an InputError with file, line, reason and `remedy`.

    The reader gets an object whose `line` it sets: 1-based, or None. MemoryError, OSError with the
    file, and errors that have a file pass.
    """
    location = SimpleNamespace(line=line)
    try:
        yield location
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # damaged files raise OSError without a number, or seek a place before their beginning
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            error.filename = error.filename or str(path)
            raise
        reason = "; ".join(filter(None, [_reason(error), remedy]))
        raise InputError(reason, path, location.line) from error


@contextmanager
def placed(path: object, line: int | None = None) -> Iterator[None]:
    """Add file and line to an RnngError that has no file yet; without a line it keeps its own."""
    try:
        yield
    except RnngError as e:
        if getattr(e, "path", None):
            raise
        line = line or getattr(e, "line", None)
        raise InputError(getattr(e, "message", str(e)), path, line) from None


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        if error.object.startswith("PK\x03\x04"):
            return "an archive or a spreadsheet: save it as text or CSV in UTF-8"
        before = error.object[max(0, error.start - 20) : error.start]
        return (
            f"not utf-8 after {before!r}: save it as text or CSV in UTF-8; for trees, name the "
            "encoding: `rnng-dy prepare --encoding gb18030` (Chinese), cp1252 (Western) or utf-16"
        )
    if type(error) is LookupError:
        return f"{error}: try utf-8, gb18030"
    is_bare = isinstance(error, (AttributeError, IndexError, KeyError, TypeError))
    return f"{type(error).__name__}: {error}" if is_bare else str(error)


def file_hash(path: FileName) -> str:
    """Return the SHA-256 of a file's decompressed bytes. Raises InputError for a damaged file."""
    digest = hashlib.sha256()
    with reading(path), open_bytes(path) as stream:
        while content := stream.read(1 << 20):
            digest.update(content)
    return digest.hexdigest()


@contextmanager
def replacing(path: FileName, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file that takes its name when it is completely written.

    An error or a kill leaves the file as before. `-` is standard output; devices and pipes are
    written in place. Equal content gives equal compressed bytes. Raises OSError naming `path`.
    """
    path = os.fspath(path)
    # a symbolic link stays one
    target, encoding = os.path.realpath(path), None if binary else "utf-8"
    temporary = hidden_name(target, "new")
    try:
        if not is_replaced(path):
            with _in_place(path) as content, _as_text(content, encoding) as stream:
                yield stream
            return
        with open(temporary, "wb") as file:
            with (
                COMPRESSED[compression(path)](file) as content,
                _as_text(content, encoding) as stream,
            ):
                yield stream
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        # a full disk's error has no name
        if error.filename in (None, temporary):
            error.filename = "standard output" if path == "-" else path
        raise
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def is_replaced(path: FileName) -> bool:
    """Return whether writing to this name replaces a file; others are written in place.

    >>> [is_replaced(path) for path in ("out.trees", "/dev/shm/x", "-", "/dev/stdout", "/dev/null")]
    [True, True, False, False, False]
    """
    path = os.fspath(path)
    # /dev/stdout may be a file that the shell has opened
    if path == "-" or path.startswith(("/dev/std", "/dev/fd/", "/proc/")):
        return False
    return not os.path.exists(path) or os.path.isfile(path)


@contextmanager
def _in_place(path: str) -> Iterator[IO[bytes]]:
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        # appending, since /dev/stdout may be a file with content
        with open(path, "ab") as content:
            yield content


@contextmanager
def _as_text(content: IO[bytes], encoding: str | None) -> Iterator[IO[Any]]:
    """Open a text stream over a binary one, or without an encoding that itself; it stays open."""
    if encoding is None:
        yield content
        return
    stream = io.TextIOWrapper(content, encoding, "surrogateescape", "\n")
    try:
        yield stream
    finally:
        # flushes; a broken pipe would raise again
        with suppress(OSError) if sys.exc_info()[0] else nullcontext():
            stream.detach()


def hidden_name(target: str, ending: str) -> str:
    """Return the hidden name of a file beside another one that is being written.

    >>> hidden_name("trees/out", "lock")
    'trees/.out.lock'
    """
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{ending}")


@contextmanager
def locked(path: FileName) -> Iterator[None]:
    """Hold a lock, so that no other process or thread that asks for it writes the file or folder.

    Blocks may nest. Raises RnngError if another one holds it, OSError if it cannot be written.
    """
    # imported only when a lock is taken, since it takes a while
    import filelock

    name = hidden_name(os.path.realpath(path), "lock")
    lock = filelock.FileLock(name, timeout=0.5, is_singleton=True)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise RnngError(f"{path} is being written by another command: wait, or end it") from None
    except OSError as error:
        error.filename = os.fspath(path)
        # a folder may be written where a file may not be replaced
        if not os.access(path if os.path.isdir(path) else os.path.dirname(name), os.W_OK):
            raise
        lock = None  # the file system has none
    try:
        yield
    finally:
        if lock is not None:
            if lock.lock_counter == 1:
                # before the release: filelock does not take a file that has been removed
                with suppress(OSError):
                    os.unlink(name)
            lock.release()


def finite(value: object) -> object:
    """Return the value with None for NaN and infinities, at any depth."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def indented(content: object) -> str:
    """Return JSON of several lines, with null for NaN and infinities."""
    return json.dumps(finite(content), indent=2, ensure_ascii=False) + "\n"


def one_line(content: object) -> str:
    r"""Return JSON in valid UTF-8 on one line, with null for NaN and infinities.

    >>> print(one_line({"word": "caf\udce9 中"}))
    {"word": "caf\udce9 中"}
    """
    text = json.dumps(finite(content), ensure_ascii=False)
    return _NOT_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
