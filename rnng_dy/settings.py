"""Settings, such as dimensions: fields with a help text and the type of their option.

This module is importable without DyNet, since the options are made from it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field
from numbers import Integral
from typing import Any

import click

from oracle.common.errors import RnngError


class FiniteRange(click.FloatRange):
    """A range of numbers without NaN and infinities, which Python's `float` accepts."""

    name = "number"

    def convert(self, value, param, ctx) -> float:
        """Return the number, which must be finite."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


AT_LEAST_1, NOT_NEGATIVE, COUNT = click.IntRange(1), click.IntRange(0), click.IntRange(1, 10**9)
POSITIVE, RATE = FiniteRange(0, min_open=True), FiniteRange(0, 1, max_open=True)


def setting(text: str, default: object = MISSING, kind: click.ParamType = AT_LEAST_1) -> Any:
    """Return a field with a help text and the type of its values."""
    return field(default=default, metadata={"help": text, "type": kind})


def require_setting(setting: Field, value: object) -> None:
    """Raise RnngError, in the words of the command line, for a value that a setting cannot have.

    >>> from dataclasses import make_dataclass, fields
    >>> [layers] = fields(make_dataclass("Sizes", [("layers", "int", setting("Layers.", 2))]))
    >>> require_setting(layers, 2.5)
    Traceback (most recent call last):
    oracle.common.errors.RnngError: layers: 2.5 is not a valid integer range.
    """
    kind, name = setting.metadata["type"], option_name(setting.name)
    # click takes 2.5 and True for whole numbers
    if type(value) not in {"int": (int,), "float": (int, float), "str": (str,)}[setting.type]:
        raise RnngError(f"{name}: {value!r} is not a valid {kind.name}.")
    try:
        kind.convert(value, None, None)
    except click.BadParameter as error:
        raise RnngError(f"{name}: {error.message}") from None


def require_whole(least: int, **numbers: object) -> None:
    """Raise RnngError for an argument that is no whole number from `least` on.

    >>> require_whole(1, k=0)
    Traceback (most recent call last):
    oracle.common.errors.RnngError: k: 0 is no whole number from 1 on
    """
    for name, number in numbers.items():
        if not isinstance(number, Integral) or number < least:
            raise RnngError(f"{name}: {number!r} is no whole number from {least} on")


_ARGUMENT = re.compile(r"`(\w+)`(?: (?!or\b)(\S+))?")


def require(goes: Mapping[str, str], values: Mapping[str, Any]) -> None:
    """Raise RnngError for an argument that lacks what it goes with, or has what it excludes.

    `goes` has the rules of arguments that are given: each names another argument, and maybe its
    values, or several arguments of which one is enough. `values` are those of all arguments; others
    that a rule names do not count.

    >>> rules = {"samples": "with `decode` mbr or `generator`"}
    >>> require(rules, {"decode": "best", "generator": None})
    Traceback (most recent call last):
    oracle.common.errors.RnngError: `samples` goes with `decode` mbr or `generator`
    """
    for name, rules in goes.items():
        for rule in filter(None, rules.split(", ")):
            how, others = rule.split()[0], [x for x in _ARGUMENT.findall(rule) if x[0] in values]
            if others and any(_has(values[n], x) for n, x in others) != (how == "with"):
                shown = " or ".join(f"`{other}` {wanted}".rstrip() for other, wanted in others)
                raise RnngError(f"`{name}` goes {how} {shown}")


def _has(value: object, wanted: str) -> bool:
    """Return whether a value, or one of several, is wanted; any is if `wanted` is empty."""
    several = value if isinstance(value, tuple) else (value,)
    names = wanted.split("/")
    return any(str(x) in names if wanted else x is not None and x is not False for x in several)


@dataclass(frozen=True)
class LanguageModelSizes:
    """The paper's dimensions of the LSTM language model."""

    layers: int = setting("Layers of the LSTMs.", 2)
    lstm_input: int = setting("Dimension of the LSTMs' inputs.", 256)
    hidden: int = setting("Dimension of the LSTMs' states.", 256)


@dataclass(frozen=True)
class Sizes(LanguageModelSizes):
    """The paper's dimensions of an RNNG; `layers` is for stack, action, buffer, terms LSTMs.

    They are those of generators, where a word's embedding goes onto the stack unchanged, with
    `lstm_input` values.
    """

    action: int = setting("Dimension of action embeddings.", 16)


@dataclass(frozen=True)
class ParserSizes(Sizes):
    """The paper's dimensions, with or without POS tags."""

    lstm_input: int = setting("Dimension of the LSTMs' inputs.", 128)
    hidden: int = setting("Dimension of the LSTMs' states.", 128)
    word: int = setting("Dimension of word embeddings.", 32)
    tag: int = setting("Dimension of POS tag embeddings.", 12)


def option_name(name: str) -> str:
    """Return the name that users see of a size or setting: `word_size` for `word`."""
    return f"{name}_size" if name in ("action", "word", "tag") else name
