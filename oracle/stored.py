"""The sentences of an oracle on disk: processes of one machine share them, whatever their number, and hold none."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterable, Sequence
from sys import intern
from typing import Any

import numpy as np

from oracle.blocks import OracleSentence, read_oracle_lines
from oracle.files import open_text, reading

STORED = "train.sentences"
"""The name of a file of training sentences."""


class StoredSentences(Sequence[OracleSentence]):
    """The sentences in a file of `stored`, without their trees; each one is read when it is asked for.

    A copy in another process opens the file itself.
    """

    def __init__(self, path: str, ends: np.ndarray, lines: np.ndarray, hash: str):
        """Take the file, and arrays of shape (sentences,): where each sentence ends, its line in the oracle."""
        self._path, self._ends, self._lines = path, ends, lines
        self.hash = hash
        """SHA-256 of the sentences."""
        self._file = os.open(path, os.O_RDONLY)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        begin, end = self._ends[index - 1] if index else 0, self._ends[index]
        text = os.pread(self._file, end - begin, begin).decode("utf-8", "surrogateescape")
        system, *rows = text.removesuffix("\n").split("\n")
        words = [tuple(map(intern, row.split(" "))) for row in rows]
        if len(words) == 3:
            words = [None, words[0], None, *words[1:]]
        return OracleSentence("", *words, line=int(self._lines[index]), transitions=system)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredSentences, (self._path, self._ends, self._lines, self.hash)

    def __del__(self) -> None:
        os.close(self._file)


def stored_oracle(oracle: str | os.PathLike[str], path: str | os.PathLike[str]) -> StoredSentences:
    """Return the sentences of an oracle from a new file; see `stored`. Raises InputError as `read_oracle`."""
    with reading(oracle), open_text(oracle) as stream:
        return stored(read_oracle_lines(stream, oracle), path)


def stored(sentences: Iterable[OracleSentence], path: str | os.PathLike[str]) -> StoredSentences:
    """Write sentences to a new file, which is needed as long as they are, and return them from there.

    A sentence has a line for its transition system, for its tags, for each kind of its words, and for its actions.
    """
    ends, lines, size, digest = array("q"), array("q"), 0, hashlib.sha256()
    with open(path, "xb") as file:
        for s in sentences:
            rows = [(s.transitions,), *s.word_lines, s.actions]
            text = "".join(f"{' '.join(row)}\n" for row in rows)
            content = text.encode("utf-8", "surrogateescape")
            digest.update(content)
            size += file.write(content)
            ends.append(size)
            lines.append(s.line)
    return StoredSentences(os.fspath(path), np.array(ends), np.array(lines), digest.hexdigest())
