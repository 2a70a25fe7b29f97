"""Replacing a folder by another one, so that a kill at any moment leaves the old one or the new one under its name."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from oracle.locks import beside, locked, temporary_name

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""See renameat2(2)."""


@contextmanager
def writing(folder: str | Path) -> Iterator[None]:
    """A block in which no other process writes a folder, which need not be there yet; see `locked`."""
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
                # unless it holds what has been written
                parent.rmdir()


def new_folder(folder: Path) -> Path:
    """Make a folder that is to get the name `folder`, of which the caller has the lock."""
    new = Path(temporary_name(os.fspath(folder)))
    # an earlier process that had this number may have been killed
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    return new


def replace_folder(new: Path, folder: Path) -> None:
    """Give a folder the name of another one, which is removed. The caller has the lock of that name."""
    aside = _aside(folder)
    shutil.rmtree(aside, ignore_errors=True)
    try:
        _exchange(new, folder)
    except (AttributeError, OSError):
        # not Linux, or a file system such as NFS; after a kill between the two renames `put_back` helps
        folder.rename(aside)
        try:
            new.rename(folder)
        except OSError:
            aside.rename(folder)
            raise
        new = aside
    shutil.rmtree(new)


def put_back(folder: str | Path) -> None:
    """Give a folder its name again if a kill came when it was replaced in two steps."""
    folder = Path(os.path.realpath(folder))
    if not folder.exists() and _aside(folder).exists():
        # a process that replaces it now is waited for
        with locked(folder):
            if not folder.exists():
                _aside(folder).rename(folder)


def add_missing(old: Path, new: Path, left_out: Collection[str]) -> None:
    """Have `new` hold, as the same files if the file system can link them, all that `old` holds beyond it."""
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
    return Path(beside(os.fspath(folder), "replaced"))


def _exchange(first: Path, second: Path) -> None:
    """Let two paths change places in one step. Raises AttributeError or OSError if the system cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    paths = AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second)
    if libc.renameat2(*paths, RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(second))
