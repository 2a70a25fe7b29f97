"""Dimensions of models; importable without DyNet, since command-line options are made from them."""

from __future__ import annotations

from dataclasses import dataclass

from rnng_dy.settings import setting


@dataclass(frozen=True)
class LanguageModelSizes:
    """The paper's dimensions of the LSTM language model."""

    layers: int = setting("Layers of the LSTMs.", 2)
    lstm_input: int = setting("Dimension of the LSTMs' inputs.", 256)
    hidden: int = setting("Dimension of the LSTMs' states.", 256)


@dataclass(frozen=True)
class Sizes(LanguageModelSizes):
    """The paper's dimensions of an RNNG; `layers` applies to the stack, action, buffer and terms LSTMs.

    They are those of generators, where a word's embedding goes onto the stack unchanged, with `lstm_input` values.
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
    """Return the name that users see of a field of sizes or training settings: `word_size` for `word`."""
    return f"{name}_size" if name in ("action", "word", "tag") else name
