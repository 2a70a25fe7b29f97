"""What to train on, the sentences as read, and the examples that minibatches are made of."""

import logging
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from oracle.blocks import STORED, OracleSentence, StoredSentences, oracle_sentences, stored
from oracle.brackets import format_tree, read_trees
from oracle.common.errors import ImpossibleError, InputError, RnngError
from oracle.common.files import placed
from oracle.training_data import Preparation, Trees, cleaned_trees, make_training_data
from oracle.transitions import SYSTEMS, TOP_DOWN, unlimited
from oracle.treebank import clean, words
from oracle.unknown import RULES
from rnng_dy.training.presets import Settings

SHOWN_WORDS = 8
"""How many words of a sentence a warning shows."""

_log = logging.getLogger(__name__)


class Corpus(NamedTuple):
    """The oracle sentences of both parts, with the names of their files for messages."""

    train: StoredSentences
    dev: Sequence[OracleSentence]
    """The sentences of a parser have their trees."""
    source: str
    dev_source: str
    rules: str | None = None
    """The rules for unknown words, where the sentences leave a choice; None if nobody says."""


@dataclass(frozen=True, kw_only=True)
class Data:
    """What to train on: trees, or oracles. `train` explains the fields."""

    trees: Trees | None = None
    dev_trees: Trees | None = None
    train: str | None = None
    dev: str | None = None
    hold_out: float | None = None
    unk: str | None = None

    def __post_init__(self) -> None:
        """Raise RnngError for a share that is none."""
        if self.hold_out is not None and not 0 < self.hold_out < 1:
            share = "`hold_out` is a share of the trees between 0 and 1"
            raise RnngError(f"{share}, not {self.hold_out}")

    def require_whole(self, parses: bool) -> None:
        """Raise RnngError unless there are data for training and development."""
        has_dev_trees = self.dev_trees is not None
        fits_trees = self.trees is not None and (has_dev_trees or self.hold_out is not None)
        if not (fits_trees or (self.train is not None and has_dev_trees == parses)):
            raise RnngError(
                "give `trees` with `dev_trees` or `hold_out`, or oracles as `train` and `dev`, "
                "and the `dev_trees` of a parser with them"
            )

    def read(self, folder: Path, model: Any, transitions: str | None, generative: bool) -> Corpus:
        """Return the sentences, of which those to train on stay in a folder.

        A model that there is already, unless it is None, has rules for unknown words and a
        transition system. Raises InputError for what cannot be read, or is not for this kind of
        model.
        """
        if self.trees is None:
            return self._of_oracles(folder)
        unk, default = self.unk or RULES[0], SYSTEMS.default
        if model is not None:
            unk, default = model.unknown.rules, model.config().get("transitions", SYSTEMS.default)
            if self.unk not in (None, unk):
                raise RnngError(f"the model has `unk` {unk}: leave it out")
        trees = cleaned_trees(self.trees, "trees")
        # via the typed digits: 0.1 is exactly a tenth, but its float is not
        held_out: Fraction | Preparation = Fraction(str(self.hold_out or 0))
        files = [trees]
        if self.dev_trees is not None:
            files.append(held_out := cleaned_trees(self.dev_trees, "dev_trees"))
        system = transitions or default
        train, dev = make_training_data(folder, trees, held_out, unk, system, generative)
        for file in files:
            changes = f"{file.changed} cleaned, {file.emptied} emptied"
            _log.info(f"{file.path}: {file.read} trees read, {changes}")
        return Corpus(train, dev, trees.path, files[-1].path, unk)

    def _of_oracles(self, folder: Path) -> Corpus:
        train = stored(oracle_sentences(self.train), folder / STORED)
        dev = [*oracle_sentences(self.dev)]
        if self.dev_trees is not None:
            for path, first in ((self.train, train[0]), (self.dev, dev[0])):
                if first.tags is None:
                    message = "this is a generative oracle: make the parser's without --generative"
                    raise InputError(message, path, first.line)
            dev = [*with_trees(dev, self.dev, self.dev_trees)]
        return Corpus(train, dev, str(self.train), str(self.dev))


def with_trees(oracle: Sequence[OracleSentence], path: str, trees: str) -> Iterator[OracleSentence]:
    """Yield the sentences of an oracle with the trees of a file.

    Raises InputError if that has other words, or other constituents when both are cleaned.
    """
    for gold, sentence in zip_longest(read_trees(trees), oracle):
        if not (gold and sentence) or tuple(words(gold.tree)) != sentence.tokens:
            message = f"its words are not those of this sentence in {path}"
            raise InputError(message, trees, gold.line if gold else None)
        with placed(trees, gold.line):
            system = unlimited(SYSTEMS[sentence.transitions])
            made = system.tree_of(sentence.actions, sentence.tokens, sentence.tags)
            if TOP_DOWN.actions_of(clean(gold.tree)) != TOP_DOWN.actions_of(clean(made)):
                raise RnngError(f"its constituents are not those of this sentence in {path}")
        yield replace(sentence, tree=format_tree(gold.tree))


@dataclass(eq=False, repr=False)
class Examples(Sequence):
    """The examples of sentences that a model can learn.

    Each one is encoded when it is asked for.
    """

    model: Any
    sentences: Sequence[OracleSentence]
    members: Sequence[int]
    """The indices of the sentences; that of a gold sentence is there several times."""

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: int) -> Any:
        return self.model.encode_training(self.sentences[self.members[index]])

    def tokens(self, index: int) -> tuple[str, ...]:
        """Return the words of an example's sentence."""
        return self.sentences[self.members[index]].tokens


def examples_of(
    model: Any, sentences: Sequence[OracleSentence], source: str, settings: Settings | None = None
) -> Examples:
    """Return the examples; if there are settings, gold sentences several times, as these say.

    Sentences that have p = 0 are left out with a warning. Raises InputError that names the file
    `source` if none is left, or for another transition system than the model's.
    """
    members = array("q")
    with placed(source):
        require_transitions(model, {sentence.transitions for sentence in sentences})
    left_out = 0
    for i, sentence in enumerate(sentences):
        try:
            model.encode_training(sentence)
        except ImpossibleError as error:
            left_out += 1
            shown = " ".join(sentence.tokens[:SHOWN_WORDS])
            _log.warning(f"{source}: left out, since {error}: {shown} ...")
        else:
            is_gold = settings is not None and i < settings.gold
            members.extend([i] * (settings.gold_weight if is_gold else 1))
    if left_out:
        _log.warning(f"{source}: {left_out} of {len(sentences)} sentences left out")
    if not members:
        raise InputError("every sentence has p = 0", source)
    return Examples(model, sentences, members)


def require_transitions(model: Any, systems: Iterable[str]) -> None:
    """Raise RnngError if sentences have actions of another transition system than the model's."""
    if not model.has_trees:
        return
    system = model.transitions
    for name in systems:
        # systems may write the same oracles; the name is then that of the first such system
        if name not in SYSTEMS or not system.writes_like(SYSTEMS[name]):
            how = f"make the oracle with --transitions {system.name}"
            raise RnngError(f"the model's transitions are {system.name}, these {name}: {how}")
