"""Scorers, which compute surprisals of words without a model folder: n-grams, and scorers of plugins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from oracle.errors import PluginError
from oracle.registries import Registry
from rnng_dy import plugins
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.baselines.surprisal_tables import SurprisalTable
from rnng_dy.search.words import WordRecord, WordScorer
from rnng_dy.spelling import SpellingModel
from rnng_dy.text.segmenter import Segmenter

SCORERS: Registry[type[WordScorer]] = Registry("scorer", WordScorer, KneserNey, SurprisalTable)


class OpenableScorer(NamedTuple):
    """A scorer that workers open."""

    name: str
    source: str | None = None
    """The file that it is made from; None if the user names no file."""
    order: int = 5

    @property
    def title(self) -> str:
        """Return its name in outputs."""
        return SCORERS[self.name].title(self.source, self.order)

    @property
    def paths(self) -> list[str]:
        """Return the files that it is made from."""
        return [] if self.source is None else [self.source]

    def content(self) -> list[object]:
        """See `ModelFolder.content`."""
        return [self.name, self.order, *map(Path, self.paths), *plugins.hashes()]

    def files(self) -> dict[str, Path]:
        """See `parallel.Place`."""
        return {os.path.basename(path): Path(path) for path in self.paths}

    def moved(self, folder: str) -> OpenableScorer:
        """See `parallel.Place`."""
        sources = [os.path.join(folder, name) for name in self.files()]
        return self._replace(source=sources[0] if sources else None)

    def open(self) -> CheckedScorer:
        """Open the scorer in this process. Raises RnngError for an unknown name or an unsuitable file."""
        return CheckedScorer(SCORERS.make(self.name, self.source, self.order, by="open"))


class CheckedScorer(WordScorer):
    """An opened scorer, perhaps a plugin's, whose records are checked."""

    def __init__(self, scorer: WordScorer):
        self._scorer = scorer

    @property
    def segmenter(self) -> Segmenter:
        """See `WordScorer`."""
        return self._scorer.segmenter

    @property
    def spelling(self) -> SpellingModel | None:
        """See `WordScorer`."""
        return self._scorer.spelling

    def surprisals_of(
        self,
        sentences: Sequence[Sequence[str]],
        unkified: Sequence[Sequence[str] | None] | None = None,
    ) -> Sequence[Sequence[WordRecord]]:
        """See `WordScorer`. Raises PluginError if the records do not match the tokens and ends of the sentences."""
        scorer = self._scorer
        records = scorer.surprisals_of(sentences, unkified)
        tokens = [[*tokens, None] for tokens in sentences]
        if [[getattr(record, "token", "") for record in of] for of in records] != tokens:
            raise PluginError.of(
                type(scorer).surprisals_of,
                "gives no WordRecord for each token of each sentence, and one with token None for its end",
            )
        return records

    def next_word_entropies(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[float]]:
        """See `WordScorer`."""
        return self._scorer.next_word_entropies(sentences)
