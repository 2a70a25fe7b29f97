"""Predictions of test suites in SyntaxGym's notation: comparisons of the sums of regions.

    formula    := comparison (("&" | "|") comparison)*
    comparison := "!" comparison | sum [("<" | ">" | "<=" | ">=" | "=") sum]
    sum        := product (("+" | "-") product)*
    product    := factor (("*" | "/") factor)*
    factor     := "-" factor | region | number | "(" formula ")" | "[" formula "]"
    region     := "(" (digits | "*") ";" "%" condition "%" ")"

As in SyntaxGym, "&" and "|" bind alike, from left to right, and "=" is equality up to rounding. "*", "/", "<=",
">=" and "!" are additions of this project. The text is only parsed below, never run as a program.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from oracle.errors import RnngError

Values = Mapping[tuple[str, int], float]
"""The value of each region of an item, by condition and region number."""
Evaluate = Callable[[Values], "float | bool | None"]

RELATIVE, ABSOLUTE = 1e-5, 1e-3
"""The most by which numbers that are "=" may differ (syntaxgym's EQUALITY_RTOL and EQUALITY_ATOL)."""
MAX_DEPTH = 50
"""The deepest nesting of brackets and signs."""

_TOKEN = re.compile(
    r"\s*(?:(?P<region>\(\s*(?P<number>[0-9]{1,9}|\*)\s*;\s*%(?P<condition>[^%]*)%\s*\))"
    r"|(?P<float>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<sign><=|>=|[-+*/<>=&|!()\[\]])|(?P<end>$))"
)
_HALF_A_REGION = re.compile(r"\(\s*(?:[0-9]+|\*)\s*;")
_CLOSING = {"(": ")", "[": "]"}


class FormulaError(RnngError):
    """A formula that does not parse, with the column, from 1."""

    def __init__(self, message: str, column: int):
        super().__init__(f"column {column}: {message}")


class Reference(NamedTuple):
    """A region that a formula names."""

    condition: str
    region: int | None
    """None for all regions."""
    column: int


class _Node(NamedTuple):
    """A part of a formula: its column, whether it is a truth value or else a number, and its evaluation."""

    column: int
    is_truth: bool
    evaluate: Evaluate


class Formula:
    """A parsed prediction. Raises FormulaError for a text that does not parse.

    >>> formula = Formula("(2;%match%) < (2;%mismatch%) & (*;%match%) > 0")
    >>> formula.decide({("match", 1): 3.0, ("match", 2): 4.5, ("mismatch", 2): 9.0})
    True
    """

    def __init__(self, text: str):
        self.text = text
        parser = _Parser(text)
        self._evaluate = parser.whole().evaluate
        self.references = tuple(parser.references)

    def decide(self, values: Values) -> bool | None:
        """Return whether the prediction holds; None if that depends on an undecided comparison.

        A comparison is undecided if both sides are infinite, or one is NaN. So is its negation.
        "false & undecided" is false, "true | undecided" true.
        """
        return self._evaluate(values)


def _number_of(reference: Reference) -> Evaluate:
    condition, region, _ = reference
    if region is not None:
        return lambda values: values[condition, region]
    return lambda values: sum(value for (name, _), value in values.items() if name == condition)


def _joined(decisive: bool, a: bool | None, b: bool | None) -> bool | None:
    """Return Kleene's "or" if True is decisive, "and" if False is.

    >>> _joined(False, None, False), _joined(False, None, True), _joined(True, None, True)
    (False, None, True)
    """
    if decisive in (a, b):
        return decisive
    return None if None in (a, b) else not decisive


def _negated(a: bool | None) -> bool | None:
    return None if a is None else not a


def _compared(compare: Callable[[float, float], bool], a: float, b: float) -> bool | None:
    if math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)):
        return None
    return compare(a, b)


def _truth(node: _Node) -> _Node:
    if not node.is_truth:
        raise FormulaError("a number stands where a comparison is needed", node.column)
    return node


def _number(node: _Node) -> _Node:
    if node.is_truth:
        raise FormulaError("a comparison stands where a number is needed", node.column)
    return node


