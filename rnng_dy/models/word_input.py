"""The vectors of words that the network reads: rows of a table, or those of a plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from oracle.common.plugins import Registry
from rnng_dy.engine import dy
from rnng_dy.models.vectors import Embedding, LookupTable
from rnng_dy.parameters import ParameterStore


class Word(NamedTuple):
    """A word that the network reads."""

    id: int
    """Its number in the vocabulary; that of its class if the model does not know it."""
    form: str
    """A parser's word as it is written; a generative model's word, or its class if unknown."""


class WordInput:
    """A function from words to vectors, with its parameters."""

    name: ClassVar[str]
    """Name in config.json and on the command line."""
    reads_sentence: ClassVar[bool] = False
    """Whether a word's vector depends on the rest of the sentence.

    A generative model, which has yet to predict the rest, refuses such an input.
    """

    def __init__(self, store: ParameterStore, forms: Sequence[str], size: int):
        """Create the parameters. `forms` are the words of the vocabulary by their ids.

        Vectors have `size` values. `--extend` appends forms: number what you count in their order.
        Parameters grow at the end of their first dimension alone.
        """

    def sentence(self, words: Sequence[Word]) -> list[Embedding]:
        """Return the vectors of the words of a parser's sentence, by default those of their forms.

        A vector is an `Embedding(source, row)`, which is computed later: `source` is a function
        from the rows of some words to their vectors, shape (size,), one batch element each.
        """
        return [Embedding(self, word.form) for word in words]

    def next_word(self, word: Word) -> Embedding:
        """Return the vector of a generated word, by default as of a sentence."""
        [vector] = self.sentence([word])
        return vector

    def __call__(self, rows: Sequence[str]) -> dy.Expression:
        """Return the vectors of some words, shape (size,): one batch element each."""
        raise NotImplementedError


class WordTable(WordInput):
    """A table with a row per word and class of unknown words, as in the original."""

    name = "table"

    def __init__(self, store: ParameterStore, forms: Sequence[str], size: int):
        self._table = LookupTable(store, "word", len(forms), size)

    def sentence(self, words: Sequence[Word]) -> list[Embedding]:
        """Return the rows of words, which all their occurrences share."""
        return [self._table[word.id] for word in words]

    def next_word(self, word: Word) -> Embedding:
        """Return the row of a word, as one occurrence of it."""
        return self._table.occurrence(word.id)


WORD_INPUTS: Registry[type[WordInput]] = Registry("word input", WordInput, WordTable)
