"""Test suites: sentences that differ in one place, and predictions of a model's difficulty (Hu et al., ACL 2020).

Predictions are in SyntaxGym's notation: comparisons of the sums of regions.
`(2;%long%) > (2;%short%) & (*;%long%) > 10` compares region 2 of two conditions, and the sum of all
regions of one. As in SyntaxGym, "&" and "|" bind alike, from left to right, and "=" is equality up
to rounding. Regions and numbers get names, and Python's parser makes a tree of the rest, of which
only the nodes below are evaluated.
"""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from oracle.common.errors import InputError, RnngError

Sentence = tuple[str, ...]
Place = tuple[str, int]
"""A condition, and the number of a region."""
Condition = tuple[str, Iterable[tuple[int, Sequence[str]]], Sequence[int]]
"""The name of a condition, its regions as numbers and tokens, and where its sentences end before the last."""
Values = Mapping[Place, float]
"""The value of each region of an item."""
RELATIVE, ABSOLUTE = 1e-5, 1e-3
"""The most by which numbers that are "=" may differ (syntaxgym's EQUALITY_RTOL and EQUALITY_ATOL)."""

_TOKEN = re.compile(
    r"\(\s*(?P<region>[0-9]{1,9}|\*)\s*;\s*%(?P<condition>[^%]*)%\s*\)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<sign>[-+<>=&|()\[\]])|\S"
)
_OR = "OR"
_IN_PYTHON = {"&": "and", "|": f"and {_OR} and", "=": "=="}
"""Signs that Python writes differently; `and` for both, since its `or` would bind less than `and`."""


class FormulaError(RnngError):
    """A formula that cannot be read."""


class Reference(NamedTuple):
    """A region that a formula names."""

    condition: str
    region: int | None
    """None for all regions."""

    def value(self, values: Values) -> float:
        """Return its value, or the sum over all regions of the condition."""
        if self.region is not None:
            return values[self.condition, self.region]
        return sum(value for (name, _), value in values.items() if name == self.condition)


class Formula:
    """A parsed prediction, which may have a name. Raises FormulaError for a text that is no comparison.

    >>> formula = Formula("(2;%match%) < (2;%mismatch%) & (*;%match%) > 0")
    >>> formula.decide({("match", 1): 3.0, ("match", 2): 4.5, ("mismatch", 2): 9.0})
    True
    """

    def __init__(self, text: str, name: str = ""):
        self.text, self.name = text, name
        self._operands: list[Reference | float] = []
        try:
            signs = " ".join(map(self._in_python, _TOKEN.finditer(text)))
            self._tree = ast.parse(signs, mode="eval").body
            # raises for a comparison in place of a number, and the reverse
            self.decide(defaultdict(float))
        except SyntaxError:
            message = "a region, a number, a sign or a bracket is missing, or in another place"
            raise FormulaError(f"{text!r:.80}: {message}") from None
        except (FormulaError, RecursionError, MemoryError) as error:
            raise FormulaError(f"{text!r:.80}: {error}") from None
        self.references = tuple(of for of in self._operands if isinstance(of, Reference))
        """The regions that the formula names."""

    def decide(self, values: Values) -> bool | None:
        """Return whether the prediction holds; None if that depends on an undecided comparison.

        A comparison is undecided if both sides are infinite, or one is NaN.
        "false & undecided" is false, "true | undecided" true.
        """
        return {0: False, 0.5: None, 1: True}[self._truth(self._tree, values)]

    def _in_python(self, token: re.Match[str]) -> str:
        if token["sign"]:
            return _IN_PYTHON.get(token["sign"], token["sign"])
        if token["number"]:
            self._operands.append(float(token["number"]))
        elif token["region"]:
            region = None if token["region"] == "*" else int(token["region"])
            self._operands.append(Reference(token["condition"], region))
        else:
            what = "no part of a formula, and a region is written (NUMBER;%CONDITION%)"
            raise FormulaError(f"{token[0]!r} at column {token.start() + 1} is {what}")
        return f"_{len(self._operands) - 1}"

    def _number(self, node: ast.expr, values: Values) -> float:
        """Return the value of a number, a region or a sum of these."""
        match node:
            case ast.Name(id=name):
                operand = self._operands[int(name[1:])]
                return operand.value(values) if isinstance(operand, Reference) else operand
            case ast.List(elts=[inner]):
                return self._number(inner, values)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._number(inner, values)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self._number(left, values), self._number(right, values)
                return a + b if isinstance(op, ast.Add) else a - b
        raise FormulaError("a number or a region is missing")

    def _truth(self, node: ast.expr, values: Values) -> float:
        """Return 1 if a comparison holds, 0 if it does not, 1/2 if it is undecided.

        "&" is the minimum and "|" the maximum (Kleene), from left to right; the name OR says that
        the next sign is "|".
        """
        match node:
            case ast.List(elts=[inner]):
                return self._truth(inner, values)
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                a, b = self._number(left, values), self._number(right, values)
                # as it is for two infinities
                if math.isnan(abs(a) - abs(b)):
                    return 0.5
                if isinstance(sign, ast.Eq):
                    return float(np.isclose(a, b, RELATIVE, ABSOLUTE))
                return float(a < b if isinstance(sign, ast.Lt) else a > b)
            case ast.BoolOp(values=[first, *others]):
                truth, joint = self._truth(first, values), min
                for other in others:
                    if isinstance(other, ast.Name) and other.id == _OR:
                        joint = max
                    else:
                        truth, joint = joint(truth, self._truth(other, values)), min
                return truth
        raise FormulaError("a comparison is missing")


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

    An item that lacks a region of a prediction, such as a filler, does not belong to the
    prediction. Raises InputError for a prediction to which no item belongs.
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
