"""A treebank's conventions for writing words, learnt from its sentences; classes of characters."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from unicodedata import combining, is_normalized

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

_SQUARE_BRACKETS = {"[": "-LSB-", "]": "-RSB-"}
"""Brackets as written by treebanks younger than the Penn Treebank."""
LETTER = rf"[^\W{HAN}]"
_ABBREVIATION = re.compile(r"(?=.*[^\W\d]).*[^.]\.", re.DOTALL)
_SPELLED = re.compile(r"\\[/*]")
_HAN_WORD = re.compile(f"[{HAN}]+")
_AFTER_THE_END = frozenset(["''", '"', "”", "'", "’", "-RRB-", "]"])
_MARKS = "-–/"
"""Marks that some treebanks make tokens of their own inside compounds."""
_RARE = 0.01
"""The share from which a way of writing something counts as the treebank's."""
_CURLY = "“”‘’"
_SELDOM = 0.1
"""The same share for curly quotes, since a model hardly learns to read what is seldom."""
_ALONE = 0.1
"""The least number of a prefix's words, as a share of its uses as a word of its own."""
_CAPITALISED = 0.05
"""The largest share of a word's uses that may be capitalised in sentences, as in titles."""


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

    @classmethod
    def of_training(cls, sentences: Collection[Sequence[str]]) -> Conventions:
        """Return the conventions of training sentences; the defaults are the Penn Treebank's."""
        words = Counter(word for sentence in sentences for word in sentence)
        lower = _counts((word.lower(), n) for word, n in words.items())
        marks = "".join(mark for mark in _MARKS if _is_token(mark, words))
        quotes, single_quotes, spellings = _quotes(words)
        abbreviations = _abbreviations(sentences, lower)
        at_end = _at_end(sentences, abbreviations)
        # the period after a word that also stands alone, as ms, is hardly ever of an abbreviation
        counts = Counter(way for stem, way in at_end.items() if not words[stem])
        han, longest_han = _han(words)
        return cls(
            spellings=spellings,
            quotes=quotes,
            single_quotes=single_quotes,
            marks=marks,
            prefixes=_prefixes(sentences, words, lower) if "-" in marks else frozenset(),
            abbreviations=abbreviations,
            at_end=at_end,
            at_end_else=max(("split", "shared", "kept"), key=lambda way: counts[way]),
            starters=_starters(sentences),
            han=han,
            longest_han=longest_han,
        )

    def to_json(self) -> dict[str, object]:
        """Return the conventions as a JSON object."""
        return {k: sorted(v) if isinstance(v, frozenset) else v for k, v in vars(self).items()}

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


def _counts(pairs: Iterable[tuple]) -> Counter:
    counts: Counter = Counter()
    for key, n in pairs:
        counts[key] += n
    return counts


def _is_token(mark: str, words: Counter[str]) -> bool:
    """Return whether the mark between letters is more often a token than part of a word."""
    inside = re.compile(rf"[^\W\d_]\\?{re.escape(mark)}[^\W\d_]")
    return words[mark] > sum(n for word, n in words.items() if mark in word and inside.search(word))


def _han(words: Counter[str]) -> tuple[str, int]:
    """Return the kind of Chinese tokens, and the characters of the longest Chinese word."""
    lengths = _counts((len(word), n) for word, n in words.items() if _HAN_WORD.fullmatch(word))
    if 2 * lengths.total() <= words.total():
        return "none", 0
    if sum(length * n for length, n in lengths.items()) >= (1 + _RARE) * lengths.total():
        return "words", max(lengths)
    return "characters" if max(map(len, words)) > 1 else "every character", max(lengths)


