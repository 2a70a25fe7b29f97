"""Classes of unknown words: the Berkeley parser's rules, as in the original's scripts, and all strings as classes."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product

from oracle.errors import RnngError
from oracle.files import WHITE_SPACE

RULES = ("berkeley", "berkeley-unicode", "single")
"""Rules for ASCII's letters and digits on UTF-8 bytes (the original, Python 2), for Unicode's, and for one class."""

SUFFIXES = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")
"""Endings that make classes, the first that fits; -s has conditions of its own."""

_UNK = "UNK"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def known_words(sentences: Iterable[Sequence[str]], least: int = 2) -> set[str]:
    """Return the words that occur at least `least` times (twice in get_oracle.py of the original).

    >>> known_words([["the", "cat"], ["the", "dog"]])
    {'the'}
    """
    counts = Counter(word for sentence in sentences for word in sentence)
    return {word for word, count in counts.items() if count >= least}


def lower(word: str, rules: str) -> str:
    """Return the lower-cased word. Only ASCII's letters change, except with `berkeley-unicode`.

    >>> lower("ÉTÉ", "berkeley"), lower("ÉTÉ", "berkeley-unicode")
    ('ÉtÉ', 'été')
    """
    return word.lower() if rules == "berkeley-unicode" else word.translate(_LOWER)


def unknown_classes(rules: str | None) -> list[str]:
    """Return all classes that the rules can give; none without rules.

    Raises RnngError for other rules.

    >>> unknown_classes("single")
    ['UNK']
    >>> len(unknown_classes("berkeley")), len(unknown_classes("berkeley-unicode"))
    (81, 94)
    """
    if rules is None:
        return []
    if rules == "single":
        return ["UNK"]
    _require_rules(rules)
    classes = []
    cases = ("", "-INITC", "-INITC-KNOWNLC", "-CAPS", "-LC")
    for case, number, dash in product(cases, ("", "-NUM"), ("", "-DASH")):
        # with a dash, or a digit beside a capital, only s is possible; ASCII's case classes cover all
        # letters, while in Unicode a letter without case can begin a word
        with_suffix = case or rules == "berkeley-unicode"
        any_suffix = not dash and (not number or case == "-LC")
        suffixes = (*SUFFIXES, "s") if any_suffix else ("s",)
        stem = f"UNK{case}{number}{dash}"
        classes += [stem, *(f"{stem}-{suffix}" for suffix in suffixes if with_suffix)]
    return classes


def _require_rules(rules: str) -> None:
    if rules not in RULES:
        raise RnngError(f"no rules for unknown words are called {rules!r}: {', '.join(RULES)}")


CLASSES = frozenset(unknown_classes("berkeley-unicode"))
"""All classes that any rules can give."""


class UnknownWords:
    """Known words, and the rules that map all others to classes. Raises RnngError for other rules."""

    def __init__(self, rules: str, known: Collection[str]):
        _require_rules(rules)
        self.rules, self.known = rules, frozenset(known)

    def unkify(self, tokens: Iterable[str]) -> list[str]:
        """Return the words, with each unknown word replaced by its class."""
        return [word if word in self.known else self.word_class(word) for word in tokens]

    def word_class(self, word: str) -> str:
        """Return the class of a word, whether it is known or not.

        >>> UnknownWords("berkeley", {"apple"}).word_class("Apple")
        'UNK-INITC-KNOWNLC'
        >>> UnknownWords("berkeley", ()).word_class("re-issued")
        'UNK-LC-DASH'
        """
        if self.rules == "single" or not word:
            return _UNK
        lower_known = lower(word, self.rules) in self.known
        return _berkeley(_as_bytes(word) if self.rules == "berkeley" else word, lower_known)

    def kind_of(self, character: str) -> str:
        """Return a character that the rules treat alike everywhere except in a word's last three characters.

        >>> [UnknownWords("berkeley", ()).kind_of(character) for character in "Qq7-?é"]
        ['A', 'b', '1', '-', '%', '%']
        """
        if self.rules == "single" or (self.rules == "berkeley" and character > "\x7f"):
            return "%"
        if character.isupper():
            return "A"
        if character.islower():
            return "b" if character.isalpha() else "\u24d0"
        if character.isalpha():
            return "\u4e00"
        return "1" if character.isdigit() else "-" if character == "-" else "%"


def infer_unknown_words(
    sentences: Iterable[tuple[Sequence[str], Sequence[str]]], likely: str = RULES[0]
) -> UnknownWords:
    """Infer the known words and the class rules of a training oracle from its tokens and unkified tokens.

    The rules need not explain every class: `-KNOWNLC` depends on all trees that the oracle was made with, of which
    this may be a part. Of rules that explain equally many, `likely` is chosen. Raises RnngError, with an example, if no
    rules explain nine classes in ten.
    """
    known, classes = set(), {}
    for tokens, unkified_tokens in sentences:
        for word, unkified in zip(tokens, unkified_tokens, strict=True):
            if word == unkified:
                known.add(word)
            else:
                classes[word] = unkified
    candidates = [UnknownWords(rules, known) for rules in dict.fromkeys([likely, *RULES])]
    different = [
        [word for word, unkified in classes.items() if unknown.word_class(word) != unkified]
        for unknown in candidates
    ]
    best = min(range(len(candidates)), key=lambda i: len(different[i]))
    if len(different[best]) * 10 > len(classes):
        word = different[best][0]
        raise RnngError(
            f"the training oracle writes {word!r} as {classes[word]!r}, which no --unk rules of "
            "`rnng-dy oracle` give: make it with `rnng-dy oracle`"
        )
    return candidates[best]


def _as_bytes(word: str) -> str:
    """Return a text as long as the word in UTF-8, in which other bytes than ASCII are neither letters nor digits."""
    return _NOT_ASCII.sub(lambda m: "\0" * len(m[0].encode("utf-8", "surrogateescape")), word)


def _berkeley(word: str, lower_known: bool) -> str:
    digit = any(char.isdigit() for char in word)
    dash = "-" in word
    capitals = sum(char.isupper() for char in word)
    parts = [_UNK, _case_class(word, capitals, lower_known)]
    if digit:
        parts.append("-NUM")
    if dash:
        parts.append("-DASH")
    suffixed = word.lower()
    if suffixed.endswith("s") and len(suffixed) >= 3:
        if suffixed[-2] not in "siu":
            parts.append("-s")
    elif len(suffixed) >= 5 and not dash and not (digit and capitals):
        parts.append(next((f"-{end}" for end in SUFFIXES if suffixed.endswith(end)), ""))
    return "".join(parts)


def _case_class(word: str, capitals: int, lower_known: bool) -> str:
    if word[0].isupper():
        if capitals > 1:
            return "-CAPS"
        return "-INITC-KNOWNLC" if lower_known else "-INITC"
    if capitals and not word[0].isalpha():
        return "-CAPS"
    return "-LC" if any(char.islower() for char in word) else ""


_ENDS = ("", *(case(end) for end in ("s", *SUFFIXES) for case in (str.lower, str.upper)))
# characters that add any features to a word, others that make it long, and any of its ends
_CONTINUATIONS = tuple(
    map("".join, product(("", "A", "AA"), ("", "b"), ("", "1"), ("", "-"), ["%%%%%"], _ENDS))
)


@lru_cache
def characters_by_kind(rules: str) -> Counter[tuple[str, int]]:
    """Return how many characters of each kind (see `UnknownWords.kind_of`) and `block_of` a token may have.

    These are all of Unicode without white space, and the lone surrogates that stand for bytes that are not UTF-8.
    """
    unknown = UnknownWords(rules, ())
    codes = [*range(0xD800), *range(0xDC80, 0xDD00), *range(0xE000, sys.maxunicode + 1)]
    characters = (c for c in map(chr, codes) if c not in WHITE_SPACE)
    return Counter((unknown.kind_of(c), block_of(c)) for c in characters)


def block_of(character: str) -> int:
    """Return the number of the 256 characters among which Unicode has this one."""
    return ord(character) // 256


class OpenClasses:
    """A partition of all strings: each known word alone, and the classes of unknown words of a model.

    A class that the model does not have gives its strings to the nearest more general one: its name without the last
    part, then without the last two, and so on. If the model does not have plain UNK either, the strings go to its most
    general class. A string that is written like a class is spelled like any other. A class of words that are known in
    lower case has no strings if no known word gives it any.
    """

    def __init__(self, unknown: UnknownWords, vocabulary: Iterable[str]):
        """`vocabulary` has the words and classes that the model generates. Raises RnngError if it has no class."""
        vocabulary = dict.fromkeys(vocabulary)
        self.rules = unknown.rules
        self._unknown = unknown
        self.names = tuple(word for word in vocabulary if word in CLASSES)
        self.known = frozenset(vocabulary) - CLASSES
        if not self.names:
            raise RnngError(
                "the model has no class of unknown words, so it gives other words no probability"
            )
        self._most_general = min(self.names, key=lambda name: name.count("-"))
        self._by_spelling = UnknownWords(unknown.rules, ())
        self._reachable = cache(self._find_reachable)

    @cached_property
    def capitalised(self) -> dict[str, str]:
        """The class of each unknown word that is known in lower case. No other string has a class of those words."""
        found = {}
        for word in sorted(self._unknown.known):
            capitalised = word[:1].upper() + word[1:]
            name = self._unknown.word_class(capitalised)
            if "-KNOWNLC" in name and capitalised not in self.known:
                found[capitalised] = self._nearest(name)
        return found

    def class_of(self, word: str) -> str:
        """Return a known word unchanged, and the class of any other string that is not empty."""
        if word in self.known:
            return word
        return self.capitalised.get(word) or self._nearest(self._by_spelling.word_class(word))

    def kind_of(self, character: str) -> str:
        """See `UnknownWords.kind_of`."""
        return self._by_spelling.kind_of(character)

    def features(self, prefix: str) -> str:
        """Return a string that can reach the same classes as the prefix, of which there are few."""
        return self.extended("", map(self.kind_of, prefix))

    def extended(self, features: str, kinds: Iterable[str]) -> str:
        """Return the features of a prefix and more characters, which are given by their kinds."""
        for kind in kinds:
            first, later = features[:1], features[1:]
            # only the second capital after the first character can change a class
            if not first or later.count(kind) < 1 + kind.isupper():
                features = first + "".join(sorted(later + kind))
        return features

    def reachable(self, features: str) -> frozenset[str]:
        """Return the classes of the strings that begin with a prefix of these features; not empty.

        It leaves the `capitalised` words out. Infinitely many strings reach each class.
        """
        return self._reachable(features)

    def _find_reachable(self, features: str) -> frozenset[str]:
        classes = {self._by_spelling.word_class(features + more) for more in _CONTINUATIONS}
        return frozenset(map(self._nearest, classes))

    def _nearest(self, name: str) -> str:
        while name and name not in self.names:
            name = name.rpartition("-")[0]
        return name or self._most_general
