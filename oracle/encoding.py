"""Encoding of oracles as arrays, in memory or in a folder beside the oracle that later runs and processes use."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from array import array
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from glob import escape
from itertools import count
from pathlib import Path
from typing import IO

import numpy as np

from oracle.blocks import OracleSentence, read_oracle_lines
from oracle.columns import COLUMNS, FILES, HEADER, OF_SENTENCES, OF_WORDS, SYMBOLS, Symbols
from oracle.encoded import FORMAT, PART, VERSION, EncodedOracle, mapped
from oracle.errors import InputError
from oracle.files import file_hash, open_bytes, replacing

KEPT_FROM = 1 << 24
"""The least size of an oracle, in bytes, whose arrays are kept: encoding a smaller one takes a second or two."""
ENDING = ".arrays"


def encode(sentences: Iterable[OracleSentence]) -> EncodedOracle:
    """Return sentences as arrays in memory. Raises ValueError if there are none."""
    encoder = _Encoder(lambda: None)
    for sentence in sentences:
        encoder.add(sentence)
    if not encoder.columns():
        raise ValueError("no sentences")
    return EncodedOracle(encoder.symbols(), {c.name: c.array() for c in encoder.columns()})


def encoded(sentences: Iterable[OracleSentence]) -> EncodedOracle:
    """Return sentences as arrays, encoding them if necessary."""
    return sentences if isinstance(sentences, EncodedOracle) else encode(sentences)


def read_encoded(
    path: str | os.PathLike,
    on_sentence: Callable[[], None] = lambda: None,
    say: Callable[[str], None] = lambda message: None,
) -> EncodedOracle:
    """Return an oracle as arrays. Those of a large oracle are kept in the folder ORACLE.arrays for later runs.

    The folder is made again if it is damaged or the oracle's hash has changed, by one process at a time. If it cannot
    be written, the arrays stay in memory. `on_sentence` is called per encoded sentence, `say` with messages about the
    folder. Raises InputError as `read_oracle`, and if something else has the folder's name.
    """
    if os.fspath(path) == "-" or os.path.getsize(path) < KEPT_FROM:
        return _in_memory(path, on_sentence)
    folder = Path(f"{os.fspath(path)}{ENDING}")
    _require_ours(folder)
    with _alone(path, say):
        try:
            return mapped(folder, file_hash(path), check=True)
        except InputError as error:
            if folder.exists():
                say(f"{error}: made again")
        try:
            return _make(path, folder, on_sentence)
        except OSError as error:
            say(
                f"{folder} cannot be written ({error.strerror}): the arrays of {path} are in the memory of each process"
            )
    return _in_memory(path, on_sentence)


def _in_memory(path: str | os.PathLike, on_sentence: Callable[[], None]) -> EncodedOracle:
    with _reading(path, on_sentence) as (sentences, digest):
        oracle = encode(sentences)
    oracle.source = digest.hexdigest()
    return oracle


def _make(path: str | os.PathLike, folder: Path, on_sentence: Callable[[], None]) -> EncodedOracle:
    """Make or replace the folder of an oracle's arrays. Raises OSError if it cannot be written."""
    for left_by_a_kill in folder.parent.glob(f".{escape(folder.name)}.*"):
        shutil.rmtree(left_by_a_kill, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        new.chmod(0o755)
        with ExitStack() as stack:
            encoder = _Encoder(lambda: stack.enter_context(tempfile.TemporaryFile(dir=new)))
            with _reading(path, on_sentence) as (sentences, digest):
                for sentence in sentences:
                    encoder.add(sentence)
            for column in encoder.columns():
                column.write(new / f"{column.name}.npy")
        with replacing(new / SYMBOLS) as stream:
            json.dump(encoder.symbols(), stream)
        hashes = {file.name: file_hash(file) for file in sorted(new.iterdir())}
        write_header(new, digest.hexdigest(), hashes)
        if folder.exists():
            folder.rename(new / "replaced")
        new.rename(folder)
        shutil.rmtree(folder / "replaced", ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return mapped(folder, digest.hexdigest())


def write_header(folder: Path, source: str, hashes: dict[str, str]) -> None:
    """Write the header, which marks a folder of arrays as complete: hashes of the oracle and of the folder's files."""
    header = {"format": FORMAT, "version": VERSION, "source": source, "files": hashes}
    with replacing(folder / HEADER) as stream:
        json.dump(header, stream, indent=1)


@contextmanager
def _reading(
    path: str | os.PathLike, on_sentence: Callable[[], None]
) -> Iterator[tuple[Iterator[OracleSentence], hashlib._Hash]]:
    """Open an oracle; yield its sentences and the digest of the bytes read so far."""
    digest = hashlib.sha256()

    def lines() -> Iterator[str]:
        for line in stream:
            digest.update(line)
            yield line.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")

    def sentences() -> Iterator[OracleSentence]:
        for sentence in read_oracle_lines(lines(), path):
            on_sentence()
            yield sentence

    with open_bytes(path) as stream:
        yield sentences(), digest


def _require_ours(folder: Path) -> None:
    """Raise InputError if a file, or a folder of other things, has the name of the arrays' folder."""
    ours = {HEADER, "replaced", *FILES}
    if folder.exists() and not (folder.is_dir() and {f.name for f in folder.iterdir()} <= ours):
        raise InputError(
            "in the way: the arrays of the oracle are to be kept under this name", folder
        )


@contextmanager
def _alone(path: str | os.PathLike, say: Callable[[str], None]) -> Iterator[None]:
    """Lock the oracle file, so that one process at a time works with its arrays."""
    # imported only when arrays are kept: Windows, for one, has no such locks
    from fcntl import LOCK_EX, LOCK_NB, flock

    with open(path, "rb") as stream:
        try:
            flock(stream, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            say(f"{path}: another process is busy with its arrays: waiting for it")
            flock(stream, LOCK_EX)
        except OSError:
            # some network file systems have no locks: one of two processes may then keep its arrays in memory
            pass
        yield


class _Column:
    """A growing column of numbers, in memory or in a file."""

    def __init__(self, name: str, file: IO[bytes] | None):
        self.name, self._file = name, file
        self._numbers = array("Q" if name in OF_SENTENCES else "I")
        self.add, self.extend = self._numbers.append, self._numbers.extend
        self._largest = self._written = 0

    def __len__(self) -> int:
        return self._written + len(self._numbers)

    def flush(self, most: int = 0) -> None:
        """Move the numbers into the file, if there is one, when more than `most` are in memory."""
        if self._file is not None and len(self._numbers) > most:
            self._largest = max(self._largest, *self._numbers)
            self._numbers.tofile(self._file)
            self._written += len(self._numbers)
            del self._numbers[:]

    def array(self) -> np.ndarray:
        """Return all numbers of a column in memory, in the smallest type that fits."""
        numbers = np.frombuffer(self._numbers, self._numbers.typecode)
        return numbers.astype(np.min_scalar_type(numbers.max()))

    def write(self, path: Path) -> None:
        """Write all numbers of a column in a file, in the smallest type that fits."""
        self.flush()
        kind = np.min_scalar_type(self._largest)
        self._file.seek(0)
        with replacing(path, binary=True) as stream:
            form = {"descr": kind.str, "fortran_order": False, "shape": (self._written,)}
            np.lib.format.write_array_header_1_0(stream, form)
            while len(part := np.fromfile(self._file, self._numbers.typecode, PART)):
                stream.write(part.astype(kind).tobytes())


class _Encoder:
    """The columns and symbols of the sentences added so far."""

    def __init__(self, new_file: Callable[[], IO[bytes] | None]):
        self._columns = {name: _Column(name, new_file()) for name in COLUMNS}
        self._ids = Symbols(*(defaultdict(count().__next__) for _ in Symbols._fields))

    def add(self, sentence: OracleSentence) -> None:
        ids, columns = self._ids, self._columns
        for name in OF_WORDS:
            if (symbols := getattr(sentence, name)) is not None:
                ids_of = ids.tags if name == "tags" else ids.words
                columns[name].extend(map(ids_of.__getitem__, symbols))
        columns["actions"].extend(map(ids.actions.__getitem__, sentence.actions))
        columns["word_ends"].add(len(columns["tokens"]))
        columns["action_ends"].add(len(columns["actions"]))
        columns["lines"].add(sentence.line)
        columns["systems"].add(ids.systems[sentence.transitions])
        for column in columns.values():
            column.flush(PART)

    def columns(self) -> list[_Column]:
        """Return the columns that are not empty."""
        return [column for column in self._columns.values() if len(column)]

    def symbols(self) -> Symbols:
        """Return the symbols in the order of their numbers."""
        return Symbols(*map(tuple, self._ids))
