"""An oracle as arrays of small numbers, which take little memory, and which processes share as mapped files."""

from __future__ import annotations

import io
import json
import logging
import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from oracle.blocks import OracleSentence, read_oracle_lines
from oracle.errors import InputError, RnngError
from oracle.files import file_hash, locked, open_bytes, open_text, reading, replacing
from oracle.transitions import SYSTEMS

KEPT_FROM = 1 << 24
"""The least size of an oracle, in bytes, whose arrays are kept: encoding a smaller one takes a second or two."""
ENDING, SYMBOLS = ".arrays", "symbols.json"

_OF_WORDS = ("tokens", "lowercased", "unkified", "tags")
"""Columns with one number per word; a generative oracle has the first and the third."""
_OF_SENTENCES = ("word_ends", "action_ends", "lines", "systems")
"""Columns with one number per sentence: the ends of its words and actions, its line in the oracle, its system."""
_log = logging.getLogger(__name__)


class Symbols(NamedTuple):
    """The texts that the numbers of the columns stand for."""

    words: tuple[str, ...]
    """Raw, lower-cased and unkified words in order of first appearance: sentence by sentence, each kind in turn."""
    tags: tuple[str, ...]
    actions: tuple[str, ...]
    systems: tuple[str, ...]


@dataclass(eq=False, repr=False)
class EncodedOracle(Sequence[OracleSentence]):
    """The sentences of an oracle without their trees, and the counts that vocabularies and model cards need."""

    symbols: Symbols
    columns: dict[str, np.ndarray]
    """One-dimensional arrays of numbers, by name."""
    source: str | None = None
    """SHA-256 of the oracle's bytes."""
    folder: Path | None = None
    """The folder that any process of this machine can map the arrays from; None if they are in memory."""

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        words, actions = self._span(index, "word_ends"), self._span(index, "action_ends")
        rows = {name: self._named(name, words) for name in _OF_WORDS}
        system = self.symbols.systems[self.columns["systems"][index]]
        line, actions = int(self.lines[index]), self._named("actions", actions)
        return OracleSentence(tree="", **rows, actions=actions, line=line, transitions=system)

    def _span(self, index: int, ends: str) -> slice:
        column = self.columns[ends]
        return slice(int(column[index - 1]) if index else 0, int(column[index]))

    def _named(self, name: str, span: slice) -> tuple[str, ...] | None:
        if name not in self.columns:
            return None
        symbols = self._symbols_of(name)
        return tuple([symbols[i] for i in self.columns[name][span].tolist()])

    def _symbols_of(self, name: str) -> tuple[str, ...]:
        return getattr(self.symbols, name if name in Symbols._fields else "words")

    def __reduce__(self) -> tuple[Any, ...]:
        # another process maps the files again, which takes no extra memory
        if self.folder:
            return mapped, (self.folder, self.source)
        return EncodedOracle, (self.symbols, self.columns, self.source)

    def with_classes(self, unkify: Callable[[Sequence[str]], Sequence[str]]) -> EncodedOracle:
        """Return these sentences with other unkified words; `unkify` maps raw words to them, one to one."""
        words = self.symbols.words
        ids = {word: i for i, word in enumerate(words)}
        class_of = np.array([ids.setdefault(word, len(ids)) for word in unkify(words)], np.uint32)
        columns = {**self.columns, "unkified": class_of[self.columns["tokens"]]}
        return EncodedOracle(self.symbols._replace(words=tuple(ids)), columns, self.source)

    @property
    def lines(self) -> np.ndarray:
        """The line of each sentence in the oracle, from 1."""
        return self.columns["lines"]

    def lengths(self, of: str = "word") -> np.ndarray:
        """Return the number of words (or, if `of` is "action", of actions) of each sentence."""
        return np.diff(self.columns[f"{of}_ends"].astype(np.int64), prepend=0)

    def counts(self, name: str) -> np.ndarray:
        """Return how often each symbol occurs in a column."""
        return np.bincount(self.columns[name], minlength=len(self._symbols_of(name)))

    def tokens_by_appearance(self) -> np.ndarray:
        """Return the ids of raw words in order of first appearance, without the lower-cased words among `symbols`."""
        ids, first = np.unique(self.columns["tokens"], return_index=True)
        return ids[np.argsort(first)]

    def unkified_types(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for each word whether some sentence keeps it unchanged, and its last class (-1 if it has none)."""
        tokens, unkified = self.columns["tokens"], self.columns["unkified"]
        stays = np.zeros(len(self.symbols.words), bool)
        last = np.full(len(self.symbols.words), -1, np.int64)
        differ = tokens != unkified
        stays[tokens[~differ]] = True
        # if an index occurs twice, numpy keeps the last assignment
        last[tokens[differ]] = unkified[differ]
        return stays, last

    def unkified_pairs(self) -> tuple[list[str], list[str]]:
        """Return words and their unkified forms as two lists: known words first, each word once per kind."""
        words = self.symbols.words
        stays, last = self.unkified_types()
        known = [words[i] for i in np.flatnonzero(stays)]
        others = np.flatnonzero(last >= 0)
        tokens = known + [words[i] for i in others]
        return tokens, known + [words[i] for i in last[others]]

    def nonterminals(self) -> tuple[str, ...]:
        """Return the labels in order of first appearance. Raises RnngError if there are several transition systems."""
        if len(self.symbols.systems) > 1:
            names = ", ".join(sorted(self.symbols.systems))
            raise RnngError(f"an oracle of several transition systems: {names}")
        return SYSTEMS[self.symbols.systems[0]].labels([self.symbols.actions])

    def word_sequences(self, name: str) -> Iterator[tuple[str, ...]]:
        """Yield the words of a column, one tuple for each sentence."""
        for begin, end in pairwise([0, *self.columns["word_ends"].tolist()]):
            yield self._named(name, slice(begin, end))


def encoded(sentences: Iterable[OracleSentence]) -> EncodedOracle:
    """Return sentences as arrays in memory, unless they are arrays already. Raises ValueError if there are none."""
    if isinstance(sentences, EncodedOracle):
        return sentences
    columns = {name: array("I") for name in (*_OF_WORDS, "actions")}
    columns |= {name: array("Q") for name in _OF_SENTENCES}
    ids = Symbols(*(defaultdict(count().__next__) for _ in Symbols._fields))
    for sentence in sentences:
        for name in _OF_WORDS:
            if (row := getattr(sentence, name)) is not None:
                ids_of = ids.tags if name == "tags" else ids.words
                columns[name].extend(map(ids_of.__getitem__, row))
        columns["actions"].extend(map(ids.actions.__getitem__, sentence.actions))
        columns["word_ends"].append(len(columns["tokens"]))
        columns["action_ends"].append(len(columns["actions"]))
        columns["lines"].append(sentence.line)
        columns["systems"].append(ids.systems[sentence.transitions])
    if not columns["lines"]:
        raise ValueError("no sentences")
    arrays = {name: np.frombuffer(c, c.typecode) for name, c in columns.items() if c}
    small = {name: a.astype(np.min_scalar_type(a.max())) for name, a in arrays.items()}
    return EncodedOracle(Symbols(*map(tuple, ids)), small)


def read_encoded(path: str | os.PathLike) -> EncodedOracle:
    """Return an oracle as arrays. Those of a large oracle are kept in the folder ORACLE.arrays for later runs.

    The folder is made again if the oracle has changed. If it cannot be written, the arrays stay in memory. Raises
    InputError as `read_oracle`.
    """
    if os.fspath(path) == "-" or os.path.getsize(path) < KEPT_FROM:
        with reading(path), open_bytes(path) as stream:
            content = stream.read()
        text = io.StringIO(content.decode("utf-8-sig", "surrogateescape"), newline="\n")
        oracle = encoded(read_oracle_lines(text, path))
        oracle.source = sha256(content).hexdigest()
        return oracle
    folder, source = Path(f"{os.fspath(path)}{ENDING}"), file_hash(path)
    with locked(folder):
        try:
            return mapped(folder, source)
        except (InputError, OSError):
            with reading(path), open_text(path) as stream:
                oracle = encoded(read_oracle_lines(stream, path))
            oracle.source = source
        try:
            _save(oracle, folder)
        except OSError as error:
            _log.warning(
                f"{folder} cannot be written ({error.strerror}): each process reads {path}"
            )
            return oracle
        return mapped(folder, source)


def _save(oracle: EncodedOracle, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, column in oracle.columns.items():
        with replacing(folder / f"{name}.npy", binary=True) as stream:
            np.save(stream, column)
    # last, since it makes the folder complete
    with replacing(folder / SYMBOLS) as stream:
        names = [*oracle.columns]
        json.dump({"source": oracle.source, "columns": names, "symbols": oracle.symbols}, stream)


def mapped(folder: Path, source: str) -> EncodedOracle:
    """Return the oracle of a folder of arrays, which are mapped into memory.

    Raises InputError if they are damaged or of another oracle, OSError if there are none.
    """
    with reading(folder):
        content = json.loads((folder / SYMBOLS).read_bytes())
        if content["source"] != source:
            raise ValueError("made of another oracle")
        # as plain arrays: slices of numpy's memmap class are slow
        columns = {
            name: np.load(folder / f"{name}.npy", "r").view(np.ndarray)
            for name in content["columns"]
        }
        return EncodedOracle(Symbols(*map(tuple, content["symbols"])), columns, source, folder)
