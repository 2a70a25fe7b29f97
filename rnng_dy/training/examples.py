"""Training examples, encoded when they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oracle.blocks import OracleSentence
from oracle.errors import ImpossibleError, RnngError
from oracle.transitions import SYSTEMS

SHOWN_WORDS = 8
"""How many words of a sentence a warning shows."""


_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Examples(Sequence):
    """The examples of sentences that a model can learn."""

    model: Any
    sentences: Sequence[OracleSentence]
    members: np.ndarray
    """The indices of the sentences that it can learn."""

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, index: int) -> Any:
        return self.model.encode_training(self.sentences[self.members[index]])

    def repeated(self, first: int, times: int) -> Examples:
        """Return the examples with those of the first sentences several times each."""
        of_first = np.searchsorted(self.members, first)
        parts = np.repeat(self.members[:of_first], times), self.members[of_first:]
        return replace(self, members=np.concatenate(parts))

    def tokens(self, index: int) -> tuple[str, ...]:
        """Return the words of an example's sentence."""
        return self.sentences[self.members[index]].tokens


def examples_of(model: Any, sentences: Sequence[OracleSentence]) -> tuple[Examples, dict[int, str]]:
    """Return the examples, and the reason for each sentence, by index, that has p = 0."""
    impossible = {}
    for i, sentence in enumerate(sentences):
        try:
            model.encode_training(sentence)
        except ImpossibleError as error:
            impossible[i] = str(error)
    members = [i for i in range(len(sentences)) if i not in impossible]
    return Examples(model, sentences, np.array(members, np.int64)), impossible


def warn_of(
    source: str, sentences: Sequence[OracleSentence], impossible: Mapping[int, str]
) -> None:
    """Warn of sentences that are left out because they have p = 0."""
    for i, reason in impossible.items():
        words = " ".join(sentences[i].tokens[:SHOWN_WORDS])
        _log.warning(f"{source}: left out, since {reason}: {words} ...")
    if impossible:
        _log.warning(f"{source}: {len(impossible)} of {len(sentences)} sentences left out")


def require_transitions(model: Any, systems: Iterable[str]) -> None:
    """Raise RnngError if sentences have actions of another transition system than the model's."""
    own = getattr(model, "transitions", None)
    for name in systems if own else ():
        # systems may write the same oracles; the name is then that of the first such system
        if name not in SYSTEMS or not own.writes_like(SYSTEMS[name]):
            raise RnngError(
                f"the model's transitions are {own.name}, these {name}: make the oracle with --transitions {own.name}"
            )
