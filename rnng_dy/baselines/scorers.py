"""Scorers, which measure surprisals without a model folder: n-grams, tables, plugins."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from oracle.common import plugins
from oracle.common.plugins import Registry
from rnng_dy.baselines.kneser_ney import KneserNey
from rnng_dy.baselines.surprisal_tables import SurprisalTable
from rnng_dy.scorer import WordScorer

SCORERS: Registry[type[WordScorer]] = Registry("scorer", WordScorer, KneserNey, SurprisalTable)


class OpenableScorer(NamedTuple):
    """A scorer that workers open."""

    name: str
    source: str | None = None
    """The file that it is made from; None if the user names no file."""
    order: int = 5
    has_trees = False
    """No search is needed."""

    @property
    def title(self) -> str:
        """Return its name in outputs: as `--scorer` names it."""
        return self.name if self.source is None else f"{self.name}={self.source}"

    def content(self) -> list[object]:
        """Return what determines the scorer's results, for `content_hash`."""
        return [self.name, self.order, *self.files().values(), *plugins.loaded().values()]

    def files(self) -> dict[str, Path]:
        """Return the file that the scorer is made from, by its name."""
        path = Path(self.source or "")
        return {path.name: path} if self.source else {}

    def moved(self, folder: str) -> OpenableScorer:
        """Return the scorer with its file in another folder."""
        return self._replace(source=self.source and str(Path(folder, Path(self.source).name)))

    def open(self) -> WordScorer:
        """Open the scorer. Raises RnngError for an unknown name or an unsuitable file."""
        return SCORERS[self.name].open(self.source, self.order)
