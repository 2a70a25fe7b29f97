"""EVALB's parameters, two sets of which are built in: labels to delete, equal labels and words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from oracle.common.errors import RnngError
from oracle.common.files import WHITE_SPACE, read_lines, reading, split_words

WITHOUT_EFFECT = ("DEBUG", "MAX_ERROR")
"""Statements that change no score."""


@dataclass(frozen=True)
class Params:
    """The statements of a parameter file by name; an absent statement has EVALB's own default.

    `cutoff_len` is in words.
    """

    cutoff_len: int = 40
    labeled: bool = True
    delete_label: frozenset[str] = frozenset()
    delete_label_for_length: frozenset[str] = frozenset()
    quote_label: frozenset[str] = frozenset()
    eq_label: frozenset[tuple[str, str]] = frozenset()
    eq_word: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def read(cls, path: str) -> Params:
        """Read a `.prm` file (`-` is standard input). Raises InputError for a bad statement.

        Like EVALB it skips lines that begin with `#` or have fewer than three characters.
        """
        values: dict[str, Any] = {}
        with reading(path) as location:
            for location.line, text in read_lines(path):
                statement = text.strip(WHITE_SPACE)
                if len(statement) > 2 and not statement.startswith("#"):
                    _read_statement(values, *split_words(statement))
        return cls(**values)

    @cached_property
    def deleted_bracket_labels(self) -> frozenset[str]:
        """The labels of brackets to delete: `DELETE_LABEL` and, unlike for tags, their equals."""
        pairs = [pair for a, b in self.eq_label for pair in ((a, b), (b, a))]
        return self.delete_label | {other for label, other in pairs if label in self.delete_label}

    def same_label(self, label: str, other: str) -> bool:
        """Return whether two labels are equal, or a pair of `EQ_LABEL` in either order.

        >>> COLLINS.same_label("PRT", "ADVP"), COLLINS.same_label("NP", "NX")
        (True, False)
        """
        return label == other or not self.eq_label.isdisjoint([(label, other), (other, label)])

    def same_word(self, word: str, other: str) -> bool:
        """Return whether two words are equal, or a pair of `EQ_WORD`."""
        return word == other or not self.eq_word.isdisjoint([(word, other), (other, word)])


def _read_statement(values: dict[str, Any], keyword: str, *arguments: str) -> None:
    """Add a statement to the fields of Params. Raises ValueError for one that is none."""
    known = [*WITHOUT_EFFECT, *map(str.upper, Params.__annotations__)]
    if keyword not in known:
        raise RnngError(f"unknown statement `{keyword}`; use one of {', '.join(known)}")
    count = 2 if keyword.startswith("EQ_") else 1
    if len(arguments) != count:
        raise RnngError(f"{keyword} takes {count} word{'s' * (count > 1)}, not {len(arguments)}")
    name = keyword.lower()
    if keyword in ("CUTOFF_LEN", "LABELED"):
        values[name] = int(arguments[0])
    elif keyword not in WITHOUT_EFFECT:
        values[name] = values.get(name, frozenset()) | {arguments[0] if count == 1 else arguments}


COLLINS = Params(
    delete_label=frozenset(["TOP", "-NONE-", ",", ":", "``", "''", "."]),
    delete_label_for_length=frozenset(["-NONE-"]),
    eq_label=frozenset([("ADVP", "PRT")]),
)
"""The rules of `COLLINS.prm`: root and punctuation are not scored, ADVP and PRT are one label."""

NEW = replace(
    COLLINS,
    delete_label=COLLINS.delete_label | {"S1", "?", "!"},
    quote_label=frozenset(["``", "''", "POS", "NN", "CD", "VBZ", ":"]),
)
"""The rules of `new.prm`: as `COLLINS.prm`, with another root, `?`, `!`, and quotes put back."""

BUILT_IN = {"collins": COLLINS, "new": NEW}
