"""NLTK's averaged perceptron tagger, with more features of how words are written."""

from __future__ import annotations

from collections.abc import Sequence

from nltk.tag.perceptron import PerceptronTagger


class Tagger(PerceptronTagger):
    """A tagger that also sees capitals, digits, hyphens, and more endings than the last three letters.

    A tagger that NLTK has trained has no weights for these features, and assigns the same tags with them.
    """

    def _get_features(
        self, i: int, word: str, context: Sequence[str], prev: str, prev2: str
    ) -> dict[str, int]:
        """Return NLTK's features of word `i`, and those of its spelling; all have the count 1."""
        features = super()._get_features(i, word, context, prev, prev2)
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
