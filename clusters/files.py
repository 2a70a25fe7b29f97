"""The `paths` format of wcluster: a bit string, word and count on each line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple, TextIO

from oracle.common.files import open_text, reading

_ENTRY = re.compile(r"([01]*)\t([^\t]+)\t([0-9]{1,15})\r?\n?")


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
    entries: dict[str, ClusteredWord] = {}
    with reading(path, remedy="make the file with `rnng-dy clusters`") as location:
        with open_text(path) as stream:
            for location.line, line in enumerate(stream, 1):
                fields = _ENTRY.fullmatch(line)
                if not fields:
                    raise ValueError(f"not `bits<TAB>word<TAB>count` but {line.rstrip()!r:.80}")
                bits, word, count = fields.groups()
                if word in entries:
                    raise ValueError(f"the word {word!r} stands on an earlier line already")
                entries[word] = ClusteredWord(bits, word, int(count))
        if not entries:
            raise ValueError("an empty clusters file")
    return [*entries.values()]


def write_clusters(entries: Iterable[ClusteredWord], stream: TextIO) -> None:
    """Write entries in the order of the iterable."""
    for entry in entries:
        stream.write(f"{entry.path}\t{entry.word}\t{entry.count}\n")
