"""The symbols of an oracle, and how often each occurs: vocabularies and descriptions of models are made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from oracle.blocks import OracleSentence
from oracle.errors import RnngError
from oracle.transitions import SYSTEMS


@dataclass
class OracleCounts:
    """Symbols in the order in which they first appear."""

    words: dict[str, None] = field(default_factory=dict)
    """Raw, lower-cased and unkified words: sentence by sentence, each kind in turn."""
    tokens: Counter[str] = field(default_factory=Counter)
    """How often each raw word occurs."""
    unkified: Counter[str] = field(default_factory=Counter)
    """How often each word or class of unknown words occurs."""
    tags: Counter[str] = field(default_factory=Counter)
    actions: dict[str, None] = field(default_factory=dict)
    systems: dict[str, None] = field(default_factory=dict)
    """The names of the transition systems."""

    def nonterminals(self) -> tuple[str, ...]:
        """Return the labels. Raises RnngError if there are several transition systems."""
        if len(self.systems) > 1:
            names = ", ".join(sorted(self.systems))
            raise RnngError(f"an oracle of several transition systems: {names}")
        return SYSTEMS[next(iter(self.systems))].labels([tuple(self.actions)])


def counted(sentences: Iterable[OracleSentence]) -> OracleCounts:
    """Return the counts of an oracle's sentences."""
    counts = OracleCounts()
    for sentence in sentences:
        for words in (sentence.tokens, sentence.lowercased or (), sentence.unkified):
            counts.words.update(dict.fromkeys(words))
        counts.tokens.update(sentence.tokens)
        counts.unkified.update(sentence.unkified)
        counts.tags.update(sentence.tags or ())
        counts.actions.update(dict.fromkeys(sentence.actions))
        counts.systems[sentence.transitions] = None
    return counts
