"""Known words, and the classes of all others by the Berkeley parser's rules.

Which words a model knows is decided here alone: `UnknownWords.known` are those that its training
has seen often enough.
"""

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Sequence
from itertools import chain, product

from oracle.common.errors import RnngError

RULES = ("berkeley", "berkeley-unicode", "single")
"""Rules for ASCII on UTF-8 bytes (the original), for Unicode, and for one class."""

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
    if rules not in RULES:
        raise RnngError(f"no rules for unknown words are called {rules!r}: {', '.join(RULES)}")
    classes = []
    cases = ("", "-INITC", "-INITC-KNOWNLC", "-CAPS", "-LC")
    for case, number, dash in product(cases, ("", "-NUM"), ("", "-DASH")):
        # with a dash, or a digit beside a capital, only s is possible; ASCII's case classes cover
        # all letters, while in Unicode a letter without case can begin a word
        with_suffix = case or rules == "berkeley-unicode"
        any_suffix = not dash and (not number or case == "-LC")
        suffixes = (*SUFFIXES, "s") if any_suffix else ("s",)
        stem = f"UNK{case}{number}{dash}"
        classes += [stem, *(f"{stem}-{suffix}" for suffix in suffixes if with_suffix)]
    return classes


CLASSES = frozenset(unknown_classes("berkeley-unicode"))
"""All classes that any rules can give."""


def nearest_class(name: str, classes: Container[str]) -> str:
    """Return the class itself, or the nearest more general one of `classes`; "" if there is none.

    >>> nearest_class("UNK-LC-DASH-s", {"UNK", "UNK-LC"})
    'UNK-LC'
    """
    while name and name not in classes:
        name = name.rpartition("-")[0]
    return name


def _plain(name: str) -> str:
    return name.replace("-KNOWNLC", "")


class UnknownWords:
    """Known words, and the rules that map all others to classes.

    Raises RnngError for other rules.
    """

    def __init__(self, rules: str, known: Collection[str]):
        # raises for other rules
        unknown_classes(rules)
        self.rules, self.known = rules, frozenset(known)

    def unkify(self, tokens: Iterable[str], keep_classes: bool = False) -> list[str]:
        """Return the words, with each unknown word replaced by its class.

        A name of a class is a word like any other, unless `keep_classes` says that it may stand for
        an unknown word.
        """
        kept = CLASSES if keep_classes and self.rules != "single" else ()
        return [w if w in self.known or w in kept else self.word_class(w) for w in tokens]

    def read(self, tokens: Sequence[str], unkified: Sequence[str]) -> list[str]:
        """Return the words of an oracle as a model with these known words reads them.

        An unknown word has the class of these rules. The oracle decides whether it is KNOWNLC.

        >>> unknown = UnknownWords("berkeley", {"cat"})
        >>> unknown.read(["cat", "dogs", "Ants"], ["UNK-LC", "UNK", "UNK-INITC-KNOWNLC-s"])
        ['cat', 'UNK-LC-s', 'UNK-INITC-KNOWNLC-s']
        """
        return [
            theirs if word not in self.known and _plain(theirs) == _plain(ours) else ours
            for word, theirs, ours in zip(tokens, unkified, self.unkify(tokens), strict=True)
        ]

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
        """Return a character that the rules treat alike, but for a word's last three ones.

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
    sentences: Iterable[tuple[Sequence[str], Sequence[str]]], likely: str | None = None
) -> UnknownWords:
    """Infer known words and class rules of an oracle from its tokens and unkified tokens.

    The rules need not explain every class: `-KNOWNLC` depends on all trees that the oracle was made
    with, of which this may be a part. Of rules that explain equally many, `likely` is chosen; None
    are the rules with one class if the oracle has no other class, else the original's.
    Raises RnngError, with an example, if no rules explain nine classes in ten, or if a word is both
    known and unknown, or of two classes.
    """
    read_as = dict.fromkeys(chain.from_iterable(zip(*s, strict=True) for s in sentences))
    known = known_in(read_as)
    classes = {word: unkified for word, unkified in read_as if word != unkified}
    firsts: dict[str, str] = {}
    for word, unkified in read_as:
        if _plain(first := firsts.setdefault(word, unkified)) != _plain(unkified):
            what = f"the training oracle has {word!r} both as {first!r} and as {unkified!r}"
            raise RnngError(f"{what}: make its parts with the same --train, --min-count and --unk")
    likely = likely or ("single" if {*classes.values()} == {_UNK} else RULES[0])
    candidates = [UnknownWords(rules, known) for rules in dict.fromkeys([likely, *RULES])]
    different = [
        [word for word, unkified in classes.items() if unknown.word_class(word) != unkified]
        for unknown in candidates
    ]
    best = min(range(len(candidates)), key=lambda i: len(different[i]))
    if len(different[best]) * 10 > len(classes):
        word = different[best][0]
        what = f"the training oracle writes {word!r} as {classes[word]!r}"
        how = "which no --unk rules of `rnng-dy oracle` give: make it with `rnng-dy oracle`"
        raise RnngError(f"{what}, {how}")
    return candidates[best]


def known_in(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """Return the words that an oracle knows, given pairs of a token and an unkified token."""
    return {word for word, unkified in pairs if word == unkified}


def _as_bytes(word: str) -> str:
    """Return a text as long as the word in UTF-8, with zeros in place of other bytes than ASCII."""
    return _NOT_ASCII.sub(lambda m: "\0" * len(m[0].encode("utf-8", "surrogateescape")), word)


def _berkeley(word: str, lower_known: bool) -> str:
    digit = any(char.isdigit() for char in word)
    dash = "-" in word
    capitals = sum(char.isupper() for char in word)
    endings = [_UNK, _case_class(word, capitals, lower_known), "-NUM" * digit, "-DASH" * dash]
    suffixed = word.lower()
    if suffixed.endswith("s") and len(suffixed) >= 3:
        if suffixed[-2] not in "siu":
            endings.append("-s")
    elif len(suffixed) >= 5 and not dash and not (digit and capitals):
        endings.append(next((f"-{end}" for end in SUFFIXES if suffixed.endswith(end)), ""))
    return "".join(endings)


def _case_class(word: str, capitals: int, lower_known: bool) -> str:
    if word[0].isupper():
        if capitals > 1:
            return "-CAPS"
        return "-INITC-KNOWNLC" if lower_known else "-INITC"
    if capitals and not word[0].isalpha():
        return "-CAPS"
    return "-LC" if any(char.islower() for char in word) else ""
