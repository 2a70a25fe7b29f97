"""The interface of sources of surprisals without a model folder: n-grams, tables, and scorers of plugins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from oracle.errors import RnngError
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.spelling import SpellingModel
from rnng_dy.text.segmenter import Segmenter


class WordScorer(ABC):
    """A source of surprisals without a model folder; `baselines.scorers.SCORERS` has them by name."""

    name: ClassVar[str]
    """Name after `--scorer`."""

    @classmethod
    def open(cls, path: str | None, order: int) -> WordScorer:
        """Return a scorer made from a file, None if the user names none; `order` is the n of n-grams.

        Raises RnngError for an unusable file.
        """
        return cls(path)  # type: ignore[call-arg]

    @classmethod
    def title(cls, path: str | None, order: int) -> str:
        """Return the scorer's name in outputs."""
        return cls.name if path is None else f"{cls.name}, {path}"

    @abstractmethod
    def surprisals_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> Sequence[Sequence[WordRecord]]:
        """Return a record per token of each sentence and one, with the token None, for its end; surprisals in bits.

        `unkified` are the words that the scorer should see, if an oracle has them.
        """

    def next_word_entropies(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[float]]:
        """Return the entropy of the next word in bits before each word and before the end of each sentence.

        `sentences` are words as the scorer sees them. The end of the sentence counts as a word. Raises RnngError
        unless a scorer overrides this method.
        """
        raise RnngError(f"{self.name} gives no entropy of the next word: leave out --next-word")

    @property
    def segmenter(self) -> Segmenter:
        """The segmenter that turns running text into the scorer's tokens."""
        return Segmenter()

    @property
    def spelling(self) -> SpellingModel | None:
        """The probabilities of strings for an open vocabulary; None if the scorer has none."""
        return None
