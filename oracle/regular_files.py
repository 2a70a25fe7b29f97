"""Opening of regular files only, since pipes and devices cannot be read twice or from any position."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import BinaryIO

from oracle.errors import RnngError


def open_regular(path: str | os.PathLike) -> BinaryIO:
    """Open a file for reading, without waiting for a writer if it is a pipe.

    Raises OSError naming the path if it is a pipe, a device or a folder, or cannot be read.
    """
    return open(path, "rb", opener=_opened)


def read_regular(path: str | os.PathLike) -> bytes:
    """Return all bytes of a file. Raises OSError as `open_regular`."""
    with open_regular(path) as stream:
        return stream.read()


def open_own(path: str | os.PathLike, flags: int, use: str) -> int:
    """Return the descriptor of a file that only this program writes; it is made if missing.

    Raises RnngError if a link, a pipe or the like is in the way of `use`.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise RnngError(f"{path} is in the way of {use}: remove it")
    # a link that another process makes after the check is not followed either
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def _opened(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    kind = os.fstat(descriptor).st_mode
    # Python itself refuses a folder
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "a pipe or a device, where a file is needed", path)
    return descriptor
