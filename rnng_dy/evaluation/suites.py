"""Test suites: sentences that differ in one place, and predictions (Hu et al., ACL 2020).

Predictions are in SyntaxGym's notation: comparisons of the sums of regions.
`(2;%long%) > (2;%short%) & (*;%long%) > 10` compares region 2 of two conditions, and the sum of all
regions of one. A region may have a name in place of its number. As in SyntaxGym, "&" and "|" bind
alike, from left to right, and "=" is equality up to rounding. Regions and numbers get names, and
Python's parser makes a tree of the rest, of which only the nodes below are evaluated.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from oracle.common.errors import InputError, RnngError
from oracle.common.tables import is_whole_number
from oracle.treebank import require_length

Tokens = tuple[str, ...]
RegionKey = tuple[str, int]
"""A condition, and the number of a region."""
Values = Mapping[RegionKey, float]
"""The value of each region of an item."""
RELATIVE, ABSOLUTE = 1e-5, 1e-3
"""The most by which numbers that are "=" may differ, EQUALITY_RTOL and _ATOL of syntaxgym."""

_TOKEN = re.compile(
    r"\(\s*(?P<region>[^;%()]*[^;%()\s])\s*;\s*%(?P<condition>[^%]*)%\s*\)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<sign>[-+<>=&|()\[\]])|\S"
)
_OR = "OR"
_IN_PYTHON = {"&": "and", "|": f"and {_OR} and", "=": "=="}
"""Signs that Python writes differently; both `and`, since its `or` binds less than its `and`."""


class FormulaError(RnngError):
    """A formula that cannot be read."""


class Reference(NamedTuple):
    """A region that a formula names."""

    condition: str
    region: int | str | None
    """Its number or name; None for all regions."""

    def value(self, values: Values) -> float:
        """Return its value, or the sum over all regions of the condition."""
        if self.region is not None:
            return values[self.condition, self.region]
        return sum(value for (name, _), value in values.items() if name == self.condition)


class Formula:
    """A parsed prediction, which may have a name. Raises FormulaError for a text that is none.

    >>> formula = Formula("(2;%match%) < (2;%mismatch%) & (*;%match%) > 0")
    >>> formula.decide({("match", 1): 3.0, ("match", 2): 4.5, ("mismatch", 2): 9.0})
    True
    """

    def __init__(self, text: str, name: str = "", numbers: Mapping[str, int] | None = None):
        self.text, self.name, self._numbers = text, name, numbers
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

    @property
    def references(self) -> tuple[Reference, ...]:
        """The regions that the formula names."""
        return tuple(operand for operand in self._operands if isinstance(operand, Reference))

    def numbered(self, numbers: Mapping[str, int]) -> Formula:
        """Return the formula with numbers of regions in place of their names.

        Raises FormulaError for a name without a number.
        """
        return Formula(self.text, self.name, numbers)

    def decide(self, values: Values) -> bool | None:
        """Return whether the prediction holds; None if that depends on an undecided comparison.

        A comparison is undecided if both sides are infinite, or one is NaN.
        "false & undecided" is false, "true | undecided" true.
        """
        return {0: False, 0.5: None, 1: True}[self._truth(self._tree, values)]

    def difference(self, values: Values) -> float | None:
        """Return the left side less the right one; None for a prediction of several comparisons."""
        node = self._tree
        while isinstance(node, ast.List):
            [node] = node.elts
        if not isinstance(node, ast.Compare):
            return None
        return self._number(node.left, values) - self._number(node.comparators[0], values)

    def _in_python(self, token: re.Match[str]) -> str:
        if token["sign"]:
            return _IN_PYTHON.get(token["sign"], token["sign"])
        if token["number"]:
            self._operands.append(float(token["number"]))
        elif token["region"]:
            region = None if token["region"] == "*" else self._region(token["region"])
            self._operands.append(Reference(token["condition"], region))
        else:
            what = "no part of a formula, and a region is written (REGION;%CONDITION%)"
            raise FormulaError(f"{token[0]!r} at column {token.start() + 1} is {what}")
        return f"_{len(self._operands) - 1}"

    def _region(self, name: str) -> int | str:
        """Return a region's number, or its name until the numbers of names are known."""
        if is_whole_number(name):
            return int(name)
        if self._numbers is not None and name not in self._numbers:
            shown = ", ".join(self._numbers) or "none"
            raise FormulaError(f"{name!r} names no region, or regions of several numbers: {shown}")
        return name if self._numbers is None else self._numbers[name]

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


