"""EVALB's parameters: labels to delete, equal labels and words, the length cutoff. Two sets are built in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from oracle.errors import RnngError
from oracle.files import WHITE_SPACE, read_lines, reading, split_words

FIELDS = {
    "CUTOFF_LEN": "cutoff",
    "LABELED": "labelled",
    "DELETE_LABEL": "delete_labels",
    "DELETE_LABEL_FOR_LENGTH": "delete_labels_for_length",
    "QUOTE_LABEL": "quote_labels",
    "EQ_LABEL": "equal_labels",
    "EQ_WORD": "equal_words",
}
"""By statement: the number that it sets, or the set that its one or two arguments join."""
WITHOUT_EFFECT = ("DEBUG", "MAX_ERROR")
"""Statements that change no score."""


@dataclass(frozen=True)
class Params:
    """The statements of a parameter file; an absent statement has EVALB's own default.

    `cutoff` is in words; `labelled` is LABELED, 0 or 1.
    """

    delete_labels: frozenset[str] = frozenset()
    delete_labels_for_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    equal_labels: frozenset[tuple[str, str]] = frozenset()
    equal_words: frozenset[tuple[str, str]] = frozenset()
    cutoff: int = 40
    labelled: bool = True

    @classmethod
    def read(cls, path: str) -> Params:
        """Read a `.prm` file (`-` is standard input). Raises InputError with the line of a bad statement.

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
        """The labels of brackets to delete: `DELETE_LABEL` and, unlike for tags, labels equal to one of them."""
        pairs = [pair for a, b in self.equal_labels for pair in ((a, b), (b, a))]
        return self.delete_labels | {other for label, other in pairs if label in self.delete_labels}

    def same_label(self, label: str, other: str) -> bool:
        """Return whether two labels are equal, or a pair of `EQ_LABEL` (in one step, in either order).

        >>> COLLINS.same_label("PRT", "ADVP"), COLLINS.same_label("NP", "NX")
        (True, False)
        """
        return label == other or not self.equal_labels.isdisjoint([(label, other), (other, label)])

    def same_word(self, word: str, other: str) -> bool:
        """Return whether two words are equal, or a pair of `EQ_WORD`."""
        return word == other or not self.equal_words.isdisjoint([(word, other), (other, word)])


def _read_statement(values: dict[str, Any], keyword: str, *arguments: str) -> None:
    """Add a statement to the fields of Params. Raises ValueError, without a line, for one that is none."""
    known = [*WITHOUT_EFFECT, *FIELDS]
    if keyword not in known:
        raise RnngError(f"unknown statement `{keyword}`; use one of {', '.join(known)}")
    count = 2 if keyword.startswith("EQ_") else 1
    if len(arguments) != count:
        raise RnngError(f"{keyword} takes {count} word{'s' * (count > 1)}, not {len(arguments)}")
    if name := FIELDS.get(keyword):
        if name in ("cutoff", "labelled"):
            values[name] = int(arguments[0])
        else:
            member = arguments[0] if count == 1 else arguments
            values[name] = values.get(name, frozenset()) | {member}


COLLINS = Params(
    delete_labels=frozenset(["TOP", "-NONE-", ",", ":", "``", "''", "."]),
    delete_labels_for_length=frozenset(["-NONE-"]),
    equal_labels=frozenset([("ADVP", "PRT")]),
)
"""The rules of `COLLINS.prm`: root and punctuation are not scored, ADVP and PRT are one label."""

NEW = replace(
    COLLINS,
    delete_labels=COLLINS.delete_labels | {"S1", "?", "!"},
    quote_labels=frozenset(["``", "''", "POS", "NN", "CD", "VBZ", ":"]),
)
"""The rules of `new.prm`: as `COLLINS.prm`, with another root, `?`, `!`, and quotes put back."""

BUILT_IN = {"collins": COLLINS, "new": NEW}
