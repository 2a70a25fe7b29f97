"""Dimensions of models; importable without DyNet, since command-line options are made from them."""

from __future__ import annotations

from dataclasses import Field, dataclass

from rnng_dy.settings import AT_LEAST_1, setting

LAYERS, READ = "Layers of the LSTMs.", "Dimension of the LSTMs' inputs."
STATES = "Dimension of the LSTMs' states."


def _size(text: str, default: int, option: str | None = None) -> Field:
    return setting(text, default, AT_LEAST_1, option=option)


@dataclass(frozen=True)
class Sizes:
    """The paper's dimensions of an RNNG; `layers` applies to the stack, action, buffer and terms LSTMs.

    They are those of generators, where a word's embedding goes onto the stack unchanged, with `lstm_input` values.
    """

    layers: int = _size(LAYERS, 2)
    lstm_input: int = _size(READ, 256)
    hidden: int = _size(STATES, 256)
    action: int = _size("Dimension of action embeddings.", 16, "action_size")


@dataclass(frozen=True)
class ParserSizes(Sizes):
    """The paper's dimensions, with or without POS tags."""

    lstm_input: int = _size(READ, 128)
    hidden: int = _size(STATES, 128)
    word: int = _size("Dimension of word embeddings.", 32, "word_size")
    tag: int = _size("Dimension of POS tag embeddings.", 12, "tag_size")


@dataclass(frozen=True)
class LanguageModelSizes:
    """The paper's dimensions of the LSTM language model."""

    layers: int = _size(LAYERS, 2)
    lstm_input: int = _size(READ, 256)
    hidden: int = _size(STATES, 256)
