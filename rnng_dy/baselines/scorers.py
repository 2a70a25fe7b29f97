"""Scorers: what gives words surprisals without a model folder, such as n-grams and those of plugins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from oracle.errors import PluginError
from oracle.registries import Registry
from rnng_dy import plugins
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.execution.work import InputFile
from rnng_dy.search.words import WordRecord, WordScorer
from rnng_dy.text.segmenter import Segmenter

SCORERS: Registry[type[WordScorer]] = Registry("scorer", WordScorer, KneserNey)


class OpenableScorer(NamedTuple):
    """A scorer to open where work is done."""

    name: str
    source: InputFile | None = None
    """What it is made of; None where the user names no file."""
    order: int = 5

    @property
    def title(self) -> str:
        """How outputs call it."""
        return SCORERS[self.name].title(*self.paths or [None], self.order)

    @property
    def paths(self) -> list[str]:
        """The files that it is made of."""
        return [] if self.source is None else [self.source.path]

    def content(self) -> list[object]:
        """See `ModelFolder.content`."""
        return [self.name, self.order, *map(Path, self.paths), *plugins.hashes()]

    @property
    def segmenter(self) -> Segmenter:
        """See `WordScorer`."""
        return self._scorer().segmenter

    def open(self) -> OpenableScorer:
        """The same, ready in this process. Raises RnngError for a name that none has, or a file that will not do."""
        self._scorer()
        return self

    def _scorer(self) -> WordScorer:
        [given] = self.paths or [None]
        return _open(self.name, given, self.order, os.path.abspath(given or ""))

    def surprisals_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> Sequence[Sequence[WordRecord]]:
        """See `WordScorer`. Raises PluginError where the records are not of the tokens and ends of the sentences."""
        scorer = self._scorer()
        records = scorer.surprisals_of(sentences, unkified)
        tokens = [[*tokens, None] for tokens in sentences]
        if [[getattr(record, "token", "") for record in of] for of in records] != tokens:
            raise PluginError.of(
                type(scorer).surprisals_of,
                "gives no WordRecord for each token of each sentence, and one with token None for its end",
            )
        return records


# a file's name may mean another one after the process has changed its folder
@lru_cache(maxsize=1)
def _open(name: str, given: str | None, order: int, path: str) -> WordScorer:
    return SCORERS.make(name, given, order, by="open")
