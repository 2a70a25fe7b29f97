"""All strings as words, for an open vocabulary: known words, and classes of others."""

import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from itertools import product

from oracle.common.errors import RnngError
from oracle.common.files import WHITE_SPACE
from oracle.unknown import CLASSES, SUFFIXES, UnknownWords, nearest_class

_ENDS = ("", *(case(end) for end in ("s", *SUFFIXES) for case in (str.lower, str.upper)))
# characters that add any features to a word, others that make it long, and any of its ends
_CONTINUATIONS = tuple(
    map("".join, product(("", "A", "AA"), ("", "b"), ("", "1"), ("", "-"), ["%%%%%"], _ENDS))
)


@lru_cache
def characters_by_kind(rules: str) -> Counter[tuple[str, int]]:
    """Return how many characters of each `UnknownWords.kind_of` and `block_of` there are.

    These are all of Unicode without white space, and the lone surrogates that stand for bytes that
    are not UTF-8.
    """
    unknown = UnknownWords(rules, ())
    codes = [*range(0xD800), *range(0xDC80, 0xDD00), *range(0xE000, sys.maxunicode + 1)]
    characters = (c for c in map(chr, codes) if c not in WHITE_SPACE)
    return Counter((unknown.kind_of(c), block_of(c)) for c in characters)


def block_of(character: str) -> int:
    """Return the number of the 256 characters among which Unicode has this one."""
    return ord(character) // 256


class OpenClasses:
    """A partition of all strings: each known word alone, and the classes of a model.

    A class that the model does not have gives its strings to the nearest more general one: its name
    without the last part, then without the last two, and so on. If the model does not have plain
    UNK either, the strings go to its most general class. A string that is written like a class is
    spelled like any other. A class of words that are known in lower case has no strings if no known
    word gives it any.
    """

    def __init__(self, unknown: UnknownWords, vocabulary: Iterable[str]):
        """`vocabulary` has the words and classes that the model generates.

        Raises RnngError if it has no class.
        """
        vocabulary = dict.fromkeys(vocabulary)
        self.rules = unknown.rules
        self._unknown = unknown
        self.names = tuple(word for word in vocabulary if word in CLASSES)
        self.known = unknown.known.intersection(vocabulary) - CLASSES
        if not self.names:
            message = "the model has no class of unknown words, so other words have no probability"
            raise RnngError(message)
        self._most_general = min(self.names, key=lambda name: name.count("-"))
        self._by_spelling = UnknownWords(unknown.rules, ())
        self.kind_of = self._by_spelling.kind_of
        """Function from a character to one that the rules treat alike."""
        self.reachable = cache(self._reachable)
        """Function from features of a prefix to the classes of strings that begin with it.

        It leaves the `capitalised` words out. Infinitely many strings reach each class.
        """

    @cached_property
    def capitalised(self) -> dict[str, str]:
        """The class of each unknown word that is known in lower case.

        No other string has a class of those words.
        """
        classes = {}
        for word in sorted(self._unknown.known):
            capitalised = word[:1].upper() + word[1:]
            name = self._unknown.word_class(capitalised)
            if "-KNOWNLC" in name and capitalised not in self.known:
                classes[capitalised] = self._nearest(name)
        return classes

    def class_of(self, word: str) -> str:
        """Return a known word unchanged, and the class of any other string that is not empty."""
        if word in self.known:
            return word
        return self.capitalised.get(word) or self._nearest(self._by_spelling.word_class(word))

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

    def _reachable(self, features: str) -> frozenset[str]:
        classes = {self._by_spelling.word_class(features + more) for more in _CONTINUATIONS}
        return frozenset(map(self._nearest, classes))

    def _nearest(self, name: str) -> str:
        return nearest_class(name, self.names) or self._most_general
