"""A model's results on test suites: the values of regions, which predictions hold, and the tables of both."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from statistics import fmean
from typing import NamedTuple

from oracle.common.errors import RnngError
from oracle.common.files import split_words
from oracle.common.tables import TSV, aligned, joined
from rnng_dy.evaluation.records import WordRecord
from rnng_dy.evaluation.significance import mean_interval
from rnng_dy.evaluation.suites import Item, Place, Sentence, Suite

ACCURACIES = ("model", "suite", "prediction", "right", "of", "accuracy", "left out", "unknown")
REGIONS = (
    *("model", "suite", "item", "condition", "region", "name", "content"),
    *("tokens", "surprisal", "unknown"),
)
Surprisals = Callable[[Sequence[Sentence]], Sequence[Sequence[WordRecord]]]
"""A function from sentences to a record per token; a record for the end of the sentence is ignored."""


class Accuracy(NamedTuple):
    """How often a prediction holds."""

    right: int
    of: int
    """Items that decide the prediction."""
    left_out: int
    """Items that do not: infinity is compared with infinity, or a sentence has no surprisals."""
    unknown: int
    """Deciding items in which the prediction compares a region with a word unknown to the model."""

    @property
    def share(self) -> float:
        """Share of the deciding items; NaN if there are none."""
        return self.right / self.of if self.of else math.nan

    @property
    def percent(self) -> str:
        """The share as tables show it."""
        return f"{100 * self.share:.1f} %" if self.of else "-"


@dataclass(frozen=True)
class ItemResult:
    """A model's values and outcomes for one item."""

    item: Item
    values: Mapping[Place, float]
    """By condition and region, in bits."""
    oov_by_region: Mapping[Place, Sentence]
    """By condition and region, the words outside the model's vocabulary."""
    outcomes: tuple[bool | None, ...]
    """Per prediction; None if the item does not decide it."""
    compares_oov: tuple[bool, ...]
    """Per prediction, whether it compares a region with a word outside the vocabulary."""
    holds: bool | None
    """Whether all predictions hold: False if one does not, else None if one is undecided.

    None for an item that does not belong to all predictions, which decides nothing about all.
    """

    @property
    def oov(self) -> list[str]:
        """Return the words of the item outside the model's vocabulary, each once."""
        return list(dict.fromkeys(word for words in self.oov_by_region.values() for word in words))


class Effect(NamedTuple):
    """The difference between two conditions in a region, over the items in which both values are finite."""

    model: str
    suite: str
    condition: str
    other: str
    region: int
    name: str
    """The name of the region, which may be empty."""
    items: int
    difference: float
    """Mean over items of the value in `condition` less that in `other`; NaN without items."""
    low: float
    """Lower end of the 95 % interval of the mean, by the t distribution; NaN for fewer than two items."""
    high: float


