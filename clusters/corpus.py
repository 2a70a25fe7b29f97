"""Sentences to cluster: of a generative oracle, a trees file or plain text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain

from oracle.blocks import read_oracle_lines
from oracle.brackets import read_tree_lines
from oracle.streams import open_bytes, read_lines
from oracle.treebank import is_preterminal, words
from oracle.unknown import UnknownWords, known_words

FORMATS = ("oracle", "trees", "text")


@contextmanager
def open_corpus(
    path: str | os.PathLike,
    format: str | None = None,
    rules: str = "berkeley",
    on_bytes: Callable[[int], None] = lambda size: None,
) -> Iterator[Iterator[list[bytes]]]:
    """The sentences of a file, their words as UTF-8; `-` is standard input.

    Text is read as it is needed, the others at once. Bytes that are not UTF-8 are kept.

    Without a format, a file is an oracle if it begins with `# (`, trees if with `(`, else text, one
    sentence a line. Of an oracle the unkified words count. Those of trees are made as `rnng-dy oracle`
    makes them where the trees are their own training file, by the rules for unknown words. `on_bytes`
    hears the size of each line of text. Raises InputError where the file is not of that format.
    """
    with open_bytes(path) as stream:
        begin = _lines_up_to_text(stream)
        lines = chain(begin, stream)
        format = format or _format_of(begin[-1] if begin else b"")
        if format == "text":
            yield _text(lines, on_bytes)
        elif format == "trees":
            yield map(_as_bytes, _trees(lines, path, rules))
        else:
            decoded = (line.decode("utf-8", "surrogateescape") for line in lines)
            oracle = read_oracle_lines(decoded, path)
            yield (_as_bytes(sentence.unkified) for sentence in oracle)


def _lines_up_to_text(stream: Iterable[bytes]) -> list[bytes]:
    """The first lines, up to one that is not empty."""
    begin = []
    for line in stream:
        begin.append(line)
        if line.strip():
            break
    return begin


def _format_of(line: bytes) -> str:
    line = line.removeprefix("\ufeff".encode()).lstrip()
    if line.startswith(b"# ("):
        return "oracle"
    return "trees" if line.startswith(b"(") else "text"


def _text(lines: Iterable[bytes], on_bytes: Callable[[int], None]) -> Iterator[list[bytes]]:
    for line in lines:
        on_bytes(len(line))
        # bytes split at ASCII's white space only, as all files of words are read
        if sentence := line.split():
            yield sentence


def _trees(lines: Iterable[bytes], path: object, rules: str) -> list[list[str]]:
    numbered = read_lines(path, stream=lines)
    located = list(read_tree_lines(numbered, path))
    sentences = [words(t.tree) for t in located if not is_preterminal(t.tree)]
    unknown_words = UnknownWords(rules, known_words(sentences))
    return [unknown_words.unkify(sentence) for sentence in sentences]


def _as_bytes(sentence: Iterable[str]) -> list[bytes]:
    return [word.encode("utf-8", "surrogateescape") for word in sentence]
