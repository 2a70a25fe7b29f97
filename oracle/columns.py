"""The columns of an oracle as arrays: their names, contents, symbols and validity checks."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from oracle.archives import open_regular
from oracle.errors import UnderivableError
from oracle.transitions import SYSTEMS, unlimited

HEADER, SYMBOLS = "header.json", "symbols.json"
OF_WORDS = ("tokens", "lowercased", "unkified", "tags")
"""Columns with one number per word; a generative oracle has the first and the third."""
OF_SENTENCES = ("word_ends", "action_ends", "lines", "systems")
"""Columns with one number per sentence: the ends of its words and actions, its line in the oracle, its system."""
COLUMNS = (*OF_WORDS, "actions", *OF_SENTENCES)
SYMBOLS_OF = dict.fromkeys(OF_WORDS, "words") | {n: n for n in ("tags", "actions", "systems")}
"""The kind of symbols that a column's numbers stand for, by column name."""
FILES = {SYMBOLS, *(f"{name}.npy" for name in COLUMNS)}
"""The files of a folder of arrays, besides its header."""


class Symbols(NamedTuple):
    """The texts that the numbers of the columns stand for."""

    words: tuple[str, ...]
    """Raw, lower-cased and unkified words in order of first appearance: sentence by sentence, each kind in turn."""
    tags: tuple[str, ...]
    actions: tuple[str, ...]
    systems: tuple[str, ...]


def mapped_column(path: Path) -> np.ndarray:
    """Return a file's column, memory-mapped. Raises ValueError for other content, OSError if it is no regular file."""
    # mapping a pipe would wait until a process writes into it
    open_regular(path).close()
    try:
        # as a plain array: slices of numpy's memmap class are slow
        column = np.lib.format.open_memmap(path, "r").view(np.ndarray)
    except Exception as error:
        # for a bad header numpy raises a dozen kinds of exceptions
        raise ValueError(f"{path.name}: {error}") from None
    if column.ndim != 1 or column.dtype.kind != "u":
        raise ValueError(f"{path.name} is no column of numbers")
    return column


def require_sound(columns: dict[str, np.ndarray], symbols: Symbols) -> None:
    """Raise ValueError unless the arrays hold well-formed sentences; the header is not trusted."""
    of_words = [name for name in OF_WORDS if name in columns]
    if of_words not in (list(OF_WORDS), ["tokens", "unkified"]):
        raise ValueError(f"with the columns {', '.join(columns)} alone")
    if len({len(columns[name]) for name in of_words}) > 1:
        raise ValueError("with columns of words that are not of one length")
    if len({len(columns[name]) for name in OF_SENTENCES}) > 1 or not len(columns["lines"]):
        raise ValueError("with columns of sentences that are not of one length")
    for name, of in (("word_ends", "tokens"), ("action_ends", "actions")):
        ends = columns[name]
        if ends[-1] != len(columns[of]) or (ends[1:] < ends[:-1]).any():
            raise ValueError(f"with {name} that are not those of its {of}")
    for name, kind in SYMBOLS_OF.items():
        if name in columns and columns[name].max() >= len(getattr(symbols, kind)):
            raise ValueError(f"with {name} that stand for nothing")
    if not all(isinstance(symbol, str) for kind in symbols for symbol in kind):
        raise ValueError("with symbols that are no texts")
    if any(len(set(kind)) < len(kind) for kind in symbols):
        raise ValueError("with a symbol that has two numbers")
    if not set(symbols.systems) <= SYSTEMS.keys():
        raise ValueError("of another transition system")
    _require_trees(columns, symbols)


def _require_trees(columns: dict[str, np.ndarray], symbols: Symbols) -> None:
    """Raise ValueError unless the actions of each sentence build a tree over its words."""
    systems = [unlimited(SYSTEMS[name]) for name in symbols.systems]
    words = actions = 0
    for i, system in enumerate(columns["systems"]):
        end_of_words, end = int(columns["word_ends"][i]), int(columns["action_ends"][i])
        names = [symbols.actions[number] for number in columns["actions"][actions:end].tolist()]
        try:
            systems[system].check(names, end_of_words - words)
        except UnderivableError as error:
            raise ValueError(f"sentence {i + 1} is no tree: {error}") from None
        words, actions = end_of_words, end
