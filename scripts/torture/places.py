"""What stands in the place of a file: links that lead nowhere or in a circle, devices, pipes, folders."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

VICTIM, OTHERS = "victim", b"years of work\n"
"""A file of others that a link leads to, and what it holds: no command may change it."""
Put = Callable[[Path, bytes], object]


def put_loop(path: Path, content: bytes) -> None:
    """A link that leads in a circle."""
    path.symlink_to(f"{path.name}.other")
    path.with_name(f"{path.name}.other").symlink_to(path.name)


def put_dangling(path: Path, content: bytes) -> None:
    """A link into a folder that is not there."""
    path.symlink_to("none/of/these")


def put_zero(path: Path, content: bytes) -> None:
    """A link to a device that never ends."""
    path.symlink_to("/dev/zero")


def put_full(path: Path, content: bytes) -> None:
    """A link to the device that cannot be written, and never ends where it is read."""
    path.symlink_to("/dev/full")


def put_null(path: Path, content: bytes) -> None:
    """A link to the device that is always empty."""
    path.symlink_to("/dev/null")


def put_closed(path: Path, content: bytes) -> None:
    """A link to a file that is not open."""
    path.symlink_to("/dev/fd/9999")


def put_folder(path: Path, content: bytes) -> None:
    """A folder that is not empty."""
    path.mkdir()
    (path / "x").write_bytes(content)


def put_socket(path: Path, content: bytes) -> None:
    """A socket."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # the name of a socket may have a hundred characters
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


def put_pipe(path: Path, content: bytes) -> None:
    """A pipe that nobody writes into."""
    os.mkfifo(path)


def put_sparse(path: Path, content: bytes) -> None:
    """A file of many gigabytes of zeros, which takes no room."""
    with path.open("wb") as stream:
        stream.truncate(1 << 36)


def put_fed(path: Path, content: bytes) -> None:
    """A pipe that the content comes through, as `<(zcat FILE)` is; see `fed`."""
    os.mkfifo(path)


def put_link_to_others(path: Path, content: bytes) -> None:
    """A link to a file of others."""
    path.with_name(VICTIM).write_bytes(OTHERS)
    path.symlink_to(VICTIM)


READ: list[Put] = [
    *(put_loop, put_dangling, put_zero, put_full, put_null, put_closed, put_folder, put_socket, put_fed, put_fed),
]  # fmt: skip
"""In the place of a file that is read from its beginning to its end; a pipe that nobody writes into is waited for."""
READ_TWICE: list[Put] = [put for put in READ if put is not put_fed]
READ_AS_A_WHOLE: list[Put] = [*READ_TWICE, put_pipe, put_pipe, put_sparse]
"""In the place of a file of a model, of arrays or of what an earlier run left."""
WRITTEN: list[Put] = [put_loop, put_dangling, put_full, put_closed, put_folder, put_socket]
"""In the place of an output."""
KEPT: list[Put] = [*[put_link_to_others] * 3, put_loop, put_dangling, put_folder, put_pipe]
"""In the place of what an earlier run left."""


@contextmanager
def fed(path: Path, put: Put | None, content: bytes) -> Iterator[None]:
    """While the content is written into a pipe, where that is what was put there."""
    if put is not put_fed:
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
            # nobody has opened it, or read all of it
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        writer.join(5.0)
