"""Replacing a folder so that a kill at any moment leaves the complete old or the complete new one."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from oracle.archives import is_archive, is_archive_name
from oracle.errors import RnngError
from oracle.files import hidden_name, locked

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Constants of renameat2(2)."""


@contextmanager
def writing(folder: str | Path) -> Iterator[None]:
    """Lock a folder for writing during a block; the folder need not exist yet. See `locked`.

    Raises RnngError for an archive or the name of one.
    """
    require_folder(folder)
    place = Path(os.path.realpath(folder))
    made = [parent for parent in place.parents if not parent.exists()]
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder):
            put_back(place)
            yield
    finally:
        with suppress(OSError):
            for parent in made:
                # fails if the block has written into it
                parent.rmdir()


def require_folder(folder: str | Path) -> None:
    """Raise RnngError if a folder that is to be written is an archive, or has the name of one."""
    if is_archive(folder) or (is_archive_name(folder) and not os.path.isdir(folder)):
        raise RnngError(
            f"{folder} is an archive or the name of one, and a folder is written here: name a new one, from which "
            "`rnng-dy export` makes an archive; `train --init ARCHIVE` starts from an archive, which is only read"
        )


def new_folder(folder: Path) -> Path:
    """Make a temporary folder that is later renamed to `folder`; the caller holds the lock of `folder`."""
    new = Path(hidden_name(os.fspath(folder), "new"))
    # a killed process with the same process number may have left one
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    return new


def replace_folder(new: Path, folder: Path) -> None:
    """Replace `folder` by `new`; the old content is removed. The caller holds the lock of `folder`."""
    aside = _aside(folder)
    shutil.rmtree(aside, ignore_errors=True)
    try:
        _exchange(new, folder)
    except (AttributeError, OSError):
        # not Linux, or a file system such as NFS; `put_back` repairs a kill between the two renames
        folder.rename(aside)
        try:
            new.rename(folder)
        except OSError:
            aside.rename(folder)
            raise
        new = aside
    shutil.rmtree(new)


def put_back(folder: str | Path) -> None:
    """Restore a folder's name if a process was killed while replacing it in two steps."""
    folder = Path(os.path.realpath(folder))
    if not folder.exists() and _aside(folder).exists():
        # wait for a process that is replacing it now
        with locked(folder):
            if not folder.exists():
                _aside(folder).rename(folder)


def add_missing(old: Path, new: Path, left_out: Collection[str]) -> None:
    """Add the files of `old` that `new` lacks to `new`, as hard links if the file system supports them."""
    for path in old.iterdir():
        target = new / path.name
        if path.name in left_out or os.path.lexists(target):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, target, symlinks=True, copy_function=_link)
        else:
            _link(path, target)


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def _aside(folder: Path) -> Path:
    return Path(hidden_name(os.fspath(folder), "replaced"))


def _exchange(first: Path, second: Path) -> None:
    """Exchange two paths in one step. Raises AttributeError or OSError if the system cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    paths = AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second)
    if libc.renameat2(*paths, RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(second))
