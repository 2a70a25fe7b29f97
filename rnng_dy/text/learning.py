"""The conventions of a treebank, learnt from the tokens of its training sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from rnng_dy.text.characters import HAN
from rnng_dy.text.conventions import ABBREVIATIONS, SPELLINGS, Conventions

_OWN_BRACKETS = {"[": "-LSB-", "]": "-RSB-"}
"""Written so by treebanks younger than the Penn Treebank."""

CLITICS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
_ABBREVIATION = re.compile(r"(?=.*[^\W\d]).*[^.]\.", re.DOTALL)
_SPELLED = re.compile(r"\\[/*]")
_HAN_WORD = re.compile(f"[{HAN}]+")
_MARKS = "-–/"
"""What some treebanks take out of compounds as a token of its own."""
_RARE = 0.01
"""The share from which a way to write something counts as the treebank's."""
_CAPITALISED = 0.05
"""The share of a word inside sentences that may be capitalised, as in titles."""


def learn(sentences: Collection[Sequence[str]]) -> Conventions:
    """The conventions that the tokens of training sentences show; where they show nothing, the Penn Treebank's."""
    words = Counter(word for sentence in sentences for word in sentence)
    marks = "".join(mark for mark in _MARKS if _is_token(mark, words))
    quotes, single_quotes, spellings = _quotes(words)
    abbreviations = _abbreviations(words)
    at_end = _at_end(sentences, abbreviations)
    counts = Counter(at_end.values())
    han, longest, mean = _han(words)
    return Conventions(
        spellings=spellings,
        quotes=quotes,
        single_quotes=single_quotes,
        clitics=_has_clitics(words),
        marks=marks,
        prefixes=_prefixes(sentences, words) if "-" in marks else frozenset(),
        abbreviations=abbreviations,
        numbered=_numbered(sentences),
        at_end=at_end,
        at_end_else=max(("split", "shared", "kept"), key=lambda way: counts[way]),
        starters=_starters(sentences),
        han=han,
        longest_han=longest,
        mean_han=mean,
    )


def _is_token(mark: str, words: Counter[str]) -> bool:
    """Is the mark between letters more often a token than part of a word?"""
    inside = re.compile(rf"[^\W\d_]\\?{re.escape(mark)}[^\W\d_]")
    return words[mark] > sum(n for word, n in words.items() if mark in word and inside.search(word))


def _han(words: Counter[str]) -> tuple[str, int, float]:
    """What words of Chinese characters are, the length of the longest and the mean, in a treebank of such words."""
    lengths: Counter[int] = Counter()
    for word, n in words.items():
        if _HAN_WORD.fullmatch(word):
            lengths[len(word)] += n
    if 2 * lengths.total() <= words.total():
        return "none", 0, 0.0
    mean = sum(length * n for length, n in lengths.items()) / lengths.total()
    return "characters" if mean < 1 + _RARE else "words", max(lengths), mean


def _quotes(words: Counter[str]) -> tuple[tuple[str, str], tuple[str, str], dict[str, str]]:
    """Double quotes, single quotes and spellings."""
    characters: Counter[str] = Counter()
    for word, n in words.items():
        for character in set(_SPELLED.sub("", word)):
            characters[character] += n

    def has(way: str, other: str) -> bool:
        return characters[way] > _RARE * max(
            words[other], characters[other] if len(other) == 1 else 0
        )

    spellings = {c: way for c, way in SPELLINGS.items() if c in "()" or not has(c, way)}
    spellings |= {c: way for c, way in _OWN_BRACKETS.items() if words[way] and not has(c, way)}
    if any("’" in word for word in words) and not characters["'"]:
        spellings["'"] = "’"
    double, single = ("``", "''"), ("`", "'")
    if has('"', "``"):
        double = ('"', '"')
    elif not words["``"] and words["“"]:
        double = ("“", "”")
    if not words["`"] and characters["'"]:
        single = ("'", "'")
        spellings |= {"‘": "'"} if "‘" in spellings else {}
    if double[0] == '"':
        spellings |= {c: '"' for c in "“”" if c in spellings}
    return double, single, spellings


def _has_clitics(words: Counter[str]) -> bool:
    plain = Counter({w.replace("’", "'").lower(): 0 for w in words})
    for word, n in words.items():
        plain[word.replace("’", "'").lower()] += n
    own = sum(plain[clitic] for clitic in CLITICS)
    return own >= sum(n for w, n in plain.items() if w not in CLITICS and w.endswith(CLITICS))


def _abbreviations(words: Counter[str]) -> frozenset[str]:
    """Words that more often end in a period than not, and the usual ones that training has not without it."""
    lower: Counter[str] = Counter()
    for word, n in words.items():
        lower[word.lower()] += n
    found = (word[:-1] for word in lower if _ABBREVIATION.fullmatch(word) and len(word) < 20)
    learnt = {stem for stem in found if lower[stem + "."] > lower[stem]}
    return frozenset(learnt | {stem for stem in ABBREVIATIONS if not lower[stem]})


def _numbered(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Words whose period stays before a number: No. 1."""
    pairs = (pair for sentence in sentences for pair in pairwise(sentence))
    return frozenset(
        word[:-1] for word, number in pairs if _ABBREVIATION.fullmatch(word) and number[0].isdigit()
    )


def _at_end(sentences: Iterable[Sequence[str]], abbreviations: frozenset[str]) -> dict[str, str]:
    """What mostly becomes of an abbreviation's period at the end of sentences."""
    ways: dict[str, Counter[str]] = {}

    def saw(stem: str, way: str) -> None:
        ways.setdefault(stem, Counter())[way] += 1

    for sentence in sentences:
        for word, following in _ends(sentence):
            lower = word.lower()
            if following == "." and lower in abbreviations:
                saw(lower, "split")
            elif lower.endswith(".") and lower[:-1] in abbreviations and following in (".", None):
                saw(lower[:-1], "kept" if following is None else "shared")
    return {stem: counts.most_common(1)[0][0] for stem, counts in sorted(ways.items())}


def _ends(sentence: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The last word, with the period after it if there is one; quotes and brackets do not count."""
    core = [word for word in sentence if word not in ("''", '"', "”", "'", "’", "-RRB-", "]")]
    if len(core) > 1 and core[-1] == ".":
        yield core[-2], "."
    elif core:
        yield core[-1], None


def _prefixes(sentences: Iterable[Sequence[str]], words: Counter[str]) -> frozenset[str]:
    """What stands before a hyphen inside words more often than before one that is a token."""
    balance: Counter[str] = Counter()
    for word, n in words.items():
        prefix, hyphen, rest = word.partition("-")
        if prefix.isalpha() and hyphen and rest[:1].isalpha():
            balance[prefix.lower()] += n
    for sentence in sentences:
        for prefix, hyphen in pairwise(sentence):
            if hyphen == "-":
                balance[prefix.lower()] -= 1
    return frozenset(prefix for prefix, n in balance.items() if n > 0)


def _starters(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    lower, inside = Counter(), Counter()
    for sentence in sentences:
        for i, word in enumerate(sentence):
            if word[0].islower():
                lower[word] += 1
            elif i and word[0].isupper() and sentence[i - 1][-1].isalnum():
                inside[word.lower()] += 1
    return frozenset(w for w, n in lower.items() if w.isalpha() and inside[w] <= _CAPITALISED * n)