def _quotes(words: Counter[str]) -> tuple[tuple[str, str], tuple[str, str], dict[str, str]]:
    """Return double quotes, single quotes and spellings.

    Characters that occur in training stay as they are in a text, but curly quotes only if they are
    not seldom. Any other character gets the form that training uses instead. Marks of letters that
    training writes in two characters are spellings, too.
    """
    characters = _counts((c, n) for word, n in words.items() for c in set(_SPELLED.sub("", word)))

    def has(way: str, other: str) -> bool:
        rival = max(words[other], characters[other] if len(other) == 1 else 0)
        return characters[way] > (_SELDOM if way in _CURLY else _RARE) * rival

    spellings = {c: way for c, way in SPELLINGS.items() if c in "()" or not has(c, way)}
    spellings |= {c: c for w in words if not is_normalized("NFC", w) for c in w if combining(c)}
    spellings |= {c: way for c, way in _SQUARE_BRACKETS.items() if words[way] and not has(c, way)}
    double, single = ("``", "''"), ("`", "'")
    if has('"', "``"):
        double = ('"', '"')
        spellings |= {c: '"' for c in "“”" if c in spellings}
    elif words["“"] and not words["``"]:
        double = ("“", "”")
    if characters["’"] and not characters["'"]:
        spellings["'"] = "’"
    elif characters["'"] and not words["`"]:
        single = ("'", "'")
        spellings |= {c: "'" for c in "‘" if c in spellings}
    return double, single, spellings


def _abbreviations(sentences: Iterable[Sequence[str]], lower: Counter[str]) -> frozenset[str]:
    """Return the words that mostly end in a period, and usual ones that training does not split.

    A period is split if it is a token inside a sentence. Dec is no evidence against Dec., and
    neither is MR against Mr.
    """
    short = (word for word in lower if len(word) <= LONGEST_ABBREVIATION)
    stems = (word[:-1] for word in short if _ABBREVIATION.fullmatch(word))
    learnt = {stem for stem in stems if lower[stem + "."] > lower[stem]}
    pairs = (pair for sentence in sentences for pair in pairwise(sentence[:-1]))
    split = Counter(word.lower() for word, mark in pairs if mark == ".")
    return frozenset(learnt | {stem for stem in ABBREVIATIONS if split[stem] <= lower[stem + "."]})


def _at_end(sentences: Iterable[Sequence[str]], abbreviations: frozenset[str]) -> dict[str, str]:
    """Return the most frequent treatment of each abbreviation's period at the end of sentences."""
    ways: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        core = ["", "", *(word.lower() for word in sentence if word not in _AFTER_THE_END)]
        is_followed = core[-1] == "." and core[-2] != ""
        word = core[-2] if is_followed else core[-1]
        if is_followed and word in abbreviations:
            ways[word]["split"] += 1
        elif word.endswith(".") and word[:-1] in abbreviations:
            ways[word[:-1]]["shared" if is_followed else "kept"] += 1
    return {stem: counts.most_common(1)[0][0] for stem, counts in sorted(ways.items())}


def _prefixes(
    sentences: Iterable[Sequence[str]], words: Counter[str], lower: Counter[str]
) -> frozenset[str]:
    """Return the prefixes whose hyphen is more often part of a word than a token.

    A word that mostly stands alone is no prefix, even if training has ten-year-old as one token.
    """
    balance = _counts(
        (prefix.lower(), n)
        for prefix, hyphen, rest, n in ((*word.partition("-"), n) for word, n in words.items())
        if prefix.isalpha() and hyphen and rest[:1].isalpha()
    )
    pairs = (pair for sentence in sentences for pair in pairwise(sentence))
    balance.subtract(prefix.lower() for prefix, hyphen in pairs if hyphen == "-")
    return frozenset(p for p, n in balance.items() if n > 0 and n > _ALONE * lower[p])


def _starters(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the lower-case words that are hardly ever capitalised inside sentences."""
    lower = Counter(word for s in sentences for word in s if word[0].islower())
    inside = Counter(
        word.lower()
        for s in sentences
        for before, word in pairwise(s)
        if word[0].isupper() and before[-1].isalnum()
    )
    return frozenset(w for w, n in lower.items() if w.isalpha() and inside[w] <= _CAPITALISED * n)
