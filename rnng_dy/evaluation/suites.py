"""Test suites: sentences that differ in one place, and predictions of a model's difficulty (Hu et al., ACL 2020)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from oracle.errors import InputError, RnngError
from rnng_dy.evaluation.formula import Formula

T = TypeVar("T")


@dataclass(frozen=True)
class Region:
    """A part of a sentence; without tokens it is empty, and its value is 0."""

    number: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Condition:
    """A sentence of an item, or several of which the first are its context."""

    name: str
    regions: tuple[Region, ...]
    ends: tuple[int, ...] = ()
    """Where sentences end before the last, as numbers of tokens."""

    @property
    def sentences(self) -> list[tuple[str, ...]]:
        """The tokens of each sentence; it has one, unless the condition has a context."""
        bounds = pairwise((0, *self.ends, len(self.tokens)))
        return [self.tokens[begin:end] for begin, end in bounds]

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens."""
        return tuple(token for region in self.regions for token in region.tokens)


@dataclass(frozen=True)
class Item:
    """Sentences to compare. Raises RnngError for a condition or region that is there twice, or without words."""

    name: int | str
    """Its number or name in the file; the line of a minimal pair."""
    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        names = [condition.name for condition in self.conditions]
        if twice := _twice(names):
            raise RnngError(f"item {self.name}: the condition {twice!r} is there twice")
        for condition in self.conditions:
            where = f"item {self.name}, condition {condition.name!r}"
            if twice := _twice([region.number for region in condition.regions]):
                raise RnngError(f"{where}: the region {twice} is there twice")
            if not condition.tokens:
                raise RnngError(f"{where}: a sentence without words")

    def lacks(self, formula: Formula) -> str | None:
        """Return which condition or region of a formula the item lacks, in words; None if it has all."""
        regions = {c.name: {r.number for r in c.regions} for c in self.conditions}
        for condition, region in formula.references:
            if condition not in regions:
                return f"no condition {condition!r}: {', '.join(map(repr, regions))}"
            if region is not None and region not in regions[condition]:
                return f"no region {region} in condition {condition!r}"
        return None


@dataclass(frozen=True)
class Suite:
    """Items of the same design, and predictions for them.

    An item that lacks a region of a prediction, such as a filler, does not belong to the prediction. Raises InputError
    for a prediction to which no item belongs.
    """

    name: str
    path: str
    region_names: Mapping[int, str]
    predictions: tuple[Formula, ...]
    """These should hold for every item."""
    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        for prediction in self.predictions:
            lacking = [item.lacks(prediction) for item in self.items]
            if all(lacking):
                where = f"prediction {prediction.name}: item {self.items[0].name}"
                raise InputError(f"{where} has {lacking[0]}", self.path)

    def sentences(self) -> list[tuple[str, ...]]:
        """Return the tokens of all sentences."""
        conditions = (condition for item in self.items for condition in item.conditions)
        return [tokens for condition in conditions for tokens in condition.sentences]


def _twice(names: Sequence[T]) -> T | None:
    return next((name for name, n in Counter(names).items() if n > 1), None)
