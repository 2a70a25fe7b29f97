"""`python3 -m scripts.english.score FIGURE.svg VARIANT...`: which generative model is better.

VARIANT is a folder with a folder per seed, which has outputs of `rnng-dy suite`: `syntaxgym.json`
and `blimp.json`. The score S is the mean of two means: over the suites of SyntaxGym that count, and
over the paradigms of BLiMP. Each suite and paradigm has the mean over the seeds. A second table has
the circuits, with intervals over items, and FIGURE.svg draws them.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from scripts.english.circuits import circuits_of, draw, measured

RULERS = ("syntaxgym", "blimp")
SAMPLES, SEED = 10_000, 1
"""Number and seed of the bootstrap samples."""


def main() -> None:
    """Print tables in Markdown; differences are to the first variant, on the same suites."""
    figure, *folders = sys.argv[1:]
    variants = {name: percentages(Path(name)) for name in folders}
    first = next(iter(variants.values()))
    print(f"| variant | SyntaxGym | BLiMP | S | 95 % | difference | 95 % |\n|{'---|' * 7}")
    for name, variant in variants.items():
        rulers, others = ([np.array([*r.values()]) for r in v] for v in (variant, first))
        differences = [ours - theirs for ours, theirs in zip(rulers, others, strict=True)]
        cells = [f"{values.mean():.1f}" for values in rulers]
        for s, low, high in map(interval, (rulers, differences)):
            cells += [f"{s:.1f}", f"{low:.1f} to {high:.1f}"]
        print(f"| {Path(name).name} | {' | '.join(cells)} |")
    circuits = circuits_of([*first[0]])
    print(f"\n| variant | {' | '.join(circuits)} |\n|{'---|' * (len(circuits) + 1)}")
    means = {}
    for name, (of_suite, _) in variants.items():
        results = json.loads(next(Path(name).glob(f"*/{RULERS[0]}.json")).read_text("utf-8"))
        items = {result["suite"]: result["of"] for result in results}
        cells, means[Path(name).name] = [], []
        for suites in circuits.values():
            values = [of_suite[suite] for suite in suites]
            low, high = over_items(values, [items[suite] for suite in suites])
            means[Path(name).name].append(fmean(values))
            cells.append(f"{fmean(values):.1f} ({low:.1f} to {high:.1f})")
        print(f"| {Path(name).name} | {' | '.join(cells)} |")
    draw(means, circuits, figure)


def percentages(variant: Path) -> list[dict[str, float]]:
    """Return the percentages of suites, by name, and of paradigms: the means over seeds."""
    means = []
    for ruler in RULERS:
        outputs = [measured(path) for path in sorted(variant.glob(f"*/{ruler}.json"))]
        seeds = [suites for output in outputs for suites in output.values()]
        means.append({name: fmean(seed[name] for seed in seeds) for name in sorted(seeds[0])})
    return means


def interval(rulers: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Return S and the ends of its 95 % interval, by a bootstrap over suites and paradigms."""
    random = np.random.default_rng(SEED)
    drawn = [random.choice(values, (SAMPLES, len(values))).mean(axis=1) for values in rulers]
    low, high = np.percentile(np.mean(drawn, axis=0), [2.5, 97.5])
    return float(np.mean([values.mean() for values in rulers])), float(low), float(high)


def over_items(percentages: Sequence[float], items: Sequence[int]) -> tuple[float, float]:
    """Return the 95 % interval of the suites' mean percentage, by a bootstrap over their items."""
    shares, sizes = np.array(percentages) / 100, np.array(items)
    drawn = np.random.default_rng(SEED).binomial(sizes, shares, (SAMPLES, len(sizes))) / sizes
    low, high = np.percentile(100 * drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    main()
