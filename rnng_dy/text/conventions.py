"""Classes of characters, and a treebank's conventions for writing words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

OPENERS = "([{<“‘„‚«‹¿¡「『《〈（【〔"
CLOSERS = ")]}>”’»›」』》〉）】〕"
HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""A character class: Chinese characters and Japanese syllables, written without blanks."""
HAN_ENDS = "。｡！？"

SPELLINGS = {
    "“": "``", "”": "''", "‘": "`", "’": "'", "—": "--", "―": "--", "–": "--", "…": "...",
    "(": "-LRB-", ")": "-RRB-", "{": "-LCB-", "}": "-RCB-", "/": "\\/", "*": "\\*",
}  # fmt: skip
"""Characters that the Penn Treebank writes differently."""
TITLES = "Capt Col Dr Gen Gov Lt Messrs Mr Mrs Ms Mt Pres Prof Rep Rev Sen Sgt".split()  # noqa: SIM905
"""Abbreviated titles: a name follows, also one that is a word, such as Mr. Long."""
NUMBERED = frozenset({"No", "Nos"})
"""Words that are abbreviations before numbers."""
ABBREVIATIONS = frozenset(
    """
    adm al apr approx assn aug ave blvd bros cf cie co corp cos dec dept e.g eq esq est etc ext feb
    fig figs fri ft hon hwy i.e inc jan jr jul jun ltd maj mar mon nov oct p pp ph.d pty sep sept sr
    st thu thur thurs tue tues u.k u.n u.s vol vs
    """.split()  # noqa: SIM905
).union(map(str.lower, TITLES))
"""English abbreviations without the last period, unless training splits it off."""
LONGEST_ABBREVIATION = 20
"""The most characters of an abbreviation, with the period."""

CLITIC = re.compile(r"(?:(?<=\w)n['’]t|(?<=.)['’](?:s|m|d|re|ve|ll))\Z", re.IGNORECASE | re.DOTALL)
"""A clitic at the end of a word."""


@dataclass(frozen=True)
class Conventions:
    """The conventions of a treebank; the default is the Penn Treebank's."""

    spellings: Mapping[str, str] = field(default_factory=lambda: dict(SPELLINGS))
    """Characters that the treebank writes differently."""
    quotes: tuple[str, str] = ("``", "''")
    """The tokens for opening and closing straight double quotes."""
    single_quotes: tuple[str, str] = ("`", "'")
    marks: str = ""
    """Which of - – / between letters are tokens."""
    prefixes: frozenset[str] = frozenset()
    """Prefixes in lower case that keep their hyphen even if other hyphens are tokens: non-, re-."""
    abbreviations: frozenset[str] = ABBREVIATIONS
    """Abbreviations in lower case, without their last period."""
    at_end: Mapping[str, str] = field(default_factory=dict)
    """The period of some abbreviations at the end of a sentence.

    It is "split" (Corp .), "shared" (U.S. .) or "kept" (etc.).
    """
    at_end_else: str = "split"
    starters: frozenset[str] = frozenset()
    """Lower-cased words that are capitalised only at the beginning of a sentence."""
    han: str = "none"
    """The Chinese tokens: "words", "characters", "every character", or "none" in other languages.

    "every character" says that letters and digits are single tokens, too.
    """
    longest_han: int = 0
    """Characters of the longest Chinese word."""

    def to_json(self) -> dict[str, object]:
        """Return the conventions as a JSON object."""
        fields = vars(self).items()
        return {k: sorted(v) if isinstance(v, frozenset) else v for k, v in fields}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Conventions:
        """Return the conventions that `to_json` wrote, or an earlier version, which has more keys.

        Raises KeyError, TypeError or ValueError for anything else.
        """
        fields = {name: type(default)(data[name]) for name, default in vars(cls()).items()}
        for value in fields.values():
            # raises TypeError for anything but texts, of which a number has none
            "".join([*getattr(value, "values", tuple)(), *getattr(value, "__iter__", tuple)()])
        return cls(**fields)
