"""The results of a long job, which are kept beside its output until that is made: a stopped job can be resumed.

Signals stop it.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from oracle.errors import Terminated
from oracle.files import file_hash, is_replaced, locked, replacing

Lines = list[str]
"""The lines of the output that an item has."""


class Direct:
    """Results that are written to standard output, a pipe or a device at once."""

    done, is_another, part = 0, False, None

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, of_items: Iterable[Lines]) -> None:
        """Write the lines of the next items."""
        self._stream.writelines(f"{line}\n" for lines in of_items for line in lines)
        self._stream.flush()

    def remove(self) -> None:
        """Do nothing: nothing is kept."""


class Results:
    """The lines of each finished item, as one line of JSON in NAME.part, for the output NAME.

    NAME.part.key has one line, which identifies inputs, options and model; only the same job is resumed.
    """

    def __init__(self, output: str, key: str, resume: bool):
        # replace the target of a symbolic link, not the link
        self.part = Path(f"{os.path.realpath(output)}.part")
        self._key = Path(f"{self.part}.key")
        self.done = 0
        """The number of items that an earlier run has finished."""
        same = resume and self._key.exists() and self._key.read_text(errors="replace") == f"{key}\n"
        self.is_another = resume and not same and self.part.exists()
        """Whether the results that should be resumed are of another job."""
        self._stream = self.part.open("a+b" if same else "w+b")
        if same:
            self._skip_finished()
        else:
            self._key.write_text(f"{key}\n")

    def _skip_finished(self) -> None:
        """Count the finished items, and cut a half-written line off."""
        end = 0
        self._stream.seek(0)
        for line in self._stream:
            if line.endswith(b"\n"):
                end += len(line)
                self.done += 1
        self._stream.truncate(end)

    def write(self, of_items: Iterable[Lines]) -> None:
        """Keep the lines of the next items."""
        # ASCII also holds the bytes of words that are not UTF-8
        content = "".join(f"{json.dumps(lines)}\n" for lines in of_items)
        try:
            self._stream.write(content.encode("ascii"))
            self._stream.flush()
        except OSError as error:
            # a full disk's error has no name
            error.filename = str(self.part)
            raise

    def lines(self) -> Iterator[str]:
        """Yield the lines of all items."""
        with self.part.open("rb") as stream:
            for line in stream:
                yield from json.loads(line)

    def close(self) -> None:
        """Close the file, which stays for the same command unless it has nothing."""
        # each write has flushed; on a full disk closing would raise its error again
        with suppress(OSError):
            self._stream.close()
        if self.part.is_file() and self.part.stat().st_size == 0:
            self.remove()

    def remove(self) -> None:
        """Remove the results, after the output has been made from them."""
        self.part.unlink()
        self._key.unlink()


@contextmanager
def results(output: str, key: str, resume: bool, made_at_end: bool) -> Iterator[Results | Direct]:
    """Open the results of an output: `Results` beside a file, or for one that is made at the end; else `Direct`.

    Raises RnngError if another process writes the file.
    """
    if is_replaced(output):
        with locked(output), closing(Results(output, key, resume)) as kept:
            yield kept
    elif made_at_end:
        with TemporaryDirectory() as folder:
            yield Results(os.path.join(folder, "results"), key, False)
    else:
        with replacing(output) as stream:
            yield Direct(stream)


def input_hash(path: str) -> str | None:
    """Return the SHA-256 of an input's content; None for standard input and pipes, which can be read only once."""
    return file_hash(path) if path != "-" and os.path.isfile(path) else None


@contextmanager
def tidy() -> Iterator[None]:
    """Let SIGTERM end the process like Ctrl-C in a block, so that half-made files are removed."""

    def end(number: int, frame: object) -> None:
        # a second signal ends the process at once
        signal.signal(number, signal.SIG_DFL)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def stopping(say: Callable[[str], None] = lambda line: None) -> Iterator[list[int]]:
    """Yield a list that collects signals (Ctrl-C, SIGTERM), so that the current step can finish.

    The first signal is announced by `say`; a second one has its usual effect. Outside Python's main thread, which gets
    all signals, the list stays empty.
    """
    stopped: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: object) -> None:
        stopped.append(number)
        signal.signal(number, before[number])
        # the signal may come while another message is written: RuntimeError
        with suppress(OSError, RuntimeError):
            say("stopping after this step; the same again ends at once")

    before: dict[int, Any] = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