@dataclass(frozen=True)
class SuiteResult:
    """A model's results on one suite."""

    suite: Suite
    items: tuple[ItemResult, ...]
    model: str = ""
    """The name of the model."""

    @property
    def accuracy(self) -> Accuracy:
        """Accuracy over items: an item is right if all predictions hold."""
        return self.rows()[-1][-1]

    def rows(self) -> list[tuple[str, str, Accuracy]]:
        """Return each prediction's name, formula and accuracy; then, of several, the accuracy of all together."""
        found = []
        for i, of in enumerate(self.suite.predictions):
            pairs = [(item.outcomes[i], item.compares_oov[i]) for item in self.items]
            found.append((of.name, of.text, _accuracy(pairs)))
        if len(found) > 1:
            pairs = [(item.holds, any(item.compares_oov)) for item in self.items]
            found.append(("all predictions", "", _accuracy(pairs)))
        return found

    def means(self) -> dict[str, dict[int, float]]:
        """Return the mean value of each region by condition, over items with a finite value; NaN if there are none."""
        found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for result in self.items:
            for (condition, region), value in result.values.items():
                found[condition][region] += [value] if math.isfinite(value) else []
        return {
            condition: {n: fmean(of) if of else math.nan for n, of in sorted(regions.items())}
            for condition, regions in found.items()
        }

    def effects(self) -> Iterator[Effect]:
        """Yield the difference of each pair of conditions in each region that some item has in both."""
        for (condition, regions), (other, others) in combinations(self.means().items(), 2):
            for region in filter(others.__contains__, regions):
                places = (condition, region), (other, region)
                pairs = [[item.values.get(p, math.nan) for p in places] for item in self.items]
                found = [a - b for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
                of = condition, other, region, self.suite.region_names.get(region, "")
                figures = len(found), *mean_interval(found)
                yield Effect(self.model, self.suite.name, *of, *figures)

    def regions(self) -> list[int]:
        """Return the numbers of all regions, in order."""
        return sorted({region for item in self.items for _, region in item.values})


def evaluate(suites: Sequence[Suite], surprisals: Surprisals, model: str = "") -> list[SuiteResult]:
    """Return the results of suites; equal sentences are scored once. `model` is the name of the model.

    Raises RnngError if the records' tokens differ from those of the sentence.
    """
    sentences = list(dict.fromkeys(tokens for suite in suites for tokens in suite.sentences()))
    words = {}
    for sentence, records in zip(sentences, surprisals(sentences), strict=True):
        words[sentence] = [record for record in records if record.token is not None]
        if tuple(record.token for record in words[sentence]) != sentence:
            raise RnngError(f"the model's records are not of the tokens of {' '.join(sentence)!r}")
    return [
        SuiteResult(suite, tuple(_item_result(suite, item, words) for item in suite.items), model)
        for suite in suites
    ]


def _accuracy(pairs: Sequence[tuple[bool | None, bool]]) -> Accuracy:
    """Return the accuracy of pairs: the outcome, and whether it depends on a word outside the vocabulary."""
    decided = [pair for pair in pairs if pair[0] is not None]
    right, unknown = (sum(pair[k] for pair in decided) for k in (0, 1))
    return Accuracy(right, len(decided), len(pairs) - len(decided), unknown)


def _item_result(
    suite: Suite, item: Item, words: Mapping[Sentence, Sequence[WordRecord]]
) -> ItemResult:
    values, oov = {}, {}
    measured = {
        condition: chain.from_iterable(map(words.__getitem__, sentences))
        for condition, sentences in item.sentences.items()
    }
    for place, tokens in item.regions.items():
        records = list(islice(measured[place[0]], len(tokens)))
        values[place] = math.fsum(r.surprisal for r in records)
        oov[place] = tuple(r.token for r in records if r.known is False)
    with_oov: set[tuple[str, int | None]] = {place for place, found in oov.items() if found}
    # None stands for all regions
    with_oov |= {(name, None) for name, _ in with_oov}
    lacks = list(map(item.lacks, suite.predictions))
    pairs = zip(suite.predictions, lacks, strict=True)
    outcomes = tuple(None if lacking else of.decide(values) for of, lacking in pairs)
    holds = next((outcome for outcome in (False, None) if outcome in outcomes), True)
    compares_oov = tuple(not with_oov.isdisjoint(of.references) for of in suite.predictions)
    return ItemResult(item, values, oov, outcomes, compares_oov, None if any(lacks) else holds)


def accuracy_table(results: Sequence[SuiteResult]) -> str:
    """Return an aligned table: a row per prediction and, if there are several, a row for all together.

    Rows name their model if there are several.
    """
    begin = int(len({result.model for result in results}) < 2)
    rows = [ACCURACIES[begin:]]
    for result in results:
        for name, _, found in result.rows():
            names = [_one_line(of) for of in (result.model, result.suite.name, name)]
            counts = (found.right, found.of, found.percent, found.left_out, found.unknown)
            rows.append((*names[begin:], *map(str, counts)))
    return aligned(rows, left=3 - begin)


def region_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the columns REGIONS of every region of every model, after a header line.

    `surprisal` is the region's value in bits, which may be `inf` or `nan`; `tokens` and `unknown`
    are numbers.
    """
    yield _line(REGIONS, style)
    for result in results:
        names = result.suite.region_names
        for found in result.items:
            for place, tokens in found.item.regions.items():
                where = result.model, result.suite.name, found.item.name, *place
                content = names.get(place[1], ""), " ".join(tokens), len(tokens)
                unknown = len(found.oov_by_region[place])
                yield _line((*where, *content, found.values[place], unknown), style)


def effect_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the differences between conditions by region, after a header line; `nan` is a possible value."""
    yield _line(Effect._fields, style)
    for result in results:
        yield from (_line(effect, style) for effect in result.effects())


def as_json(results: Sequence[SuiteResult]) -> list[dict[str, object]]:
    """Return the figures of all suites, in bits."""
    return [
        {
            "model": result.model,
            "suite": result.suite.name,
            "items": len(result.items),
            **_numbers(result.accuracy),
            "predictions": [
                {"name": name, "formula": text, **_numbers(found)}
                for name, text, found in result.rows()[: len(result.suite.predictions)]
            ],
            "region_names": result.suite.region_names,
            "means": result.means(),
            "outcomes": [
                {
                    "item": found.item.name,
                    "predictions": found.outcomes,
                    "unknown": found.compares_oov,
                    "unknown_words": found.oov,
                }
                for found in result.items
            ],
        }
        for result in results
    ]


def _numbers(found: Accuracy) -> dict[str, float]:
    return {**found._asdict(), "accuracy": found.share}


def _line(cells: Sequence[object], style: str) -> str:
    """Return the line of cells; bits, which are floats, have six digits after the point."""
    texts = (f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return joined(list(map(_one_line, texts)), style) + "\n"


def _one_line(text: str) -> str:
    return " ".join(split_words(text))
