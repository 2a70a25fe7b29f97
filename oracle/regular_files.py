"""Reading of regular files, and of files in archives: pipes and devices cannot be read twice or from any position."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import BinaryIO

from oracle.errors import RnngError


class Member:
    """A file or folder among named contents, such as those of an archive.

    It has those methods of `pathlib.Path` with which model folders are read. Paths of files use `/`.
    """

    def __init__(self, contents: Mapping[str, bytes], path: str, name: str = ""):
        """Use the path of the archive for messages; `name` is the path inside of it, empty for the top folder."""
        self._contents, self.path, self._name = contents, path, name

    def __truediv__(self, name: str) -> Member:
        return Member(self._contents, self.path, f"{self._name}/{name}" if self._name else name)

    def __str__(self) -> str:
        return f"{self.path}/{self._name}" if self._name else self.path

    def is_file(self) -> bool:
        """Return whether this is a file."""
        return self._name in self._contents

    def is_dir(self) -> bool:
        """Return whether this is a folder that is not empty."""
        return not self._name or any(name.startswith(f"{self._name}/") for name in self._contents)

    def exists(self) -> bool:
        """Return whether this is a file or a folder."""
        return self.is_file() or self.is_dir()

    def files(self) -> dict[str, Member]:
        """Return all files of the contents, by name."""
        return {name: Member(self._contents, self.path, name) for name in self._contents}

    def read_bytes(self) -> bytes:
        """Return the content of a file. Raises InputError if it is damaged, FileNotFoundError if there is none."""
        if not self.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))
        return self._contents[self._name]


def open_regular(path: str | os.PathLike | Member) -> BinaryIO:
    """Open a file for reading, without waiting for a writer if it is a pipe.

    Raises OSError naming the path if it is a pipe, a device or a folder, or cannot be read.
    """
    if isinstance(path, Member):
        return io.BytesIO(path.read_bytes())
    return open(path, "rb", opener=_opened)


def is_there(path: str | os.PathLike | Member) -> bool:
    """Return whether a name is taken, also by a link to nothing."""
    return path.exists() if isinstance(path, Member) else os.path.lexists(path)


def read_regular(path: str | os.PathLike | Member) -> bytes:
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
