"""An oracle as arrays of small numbers, which files can hold and processes share: no word is an object of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oracle.blocks import OracleSentence
from oracle.columns import (
    COLUMNS,
    FILES,
    HEADER,
    SYMBOLS,
    SYMBOLS_OF,
    Symbols,
    mapped_column,
    require_sound,
)
from oracle.errors import InputError, RnngError
from oracle.regular_files import read_regular
from oracle.streams import file_hash, from_json
from oracle.transitions import SYSTEMS

FORMAT, VERSION = "rnng_dy encoded oracle", 1
PART, SENTENCES = 1 << 20, 1 << 14
"""Numbers, and sentences, that are worked on at a time."""


class SentenceIds(NamedTuple):
    """A sentence as numbers."""

    tokens: np.ndarray
    unkified: np.ndarray
    tags: np.ndarray | None
    actions: np.ndarray


class EncodedOracle(Sequence[OracleSentence]):
    """The sentences of an oracle, without their trees, and what vocabularies and model cards count of them."""

    def __init__(
        self,
        symbols: Symbols,
        columns: dict[str, np.ndarray],
        class_of: np.ndarray | None = None,
        source: str | None = None,
        folder: Path | None = None,
    ):
        """`class_of` are the unkified words, by raw ones, where they are not those of the file."""
        self.symbols, self._columns, self._class_of = symbols, columns, class_of
        self.source = source
        """SHA-256 of the oracle's bytes."""
        self.folder = folder
        """Where the arrays are mapped from, which every process of a machine can do; None where they are in memory."""

    # sentences

    def __len__(self) -> int:
        return len(self._columns["lines"])

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        index = range(len(self))[index]
        row, words = self.ids_of(index), self.symbols.words
        lowercased = self._columns.get("lowercased")
        if lowercased is not None:
            lowercased = _named(lowercased[self._span(index, "word_ends")], words)
        return OracleSentence(
            tree="",
            tags=None if row.tags is None else _named(row.tags, self.symbols.tags),
            tokens=_named(row.tokens, words),
            lowercased=lowercased,
            unkified=_named(row.unkified, words),
            actions=_named(row.actions, self.symbols.actions),
            line=int(self._columns["lines"][index]),
            transitions=self.symbols.systems[self._columns["systems"][index]],
        )

    def ids_of(self, index: int) -> SentenceIds:
        """A sentence as numbers, from 0."""
        words, tags = self._span(index, "word_ends"), self._columns.get("tags")
        return SentenceIds(
            self._columns["tokens"][words],
            self._words("unkified", words),
            None if tags is None else tags[words],
            self._columns["actions"][self._span(index, "action_ends")],
        )

    def _words(self, name: str, span: slice) -> np.ndarray:
        if name == "unkified" and self._class_of is not None:
            return self._class_of[self._columns["tokens"][span]]
        return self._columns[name][span]

    def _span(self, index: int, ends: str) -> slice:
        column = self._columns[ends]
        return slice(int(column[index - 1]) if index else 0, int(column[index]))

    def __reduce__(self):
        # another process maps the files anew, which costs it no memory
        columns = self._columns if self.folder is None else {}
        return _again, (self.symbols, columns, self._class_of, self.source, self.folder)

    def with_classes(self, unkify: Callable[[Sequence[str]], Sequence[str]]) -> EncodedOracle:
        """These sentences with other unkified words: `unkify` gives them for raw ones, one for one."""
        words = self.symbols.words
        ids = {word: i for i, word in enumerate(words)}
        class_of = [ids.setdefault(word, len(ids)) for word in unkify(words)]
        symbols = self.symbols._replace(words=tuple(ids))
        classes = np.array(class_of, np.uint32)
        return EncodedOracle(symbols, self._columns, classes, self.source, self.folder)

    def unmapped(self) -> EncodedOracle:
        """The same for a process of another machine, which cannot map the files: the arrays are pickled with it."""
        return EncodedOracle(self.symbols, self._columns, self._class_of, self.source)

    def is_now_in(self, folder: Path) -> None:
        """Say into which folder that of the arrays, if they have one, was moved with all that stands beside it."""
        if self.folder is not None:
            self.folder = folder / self.folder.name

    # columns

    @property
    def has_tags(self) -> bool:
        """Whether it is a discriminative oracle."""
        return "tags" in self._columns

    @property
    def lines(self) -> np.ndarray:
        """The line of each sentence in the oracle, from 1."""
        return self._columns["lines"]

    def lengths(self, of: str = "word") -> np.ndarray:
        """The number of words (or, of "action"s, of actions) of each sentence."""
        return np.diff(self._columns[f"{of}_ends"].astype(np.int64), prepend=0)

    def parts(self, name: str) -> Iterator[np.ndarray]:
        """A column part by part."""
        for begin in range(0, len(self._columns[name]), PART):
            yield self._words(name, slice(begin, begin + PART))

    def counts(self, name: str) -> np.ndarray:
        """How often a column has each symbol."""
        total = np.zeros(len(getattr(self.symbols, SYMBOLS_OF[name])), np.int64)
        for part in self.parts(name):
            total += np.bincount(part, minlength=len(total))
        return total

    def sentences_with(self, name: str, symbols: np.ndarray) -> np.ndarray:
        """Which sentences have one of some symbols: `symbols` and the result are masks."""
        ends = self._columns["action_ends" if name == "actions" else "word_ends"]
        found, begin = np.zeros(len(self), bool), 0
        for part in self.parts(name):
            positions = begin + np.flatnonzero(symbols[part])
            found[np.searchsorted(ends, positions, side="right")] = True
            begin += len(part)
        return found

    def tokens_by_appearance(self) -> np.ndarray:
        """The raw words in order of first appearance, where `symbols` has lower-cased ones between them."""
        first, begin = np.full(len(self.symbols.words), -1, np.int64), 0
        for part in self.parts("tokens"):
            new = np.flatnonzero(first[part] < 0)[::-1]
            # of positions that come twice the last one counts
            first[part[new]] = begin + new
            begin += len(part)
        seen = np.flatnonzero(first >= 0)
        return seen[np.argsort(first[seen])]

    def unkified_types(self) -> tuple[np.ndarray, np.ndarray]:
        """By word: whether it stays as it is somewhere, and the class that it is last, -1 where it is none."""
        stays = np.zeros(len(self.symbols.words), bool)
        last = np.full(len(self.symbols.words), -1, np.int64)
        for tokens, unkified in zip(self.parts("tokens"), self.parts("unkified"), strict=True):
            differ = tokens != unkified
            stays[tokens[~differ]] = True
            last[tokens[differ]] = unkified[differ]
        return stays, last

    def unkified_pairs(self) -> tuple[list[str], list[str]]:
        """Words, and what they are unkified: known ones first, each once of either kind."""
        words = self.symbols.words
        stays, last = self.unkified_types()
        known = [words[i] for i in np.flatnonzero(stays)]
        others = np.flatnonzero(last >= 0)
        tokens = known + [words[i] for i in others]
        return tokens, known + [words[i] for i in last[others]]

    def nonterminals(self) -> tuple[str, ...]:
        """In order of first appearance. Raises RnngError for an oracle of several transition systems."""
        if len(self.symbols.systems) > 1:
            names = ", ".join(sorted(self.symbols.systems))
            raise RnngError(f"an oracle of several transition systems: {names}")
        return SYSTEMS[self.symbols.systems[0]].labels([self.symbols.actions])

    def word_sequences(self, name: str) -> Iterator[tuple[str, ...]]:
        """The words of a column, sentence by sentence."""
        words = self.symbols.words
        for first in range(0, len(self), SENTENCES):
            ends = self._columns["word_ends"][first : first + SENTENCES].tolist()
            begin = self._span(first, "word_ends").start
            ids = self._words(name, slice(begin, ends[-1])).tolist()
            starts = [0, *(end - begin for end in ends)]
            for start, end in pairwise(starts):
                yield tuple([words[i] for i in ids[start:end]])


