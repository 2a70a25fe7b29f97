"""One process at a time writes a file or folder: under a lock, which the kernel frees when that process ends."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from oracle.errors import RnngError

PATIENCE = 0.5
"""Seconds in which a process that is about to end may let go of a lock."""
SHOWN = 300
"""A message shows so many characters of a command at most."""

_held: dict[str, tuple[int, int]] = {}
"""Process and thread that hold a lock, by what is locked."""


def beside(target: str, ending: object) -> str:
    """The hidden name for what belongs to a file or folder while it is written.

    >>> beside("trees/out", "lock")
    'trees/.out.lock'
    """
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{ending}")


def temporary_name(target: str) -> str:
    """The name under which this process writes a file or folder that gets the name `target` when it is complete."""
    return beside(target, os.getpid())


@contextmanager
def locked(path: str | os.PathLike) -> Iterator[None]:
    """A block in which no other process or thread that asks for this lock writes a file or folder; blocks may nest.

    What a killed process left under its temporary name is removed. If the file system has no locks, standard error
    says so. Raises RnngError naming the process that has the lock, and OSError if nothing can be written beside `path`.
    """
    target = os.path.realpath(path)
    holder = os.getpid(), threading.get_ident()
    if _held.get(target) == holder:
        yield
        return
    lock = _take(target, os.fspath(path))
    _held[target] = holder
    try:
        yield
    finally:
        del _held[target]
        if lock is not None:
            _let_go(lock, target)


def _take(target: str, path: str) -> int | None:
    """The open file that is locked; None if nothing can be locked there."""
    # only where locks are taken: Windows, say, has no such locks
    from fcntl import LOCK_EX, LOCK_NB, flock

    name, last = beside(target, "lock"), time.monotonic() + PATIENCE
    while True:
        try:
            lock = _open(name, path)
        except OSError as error:
            if not os.path.isdir(target):
                raise
            # a folder may be written to where no file beside it can be
            return _without_lock(path, error)
        is_held = False
        try:
            flock(lock, LOCK_EX | LOCK_NB)
            # else it was removed by the process that had it
            is_held = _is_at(lock, name)
        except BlockingIOError:
            if time.monotonic() > last:
                raise RnngError(_refusal(lock, path)) from None
        except OSError as error:
            os.unlink(name)
            return _without_lock(path, error)
        finally:
            if not is_held:
                os.close(lock)
        if is_held:
            _sign(lock, target)
            return lock
        time.sleep(0.02)


def _open(name: str, path: str) -> int:
    try:
        lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        # of a missing or full folder the user knows the name of the output
        if not os.path.lexists(name):
            error.filename = path
        raise
    if not stat.S_ISREG(os.fstat(lock).st_mode):
        os.close(lock)
        raise RnngError(f"{name} is in the way of a lock on {path}: remove it")
    return lock


def _without_lock(path: str, error: OSError) -> None:
    print(
        f"{path} cannot be locked ({error.strerror}): let no other command write it meanwhile",
        file=sys.stderr,
    )


def _is_at(lock: int, name: str) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), os.lstat(name))
    except FileNotFoundError:
        return False


def _sign(lock: int, target: str) -> None:
    """Write who holds the lock, after removing what the one left who was killed while holding it."""
    if killed := re.match(rb"\d+", os.pread(lock, 20, 0)):
        _remove(beside(target, killed[0].decode()))
    os.ftruncate(lock, 0)
    command = shlex.join(sys.orig_argv)
    who = f"{os.getpid()} {platform.node() or '?'} {command}\n"
    # on a full disk the lock is held all the same
    with suppress(OSError):
        os.pwrite(lock, who.encode("utf-8", "surrogateescape"), 0)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def _refusal(lock: int, path: str) -> str:
    signed = os.pread(lock, 4 * SHOWN, 0).decode("utf-8", "replace").split(" ", 2)
    process, host, command = (*signed, "", "", "")[:3]
    who = f"process {process} on {host} ({command.strip()[:SHOWN]})"
    shown = "".join(c if c.isprintable() else " " for c in who)
    return f"{path} is being written by {shown}: wait until it is done, or end it"


def _let_go(lock: int, target: str) -> None:
    name = beside(target, "lock")
    # before it is closed, so that nobody else can have it under this name
    with suppress(OSError):
        if _is_at(lock, name):
            os.unlink(name)
    os.close(lock)
