"""Training examples, made on demand from the sentences of an encoded oracle, and their order in an epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oracle.encoded import EncodedOracle, SentenceIds
from oracle.errors import ImpossibleError, RnngError
from oracle.transitions import SYSTEMS
from rnng_dy.baselines.lstm_lm import LanguageModelExample
from rnng_dy.model import Model
from rnng_dy.models.discriminative import ParserExample, Tokens
from rnng_dy.models.generative import GeneratorExample
from rnng_dy.models.network import Rnng
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.training.presets import Settings
from rnng_dy.vocabulary import UNK

NONE = -1
"""The id, in a table, of a symbol that the model does not have."""
BATCHES = 50
"""Batches that are sorted together: enough for sentences of like size per batch, few enough to vary over epochs."""


@dataclass(eq=False, repr=False)
class Examples(Sequence):
    """The examples of the sentences that a model can learn; another process that gets them maps the arrays itself."""

    _oracle: EncodedOracle
    _example_of: _ParserExampleOf | _WordExampleOf
    _members: np.ndarray
    """The indices of these sentences in the oracle."""

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, index: int):
        return self._example_of(self._oracle.ids_of(self._members[index]))

    def unmapped(self) -> Examples:
        """Return the same examples for a process of another machine: the arrays are sent along."""
        return replace(self, _oracle=self._oracle.unmapped())

    def repeated(self, first: int, times: int) -> Examples:
        """Return the examples with those of the first sentences of the oracle several times each."""
        of_first = np.searchsorted(self._members, first)
        parts = np.repeat(self._members[:of_first], times), self._members[of_first:]
        return replace(self, _members=np.concatenate(parts))

    @property
    def lines(self) -> np.ndarray:
        """Return the line in the oracle of each example's sentence."""
        return self._oracle.lines[self._members]

    @property
    def sizes(self) -> np.ndarray:
        """See `sizes_of`."""
        has_actions = self._example_of.actions is not None
        return self._oracle.lengths("action" if has_actions else "word")[self._members]


def sizes_of(examples: Sequence) -> np.ndarray:
    """Return the size of each example, which determines its cost: its actions, or its words if it has no actions."""
    if isinstance(examples, Examples):
        return examples.sizes
    return np.array([len(example[-1]) for example in examples])


def order_of_epoch(examples: Sequence, settings: Settings, epoch: int) -> np.ndarray:
    """Return the indices of the examples, batch after batch; the last batch may be smaller."""
    order = np.random.default_rng([settings.seed, 0, epoch]).permutation(len(examples))
    if not settings.bucket:
        return order
    random = np.random.default_rng([settings.seed, 3, epoch])
    return in_buckets(order, sizes_of(examples), settings.batch_size, random)


def in_buckets(
    order: np.ndarray, sizes: np.ndarray, batch_size: int, random: np.random.Generator
) -> np.ndarray:
    """Return the order with like sizes in each batch: sorts each BATCHES batches by size, then shuffles all batches.

    The rest that fills no whole batch stays at the end.

    >>> order, sizes = np.arange(5), np.array([9, 1, 8, 2, 5])
    >>> in_buckets(order, sizes, 2, np.random.default_rng(1)).tolist()
    [1, 3, 2, 0, 4]
    """
    whole = len(order) - len(order) % batch_size
    chunk = np.arange(whole) // (BATCHES * batch_size)
    batches = order[np.lexsort((sizes[order[:whole]], chunk))].reshape(-1, batch_size)
    return np.concatenate([random.permutation(batches).ravel(), order[whole:]])


def require_transitions(model: Model, systems: Iterable[str]) -> None:
    """Raise RnngError if sentences have actions of another transition system than the model's."""
    if not isinstance(model, Rnng):
        return
    own = model.transitions
    for name in systems:
        # systems may write the same oracles; the name is then that of the first such system
        if name not in SYSTEMS or not own.writes_like(SYSTEMS[name]):
            raise RnngError(
                f"the model's transitions are {own.name}, these {name}: make the oracle with --transitions {own.name}"
            )


