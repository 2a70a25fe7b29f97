"""The interface of sources of surprisals without a model folder: n-grams, tables, and scorers of plugins."""

from __future__ import annotations

from typing import ClassVar

from rnng_dy.scorer import Scorer


class WordScorer(Scorer):
    """A source of surprisals without a model folder, which defines `records_of`.

    `baselines.scorers.SCORERS` has them by name.
    """

    name: ClassVar[str]
    """Name after `--scorer`."""

    @classmethod
    def open(cls, path: str | None, order: int) -> WordScorer:
        """Return a scorer made from a file, None if the user names none; `order` is the n of n-grams.

        Raises RnngError for an unusable file.
        """
        return cls(path)  # type: ignore[call-arg]
