"""Things in the place of a file: links that lead nowhere or in a circle, devices, pipes, folders."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

VICTIM, OTHERS = "victim", b"years of work\n"
"""Name and content of a file of others that a link leads to; no command may change it."""


class Put(NamedTuple):
    """A way to put something in the place of a file with some content."""

    name: str
    make: Callable[[Path, bytes], object]


def _link(to: str, path: Path, content: bytes) -> None:
    path.symlink_to(to)


def _loop(path: Path, content: bytes) -> None:
    path.symlink_to(f"{path.name}.other")
    path.with_name(f"{path.name}.other").symlink_to(path.name)


def _folder(path: Path, content: bytes) -> None:
    path.mkdir()
    (path / "x").write_bytes(content)


def _socket(path: Path, content: bytes) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # the name of a socket may have about a hundred characters
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


def _pipe(path: Path, content: bytes) -> None:
    os.mkfifo(path)


def _sparse(path: Path, content: bytes) -> None:
    """Make a file of many gigabytes of zeros that takes no space."""
    with path.open("wb") as stream:
        stream.truncate(1 << 36)


def _link_to_others(path: Path, content: bytes) -> None:
    path.with_name(VICTIM).write_bytes(OTHERS)
    path.symlink_to(VICTIM)


CONTENT = Put("content", Path.write_bytes)
LINKS = {
    "dangling link": "none/of/these",
    "endless device": "/dev/zero",
    "full device": "/dev/full",
    "empty device": "/dev/null",
    "closed stream": "/dev/fd/9999",
}
DANGLING, ZERO, FULL, NULL, CLOSED = (
    Put(name, partial(_link, target)) for name, target in LINKS.items()
)
LOOP, FOLDER, SOCKET = Put("loop", _loop), Put("folder", _folder), Put("socket", _socket)
PIPE = Put("pipe without a writer", _pipe)
FED = Put("pipe", _pipe)
"""A pipe with the content, such as `<(zcat FILE)`; see `fed`."""
SPARSE = Put("sparse file", _sparse)
LINK_TO_OTHERS = Put("link to others", _link_to_others)

READ_TWICE = [LOOP, DANGLING, ZERO, FULL, NULL, CLOSED, FOLDER, SOCKET]
READ = [*READ_TWICE, FED, FED]
"""Replacements of a file that is read once from beginning to end; not PIPE, on which commands wait for a writer."""
READ_AS_A_WHOLE = [*READ_TWICE, PIPE, PIPE, SPARSE]
"""Replacements of a file of a model, of arrays or of an earlier run."""
WRITTEN = [LOOP, DANGLING, FULL, CLOSED, FOLDER, SOCKET]
"""Replacements of an output."""
KEPT = [*[LINK_TO_OTHERS] * 3, LOOP, DANGLING, FOLDER, PIPE]
"""Replacements of a file that an earlier run left."""


@contextmanager
def fed(path: Path, put: Put, content: bytes) -> Iterator[None]:
    """Write the content into the pipe during the block, if `put` is a pipe with content."""
    if put is not FED:
        yield
        return

    def write() -> None:
        try:
            with path.open("wb") as stream:
                stream.write(content)
        except BrokenPipeError:
            return

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield
    finally:
        if writer.is_alive():
            # nobody has opened the pipe, or read all of it
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        writer.join(5.0)
