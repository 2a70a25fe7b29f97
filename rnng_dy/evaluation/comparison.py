"""Comparison of parses of the same sentences: by label, by length of constituent, by sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from oracle.lazy import nltk
from rnng_dy.evaluation.evalb import SCORED, Scores, SentenceScore, percent
from rnng_dy.evaluation.evalb_params import COLLINS
from rnng_dy.evaluation.evalb_sentence import read_off

T = TypeVar("T")
Bracket = tuple[str, int, int]
LENGTHS = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, None))
"""Ranges of words per constituent, each of which is one row."""


@dataclass
class Counts:
    """Counts of brackets of one kind: in the gold trees, in a system's, and in both."""

    gold: int = 0
    system: int = 0
    matched: int = 0

    @property
    def f1(self) -> float:
        """F1 in percent; 0 if there are no brackets."""
        return percent(2 * self.matched, self.gold + self.system)


@dataclass(frozen=True)
class Row:
    """The counts of one kind of brackets, one per system."""

    kind: str
    systems: tuple[Counts, ...]


@dataclass(frozen=True)
class CommonSentences:
    """The sentences that can be scored for every system; figures of different sets of sentences are not comparable."""

    indices: tuple[int, ...]
    """0-based, among all sentences."""
    golds: tuple[nltk.Tree, ...]
    trees: tuple[tuple[nltk.Tree, ...], ...]
    """The trees of each system."""
    scores: tuple[Scores, ...]
    """The scores of each system."""
    lacking: tuple[tuple[int, ...], ...]
    """Per system, the indices of the sentences that cannot be scored."""

    @property
    def all_sentences(self) -> int:
        """The number of sentences, including the lacking ones."""
        return len(self.golds) + len(set().union(*self.lacking))


def on_common_sentences(
    golds: Sequence[nltk.Tree], systems: Sequence[Sequence[nltk.Tree]], scores: Sequence[Scores]
) -> CommonSentences:
    """Return the sentences that can be scored for all systems, from the trees and scores of all sentences."""
    lacking = [
        tuple(i for i, s in enumerate(of_system.per_sentence) if s.status != SCORED)
        for of_system in scores
    ]
    kept = tuple(sorted(set(range(len(golds))).difference(*lacking)))

    def only(of_all: Sequence[T]) -> tuple[T, ...]:
        return tuple(of_all[i] for i in kept)

    return CommonSentences(
        kept,
        only(golds),
        tuple(map(only, systems)),
        tuple(replace(of, per_sentence=only(of.per_sentence)) for of in scores),
        tuple(lacking),
    )


def canonical(label: str) -> str:
    """Return one name for labels that evaluation treats as equal.

    >>> canonical("PRT"), canonical("NP")
    ('ADVP', 'NP')
    """
    return min([label, *(a for pair in COLLINS.equal_labels if label in pair for a in pair)])


def brackets(tree: nltk.Tree) -> Counter[Bracket]:
    """Return the brackets that count, with canonical labels; unlike in EVALB, deleted quotes stay deleted."""
    found = read_off(tree, COLLINS).counted_brackets(COLLINS).values()
    return Counter((canonical(label), start, end) for label, start, end in found)


def by_kind(
    golds: Sequence[nltk.Tree],
    systems: Sequence[Sequence[nltk.Tree]],
    kind: Callable[[Bracket], Hashable],
) -> dict[Hashable, tuple[Counts, ...]]:
    """Return the counts of each system for each kind of bracket."""
    found: dict[Hashable, tuple[Counts, ...]] = defaultdict(
        lambda: tuple(Counts() for _ in systems)
    )
    for gold, *of_systems in zip(golds, *systems, strict=True):
        expected = brackets(gold)
        for i, system in enumerate(map(brackets, of_systems)):
            parts = {"gold": expected, "system": system, "matched": expected & system}
            for name, part in parts.items():
                for bracket, count in part.items():
                    counts = found[kind(bracket)][i]
                    setattr(counts, name, getattr(counts, name) + count)
    return found


def by_label(golds: Sequence[nltk.Tree], systems: Sequence[Sequence[nltk.Tree]]) -> list[Row]:
    """Return rows by label, the most frequent in gold first."""
    found = by_kind(golds, systems, lambda bracket: bracket[0])
    rows = [Row(label, counts) for label, counts in found.items()]
    return sorted(rows, key=lambda row: (-row.systems[0].gold, row.kind))


def by_length(golds: Sequence[nltk.Tree], systems: Sequence[Sequence[nltk.Tree]]) -> list[Row]:
    """Return rows by words per constituent, the shortest first."""
    found = by_kind(golds, systems, lambda bracket: _bucket(bracket[2] - bracket[1]))
    return [Row(name_of_bucket(i), found[i]) for i in sorted(found)]


def _bucket(length: int) -> int:
    return next(i for i, (_, last) in enumerate(LENGTHS) if last is None or length <= last)


def name_of_bucket(i: int) -> str:
    """Return the range of words of a bucket, as text.

    >>> name_of_bucket(0), name_of_bucket(2), name_of_bucket(6)
    ('1', '3-4', '33 and more')
    """
    first, last = LENGTHS[i]
    if last is None:
        return f"{first} and more"
    return str(first) if first == last else f"{first}-{last}"


def errors(score: SentenceScore) -> int:
    """Return the number of wrong and missing brackets of a sentence."""
    return score.gold + score.system - 2 * score.matched


def most_different(scores: Sequence[Scores], n: int) -> list[int]:
    """Return the indices of sentences on which the systems' numbers of wrong and missing brackets differ most."""
    ranges = []
    for of_sentence in zip(*(of_system.per_sentence for of_system in scores), strict=True):
        wrong = list(map(errors, of_sentence))
        ranges.append(max(wrong) - min(wrong))
    different = [i for i, apart in enumerate(ranges) if apart]
    return sorted(different, key=lambda i: (-ranges[i], i))[:n]
