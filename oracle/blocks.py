"""Oracles in the original's format, the counts of their symbols, and sentences on disk."""

import hashlib
import os
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from sys import intern
from typing import Any, TextIO

import numpy as np

from oracle.brackets import LocatedTree, format_tree
from oracle.common.errors import RnngError, UnderivableError
from oracle.common.files import WHITE_SPACE, open_text, placed, reading, split_words
from oracle.transition_system import TransitionSystem
from oracle.transitions import SYSTEMS, TOP_DOWN, is_action, opens_constituent, system_of
from oracle.treebank import require_length, tags, words
from oracle.unknown import UnknownWords, lower

STORED = "train.sentences"
"""The name of a file of training sentences."""


@dataclass(frozen=True, slots=True)
class OracleSentence:
    """A block of an oracle; a generative one has no tags and no lower-cased words."""

    tree: str
    """The tree as written in its file."""
    tags: tuple[str, ...] | None
    tokens: tuple[str, ...]
    lowercased: tuple[str, ...] | None
    unkified: tuple[str, ...]
    actions: tuple[str, ...]
    line: int
    """1-based line of the tree in the oracle."""
    transitions: str = SYSTEMS.default
    """The name of the transition system that the actions belong to."""

    @property
    def word_lines(self) -> list[tuple[str, ...]]:
        """The lines of words or tags between the tree and the actions."""
        lines = (self.tags, self.tokens, self.lowercased, self.unkified)
        return [line for line in lines if line is not None]

    def has_words(self, of_tree: Sequence[str]) -> bool:
        """Return whether a tree has its words, or classes of unknown words in their places."""
        if len(of_tree) != len(self.tokens):
            return False
        rows = zip(of_tree, self.tokens, self.unkified, strict=True)
        # of unknown words, a parser may know others than the oracle
        return all(word in read or word.startswith("UNK") for word, *read in rows)


def make_oracle(
    trees: Iterable[LocatedTree],
    unknown_words: UnknownWords,
    generative: bool,
    transitions: TransitionSystem = TOP_DOWN,
) -> Iterator[OracleSentence]:
    """Yield the block of each tree (get_oracle.py, get_oracle_gen.py of the original).

    Raises InputError for a tree that the transition system has no actions for.
    """
    line = 1
    for located in trees:
        with placed(located.path, located.line):
            actions = tuple(transitions.actions_of(located.tree, preterminals=True))
        tokens = tuple(words(located.tree))
        sentence = OracleSentence(
            tree=located.text or format_tree(located.tree),
            tags=None if generative else tuple(tags(located.tree)),
            tokens=tokens,
            lowercased=None if generative else tuple(lower(t, unknown_words.rules) for t in tokens),
            unkified=tuple(unknown_words.unkify(tokens)),
            actions=actions,
            line=line,
            transitions=transitions.name,
        )
        yield sentence
        line += 2 + len(sentence.word_lines) + len(actions)


def write_oracle(sentences: Iterable[OracleSentence], stream: TextIO) -> None:
    """Write blocks, each followed by an empty line."""
    for sentence in sentences:
        lines = [f"# {sentence.tree}", *map(" ".join, sentence.word_lines), *sentence.actions]
        stream.write("\n".join(lines) + "\n\n")


def read_oracle(path: str | os.PathLike[str]) -> list[OracleSentence]:
    """Read an oracle of any kind and transition system, ours or the original scripts'.

    Bytes that are not UTF-8 survive as lone surrogates. Raises InputError for a block whose lines
    do not match each other, and for a file without blocks.
    """
    return list(oracle_sentences(path))


def oracle_sentences(path: str | os.PathLike[str]) -> Iterator[OracleSentence]:
    """Yield the sentences of an oracle in turn. Raises InputError as `read_oracle`."""
    with reading(path), open_text(path) as stream:
        yield from read_oracle_lines(stream, path)


