"""Learning a treebank's conventions from the tokens of its training sentences."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from oracle.brackets import unspelled
from rnng_dy.text.characters import HAN
from rnng_dy.text.conventions import (
    ABBREVIATIONS,
    ITEM,
    LONGEST_ABBREVIATION,
    SPELLINGS,
    Conventions,
)

_OWN_BRACKETS = {"[": "-LSB-", "]": "-RSB-"}
"""Brackets as written by treebanks younger than the Penn Treebank."""

CLITICS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
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
"""The same share for curly quotes beside straight ones: a model hardly learns to read what is seldom."""
_ALONE = 0.1
"""The least number of a prefix's words, as a share of its uses as a word of its own."""
_CAPITALISED = 0.05
"""The largest share of a lower-case word's uses that may be capitalised inside sentences, as in titles."""


def learn(sentences: Collection[Sequence[str]]) -> Conventions:
    """Learn conventions from the tokens of training sentences, with the Penn Treebank's as defaults."""
    words = Counter(word for sentence in sentences for word in sentence)
    marks = "".join(mark for mark in _MARKS if _is_token(mark, words))
    quotes, single_quotes, spellings = _quotes(words)
    abbreviations = _abbreviations(sentences, words)
    at_end = _at_end(sentences, abbreviations)
    # the period after a word that also stands alone, as ms, is hardly ever that of an abbreviation
    counts = Counter(way for stem, way in at_end.items() if not words[stem])
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
        items=_has_items(sentences),
        starters=_starters(sentences),
        han=han,
        longest_han=longest,
        mean_han=mean,
    )


def _is_token(mark: str, words: Counter[str]) -> bool:
    """Return whether the mark between letters is more often a token than part of a word."""
    inside = re.compile(rf"[^\W\d_]\\?{re.escape(mark)}[^\W\d_]")
    return words[mark] > sum(n for word, n in words.items() if mark in word and inside.search(word))


def _han(words: Counter[str]) -> tuple[str, int, float]:
    """Return the kind of Chinese tokens, and the longest and the mean length of Chinese words."""
    lengths: Counter[int] = Counter()
    for word, n in words.items():
        if _HAN_WORD.fullmatch(word):
            lengths[len(word)] += n
    if 2 * lengths.total() <= words.total():
        return "none", 0, 0.0
    mean = sum(length * n for length, n in lengths.items()) / lengths.total()
    if mean >= 1 + _RARE:
        return "words", max(lengths), mean
    some_are_longer = any(len(word) > 1 for word in words)
    return "characters" if some_are_longer else "every character", max(lengths), mean


def _quotes(words: Counter[str]) -> tuple[tuple[str, str], tuple[str, str], dict[str, str]]:
    """Return double quotes, single quotes and spellings.

    Characters that occur in training stay as they are in a text, but curly quotes only if they are not seldom. Any
    other character gets the form that training uses instead.
    """
    characters: Counter[str] = Counter()
    for word, n in words.items():
        for character in set(_SPELLED.sub("", word)):
            characters[character] += n

    def has(way: str, other: str) -> bool:
        rival = max(words[other], characters[other] if len(other) == 1 else 0)
        return characters[way] > (_SELDOM if way in _CURLY else _RARE) * rival

    spellings = {c: way for c, way in SPELLINGS.items() if c in "()" or not has(c, way)}
    spellings |= {c: way for c, way in _OWN_BRACKETS.items() if words[way] and not has(c, way)}
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


def _has_clitics(words: Counter[str]) -> bool:
    """Return whether clitics are more often tokens than ends of words."""
    plain: Counter[str] = Counter()
    for word, n in words.items():
        plain[word.replace("’", "'").lower()] += n
    own = sum(plain[clitic] for clitic in CLITICS)
    return own >= sum(n for w, n in plain.items() if w not in CLITICS and w.endswith(CLITICS))


