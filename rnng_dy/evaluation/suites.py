"""Test suites: sentences that differ in one place, and predictions of a model's difficulty (Hu et al., ACL 2020)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from oracle.errors import InputError, RnngError
from oracle.sentences import SourceSentence
from rnng_dy.evaluation.formula import Formula, Reference

T = TypeVar("T")
GOOD, BAD = "good", "bad"
"""The conditions of a minimal pair."""
PAIR = f"(*;%{GOOD}%) < (*;%{BAD}%)"


@dataclass(frozen=True)
class Region:
    """A part of a sentence; without tokens it is empty, and its value is 0."""

    number: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Condition:
    """One sentence of an item."""

    name: str
    regions: tuple[Region, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens of the sentence."""
        return tuple(token for region in self.regions for token in region.tokens)


@dataclass(frozen=True)
class Item:
    """Sentences to compare. Raises RnngError for a condition or region that is there twice, or without words."""

    number: int
    conditions: tuple[Condition, ...]
    line: int | None = None
    """Its line in the file, if it is a minimal pair."""

    def __post_init__(self) -> None:
        names = [condition.name for condition in self.conditions]
        if twice := _twice(names):
            raise RnngError(f"item {self.number}: the condition {twice!r} is there twice")
        for condition in self.conditions:
            where = f"item {self.number}, condition {condition.name!r}"
            if twice := _twice([region.number for region in condition.regions]):
                raise RnngError(f"{where}: the region {twice} is there twice")
            if not condition.tokens:
                raise RnngError(f"{where}: a sentence without words")

    def lacks(self, reference: Reference) -> str | None:
        """Return which condition or region of the reference the item lacks, in words; None if it has both."""
        regions = {c.name: {r.number for r in c.regions} for c in self.conditions}
        condition, region = reference
        if condition not in regions:
            return f"no condition {condition!r}: {', '.join(map(repr, regions))}"
        if region is not None and region not in regions[condition]:
            return f"no region {region} in condition {condition!r}"
        return None


@dataclass(frozen=True)
class Prediction:
    """A formula that should hold for every item."""

    name: str
    formula: Formula


@dataclass(frozen=True)
class Suite:
    """Items of the same design, and predictions for them. Raises InputError for a region that an item lacks."""

    name: str
    path: str
    region_names: Mapping[int, str]
    predictions: tuple[Prediction, ...]
    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        for item, prediction in product(self.items, self.predictions):
            for reference in prediction.formula.references:
                if missing := item.lacks(reference):
                    where = f"prediction {prediction.name}"
                    raise InputError(f"{where}: item {item.number} has {missing}", self.path)

    def sentences(self) -> list[SourceSentence]:
        """Return the sentences of all items; those of JSON by SyntaxGym have the line None."""
        return [
            SourceSentence(condition.tokens, None, None, item.line)
            for item in self.items
            for condition in item.conditions
        ]


def pair(number: int, good: Sequence[str], bad: Sequence[str]) -> Item:
    """Return a minimal pair as an item; each sentence is one region."""
    sentences = ((GOOD, good), (BAD, bad))
    return Item(
        number,
        tuple(Condition(name, (Region(1, tuple(words)),)) for name, words in sentences),
        number,
    )


def _twice(names: Sequence[T]) -> T | None:
    return next((name for name, n in Counter(names).items() if n > 1), None)


def suite_of_pairs(name: str, pairs: Sequence[Item], path: str) -> Suite:
    """Return a suite of minimal pairs: the good sentence should be more probable, so a tie is wrong."""
    predictions = (Prediction("good is more probable", Formula(PAIR)),)
    return Suite(name, path, {1: "sentence"}, predictions, tuple(pairs))
