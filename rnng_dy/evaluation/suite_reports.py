"""Output of suites: tables of accuracies, regions and effects, and JSON."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from oracle.common.files import split_words
from oracle.common.tables import TSV, aligned, joined
from rnng_dy.evaluation.suite_scores import Effect, SuiteResult

GROUP = "group"
ACCURACIES = (
    *("model", "suite", GROUP, "prediction", "right", "of", "accuracy", "95 % from", "to"),
    *("left out", "unknown"),
)
REGIONS = (
    *("model", "suite", "item", "condition", GROUP, "region", "name", "content"),
    *("tokens", "surprisal", "unknown"),
)


def accuracy_table(results: Sequence[SuiteResult]) -> str:
    """Return an aligned table: a row per prediction and, if there are several, one for all.

    Rows name their model and group if there are several.
    """
    rows = []
    for result in results:
        for name, _, accuracy in result.rows():
            counts = accuracy.right, accuracy.of, *accuracy.percent, *accuracy[2:]
            rows.append((result.model, result.suite.name, result.group, name, *counts))
    cells = [*_texts(ACCURACIES, rows, results)]
    if len({result.model for result in results}) < 2:
        # the first column names the model
        cells = [row[1:] for row in cells]
    return aligned(cells, left=cells[0].index("prediction") + 1)


def region_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the columns REGIONS of every region of every model, after a header line.

    `surprisal` is the region's value in bits, which may be `inf` or `nan`; `tokens` and `unknown`
    are numbers.
    """
    rows = (
        (
            *(result.model, result.suite.name, scored.item.name, condition),
            *(scored.item.groups[condition], region, result.suite.region_names.get(region, "")),
            *(" ".join(tokens), len(tokens), scored.values[condition, region]),
            len(scored.oov_by_region[condition, region]),
        )
        for result in results
        # those of groups are among them
        if result.suite.group is None
        for scored in result.items
        for (condition, region), tokens in scored.item.regions.items()
    )
    return (joined(cells, style) + "\n" for cells in _texts(REGIONS, rows, results))


def effect_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the fields of all effects after a header line; `nan` is a possible value."""
    rows = (effect for result in results for effect in result.effects())
    return (joined(cells, style) + "\n" for cells in _texts(Effect._fields, rows, results))


def as_json(results: Sequence[SuiteResult]) -> list[dict[str, object]]:
    """Return the figures of all suites, in bits."""
    return [
        {
            "model": result.model,
            "suite": result.suite.name,
            "group": result.suite.group,
            "items": len(result.items),
            **result.accuracy.figures(),
            "predictions": [
                {"name": name, "formula": text, **accuracy.figures()}
                for name, text, accuracy in result.rows()[: len(result.suite.predictions)]
            ],
            "region_names": result.suite.region_names,
            "means": result.means(),
            "outcomes": [
                {
                    "item": scored.item.name,
                    "predictions": scored.outcomes,
                    "unknown": scored.compares_oov,
                    "unknown_words": scored.oov,
                }
                for scored in result.items
            ],
        }
        for result in results
    ]


def _texts(
    names: Sequence[str], rows: Iterable[Sequence[Any]], results: Sequence[SuiteResult]
) -> Iterator[list[str]]:
    """Yield the cells of a header and of rows, without groups if no result is of a group.

    Bits, which are floats, have six digits after the point.
    """
    has_groups = any(result.suite.group is not None for result in results)
    shown = [i for i, name in enumerate(names) if has_groups or name != GROUP]
    for row in chain([names], rows):
        cells = (row[i] for i in shown)
        texts = (f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in cells)
        yield [" ".join(split_words(text)) for text in texts]
