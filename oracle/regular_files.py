"""Reading of regular files only, since pipes and devices cannot be read twice or from any position."""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import BinaryIO, Protocol


class Readable(Protocol):
    """A file that is no path of the system, such as a member of an archive."""

    def read_bytes(self) -> bytes:
        """Return the content. Raises OSError if there is none."""

    def exists(self) -> bool:
        """Return whether there is such a file."""


def open_regular(path: str | os.PathLike | Readable) -> BinaryIO:
    """Open a file for reading, without waiting for a writer if it is a pipe.

    Raises OSError naming the path if it is a pipe, a device or a folder, or cannot be read.
    """
    if not isinstance(path, str | os.PathLike):
        return io.BytesIO(path.read_bytes())
    return open(path, "rb", opener=_opened)


def is_there(path: str | os.PathLike | Readable) -> bool:
    """Return whether a name is taken, also by a link to nothing."""
    return os.path.lexists(path) if isinstance(path, str | os.PathLike) else path.exists()


def read_regular(path: str | os.PathLike | Readable) -> bytes:
    """Return all bytes of a file. Raises OSError as `open_regular`."""
    with open_regular(path) as stream:
        return stream.read()


def _opened(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    kind = os.fstat(descriptor).st_mode
    # Python itself refuses a folder
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "a pipe or a device, where a file is needed", path)
    return descriptor