def read_oracle_lines(lines: Iterable[str], path: object) -> Iterator[OracleSentence]:
    """Yield the blocks of an oracle's lines in turn; see `read_oracle`."""
    first = None
    with reading(path, remedy="make the file with `rnng-dy oracle`") as location:
        for location.line, block in _blocks(lines):
            sentence = _read_block(block, location)
            first = first or sentence
            if (sentence.tags is None) != (first.tags is None):
                raise ValueError("a generative and a discriminative oracle in one file")
            yield sentence
        if not first:
            location.line = None
            raise ValueError("no sentence in this oracle")


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines between empty lines, with the number of the first."""
    numbered = enumerate((line.rstrip(WHITE_SPACE) for line in lines), 1)
    for has_text, group in groupby(numbered, lambda numbered_line: bool(numbered_line[1])):
        if has_text:
            numbers, block = zip(*group, strict=True)
            yield numbers[0], list(block)


def _first_action(block: Sequence[str]) -> int:
    """Return the index of a block's first action, or 0 for a block of neither kind."""
    # the lines of a generative and of a discriminative sentence before its actions
    for first in (3, 5):
        rows, actions = block[1:first], block[first:]
        if not actions or not is_action(actions[0]) or any(map(opens_constituent, rows)):
            continue
        # the only word of a sentence may look like an action
        if not is_action(rows[-1]) or len(split_words(rows[0])) == 1:
            return first
    return 0


def _read_block(block: list[str], location: Any) -> OracleSentence:
    begin = location.line or 0
    # by position and not by `# `, since `#` is a word and a tag of the PTB
    if not block[0].startswith("# "):
        wanted = "a sentence of an oracle begins with `# ` and its tree"
        raise ValueError(f"{wanted}, not {block[0]!r:.60}")
    if not (first := _first_action(block)):
        raise ValueError("needs 2 (generative) or 4 lines between the tree and its actions")
    rows = [tuple(map(intern, split_words(line))) for line in block[1:first]]
    for number, row in enumerate(rows[1:], begin + 2):
        if len(row) != len(rows[0]):
            location.line = number
            raise ValueError(f"{len(row)} words here, {len(rows[0])} on line {begin + 1}")
    require_length(rows[0])
    tag_row = rows[0] if len(rows) == 4 else ()
    # format_tree could not write a tree with this tag
    if bad := next((tag for tag in tag_row if "(" in tag or ")" in tag), None):
        location.line = begin + 1
        raise ValueError(f"the tag {bad!r} has a bracket: write -LRB- or -RRB-")
    actions = tuple(map(intern, block[first:]))
    if bad := next((action for action in actions if " " in action), None):
        raise ValueError(f"in the sentence that begins here, the action {bad!r} has a blank")
    try:
        system = system_of(actions, len(rows[0])).name
    except UnderivableError as error:
        raise ValueError(f"the sentence that begins here is no tree: {error}") from None
    if len(rows) == 2:
        rows = [None, rows[0], None, rows[1]]
    return OracleSentence(block[0][2:], *rows, actions, begin, system)


@dataclass
class OracleCounts:
    """Symbols in the order in which they first appear."""

    words: dict[str, None] = field(default_factory=dict)
    """Raw, lower-cased and unkified words: sentence by sentence, each kind in turn."""
    tokens: Counter[str] = field(default_factory=Counter)
    """How often each raw word occurs."""
    unkified: Counter[str] = field(default_factory=Counter)
    """How often each word or class of unknown words occurs."""
    tags: Counter[str] = field(default_factory=Counter)
    actions: dict[str, None] = field(default_factory=dict)
    systems: dict[str, None] = field(default_factory=dict)
    """The names of the transition systems."""

    def nonterminals(self) -> tuple[str, ...]:
        """Return the labels. Raises RnngError if there are several transition systems."""
        if len(self.systems) > 1:
            names = ", ".join(sorted(self.systems))
            raise RnngError(f"an oracle of several transition systems: {names}")
        return SYSTEMS[next(iter(self.systems))].labels(self.actions)


def counted(sentences: Iterable[OracleSentence]) -> OracleCounts:
    """Return the counts of an oracle's sentences."""
    counts = OracleCounts()
    for sentence in sentences:
        for row in (sentence.tokens, sentence.lowercased or (), sentence.unkified):
            counts.words.update(dict.fromkeys(row))
        counts.tokens.update(sentence.tokens)
        counts.unkified.update(sentence.unkified)
        counts.tags.update(sentence.tags or ())
        counts.actions.update(dict.fromkeys(sentence.actions))
        counts.systems[sentence.transitions] = None
    return counts


class StoredSentences(Sequence[OracleSentence]):
    """The sentences in a file of `stored`, without their trees.

    Each one is read when it is asked for. A copy in another process opens the file itself.
    """

    def __init__(self, path: str, ends: np.ndarray, lines: np.ndarray, hash: str):
        """Take the file and, for each sentence, where it ends and its line in the oracle."""
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


def stored(sentences: Iterable[OracleSentence], path: str | os.PathLike[str]) -> StoredSentences:
    """Write sentences to a new file, needed as long as they are; return them from there.

    A sentence has a line for its transition system, for its tags, for each kind of its words, and
    for its actions.
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