_COMPARISONS = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": lambda a, b: a == b or abs(a - b) <= ABSOLUTE + RELATIVE * abs(b) < math.inf,
}
_RULES = (
    (_truth, {"&": partial(_joined, False), "|": partial(_joined, True)}),
    (_number, {sign: partial(_compared, compare) for sign, compare in _COMPARISONS.items()}),
    (_number, {"+": operator.add, "-": operator.sub}),
    (_number, {"*": operator.mul, "/": lambda a, b: a / b if b else math.nan}),
)
"""The check of operands and the operators of formula, comparison, sum and product."""
_COMPARISON = 1


class _Parser:
    """A recursive-descent parser."""

    def __init__(self, text: str):
        self._text, self._depth = text, 0
        self.references: list[Reference] = []
        self._end = 0
        self._advance()

    def _advance(self) -> None:
        """Move to the next token."""
        found = _TOKEN.match(self._text, self._end)
        if found is None:
            rest = self._text[self._end :]
            column = self._end + 1 + len(rest) - len(rest.lstrip())
            raise FormulaError(f"{rest.lstrip()[:1]!r} is no part of a formula", column)
        self._token, self._end = found, found.end()
        self._kind = next(k for k in ("region", "float", "sign", "end") if found[k] is not None)
        self._column = found.start(self._kind) + 1

    @property
    def _sign(self) -> str | None:
        return self._token["sign"]

    def _take(self) -> str:
        sign = self._sign
        self._advance()
        return sign

    def whole(self) -> _Node:
        """Parse the whole text. Raises FormulaError if text is left over, or if it is not a comparison."""
        node = self._operands()
        if self._kind != "end":
            raise self._unexpected("an operator")
        return _truth(node)

    def _unexpected(self, wanted: str) -> FormulaError:
        if self._kind == "end":
            return FormulaError(f"the formula ends where {wanted} is needed", self._column)
        begin = self._column - 1
        if self._kind != "region" and _HALF_A_REGION.match(self._text, begin):
            return FormulaError("a region is written (NUMBER;%CONDITION%)", self._column)
        shown = self._text[begin : self._end].strip()
        return FormulaError(f"{shown!r} stands where {wanted} is needed", self._column)

    def _operands(self, rule: int = 0) -> _Node:
        """Parse by one of the rules: operands of the next rule, joined by operators from left to right."""
        if rule == len(_RULES):
            return self._factor()
        if rule == _COMPARISON and self._sign == "!":
            column = self._column
            inner = _truth(self._nested(partial(self._operands, rule))).evaluate
            return _Node(column, True, lambda values: _negated(inner(values)))
        checked, operators = _RULES[rule]
        first, more = self._operands(rule + 1), []
        while self._sign in operators:
            if more and rule == _COMPARISON:
                raise FormulaError("a second comparison: join them with & or |", self._column)
            checked(first)
            apply = operators[self._take()]
            more.append((apply, checked(self._operands(rule + 1)).evaluate))
        if not more:
            return first

        def evaluate(values: Values):
            result = first.evaluate(values)
            for apply, other in more:
                result = apply(result, other(values))
            return result

        return _Node(first.column, rule <= _COMPARISON, evaluate)

    def _factor(self) -> _Node:
        column, token = self._column, self._token
        if self._kind == "region":
            number = token["number"]
            region = None if number == "*" else int(number)
            self.references.append(Reference(token["condition"], region, column))
            self._advance()
            return _Node(column, False, _number_of(self.references[-1]))
        if self._kind == "float":
            value = float(token["float"])
            self._advance()
            return _Node(column, False, lambda values: value)
        if self._sign == "-":
            inner = _number(self._nested(self._factor)).evaluate
            return _Node(column, False, lambda values: -inner(values))
        if self._sign not in _CLOSING or _HALF_A_REGION.match(self._text, column - 1):
            raise self._unexpected("a region, a number or a bracket")
        closing = _CLOSING[self._sign]
        node = self._nested(self._operands)
        if self._sign != closing:
            raise self._unexpected(f"{closing!r}")
        self._advance()
        return node._replace(column=column)

    def _nested(self, part: Callable[[], _Node]) -> _Node:
        """Parse the part after a sign or an opening bracket."""
        if self._depth == MAX_DEPTH:
            raise FormulaError(
                f"more than {MAX_DEPTH} brackets and signs in one another", self._column
            )
        self._depth += 1
        self._advance()
        node = part()
        self._depth -= 1
        return node
