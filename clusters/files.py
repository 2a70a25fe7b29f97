"""The `paths` format of wcluster: bit string, word, count, separated by tabs, one word per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
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


def by_cluster(entries: Iterable[ClusteredWord]) -> list[tuple[str, list[ClusteredWord]]]:
    """Return clusters by path, with the words of each by falling count.

    >>> by_cluster([ClusteredWord("1", "a", 1), ClusteredWord("0", "b", 1), ClusteredWord("1", "c", 2)])[1]
    ('1', [ClusteredWord(path='1', word='c', count=2), ClusteredWord(path='1', word='a', count=1)])
    """
    ordered = sorted(entries, key=lambda entry: (entry.path, -entry.count))
    return [(path, list(words)) for path, words in groupby(ordered, key=lambda entry: entry.path)]


def listing(entries: Iterable[ClusteredWord], words: int) -> Iterator[str]:
    """Yield a line per cluster: its path, its numbers of types and tokens, its most frequent words."""
    clusters = by_cluster(entries)
    width = max(len(path) for path, _ in clusters)
    for path, members in clusters:
        tokens = sum(entry.count for entry in members)
        top = " ".join(entry.word for entry in members[:words])
        yield f"{path:{width}} {len(members):7} types {tokens:9} tokens  {top}\n"


def write_clusters(entries: Iterable[ClusteredWord], stream: TextIO) -> None:
    """Write entries in the order of the iterable."""
    for entry in entries:
        stream.write(f"{entry.path}\t{entry.word}\t{entry.count}\n")
