"""A model's results on test suites: values of regions, predictions that hold, tables of both."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice
from typing import NamedTuple

from oracle.common.errors import RnngError
from rnng_dy.evaluation.records import Records
from rnng_dy.evaluation.significance import mean_interval, wilson_interval
from rnng_dy.evaluation.suites import Item, RegionKey, Suite, Tokens, Values

ALL = "all"
"""What tables say of a result on all items, in the column of groups."""
Surprisals = Callable[[Sequence[Tokens]], Sequence[Records]]
"""A function from sentences to a record per token; that of the end of the sentence is ignored."""


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
    def percent(self) -> list[str]:
        """The share and the ends of its 95 % interval, by Wilson, as tables show them."""
        shares = self.share, *wilson_interval(self.right, self.of)
        return [f"{100 * share:.1f} %" if self.of else "-" for share in shares]

    def figures(self) -> dict[str, float]:
        """Return the counts, the share and the ends of its interval by name."""
        low, high = wilson_interval(self.right, self.of)
        return {**self._asdict(), "accuracy": self.share, "low": low, "high": high}


class ItemResult(NamedTuple):
    """A model's values and outcomes for one item."""

    item: Item
    values: Values
    """By condition and region, in bits."""
    oov_by_region: Mapping[RegionKey, Tokens]
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
    """The mean over items of a prediction's difference, a condition, or two conditions' difference.

    Items count in which it is finite.
    """

    model: str
    suite: str
    group: str
    kind: str
    """`prediction`: left side less right side; `condition`; `difference`: of two conditions."""
    effect: str
    """The formula, the condition, or `first - second`."""
    region: int | str
    """Its number; empty for a prediction."""
    name: str
    """The name of the region, which may be empty."""
    items: int
    mean: float
    """In the unit of the values; NaN without items."""
    low: float
    """Lower end of its 95 % interval, by the t distribution; NaN for fewer than two items."""
    high: float


class SuiteResult(NamedTuple):
    """A model's results on one suite."""

    suite: Suite
    items: tuple[ItemResult, ...]
    model: str = ""
    """The name of the model."""

    @property
    def accuracy(self) -> Accuracy:
        """Accuracy over items: an item is right if all predictions hold."""
        return self.rows()[-1][-1] if self.suite.predictions else Accuracy(0, 0, 0, 0)

    @property
    def group(self) -> str:
        """The group, as tables name it."""
        return ALL if self.suite.group is None else self.suite.group

    def rows(self) -> list[tuple[str, str, Accuracy]]:
        """Return each prediction's name, formula and accuracy; then, of several, that of all."""
        rows = []
        predictions = self.suite.predictions
        for i, prediction in enumerate(predictions):
            belonging = [item for item in self.items if not item.item.lacks(prediction)]
            pairs = [(item.outcomes[i], item.compares_oov[i]) for item in belonging]
            rows.append((prediction.name, prediction.text, _accuracy(pairs)))
        if len(rows) > 1:
            whole = [x for x in self.items if not any(map(x.item.lacks, predictions))]
            pairs = [(item.holds, any(item.compares_oov)) for item in whole]
            rows.append(("all predictions", "", _accuracy(pairs)))
        return rows

    def means(self) -> dict[str, dict[int, float]]:
        """Return the mean finite value of each region by condition; NaN if there are none."""
        means: dict[str, dict[int, float]] = defaultdict(dict)
        for effect in self.effects():
            if effect.kind == "condition":
                means[effect.effect][effect.region] = effect.mean
        return means

    def effects(self) -> Iterator[Effect]:
        """Yield the effects of the predictions, the conditions by region, and pairs of these."""
        for prediction in self.suite.predictions:
            belonging = [item for item in self.items if not item.item.lacks(prediction)]
            differences = [prediction.difference(item.values) for item in belonging]
            if None not in differences:
                yield self._effect("prediction", prediction.text, "", differences)
        keys = dict.fromkeys(key for item in self.items for key in item.values)
        names = self.suite.conditions or dict.fromkeys(name for name, _ in keys)
        regions = {name: sorted(n for other, n in keys if other == name) for name in names}
        for condition, numbers in regions.items():
            for region in numbers:
                yield self._effect("condition", condition, region, self._values(condition, region))
        for first, second in combinations(regions, 2):
            for region in filter(regions[second].__contains__, regions[first]):
                pairs = zip(self._values(first, region), self._values(second, region), strict=True)
                differences = [a - b for a, b in pairs]
                yield self._effect("difference", f"{first} - {second}", region, differences)

    def _values(self, condition: str, region: int) -> list[float]:
        return [item.values.get((condition, region), math.nan) for item in self.items]

    def _effect(self, kind: str, effect: str, region: int | str, values: Iterable[float]) -> Effect:
        finite = [value for value in values if math.isfinite(value)]
        name = self.suite.region_names.get(region, "")
        figures = kind, effect, region, name, len(finite), *mean_interval(finite)
        return Effect(self.model, self.suite.name, self.group, *figures)

    def regions(self) -> list[int]:
        """Return the numbers of all regions, in order."""
        return sorted({region for item in self.items for _, region in item.values})


def evaluate(suites: Sequence[Suite], surprisals: Surprisals, model: str = "") -> list[SuiteResult]:
    """Return the results of suites; equal sentences are scored once.

    `model` is the name of the model. Raises RnngError if the records' tokens differ from those of
    the sentence.
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
    """Return the accuracy of pairs: the outcome, and whether it depends on an unknown word."""
    decided = [pair for pair in pairs if pair[0] is not None]
    right, unknown = (sum(pair[k] for pair in decided) for k in (0, 1))
    return Accuracy(right, len(decided), len(pairs) - len(decided), unknown)


def _item_result(suite: Suite, item: Item, words: Mapping[Tokens, Records]) -> ItemResult:
    values, oov = {}, {}
    measured = {
        condition: chain.from_iterable(map(words.__getitem__, sentences))
        for condition, sentences in item.sentences.items()
    }
    for key, tokens in item.regions.items():
        records = list(islice(measured[key[0]], len(tokens)))
        values[key] = math.fsum(r.surprisal for r in records)
        oov[key] = tuple(r.token for r in records if r.known is False)
    return with_values(suite, item, values, oov)


def with_values(
    suite: Suite, item: Item, values: Values, oov: Mapping[RegionKey, Tokens] = {}
) -> ItemResult:
    """Return the outcomes of an item by the values and the unknown words of its regions."""
    with_oov: set[tuple[str, int | None]] = {key for key, tokens in oov.items() if tokens}
    # None stands for all regions
    with_oov |= {(name, None) for name, _ in with_oov}
    outcomes = tuple(None if item.lacks(p) else p.decide(values) for p in suite.predictions)
    holds = next((outcome for outcome in (False, None) if outcome in outcomes), True)
    is_whole = not any(map(item.lacks, suite.predictions))
    compares_oov = tuple(not with_oov.isdisjoint(p.references) for p in suite.predictions)
    return ItemResult(item, values, oov, outcomes, compares_oov, holds if is_whole else None)
