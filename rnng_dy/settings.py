"""Settings as dataclass fields with help text and range, from which command-line options and checks are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import MISSING, Field, field
from typing import Any, NamedTuple


class Range(NamedTuple):
    """The range of numbers that a setting accepts; None means no bound."""

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, number: object) -> bool:
        low, high, low_open, high_open = self
        above = low is None or number > low or (number == low and not low_open)
        return above and (high is None or number < high or (number == high and not high_open))

    def __str__(self) -> str:
        """Return the range as error messages show it.

        >>> print(Range(0, 1, high_open=True), Range(1))
        0<=x<1 x>=1
        """
        low, high, low_open, high_open = self
        if high is None:
            return f"x{'>' if low_open else '>='}{low}"
        left = "" if low is None else f"{low}{'<' if low_open else '<='}"
        return f"{left}x{'<' if high_open else '<='}{high}"


ANY, AT_LEAST_1, NOT_NEGATIVE = Range(), Range(1), Range(0)
POSITIVE = Range(0, low_open=True)
RATE = Range(0, 1, high_open=True)


def setting(
    text: str,
    default: object = MISSING,
    numbers: Range = ANY,
    choices: Sequence[str] = (),
    option: str | None = None,
) -> Any:
    """Return a field with a help text and the numbers or names that it accepts.

    `option` is the name that users see if it is not the name of the field.
    """
    metadata = {"help": text, "range": numbers, "choices": choices, "option": option}
    return field(default=default, metadata=metadata)


def option_name(of: Field) -> str:
    """Return the name that users see: as it is in Python, with - for _ on the command line."""
    return of.metadata["option"] or of.name


def mistake(of: Field, value: object) -> str | None:
    """Return why a setting cannot have a value, in the words of the command line; None if it can.

    >>> from dataclasses import make_dataclass, fields
    >>> [layers] = fields(make_dataclass("Sizes", [("layers", "int", setting("Layers.", 2, AT_LEAST_1))]))
    >>> mistake(layers, 0), mistake(layers, 1)
    ('0 is not in the range x>=1.', None)
    """
    if of.type == "str":
        names = ", ".join(map(repr, of.metadata["choices"]))
        return None if value in of.metadata["choices"] else f"{value!r} is not one of {names}."
    types, name = {
        "int": ((int,), "integer range"),
        "float": ((int, float), "number"),
    }[of.type]
    # a bool is an int for isinstance
    if type(value) not in types:
        return f"{value!r} is not a valid {name}."
    if type(value) is float and not math.isfinite(value):
        return f"{value} is no finite number."
    numbers = of.metadata["range"]
    return None if value in numbers else f"{value} is not in the range {numbers}."