def _named(ids: np.ndarray, symbols: Sequence[str]) -> tuple[str, ...]:
    return tuple([symbols[i] for i in ids.tolist()])


def _again(
    symbols: Symbols,
    columns: dict[str, np.ndarray],
    class_of: np.ndarray | None,
    source: str | None,
    folder: Path | None,
) -> EncodedOracle:
    """What was pickled."""
    columns = columns if folder is None else mapped(folder, source)._columns
    return EncodedOracle(symbols, columns, class_of, source, folder)


def mapped(folder: Path, source: str, check: bool = False) -> EncodedOracle:
    """The oracle of a folder of arrays, which are read as they are needed; `check` looks at each byte of them.

    Raises InputError where they were made of another oracle, or are damaged.
    """
    try:
        content = from_json(read_regular(folder / HEADER))
        if (content["format"], content["version"]) != (FORMAT, VERSION):
            raise ValueError("of another version")
        if content["source"] != source:
            raise ValueError("made of another oracle")
        hashes = content["files"]
        if not hashes.keys() <= FILES:
            raise ValueError("with files that are none of its own")
        for name, expected in hashes.items() if check else ():
            if file_hash(folder / name) != expected:
                raise ValueError(f"{name} has changed")
        names = [name for name in COLUMNS if f"{name}.npy" in hashes]
        columns = {name: mapped_column(folder / f"{name}.npy") for name in names}
        symbols = Symbols(*map(tuple, from_json(read_regular(folder / SYMBOLS))))
        if check:
            require_sound(columns, symbols)
    except (AttributeError, EOFError, KeyError, OSError, TypeError, ValueError) as error:
        raise InputError(f"no arrays of this oracle ({error})", folder) from None
    return EncodedOracle(symbols, columns, None, source, folder)
