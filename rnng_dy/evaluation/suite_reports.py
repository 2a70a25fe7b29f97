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
    rows = [ACCURACIES]
    for result in results:
        for name, _, accuracy in result.rows():
            counts = accuracy.right, accuracy.of, *accuracy.percent, *accuracy[2:]
            rows.append((result.model, result.suite.name, result.group, name, *map(str, counts)))
    # the first column names the model
    first = 0 if len({result.model for result in results}) > 1 else 1
    shown = [i for i in _columns(ACCURACIES, results) if i >= first]
    cells = [[_one_line(row[i]) for i in shown] for row in rows]
    return aligned(cells, left=shown.index(ACCURACIES.index("prediction")) + 1)


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
    return _lines(REGIONS, rows, results, style)


def effect_lines(results: Sequence[SuiteResult], style: str = TSV) -> Iterator[str]:
    """Yield the fields of all effects after a header line; `nan` is a possible value."""
    rows = (effect for result in results for effect in result.effects())
    return _lines(Effect._fields, rows, results, style)


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


def _columns(names: Sequence[str], results: Sequence[SuiteResult]) -> list[int]:
    """Return the indices of columns, without that of groups if no result is of a group."""
    has_groups = any(result.suite.group is not None for result in results)
    return [i for i, name in enumerate(names) if has_groups or name != GROUP]


def _lines(
    names: Sequence[str], rows: Iterable[Sequence[Any]], results: Sequence[SuiteResult], style: str
) -> Iterator[str]:
    """Yield the lines of a table; bits, which are floats, have six digits after the point."""
    shown = _columns(names, results)
    for row in chain([names], rows):
        cells = (row[i] for i in shown)
        texts = (f"{cell:.6f}" if isinstance(cell, float) else str(cell) for cell in cells)
        yield joined(list(map(_one_line, texts)), style) + "\n"


def _one_line(text: str) -> str:
    return " ".join(split_words(text))
