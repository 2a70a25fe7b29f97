"""`python3 -m scripts.english.score VARIANT...`: which of several generative models is better.

VARIANT is a folder with a folder per seed, which has outputs of `rnng-dy suite`: `syntaxgym.json`
and `blimp.json`. The score S is the mean of two means: over the suites of SyntaxGym that count, and
over the paradigms of BLiMP. Each suite and paradigm has the mean over the seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import scripts.script_start  # noqa: F401
from scripts.english.circuits import measured

RULERS = ("syntaxgym", "blimp")
SAMPLES, SEED = 10_000, 1
"""Number and seed of the bootstrap samples."""


def main() -> None:
    """Print a table in Markdown; differences are to the first variant, on the same suites."""
    variants = {name: percentages(Path(name)) for name in sys.argv[1:]}
    first = next(iter(variants.values()))
    print(
        "| variant | SyntaxGym | BLiMP | S | 95 % | difference | 95 % |\n"
        "|---|---|---|---|---|---|---|"
    )
    for name, variant in variants.items():
        differences = [ours - others for ours, others in zip(variant, first, strict=True)]
        cells = [f"{values.mean():.1f}" for values in variant]
        for s, low, high in map(interval, (variant, differences)):
            cells += [f"{s:.1f}", f"{low:.1f} to {high:.1f}"]
        print(f"| {Path(name).name} | {' | '.join(cells)} |")


def percentages(variant: Path) -> list[np.ndarray]:
    """Return the percentages of suites, in order, and of paradigms: the means over seeds."""
    means = []
    for ruler in RULERS:
        outputs = [measured(path) for path in sorted(variant.glob(f"*/{ruler}.json"))]
        seeds = [sorted(suites.items()) for output in outputs for suites in output.values()]
        means.append(np.mean([[value for _, value in seed] for seed in seeds], axis=0))
    return means


def interval(rulers: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Return S and the ends of its 95 % interval, by a bootstrap over suites and paradigms."""
    random = np.random.default_rng(SEED)
    drawn = [random.choice(values, (SAMPLES, len(values))).mean(axis=1) for values in rulers]
    low, high = np.percentile(np.mean(drawn, axis=0), [2.5, 97.5])
    return float(np.mean([values.mean() for values in rulers])), float(low), float(high)


if __name__ == "__main__":
    main()
