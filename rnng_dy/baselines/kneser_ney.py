"""Interpolated modified Kneser-Ney n-grams (Chen and Goodman 1999)."""

from __future__ import annotations

import logging
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from oracle.blocks import OracleSentence
from oracle.common.errors import RnngError
from oracle.common.files import reading
from oracle.common.tables import TABLES
from oracle.sentences import SourceSentence, read_sentences
from oracle.unknown import CLASSES, RULES, UnknownWords, infer_unknown_words, known_words
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.scorer import Sentences, Unkified, WordScorer
from rnng_dy.text.no_sentences import running_text
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.spelling import SpellingModel

_log = logging.getLogger(__name__)
START, END = "<s> ", "</s> "
"""Symbols before and after a sentence. They contain blanks, so that no token can equal them."""
ORDER = 5
"""The n of n-grams, if the user gives none."""
MAX_COUNT = 3
"""Counts of three and more share a discount."""


class KneserNey(WordScorer):
    """An n-gram model p(word | the n - 1 words before it) of sentences between START and END.

    The highest order counts occurrences; lower orders count the different words that precede. All
    orders are interpolated, down to the uniform distribution over the vocabulary and END.

    A word is a number. So is an n-gram of each order, 0 for the one of STARTs alone; the n-gram of
    order 0 is 0.
    """

    name = "kneser-ney"

    def __init__(
        self,
        sentences: Iterable[OracleSentence | SourceSentence],
        vocabulary: Iterable[str] = (),
        order: int = ORDER,
    ):
        """Count the n-grams of generative training sentences, with the model's words and classes.

        `vocabulary` adds classes of unknown words that the sentences lack; its other words stay
        unknown.
        """
        self.order = order
        self._tokens: list[tuple[str, ...]] = []
        self._numbers = {START: 0, END: 1}
        text = array("i")

        def read() -> Iterator[tuple[Sequence[str], Sequence[str]]]:
            for sentence in sentences:
                self._tokens.append(sentence.tokens)
                words = [START, *sentence.unkified, END]
                text.extend(self._numbers.setdefault(word, len(self._numbers)) for word in words)
                yield sentence.tokens, sentence.unkified

        self._unknown = infer_unknown_words(read())
        for word in vocabulary:
            if word in CLASSES:
                self._numbers.setdefault(word, len(self._numbers))
        self.vocabulary = self._numbers.keys() - {START}
        # more than all numbers of words, and than that of a word that is not in the vocabulary
        self._base = len(self._numbers) + 1
        self._orders = self._count(np.array(text))

    @classmethod
    def open(
        cls, path: str | None, order: int = ORDER, vocabulary: Iterable[str] = ()
    ) -> KneserNey:
        """Make an n-gram model from a generative oracle, or from trees or tokenised text.

        Words that occur once in trees or a text are unknown, as in an oracle that `rnng-dy oracle`
        makes of them.

        Args:
            path: The training sentences.
            order: The n of n-grams.
            vocabulary: Words, of which the classes of unknown words join the model's, with count 0.

        Raises:
            RnngError: There is no file, or it is invalid.
        """
        if path is None:
            raise RnngError("n-grams need training sentences: --scorer kneser-ney=TRAIN.oracle")
        with reading(path):
            return cls(_training_sentences(path), vocabulary, order)

    @property
    def unknown(self) -> UnknownWords:
        """The words that the training oracle knows, and the classes of all others."""
        return self._unknown

    @cached_property
    def segmenter(self) -> Segmenter:
        """The segmenter that turns running text into tokens as in the training oracle."""
        return Segmenter.of_training(self._tokens)

    @cached_property
    def spelling(self) -> SpellingModel | None:
        """The probabilities of strings; None if the training oracle has no unknown word."""
        if not CLASSES & self.vocabulary:
            return None
        words = Counter(token for tokens in self._tokens for token in tokens)
        return SpellingModel(self.unknown, sorted(self.vocabulary - {END}), words)

    def _count(self, text: np.ndarray) -> list[_Order]:
        """Return the n-grams of each order, shortest first.

        START begins each sentence of the text.
        """
        keys, occurring = [], []
        # the n-gram of the order below that ends at each word
        ending = np.zeros(len(text), np.int64)
        for _ in range(self.order):
            numbers = np.where(text == 0, 0, np.roll(ending, 1) * self._base + text)
            ngrams, first, longer = np.unique(numbers, return_index=True, return_inverse=True)
            keys.append(ngrams)
            # each n-gram but that of STARTs is an occurrence of the shorter one that it ends with
            occurring.append(ending[first[1:]])
            ending = longer
        occurring = [*occurring[1:], ending[text != 0]]
        orders = zip(keys, occurring, [1, *map(len, keys)], strict=False)
        return [_discounted(*order, self._base) for order in orders]

    def probability(self, word: str, context: Sequence[str]) -> float:
        """Return p(word | context) for a word of the vocabulary.

        Only the last n - 1 words of the context count.
        """
        histories = [0]
        for before in context[-(self.order - 1) :] if self.order > 1 else ():
            histories = self._extended(histories, before)
        return self._probability(histories, self._extended(histories, word))

    def _extended(self, histories: Sequence[int], word: str) -> list[int]:
        """Return the empty n-gram, and those of a word after histories, shortest first.

        The longest is the longest one that training has.
        """
        number, ngrams = self._numbers.get(word, self._base - 1), [0]
        for order, history in zip(self._orders, histories, strict=False):
            key = history * self._base + number
            i = int(order.keys.searchsorted(key))
            if i == len(order.keys) or order.keys[i] != key:
                # no longer one exists either
                break
            ngrams.append(i)
        return ngrams

    def _probability(self, histories: Sequence[int], ngrams: Sequence[int]) -> float:
        """Return the probability of a word after histories.

        `ngrams` are those that `_extended` makes of both.
        """
        p = 1 / len(self.vocabulary)
        for order, history, i in zip_longest(self._orders[: len(histories)], histories, ngrams[1:]):
            if not order.totals[history]:
                # longer histories have no followers either
                break
            kept = 0.0 if i is None else order.kept[i]
            p = (kept + order.masses[history] * p) / order.totals[history]
        return float(p)

    def records_of(self, sentences: Sentences, unkified: Unkified = None) -> list[list[WordRecord]]:
        """Return a record per token of each sentence and one, with the token None, for its end."""
        return [self._records(*words) for words in self._as_read(sentences, unkified)]

    def _records(self, tokens: Sequence[str], unkified: Sequence[str]) -> list[WordRecord]:
        histories, records = [0] * self.order, []
        for token, word in [*zip(tokens, unkified, strict=True), (None, END)]:
            surprisal = math.inf
            if word in self._numbers:
                ngrams = self._extended(histories, word)
                surprisal = -math.log2(self._probability(histories, ngrams))
                histories = ngrams[: self.order]
            records.append(WordRecord(token, None if token is None else word, surprisal))
        return records


