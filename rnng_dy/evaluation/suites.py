"""Test suites: sentences that differ in one place, and predictions of a model's difficulty (Hu et al., ACL 2020)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from oracle.errors import InputError, RnngError
from rnng_dy.evaluation.formula import Formula

Sentence = tuple[str, ...]
Place = tuple[str, int]
"""A condition, and the number of a region."""
Condition = tuple[str, Iterable[tuple[int, Sequence[str]]], Sequence[int]]
"""The name of a condition, its regions as numbers and tokens, and where its sentences end before the last."""


@dataclass(frozen=True)
class Item:
    """Sentences to compare."""

    name: int | str
    """Its number or name in the file; the line of a minimal pair."""
    regions: Mapping[Place, Sentence]
    """The tokens of each region; an empty one has the value 0."""
    ends: Mapping[str, Sequence[int]]
    """Per condition, where sentences end before the last, as numbers of tokens; the first ones are its context."""

    @classmethod
    def of(cls, name: int | str, conditions: Iterable[Condition]) -> Item:
        """Return an item. Raises RnngError for a condition or region that is there twice, or without words."""
        regions: dict[Place, Sentence] = {}
        ends: dict[str, Sequence[int]] = {}
        for condition, numbered, of in conditions:
            if condition in ends:
                raise RnngError(f"item {name}: the condition {condition!r} is there twice")
            ends[condition], where = of, f"item {name}, condition {condition!r}"
            for number, tokens in numbered:
                if (condition, number) in regions:
                    raise RnngError(f"{where}: the region {number} is there twice")
                regions[condition, number] = tuple(tokens)
            if not any(tokens for place, tokens in regions.items() if place[0] == condition):
                raise RnngError(f"{where}: a sentence without words")
        return cls(name, regions, ends)

    @property
    def sentences(self) -> dict[str, list[Sentence]]:
        """The tokens of each condition's sentences; it has one, unless it has a context."""
        found: dict[str, Sentence] = dict.fromkeys(self.ends, ())
        for (condition, _), tokens in self.regions.items():
            found[condition] += tokens
        bounds = {name: pairwise((0, *self.ends[name], len(found[name]))) for name in found}
        return {name: [found[name][a:b] for a, b in bounds[name]] for name in found}

    def lacks(self, formula: Formula) -> str | None:
        """Return which condition or region of a formula the item lacks, in words; None if it has all."""
        for condition, region in formula.references:
            if condition not in self.ends:
                return f"no condition {condition!r}: {', '.join(map(repr, self.ends))}"
            if region is not None and (condition, region) not in self.regions:
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

    def sentences(self) -> list[Sentence]:
        """Return the tokens of all sentences."""
        return [s for item in self.items for of in item.sentences.values() for s in of]