def _abbreviations(sentences: Iterable[Sequence[str]], words: Counter[str]) -> frozenset[str]:
    """Return the words that more often end in a period than not, and usual ones, unless training splits their periods.

    A period is split if it is a token inside a sentence. Dec is no evidence against Dec., and neither is MR against Mr.
    """
    lower = _lower(words)
    short = (word for word in lower if len(word) <= LONGEST_ABBREVIATION)
    stems = (word[:-1] for word in short if _ABBREVIATION.fullmatch(word))
    learnt = {stem for stem in stems if lower[stem + "."] > lower[stem]}
    split: Counter[str] = Counter()
    for sentence in sentences:
        inside = (word for word, mark in pairwise(sentence[:-1]) if mark == ".")
        split.update(map(str.lower, inside))
    usual = {stem for stem in ABBREVIATIONS if split[stem] <= lower[stem + "."]}
    return frozenset(learnt | usual)


def _lower(words: Counter[str]) -> Counter[str]:
    """Return the counts of the lower-cased words."""
    lower: Counter[str] = Counter()
    for word, n in words.items():
        lower[word.lower()] += n
    return lower


def _numbered(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the words whose period stays before a number: No. 1."""
    pairs = (pair for sentence in sentences for pair in pairwise(sentence))
    return frozenset(
        word[:-1] for word, number in pairs if _ABBREVIATION.fullmatch(word) and number[0].isdigit()
    )


def _at_end(sentences: Iterable[Sequence[str]], abbreviations: frozenset[str]) -> dict[str, str]:
    """Return the most frequent treatment of each abbreviation's period at the end of sentences."""
    ways: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        word, is_followed = _end(sentence)
        if is_followed and word in abbreviations:
            ways[word]["split"] += 1
        elif word.endswith(".") and word[:-1] in abbreviations:
            ways[word[:-1]]["shared" if is_followed else "kept"] += 1
    return {stem: counts.most_common(1)[0][0] for stem, counts in sorted(ways.items())}


def _end(sentence: Sequence[str]) -> tuple[str, bool]:
    """Return the last word, lower-cased, and whether a period follows it; quotes and brackets are skipped."""
    core = [word.lower() for word in sentence if word not in _AFTER_THE_END]
    if len(core) > 1 and core[-1] == ".":
        return core[-2], True
    return (core[-1] if core else ""), False


def _prefixes(sentences: Iterable[Sequence[str]], words: Counter[str]) -> frozenset[str]:
    """Return the prefixes whose hyphen is more often part of a word than a token.

    A word that mostly stands alone is no prefix, even if training has ten-year-old as one token.
    """
    alone = _lower(words)
    balance: Counter[str] = Counter()
    for word, n in words.items():
        prefix, hyphen, rest = word.partition("-")
        if prefix.isalpha() and hyphen and rest[:1].isalpha():
            balance[prefix.lower()] += n
    for sentence in sentences:
        for prefix, hyphen in pairwise(sentence):
            if hyphen == "-":
                balance[prefix.lower()] -= 1
    return frozenset(
        prefix for prefix, n in balance.items() if n > 0 and n > _ALONE * alone[prefix]
    )


def _has_items(sentences: Iterable[Sequence[str]]) -> bool:
    """Return whether the number of a list item at the start of a sentence is more often one token than several."""
    balance = 0
    for sentence in sentences:
        first = [unspelled(word) for word in sentence[:3]]
        if len(sentence) > 1 and ITEM.fullmatch(first[0]):
            balance += 1
        elif any(ITEM.fullmatch("".join(first[:n])) for n in (2, 3) if n < len(sentence)):
            balance -= 1
    return balance > 0


def _starters(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the lower-case words that are hardly ever capitalised inside sentences."""
    lower, inside = Counter(), Counter()
    for sentence in sentences:
        for i, word in enumerate(sentence):
            if word[0].islower():
                lower[word] += 1
            elif i and word[0].isupper() and sentence[i - 1][-1].isalnum():
                inside[word.lower()] += 1
    return frozenset(w for w, n in lower.items() if w.isalpha() and inside[w] <= _CAPITALISED * n)
