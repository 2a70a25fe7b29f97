"""Locks by which one process at a time writes a file or folder; the kernel frees them when that process ends."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from oracle.errors import RnngError
from oracle.regular_files import open_own

PATIENCE = 0.5
"""Seconds to wait for a process that is about to end and release a lock."""
SHOWN = 300
"""The most characters of a command that a message shows."""

_held: dict[str, tuple[int, int]] = {}
"""The process and thread that hold a lock, by locked path."""


def beside(target: str, ending: object) -> str:
    """Return the hidden name of a file that accompanies another file or folder while that is written.

    >>> beside("trees/out", "lock")
    'trees/.out.lock'
    """
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{ending}")


def temporary_name(target: str) -> str:
    """Return the name under which this process writes a file or folder before renaming it to `target`."""
    return beside(target, os.getpid())


@contextmanager
def locked(path: str | os.PathLike) -> Iterator[None]:
    """Hold a lock, so that no other process or thread that asks for it writes the file or folder; blocks may nest.

    The temporary output of a killed process is removed. If the file system has no locks, a warning goes to standard
    error. Raises RnngError naming the process that has the lock, and OSError if nothing can be written beside `path`.
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
    """Return the descriptor of the lock file, or None if nothing can be locked there."""
    # imported only when a lock is taken: Windows, for one, has no such locks
    from fcntl import LOCK_EX, LOCK_NB, flock

    name, last = beside(target, "lock"), time.monotonic() + PATIENCE
    while True:
        try:
            lock = _open(name, path)
        except OSError as error:
            if not os.path.isdir(target):
                raise
            # a folder may be writable although its parent is not
            return _without_lock(path, error)
        is_held = False
        try:
            flock(lock, LOCK_EX | LOCK_NB)
            # if not, the process that held the lock has removed it
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
        return open_own(name, os.O_RDWR, f"a lock on {path}")
    except OSError as error:
        # for a missing or full folder, name the output, which the user knows
        if not os.path.lexists(name):
            error.filename = path
        raise


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
    """Write who holds the lock, after removing the temporary output of a holder that was killed."""
    if killed := re.match(rb"\d+", os.pread(lock, 20, 0)):
        _remove(beside(target, killed[0].decode()))
    os.ftruncate(lock, 0)
    command = shlex.join(sys.orig_argv)
    who = f"{os.getpid()} {platform.node() or '?'} {command}\n"
    # if the disk is full, the lock holds without a signature
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
    # unlink before closing, so that no other process can lock the file under this name
    with suppress(OSError):
        if _is_at(lock, name):
            os.unlink(name)
    os.close(lock)
