"""Sentences to cluster, from a generative oracle, a trees file or plain text."""

from __future__ import annotations

import os
from array import array
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count

import numpy as np

from oracle.blocks import begins_oracle, read_oracle_lines
from oracle.brackets import read_tree_lines
from oracle.errors import InputError
from oracle.files import numbered_lines, open_bytes
from oracle.treebank import is_preterminal, words
from oracle.unknown import UnknownWords

FORMATS = ("oracle", "trees", "text")


@contextmanager
def open_corpus(
    path: str | os.PathLike,
    format: str | None = None,
    rules: str = "berkeley",
    on_bytes: Callable[[int], None] = lambda size: None,
) -> Iterator[Iterator[list[bytes]]]:
    """Open a corpus; yield its sentences as words in UTF-8; `-` is standard input.

    Text and oracles are read on demand, trees at once. Bytes that are not UTF-8 are kept.

    Without a format, a file is an oracle if it begins with `# (`, trees if with `(`, else text, one sentence per line.
    For an oracle the unkified words count. Words of trees are unkified by the rules for unknown words, as `rnng-dy
    oracle` does with these trees as the training file. `on_bytes` is called with the size of each line of text. Raises
    InputError if the file is not of that format.
    """
    with open_bytes(path) as stream:
        begin = _lines_up_to_text(stream)
        lines = chain(begin, stream)
        first = begin[-1] if begin else b""
        if b"\0" in first:
            raise InputError("no text: give a file of text in UTF-8, trees, or an oracle", path)
        format = format or _format_of(first)
        if format == "text":
            yield _text(lines, on_bytes)
        elif format == "trees":
            yield _trees(lines, path, rules)
        else:
            decoded = (line.decode("utf-8", "surrogateescape") for line in lines)
            oracle = read_oracle_lines(decoded, path)
            yield (_as_bytes(sentence.unkified) for sentence in oracle)


def _lines_up_to_text(stream: Iterable[bytes]) -> list[bytes]:
    """Return the first lines, up to one that is not empty."""
    begin = []
    for line in stream:
        begin.append(line if begin else line.removeprefix(BOM_UTF8))
        if line.strip():
            break
    return begin


def _format_of(line: bytes) -> str:
    line = line.lstrip()
    if begins_oracle(line.decode("utf-8", "surrogateescape")):
        return "oracle"
    return "trees" if line.startswith(b"(") else "text"


def _text(lines: Iterable[bytes], on_bytes: Callable[[int], None]) -> Iterator[list[bytes]]:
    for line in lines:
        on_bytes(len(line))
        # bytes split at ASCII white space only, as elsewhere in this project
        if sentence := line.split():
            yield sentence


def _trees(lines: Iterable[bytes], path: object, rules: str) -> Iterator[list[bytes]]:
    """Return the unkified words of each tree. The last tree may decide which words are known, so ids are stored."""
    ids: defaultdict[str, int] = defaultdict(count().__next__)
    numbers, lengths = array("I"), array("I")
    decoded = (line.decode("utf-8", "surrogateescape") for line in lines)
    for located in read_tree_lines(numbered_lines(decoded, path), path):
        if not is_preterminal(located.tree):
            before = len(numbers)
            numbers.extend(map(ids.__getitem__, words(located.tree)))
            lengths.append(len(numbers) - before)
    return _unkified(list(ids), numbers, lengths, rules)


def _unkified(
    types: Sequence[str], numbers: array, lengths: array, rules: str
) -> Iterator[list[bytes]]:
    counts = np.bincount(np.asarray(numbers), minlength=len(types))
    unknown_words = UnknownWords(rules, [types[i] for i in np.flatnonzero(counts >= 2)])
    classes, begin = _as_bytes(unknown_words.unkify(types)), 0
    for length in lengths:
        yield [classes[i] for i in numbers[begin : begin + length]]
        begin += length


def _as_bytes(sentence: Iterable[str]) -> list[bytes]:
    return [word.encode("utf-8", "surrogateescape") for word in sentence]
