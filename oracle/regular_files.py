"""Files that are read as a whole, or from anywhere in them, which pipes and devices cannot be."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def open_regular(path: str | os.PathLike) -> BinaryIO:
    """A file to read; a pipe that nobody writes into is not waited for.

    Raises OSError naming a pipe, a device or a folder, and what cannot be read.
    """
    return open(path, "rb", opener=_opened)


def read_regular(path: str | os.PathLike) -> bytes:
    """All bytes of a file. Raises OSError as `open_regular`."""
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
