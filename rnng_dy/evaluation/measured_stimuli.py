"""Measured stimuli as rows in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from oracle.sentences import SourceSentence
from rnng_dy.evaluation.records import ALL_MEASURES, WordRecord
from rnng_dy.evaluation.word_tables import RegionRows, WordRows
from rnng_dy.text.stimuli import REGION, Stimuli


class WordTable(list[dict[str, Any]]):
    """The words of stimuli, a dictionary each with the stimuli's columns and the measures in bits.

    `pandas.DataFrame` takes it as it is.
    """

    def __init__(
        self,
        stimuli: Stimuli,
        texts: Sequence[Sequence[SourceSentence]],
        records: Sequence[Sequence[WordRecord]],
    ):
        """Make the rows; `records` are those of the sentences of all `texts`."""
        self._stimuli, self._texts, self._records = stimuli, texts, records
        super().__init__(self._rows(WordRows, stimuli))

    def by_region(self) -> list[dict[str, Any]]:
        """Return a row per region, with sums over its words."""
        return list(self._rows(RegionRows, self._stimuli))

    def by_sentence(self) -> list[dict[str, Any]]:
        """Return a row per text, with sums over its words."""
        whole = [text._replace(regions=text.regions[:1]) for text in self._stimuli.texts]
        rows = list(self._rows(RegionRows, self._stimuli._replace(texts=whole)))
        for row in rows:
            del row[REGION]
        return rows

    def _rows(self, kind: type[WordRows], stimuli: Stimuli) -> Iterator[dict[str, Any]]:
        all_records = list(chain.from_iterable(self._records))
        measures = [
            name for name in ALL_MEASURES if any(getattr(r, name) is not None for r in all_records)
        ]
        rows = kind(self._texts, stimuli, measures)
        for cells, record in rows.of(self._records):
            yield {**cells, **{name: getattr(record, name) for name in measures}}