def _training_sentences(path: str) -> Iterator[SourceSentence]:
    """Yield the sentences of a file; words that occur once are classes of unknown words."""
    if path.lower().endswith(TABLES):
        raise RnngError("a table is no text to train on: --scorer surprisals=TABLE reads it")
    sentences = (sentence for sentence in read_sentences(path) if sentence.tokens)
    first = next(sentences)
    if first.unkified is not None:
        yield from chain([first], sentences)
        return
    texts = [first, *sentences]
    if warning := running_text([sentence.tokens for sentence in texts], "tokenise it"):
        _log.warning(f"{path}:{texts[warning[0]].line}: {warning[1]}")
    unknown = UnknownWords(RULES[0], known_words(sentence.tokens for sentence in texts))
    for sentence in texts:
        yield replace(sentence, unkified=tuple(unknown.unkify(sentence.tokens)))


class _Order(NamedTuple):
    """The n-grams of one order, with the sums of the counts after their histories."""

    keys: np.ndarray
    """history * base + last word, sorted; the number of an n-gram is the index of its key."""
    kept: np.ndarray
    """The count of each n-gram less its discount."""
    totals: np.ndarray
    """The sum of counts after each history."""
    masses: np.ndarray
    """The sum of discounts after each history, which the lower orders get."""


def _discounted(keys: np.ndarray, occurring: np.ndarray, histories: int, base: int) -> _Order:
    """Return n-grams with discounts.

    `occurring` has the number of an n-gram as often as it counts.
    """
    counts = np.bincount(occurring, minlength=len(keys))
    discount = np.array(discounts(counts))
    kind, history = np.minimum(counts, MAX_COUNT), keys // base
    masses = np.zeros(histories)
    for c in range(1, MAX_COUNT + 1):
        masses += discount[c] * np.bincount(history[kind == c], minlength=histories)
    return _Order(keys, counts - discount[kind], np.bincount(history, counts, histories), masses)


def discounts(counts: Iterable[int]) -> tuple[float, ...]:
    """Return the discounts of counts 0, 1, 2, and 3 or more (Chen and Goodman's equation 26).

    If there are too few counts for an estimate, or if it is out of its range, the discount is half
    the count.

    >>> discounts([1] * 4 + [2] * 2 + [3] * 2 + [4])
    (0.0, 0.5, 0.5, 2.0)
    """
    n = np.bincount(counts, minlength=MAX_COUNT + 2).tolist()
    y = n[1] / (n[1] + 2 * n[2]) if n[1] else 0.0
    result = [0.0]
    for count in (1, 2, 3):
        d = count - (count + 1) * y * n[count + 1] / n[count] if n[count] else count / 2
        result.append(d if 0 < d < count else count / 2)
    return tuple(result)
