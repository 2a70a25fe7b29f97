"""A sentence with the records of its words, as a search measures them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import ClassVar, NamedTuple

from rnng_dy.evaluation.records import Analysis, WordRecord
from rnng_dy.text.segmenter import Segmenter


class WordScorer(ABC):
    """Gives words surprisals without a model folder. `baselines.scorers.SCORERS` has them by name."""

    name: ClassVar[str]
    """After `--scorer`."""

    @classmethod
    def open(cls, path: str | None, order: int) -> WordScorer:
        """A scorer made of a file, None where the user names none; `order` is the n of n-grams.

        Raises RnngError for a file that will not do.
        """
        return cls(path)

    @classmethod
    def title(cls, path: str | None, order: int) -> str:
        """How outputs call it."""
        return cls.name if path is None else f"{cls.name}, {path}"

    @abstractmethod
    def surprisals_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> Sequence[Sequence[WordRecord]]:
        """A record for each token of each sentence and, with the token None, for its end; surprisals in bits.

        `unkified` are the words that the scorer is to see where an oracle says them.
        """

    @property
    def segmenter(self) -> Segmenter:
        """How running text becomes the tokens that the scorer knows."""
        return Segmenter()


class MeasuredSentence(NamedTuple):
    """What was found of a sentence."""

    records: Sequence[WordRecord]
    """Of its words and, where asked for, of its end."""
    trees: Sequence[Analysis] = ()
    """Complete ones, best first; only where the end was asked for."""
    log_mass: float | None = None
    """log of the estimated probability of the words, and the end where asked for, in nats."""
    problem: str | None = None
    """Why not all of its measures are finite."""

    def to_json(self) -> str:
        """All of it on one line, for `from_json`."""
        names = [field.name for field in fields(WordRecord)]
        records = [[getattr(record, name) for name in names] for record in self.records]
        return json.dumps(self._replace(records=records))

    @classmethod
    def from_json(cls, text: str) -> MeasuredSentence:
        """What `to_json` wrote."""
        records, trees, log_mass, problem = json.loads(text)
        read = []
        for *measures, beam in records:
            read.append(WordRecord(*measures, beam=[Analysis(*item) for item in beam]))
        return cls(read, [Analysis(*tree) for tree in trees], log_mass, problem)