def numbers_of(regions: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Return the number of each name of regions, if both belong to nothing else.

    >>> numbers_of([(1, "noun"), (2, "verb"), (3, "verb"), (4, "end"), (4, "object")])
    {'noun': 1}
    """
    pairs = dict.fromkeys(regions)
    counts = Counter(chain.from_iterable(pairs))
    return {name: n for n, name in pairs if name and counts[name] == counts[n] == 1}


class Condition(NamedTuple):
    """A variant of an item."""

    name: str
    regions: Iterable[tuple[int, Sequence[str]]]
    """Their numbers and tokens."""
    ends: Sequence[int] = ()
    """Where sentences end before the last, as numbers of tokens; the first ones are its context."""
    group: str = ""


@dataclass(frozen=True)
class Item:
    """Sentences to compare."""

    name: int | str
    """Its number or name in the file; the line of a minimal pair."""
    regions: Mapping[RegionKey, Tokens]
    """The tokens of each region; an empty one has the value 0."""
    ends: Mapping[str, Sequence[int]]
    """Per condition, `Condition.ends`."""
    groups: Mapping[str, str]
    """Per condition, its group."""

    @classmethod
    def of(cls, name: int | str, conditions: Iterable[Condition]) -> Item:
        """Return an item. Raises RnngError for what is there twice, without words or too long."""
        regions: dict[RegionKey, Tokens] = {}
        ends: dict[str, Sequence[int]] = {}
        groups: dict[str, str] = {}
        for condition, numbered, ends_of_sentences, group in conditions:
            if condition in ends:
                raise RnngError(f"item {name}: the condition {condition!r} is there twice")
            ends[condition], groups[condition] = ends_of_sentences, group
            where = f"item {name}, condition {condition!r}"
            for number, tokens in numbered:
                if (condition, number) in regions:
                    raise RnngError(f"{where}: the region {number} is there twice")
                regions[condition, number] = tuple(tokens)
            if not any(tokens for key, tokens in regions.items() if key[0] == condition):
                raise RnngError(f"{where}: a sentence without words")
        item = cls(name, regions, ends, groups)
        for sentence in chain.from_iterable(item.sentences.values()):
            require_length(sentence)
        return item

    @property
    def sentences(self) -> dict[str, list[Tokens]]:
        """The tokens of each condition's sentences; it has one, unless it has a context."""
        texts: dict[str, Tokens] = dict.fromkeys(self.ends, ())
        for (condition, _), tokens in self.regions.items():
            texts[condition] += tokens
        bounds = {name: pairwise((0, *self.ends[name], len(texts[name]))) for name in texts}
        return {name: [texts[name][a:b] for a, b in bounds[name]] for name in texts}

    def in_group(self, group: str) -> Item:
        """Return the item with the conditions of a group alone."""
        ends = {name: ends for name, ends in self.ends.items() if self.groups[name] == group}
        regions = {key: tokens for key, tokens in self.regions.items() if key[0] in ends}
        return replace(self, regions=regions, ends=ends)

    def lacks(self, formula: Formula) -> str | None:
        """Return which condition or region of a formula the item lacks; None if it has all."""
        for condition, region in formula.references:
            if condition not in self.ends:
                return f"no condition {condition!r}: {', '.join(map(repr, self.ends))}"
            if region is not None and (condition, region) not in self.regions:
                return f"no region {region} in condition {condition!r}"
        return None


@dataclass(frozen=True)
class Suite:
    """Items of the same design, and predictions for them.

    An item that lacks a region of a prediction, such as a filler, does not belong to it. Raises
    InputError for a prediction without items.
    """

    name: str
    path: str
    region_names: Mapping[int, str]
    predictions: tuple[Formula, ...]
    """These should hold for every item."""
    items: tuple[Item, ...]
    group: str | None = None
    """The group of which its items are; None for all."""
    conditions: tuple[str, ...] = ()
    """Of a group: the conditions of all items, in the order of these."""

    def __post_init__(self) -> None:
        for prediction in self.predictions:
            lacking = [item.lacks(prediction) for item in self.items]
            if all(lacking):
                where = f"prediction {prediction.name}: item {self.items[0].name}"
                raise InputError(f"{where} has {lacking[0]}", self.path)

    def by_group(self) -> Iterator[Suite]:
        """Yield a suite per group, with the predictions to which some item of the group belongs."""
        names = tuple(dict.fromkeys(name for item in self.items for name in item.ends))
        for group in dict.fromkeys(name for item in self.items for name in item.groups.values()):
            items = tuple(part for item in self.items if (part := item.in_group(group)).ends)
            predictions = tuple(p for p in self.predictions if not all(i.lacks(p) for i in items))
            yield replace(self, predictions=predictions, items=items, group=group, conditions=names)

    def sentences(self) -> list[Tokens]:
        """Return the tokens of all sentences."""
        return [s for item in self.items for texts in item.sentences.values() for s in texts]