def examples_of(model: Model, oracle: EncodedOracle) -> tuple[Examples, dict[int, str]]:
    """Return the examples, as `model.encode_training` makes them, and by line why other sentences have p = 0."""
    is_parser = isinstance(model, DiscriminativeParser)
    example_of = (_ParserExampleOf if is_parser else _WordExampleOf)(model, oracle)
    doubtful = np.zeros(len(oracle), bool)
    for column, symbols in example_of.lacking.items():
        if symbols.any():
            doubtful |= oracle.sentences_with(column, symbols)
    if isinstance(model, Rnng):
        # shorter sentences cannot break a limit
        doubtful |= oracle.lengths("action") > model.transitions.max_actions_within_limits
    impossible = {}
    for i in np.flatnonzero(doubtful).tolist():
        try:
            model.encode_training(oracle[i])
            doubtful[i] = False
        except ImpossibleError as error:
            impossible[int(oracle.lines[i])] = str(error)
    return Examples(oracle, example_of, np.flatnonzero(~doubtful)), impossible


class _ParserExampleOf:
    """Tables from an oracle's ids to a parser's, with which examples are made."""

    def __init__(self, parser: DiscriminativeParser, oracle: EncodedOracle):
        v, symbols = parser.vocabulary, oracle.symbols
        self._words = _table(v.words.get, symbols.words)
        # UNK replaces classes that the parser does not have
        self._classes = np.where(self._words == NONE, v.words.id(UNK), self._words)
        self.actions = _action_table(parser, oracle)
        self._tags = None if v.tags is None else v.tag_ids(symbols.tags)
        self._vectors = None if v.pretrained is None else v.pretrained_rows(symbols.words)

    @property
    def lacking(self) -> Mapping[str, np.ndarray]:
        """Return a mask per column of the symbols that the model lacks."""
        return {"actions": self.actions == NONE}

    def __call__(self, row: SentenceIds) -> ParserExample:
        classes, words = self._classes[row.unkified], self._words[row.tokens]
        words = np.where(words == NONE, classes, words).tolist()
        tags, vectors = self._tags, self._vectors
        tags = None if tags is None else [tags[i] for i in row.tags.tolist()]
        vectors = None if vectors is None else [vectors[i] for i in row.tokens.tolist()]
        tokens = Tokens(words, tags, vectors)
        return ParserExample(tokens, classes.tolist(), self.actions[row.actions].tolist())


class _WordExampleOf:
    """Tables from an oracle's ids to those of a model that generates words; without trees it has no actions."""

    def __init__(self, model: Model, oracle: EncodedOracle):
        self._words = _table(model.vocabulary.ids.get, oracle.symbols.words)
        self.actions = _action_table(model, oracle) if isinstance(model, Rnng) else None

    @property
    def lacking(self) -> Mapping[str, np.ndarray]:
        """See `_ParserExampleOf`."""
        columns = {"unkified": self._words, "actions": self.actions}
        return {name: ids == NONE for name, ids in columns.items() if ids is not None}

    def __call__(self, row: SentenceIds) -> GeneratorExample | LanguageModelExample:
        words = self._words[row.unkified].tolist()
        if self.actions is None:
            return LanguageModelExample(words)
        return GeneratorExample(words, self.actions[row.actions].tolist())


def _action_table(model: Rnng, oracle: EncodedOracle) -> np.ndarray:
    ids = {name: i for i, name in enumerate(model.transitions.names)}
    return _table(ids.get, oracle.symbols.actions)


def _table(id_of: Callable[[str], int | None], symbols: Sequence[str]) -> np.ndarray:
    ids = [id_of(symbol) for symbol in symbols]
    return np.array([NONE if i is None else i for i in ids], np.int64)
