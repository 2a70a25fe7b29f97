"""The `paths` format of wcluster: bit string, word, count, separated by tabs, one word per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TextIO

from oracle.errors import InputError
from oracle.files import open_text
from oracle.numerals import is_whole_number


class ClusteredWord(NamedTuple):
    """A line of a clusters file."""

    path: str
    """The path from the root of the merge tree to the word's cluster, a 0 or 1 for each branch."""
    word: str
    count: int


def read_clusters(path: str) -> list[ClusteredWord]:
    """Return all lines in order.

    Raises InputError for a line that is not `bits<TAB>word<TAB>count`, and for a repeated word.
    """
    entries, lines = [], {}
    with open_text(path) as stream:
        for number, line in enumerate(stream, 1):
            fields = line.rstrip("\r\n").split("\t")
            if not _is_entry(fields):
                raise InputError(
                    f"not `bits<TAB>word<TAB>count` but {line.rstrip()!r:.80}: "
                    "make a clusters file with `rnng-dy clusters`",
                    path,
                    number,
                )
            bits, word, count = fields
            if word in lines:
                message = f"the word {word!r} already stands on line {lines[word]}: take one out"
                raise InputError(message, path, number)
            lines[word] = number
            entries.append(ClusteredWord(bits, word, int(count)))
    if not entries:
        raise InputError("an empty clusters file: make one with `rnng-dy clusters`", path)
    return entries


def _is_entry(fields: list[str]) -> bool:
    if len(fields) != 3:
        return False
    bits, word, count = fields
    return bool(word) and not set(bits) - {"0", "1"} and is_whole_number(count)


def write_clusters(entries: Iterable[ClusteredWord], stream: TextIO) -> None:
    """Write entries in the order of the iterable."""
    for entry in entries:
        stream.write(f"{entry.path}\t{entry.word}\t{entry.count}\n")
