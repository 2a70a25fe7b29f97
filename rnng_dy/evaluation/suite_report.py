"""Reports of test suites: a table, the values behind it, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracle.files import split_words
from rnng_dy.evaluation.suite_scores import ItemResult, SuiteResult
from rnng_dy.evaluation.suites import Region
from rnng_dy.evaluation.tables import CSV, TSV, aligned, as_csv, joined

COLUMNS = ("suite", "item", "condition", "region", "name", "content", "bits")
TIDY = ("model", *COLUMNS[:-1], "tokens", "surprisal", "unknown")
EFFECTS = (
    "model",
    "suite",
    "condition",
    "other",
    "region",
    "name",
    "items",
    "difference",
    "low",
    "high",
)


def table(results: Sequence[SuiteResult], style: str = TSV) -> str:
    """Return a table, aligned or as CSV: a row per prediction and, if there are several, a row for all together.

    `known only` is the accuracy over the items whose compared regions have only words that the model knows.
    """
    models = _models(results)
    names = ("suite", "prediction", "right", "of", "accuracy", "left out", "unknown", "known only")
    rows = [("model", *names)[not models :]]
    for result in results:
        for name, _, found, known in result.rows():
            counts = (str(found.right), str(found.of), found.percent)
            others = (str(found.left_out), str(found.unknown), known.percent)
            of = (_one_line(result.model), _one_line(result.suite.name), _one_line(name))
            rows.append((*of[not models :], *counts, *others))
    return as_csv(rows) if style == CSV else aligned(rows, left=3 if models else 2)


def region_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the value of every region, after a header line; `inf` and `nan` are possible values."""
    models = _models(results)
    yield joined(("model", *COLUMNS)[not models :], style) + "\n"
    for found, place, region in _regions(results):
        value = f"{found.values[region]:.6f}"
        yield joined((*place[not models :], value), style) + "\n"


def effect_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the differences between conditions by region, after a header line; `nan` is a possible value."""
    yield joined(EFFECTS, style) + "\n"
    for result in results:
        for effect in result.effects():
            name = result.suite.region_names.get(effect.region, "")
            texts = [result.model, result.suite.name, effect.condition, effect.other]
            counts = [str(effect.region), name, str(effect.items)]
            bits = [f"{value:.6f}" for value in effect[4:]]
            yield joined([*map(_one_line, [*texts, *counts]), *bits], style) + "\n"


def tidy_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the columns TIDY of every region of every model, after a header line.

    `tokens` and `unknown` are numbers of tokens; `surprisal` is the region's value in bits.
    """
    yield joined(TIDY, style) + "\n"
    for found, place, region in _regions(results):
        tokens = str(len(split_words(place[-1])))
        numbers = (tokens, f"{found.values[region]:.6f}", str(len(found.unseen[region])))
        yield joined((*place, *numbers), style) + "\n"


def _regions(
    results: Sequence[SuiteResult],
) -> Iterator[tuple[ItemResult, list[str], tuple[str, int]]]:
    """Yield each region: the result of its item, cells that name it, and its condition and number."""
    for result in results:
        for found in result.items:
            for condition in found.item.conditions:
                for region in condition.regions:
                    names = (result.model, result.suite.name, str(found.item.number))
                    name = result.suite.region_names.get(region.number, "")
                    content = " ".join(region.tokens)
                    cells = (*names, condition.name, str(region.number), name, content)
                    yield found, [*map(_one_line, cells)], (condition.name, region.number)


def _models(results: Sequence[SuiteResult]) -> bool:
    """Return whether the results are of several models, so that rows name them."""
    return len({result.model for result in results}) > 1


def as_syntaxgym(result: SuiteResult) -> dict[str, object]:
    """Return the suite in SyntaxGym's JSON, with the value of each region in bits, and its unknown words."""
    suite = result.suite

    def region_of(found: ItemResult, condition: str, region: Region) -> dict[str, object]:
        place = condition, region.number
        return {
            "region_number": region.number,
            "content": " ".join(region.tokens),
            "metric_value": {suite.metric: found.values[place]},
            "oovs": found.unseen[place],
        }

    return {
        "meta": {"name": suite.name, "metric": suite.metric, "model": result.model},
        "region_meta": {str(number): name for number, name in suite.region_names.items()},
        "predictions": [
            {"type": "formula", "name": p.name, "formula": p.formula.text}
            for p in suite.predictions
        ],
        "items": [
            {
                "item_number": found.item.number,
                "conditions": [
                    {
                        "condition_name": condition.name,
                        "regions": [region_of(found, condition.name, r) for r in condition.regions],
                    }
                    for condition in found.item.conditions
                ],
            }
            for found in result.items
        ],
    }


def as_json(results: Sequence[SuiteResult]) -> list[dict[str, object]]:
    """Return the figures of all suites, in bits."""
    models = _models(results)
    return [
        {
            **({"model": result.model} if models else {}),
            "suite": result.suite.name,
            "metric": result.suite.metric,
            "items": len(result.items),
            **_numbers(result, None),
            "predictions": [
                {"name": p.name, "formula": p.formula.text, **_numbers(result, i)}
                for i, p in enumerate(result.suite.predictions)
            ],
            "region_names": result.suite.region_names,
            "means": result.means(),
            "outcomes": [
                {
                    "item": found.item.number,
                    "predictions": found.outcomes,
                    "unknown": found.unknown,
                    "unknown_words": found.unknown_words,
                }
                for found in result.items
            ],
        }
        for result in results
    ]


def _numbers(result: SuiteResult, i: int | None) -> dict[str, object]:
    found, known = result.accuracy_of(i), result.accuracy_of(i, known=True)
    numbers = {**found._asdict(), "accuracy": found.share}
    return {**numbers, "known_only": {**known._asdict(), "accuracy": known.share}}


def _one_line(text: str) -> str:
    return " ".join(split_words(text))
