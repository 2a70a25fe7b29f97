"""Where two parses of the same sentences differ: by label, by length of constituent, by sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from oracle.lazy import nltk
from rnng_dy.evaluation.evalb import SCORED, Scores, SentenceScore, percent
from rnng_dy.evaluation.evalb_params import COLLINS, Params
from rnng_dy.evaluation.evalb_sentence import read_off

Bracket = tuple[str, int, int]
LENGTHS = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, None))
"""Constituents of as many words go together."""


@dataclass
class Counts:
    """Brackets of a kind: in the gold trees, in a system's, and in both."""

    gold: int = 0
    system: int = 0
    matched: int = 0

    @property
    def f1(self) -> float:
        """Percent; 0 where there are none."""
        return percent(2 * self.matched, self.gold + self.system)


@dataclass(frozen=True)
class Row:
    """Two systems' brackets of one kind."""

    kind: str
    first: Counts
    second: Counts


def canonical(label: str, params: Params = COLLINS) -> str:
    """One name for labels that evaluation takes for equal.

    >>> canonical("PRT"), canonical("NP")
    ('ADVP', 'NP')
    """
    return min([label, *(a for pair in params.equal_labels if label in pair for a in pair)])


def brackets(tree: nltk.Tree, params: Params = COLLINS) -> Counter[Bracket]:
    """The brackets that count in evaluation, labels canonical (quotes are not put back, as EVALB does for some)."""
    found = read_off(tree, params).counted_brackets(params)
    return Counter((canonical(label, params), start, end) for label, start, end in found)


def by_kind(
    golds: Iterable[nltk.Tree],
    firsts: Iterable[nltk.Tree],
    seconds: Iterable[nltk.Tree],
    kind: Callable[[Bracket], Hashable],
) -> dict[Hashable, tuple[Counts, Counts]]:
    """Counts of both systems for each kind of bracket."""
    found: dict[Hashable, tuple[Counts, Counts]] = defaultdict(lambda: (Counts(), Counts()))
    for gold, *systems in zip(golds, firsts, seconds, strict=True):
        expected = brackets(gold)
        for i, system in enumerate(map(brackets, systems)):
            for name, part in (
                ("gold", expected),
                ("system", system),
                ("matched", expected & system),
            ):
                for bracket, count in part.items():
                    counts = found[kind(bracket)][i]
                    setattr(counts, name, getattr(counts, name) + count)
    return found


def by_label(
    golds: Sequence[nltk.Tree], firsts: Sequence[nltk.Tree], seconds: Sequence[nltk.Tree]
) -> list[Row]:
    """Rows by label, the most frequent in gold first."""
    found = by_kind(golds, firsts, seconds, lambda bracket: bracket[0])
    rows = [Row(label, first, second) for label, (first, second) in found.items()]
    return sorted(rows, key=lambda row: (-row.first.gold, row.kind))


def by_length(
    golds: Sequence[nltk.Tree], firsts: Sequence[nltk.Tree], seconds: Sequence[nltk.Tree]
) -> list[Row]:
    """Rows by words in the constituent, the shortest first."""
    found = by_kind(golds, firsts, seconds, lambda bracket: _bucket(bracket[2] - bracket[1]))
    return [Row(name_of_bucket(i), *found[i]) for i in sorted(found)]


def _bucket(length: int) -> int:
    return next(i for i, (_, last) in enumerate(LENGTHS) if last is None or length <= last)


def name_of_bucket(i: int) -> str:
    """
    >>> name_of_bucket(0), name_of_bucket(2), name_of_bucket(6)
    ('1', '3-4', '33 and more')
    """
    first, last = LENGTHS[i]
    if last is None:
        return f"{first} and more"
    return str(first) if first == last else f"{first}-{last}"


def errors(score: SentenceScore) -> int:
    """Wrong and missing brackets of a sentence."""
    return score.gold + score.system - 2 * score.matched


def most_different(first: Scores, second: Scores, n: int) -> list[int]:
    """Indices of the sentences where the numbers of wrong and missing brackets differ most, both ways."""
    pairs = list(zip(first.per_sentence, second.per_sentence, strict=True))
    comparable = [i for i, (a, b) in enumerate(pairs) if a.status == b.status == SCORED]
    difference = {i: errors(pairs[i][1]) - errors(pairs[i][0]) for i in comparable}
    different = [i for i in comparable if difference[i]]
    return sorted(different, key=lambda i: (-abs(difference[i]), i))[:n]
