"""What a model says of each word as it is read: the records that word-by-word measures come as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


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
    """Of the analyses in the word beam."""
    entropy_delta: float | None = None
    """Its change; 0 before the first word."""
    open: int | None = None
    """Open constituents of the best analysis."""
    beam: Sequence[Analysis] = ()
    """The analyses after the word, best first."""
