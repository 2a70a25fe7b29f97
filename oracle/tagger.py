"""NLTK's averaged perceptron tagger, with more features of how words are written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from nltk.tag.perceptron import PerceptronTagger

_SEEN = 3
"""The least occurrences of a word that can only have its tags in training."""
_FAR = 1e6
"""A weight that outweighs all that training gives."""


class Tagger(PerceptronTagger):
    """A tagger that also sees capitals, digits, hyphens, and more endings than the last three letters.

    A tagger that NLTK has trained has no weights for these features, and assigns the same tags with them.
    """

    def _get_features(
        self, i: int, word: str, context: Sequence[str], prev: str, prev2: str
    ) -> dict[str, int]:
        """Return NLTK's features of word `i`, and those of its spelling; all have the count 1."""
        features = super()._get_features(i, word, context, prev, prev2)
        # has weights since `keep_to`, and none while the tagger learns
        if (form := _form(word)) in self.model.weights:
            features[form] = 1
        spelling, lower, place = _spelling(word), word.lower(), i + len(self.START)
        for feature in (
            f"i spelling {spelling} first {i == 0}",
            f"i-1 tag+i spelling {prev} {spelling}",
            *(f"i suffix{n} {lower[-n:]}" for n in (1, 2, 4)),
            f"i prefix3 {lower[:3]}",
            f"i word+i+1 word {context[place]} {context[place + 1]}",
        ):
            features[feature] = 1
        return features

    def keep_to(self, sentences: Iterable[Sequence[tuple[str, str]]]) -> None:
        """Assign to words that are frequent in tagged sentences only the tags that they have there (Collins 2002)."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            for word, tag in sentence:
                counts[word][tag] += 1
        for word, of_word in counts.items():
            if of_word.total() >= _SEEN and word not in self.tagdict:
                self.model.weights[_form(word)] = dict.fromkeys(of_word, _FAR)


def _form(word: str) -> str:
    """Return the feature of a word as it is written; NLTK's has lower case."""
    return f"i form {word}"


def _spelling(word: str) -> str:
    """Return a class of spellings.

    >>> [_spelling(word) for word in ("cat", "Cat", "I", "DNA", "mRNA", "1990s", "IL-2")]
    ['', 'C', 'U', 'UU', 'm', 'd', 'dhUU']
    """
    digit = "d" if any(map(str.isdigit, word)) else ""
    hyphen = "h" if "-" in word[1:] else ""
    if word.isupper():
        case = "UU" if len(word) > 1 else "U"
    elif word[:1].isupper():
        case = "C"
    else:
        case = "m" if any(map(str.isupper, word)) else ""
    return digit + hyphen + case
