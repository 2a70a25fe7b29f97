"""What a model says of each word as it is read: the records that word-by-word measures come as."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

from rnng_dy.text.segmenter import Segmenter


class Analysis(NamedTuple):
    """A derivation of the words so far."""

    log_prob: float
    """Joint log probability of its actions and words, in nats."""
    actions: Sequence[str]
    """As an oracle writes them."""


@dataclass(frozen=True)
class WordRecord:
    """A word and its measures, in bits where nothing else is said; None for what a model or search does not have.

    The record of a sentence's end has the token None.
    """

    token: str | None
    """As it is written."""
    unk: str | None
    """As the model saw it: a word of its vocabulary, or an UNK class."""
    surprisal: float
    """-log2 p(word | the words before); infinite for a word that the model cannot give."""
    standard_error: float | None = None
    """Of the surprisal, where it is an estimate of several runs."""
    syntactic: float | None = None
    """The share of the actions before the word."""
    lexical: float | None = None
    """The share of the word; both add up to the surprisal."""
    best_syntactic: float | None = None
    """The shares in the best derivation alone."""
    best_lexical: float | None = None
    rounds: int | None = None
    """Rounds of the search's loop until the word."""
    actions: int | None = None
    """Actions carried out until the word."""
    entropy: float | None = None
    """Of the analyses in the word beam; with particles, an estimate for all analyses."""
    entropy_delta: float | None = None
    """Its change; 0 before the first word."""
    open: int | None = None
    """Open constituents of the best analysis."""
    beam: Sequence[Analysis] = ()
    """The analyses after the word, best first."""

    @property
    def known(self) -> bool | None:
        """Whether the model saw the word itself, and no UNK class; None for the end of a sentence."""
        return None if self.token is None else self.token == self.unk


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
