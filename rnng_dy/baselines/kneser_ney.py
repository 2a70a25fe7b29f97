"""Interpolated modified Kneser-Ney n-grams (Chen and Goodman 1999)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from oracle.blocks import OracleSentence, read_oracle
from oracle.errors import RnngError
from oracle.sentences import split_tokens
from oracle.unknown import infer_unknown_words
from rnng_dy.baselines.word_scorer import WordScorer
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.spelling import SpellingModel

START, END = "<s> ", "</s> "
"""Symbols before and after a sentence. They contain blanks, so that no token can equal them."""
MAX_COUNT = 3
"""Counts of three and more share a discount."""


class KneserNey(WordScorer):
    """An n-gram model p(word | the n - 1 words before it) of sentences padded with START and END.

    The highest order counts occurrences; lower orders count the different words that precede. All orders are
    interpolated, down to the uniform distribution over the vocabulary and END.
    """

    name = "kneser-ney"

    def __init__(
        self, sentences: Sequence[OracleSentence], vocabulary: Iterable[str] = (), order: int = 5
    ):
        """Count the n-grams of generative training sentences, whose words and `vocabulary` are the words of the model.

        The model uses the sentences' classes of unknown words.
        """
        self.order = order
        self._tokens = [sentence.tokens for sentence in sentences]
        self._unknown = infer_unknown_words((s.tokens, s.unkified) for s in sentences)
        padded = [[START] * (order - 1) + [*s.unkified, END] for s in sentences]
        self.vocabulary = {END, *vocabulary}.union(*padded) - {START}
        self._counts = self._count(padded)
        self._discounts = [discounts(counts.values()) for counts in self._counts]
        self._histories = list(map(_histories, self._counts, self._discounts))

    @classmethod
    def open(cls, path: str | None, order: int = 5, vocabulary: Iterable[str] = ()) -> KneserNey:
        """Make an n-gram model from a generative oracle.

        Args:
            path: The training oracle.
            order: The n of n-grams.
            vocabulary: Further words, with count 0.

        Raises:
            RnngError: There is no oracle, or it is invalid.
        """
        if path is None:
            raise RnngError("n-grams need a training oracle: --scorer kneser-ney=TRAIN.oracle")
        return cls(read_oracle(path), vocabulary, order)

    @cached_property
    def segmenter(self) -> Segmenter:
        """See `WordScorer`."""
        return Segmenter.of_training(self._tokens)

    @cached_property
    def spelling(self) -> SpellingModel:
        """See `WordScorer`; learnt from the words of the training oracle."""
        words = Counter(token for tokens in self._tokens for token in tokens)
        return SpellingModel(self._unknown, sorted(self.vocabulary - {END}), words)

    def _count(self, padded: list[list[str]]) -> list[Counter[tuple[str, ...]]]:
        """Return the counts of the n-grams of each order, shortest first."""
        highest = Counter(
            tuple(words[i - self.order : i])
            for words in padded
            for i in range(self.order, len(words) + 1)
        )
        orders = [highest]
        while len(orders) < self.order:
            orders.append(Counter(ngram[1:] for ngram in orders[-1]))
        return orders[::-1]

    def probability(self, word: str, context: Sequence[str]) -> float:
        """Return p(word | context) for a word of the vocabulary; only the last n - 1 words of the context count."""
        p = 1 / len(self.vocabulary)
        context = tuple(context)[-(self.order - 1) :] if self.order > 1 else ()
        for k in range(len(context) + 1):
            history = context[len(context) - k :]
            if history not in self._histories[k]:
                # longer histories have no followers either
                break
            total, mass = self._histories[k][history]
            count = self._counts[k].get((*history, word), 0)
            kept = count - self._discounts[k][min(count, MAX_COUNT)]
            p = (kept + mass * p) / total
        return p

    def records_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> list[list[WordRecord]]:
        """See `Scorer`."""
        sentences = [split_tokens(sentence)[0] for sentence in sentences]
        given = unkified or [None] * len(sentences)
        return [
            self._records(tokens, seen or self.unkify(tokens))
            for tokens, seen in zip(sentences, given, strict=True)
        ]

    def unkify(self, tokens: Sequence[str]) -> list[str]:
        """Return the words as the model reads them: unknown ones as their classes."""
        return [w if w in self.vocabulary else self._unknown.word_class(w) for w in tokens]

    def _records(self, tokens: Sequence[str], seen: Sequence[str]) -> list[WordRecord]:
        history, records = [START] * (self.order - 1), []
        for token, word in [*zip(tokens, seen, strict=True), (None, END)]:
            surprisal = math.inf
            if word in self.vocabulary:
                surprisal = -math.log2(self.probability(word, history))
                history.append(word)
            records.append(WordRecord(token, None if token is None else word, surprisal))
        return records


def _histories(
    counts: Counter[tuple[str, ...]], discount: Sequence[float]
) -> dict[tuple[str, ...], tuple[int, float]]:
    """Return the sum of counts after each history, and the sum of their discounts, which lower orders get."""
    totals: Counter[tuple[str, ...]] = Counter()
    # numbers of words with counts 1, 2, and 3 or more
    words: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0] * MAX_COUNT)
    for ngram, count in counts.items():
        totals[ngram[:-1]] += count
        words[ngram[:-1]][min(count, MAX_COUNT) - 1] += 1
    return {
        history: (total, sum(d * n for d, n in zip(discount[1:], words[history], strict=True)))
        for history, total in totals.items()
    }


def discounts(counts: Iterable[int]) -> tuple[float, float, float, float]:
    """Return the discounts of counts 0, 1, 2, and 3 or more (Chen and Goodman's equation 26).

    If there are too few counts for an estimate, or if it is out of its range, the discount is half the count.

    >>> discounts([1] * 4 + [2] * 2 + [3] * 2 + [4])
    (0.0, 0.5, 0.5, 2.0)
    """
    n = Counter(counts)
    y = n[1] / (n[1] + 2 * n[2]) if n[1] else 0.0
    found = [0.0]
    for count in (1, 2, 3):
        d = count - (count + 1) * y * n[count + 1] / n[count] if n[count] else count / 2
        found.append(d if 0 < d < count else count / 2)
    return tuple(found)
