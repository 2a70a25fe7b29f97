"""An oracle as arrays of small numbers, which files can store and processes can share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from oracle.archives import read_regular
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
from oracle.files import file_hash, from_json
from oracle.transitions import SYSTEMS

FORMAT, VERSION = "rnng_dy encoded oracle", 1
PART, SENTENCES = 1 << 20, 1 << 14
"""How many numbers, and how many sentences, are processed at a time."""


class SentenceIds(NamedTuple):
    """A sentence as numbers."""

    tokens: np.ndarray
    unkified: np.ndarray
    tags: np.ndarray | None
    actions: np.ndarray


@dataclass(eq=False, repr=False)
class EncodedOracle(Sequence[OracleSentence]):
    """The sentences of an oracle without their trees, and the counts that vocabularies and model cards need."""

    symbols: Symbols
    _columns: dict[str, np.ndarray]
    _class_of: np.ndarray | None = None
    """The ids of unkified words by those of raw words; None takes the file's own."""
    source: str | None = None
    """SHA-256 of the oracle's bytes."""
    folder: Path | None = None
    """The folder that any process of this machine can map the arrays from; None if they are in memory."""

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
        """Return the sentence at `index`, from 0, as numbers."""
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

    def __getstate__(self) -> dict[str, object]:
        # the other process maps the files again, which takes no extra memory
        return vars(self) | {"_columns": None if self.folder else self._columns}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        vars(self).update(state)
        if self.folder:
            self._columns = mapped(self.folder, self.source)._columns

    def with_classes(self, unkify: Callable[[Sequence[str]], Sequence[str]]) -> EncodedOracle:
        """Return these sentences with other unkified words; `unkify` maps raw words to them, one to one."""
        words = self.symbols.words
        ids = {word: i for i, word in enumerate(words)}
        class_of = [ids.setdefault(word, len(ids)) for word in unkify(words)]
        symbols = self.symbols._replace(words=tuple(ids))
        return replace(self, symbols=symbols, _class_of=np.array(class_of, np.uint32))

    def unmapped(self) -> EncodedOracle:
        """Return a copy for a process of another machine, which cannot map the files: it is pickled with its arrays."""
        return replace(self, folder=None)

    def is_now_in(self, folder: Path) -> None:
        """Record that the arrays' folder, if there is one, was moved into `folder` together with its neighbours."""
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
        """Return the number of words (or, if `of` is "action", of actions) per sentence."""
        return np.diff(self._columns[f"{of}_ends"].astype(np.int64), prepend=0)

    def parts(self, name: str) -> Iterator[np.ndarray]:
        """Yield a column in parts of at most PART numbers."""
        for begin in range(0, len(self._columns[name]), PART):
            yield self._words(name, slice(begin, begin + PART))

    def counts(self, name: str) -> np.ndarray:
        """Return how often each symbol occurs in a column."""
        total = np.zeros(len(getattr(self.symbols, SYMBOLS_OF[name])), np.int64)
        for part in self.parts(name):
            total += np.bincount(part, minlength=len(total))
        return total

    def sentences_with(self, name: str, symbols: np.ndarray) -> np.ndarray:
        """Return a mask of the sentences that have at least one of the symbols, which are a mask, too."""
        ends = self._columns["action_ends" if name == "actions" else "word_ends"]
        has_one, begin = np.zeros(len(self), bool), 0
        for part in self.parts(name):
            positions = begin + np.flatnonzero(symbols[part])
            has_one[np.searchsorted(ends, positions, side="right")] = True
            begin += len(part)
        return has_one

    def tokens_by_appearance(self) -> np.ndarray:
        """Return the ids of raw words in order of first appearance, without the lower-cased words among `symbols`."""
        first, begin = np.full(len(self.symbols.words), -1, np.int64), 0
        for part in self.parts("tokens"):
            new = np.flatnonzero(first[part] < 0)[::-1]
            # if an index occurs twice, numpy keeps the last assignment
            first[part[new]] = begin + new
            begin += len(part)
        seen = np.flatnonzero(first >= 0)
        return seen[np.argsort(first[seen])]

    def unkified_types(self) -> tuple[np.ndarray, np.ndarray]:
        """Return per word whether some sentence keeps it unchanged, and its last class (-1 if it has none)."""
        stays = np.zeros(len(self.symbols.words), bool)
        last = np.full(len(self.symbols.words), -1, np.int64)
        for tokens, unkified in zip(self.parts("tokens"), self.parts("unkified"), strict=True):
            differ = tokens != unkified
            stays[tokens[~differ]] = True
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
        """Yield the words of a column, one tuple per sentence."""
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


def mapped(folder: Path, source: str, check: bool = False) -> EncodedOracle:
    """Return the oracle of a folder of arrays, read on demand; with `check` every byte is verified first.

    Raises InputError if the arrays are damaged or belong to another oracle.
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
