"""`python3 -m scripts.english.circuits SUITES.json PUBLISHED.tsv FIGURE.svg`: scores by phenomenon.

SUITES.json is the output of `rnng-dy suite`, for one or more models. PUBLISHED.tsv has a row per
suite, and the percentages of a published model in each column.
"""

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

CIRCUITS = {
    "agreement": ("number_",),
    "licensing": ("npi_", "reflexive_"),
    "garden paths": ("mvrr_", "npz_"),
    "subordination": ("subordination",),
    "center embedding": ("center_embed_",),
    "long distance": ("cleft_", "fgd_"),
    "all": ("",),
}
"""The circuits of Hu et al. (2020), with the beginnings of the names of their suites."""
UNCOUNTED = {"fgd-embed3", "fgd-embed4", "nn-nv-rpl"}
"""The suites that the published analysis leaves out."""
FIRST_ALONE = "fgd_hierarchy"
"""The suite that counts by its first prediction; the second one has two equalities."""
PUBLISHED = {
    "RNNG, BLLIP-md": "rnng_bllip-md",
    "LSTM, BLLIP-md": "vanilla_bllip-md",
    "GRNN": "grnn_",
    "Transformer-XL": "transformer-xl_",
    "GPT-2": "gpt-2-pretrained_",
}
"""Published models, with their columns."""
Scores = dict[str, dict[str, float]]
"""Percentages by model and suite."""


def measured(path: str | Path) -> Scores:
    """Return the percentages in an output of `rnng-dy suite`, of the suites that count."""
    scores: Scores = {}
    for result in json.loads(Path(path).read_text(encoding="utf-8")):
        if (suite := result["suite"]) not in UNCOUNTED:
            deciding = result["predictions"][0] if suite == FIRST_ALONE else result
            scores.setdefault(result["model"], {})[suite] = 100 * deciding["accuracy"]
    return scores


def main() -> None:
    """Print the mean over the suites of each circuit as a table in Markdown, and draw it."""
    results, published, figure = sys.argv[1:]
    scores = measured(results)
    with open(published, encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    for name, column in PUBLISHED.items():
        scores[name] = {row["suite"]: float(row[column]) for row in rows}
    circuits = circuits_of(sorted(set.intersection(*map(set, scores.values()))))
    means = {
        model: [fmean(by_suite[suite] for suite in suites) for suites in circuits.values()]
        for model, by_suite in scores.items()
    }
    print(f"| suites of | {' | '.join(means)} |\n|{'---|' * (len(means) + 1)}")
    for circuit, values in zip(circuits, zip(*means.values(), strict=True), strict=True):
        print(f"| {circuit} | {' | '.join(f'{value:.1f}' for value in values)} |")
    draw(means, circuits, figure)


def circuits_of(suites: Sequence[str]) -> dict[str, list[str]]:
    """Return the suites of each circuit that has some."""
    named = {c: [s for s in suites if s.startswith(begin)] for c, begin in CIRCUITS.items()}
    return {circuit: of_circuit for circuit, of_circuit in named.items() if of_circuit}


def draw(means: dict[str, list[float]], circuits: Iterable[str], path: str) -> None:
    """Draw the circuits as groups of bars, a bar per model."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.add_subplot(ylabel="% of items", ylim=(0, 100))
    width = 0.8 / len(means)
    for i, (model, values) in enumerate(means.items()):
        axes.bar([x + i * width for x in range(len(values))], values, width, label=model)
    labels = [name.replace(" ", "\n") for name in circuits]
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(labels))], labels)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "rnng_dy"}):
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
