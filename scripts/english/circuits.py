"""`python3 -m scripts.english.circuits SUITES.json PUBLISHED.tsv FIGURE.svg`: scores by phenomenon.

SUITES.json is the output of `rnng-dy suite`, for one or more models. PUBLISHED.tsv has a row per
suite, and the percentages of a published model in each column.
"""

from __future__ import annotations

import csv
import json
import sys
from statistics import fmean

import scripts.script_start  # noqa: F401

CIRCUITS = {
    "agreement": ("number_",),
    "licensing": ("npi_", "reflexive_"),
    "garden paths": ("mvrr_", "npz_"),
    "subordination": ("subordination_",),
    "center embedding": ("center_embed_",),
    "long distance": ("cleft_", "fgd-", "fgd_"),
    "all": ("",),
}
"""The circuits of Hu et al. (2020), with the beginnings of the names of their suites."""
PUBLISHED = {
    "RNNG, BLLIP-md": "rnng_bllip-md",
    "LSTM, BLLIP-md": "vanilla_bllip-md",
    "GRNN": "grnn_",
    "Transformer-XL": "transformer-xl_",
    "GPT-2": "gpt-2-pretrained_",
}
"""Published models, with their columns."""


def main() -> None:
    """Print the mean over the suites of each circuit as a table in Markdown, and draw it."""
    results, published, figure = sys.argv[1:]
    scores: dict[str, dict[str, float]] = {}
    with open(results, encoding="utf-8") as stream:
        for of in json.load(stream):
            scores.setdefault(of["model"], {})[of["suite"]] = 100 * of["accuracy"]
    with open(published, encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    for name, column in PUBLISHED.items():
        scores[name] = {row["suite"]: float(row[column]) for row in rows}
    common = set.intersection(*(set(of) for of in scores.values()))
    means = {
        model: [
            fmean(of[suite] for suite in sorted(common) if suite.startswith(beginnings))
            for beginnings in CIRCUITS.values()
        ]
        for model, of in scores.items()
    }
    print(f"| suites of | {' | '.join(means)} |\n|{'---|' * (len(means) + 1)}")
    for circuit, values in zip(CIRCUITS, zip(*means.values(), strict=True), strict=True):
        print(f"| {circuit} | {' | '.join(f'{value:.1f}' for value in values)} |")
    draw(means, figure)


def draw(means: dict[str, list[float]], path: str) -> None:
    """Draw the circuits as groups of bars, a bar per model."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.add_subplot(ylabel="% of items", ylim=(0, 100))
    width = 0.8 / len(means)
    for i, (model, values) in enumerate(means.items()):
        axes.bar([x + i * width for x in range(len(values))], values, width, label=model)
    labels = [name.replace(" ", "\n") for name in CIRCUITS]
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(labels))], labels)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "rnng_dy"}):
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
