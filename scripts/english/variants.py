"""`python3 -m scripts.english.variants`: train parsers on shares of the trees, and of other transitions and sizes.

It runs in the output folder of `scripts.english` with in-order transitions, and makes each file once. All parsers read
the same development trees with the same tags, so that they differ by their training alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import scripts.script_start  # noqa: F401
from rnng_dy.training.log import LOG, evaluations
from scripts.english.__main__ import general_trees, train_parser
from scripts.english.commands import check_folder, make
from scripts.english.treebanks import write


class Variant(NamedTuple):
    """A parser of one tree of `share` many, evenly spaced; otherwise it is that of `scripts.english`."""

    name: str
    share: int
    transitions: str = "in-order"
    sizes: str = ""


VARIANTS = (
    *(Variant(f"share{share}", share) for share in (8, 4, 2)),
    Variant("top-down", 4, "top-down"),
    *(Variant(f"size{n}", 4, sizes=f"--lstm-input {n} --hidden {n}") for n in (128, 224)),
)


def main() -> None:
    """Train what is missing; print the best development F1 of each variant, and of the whole parser, in percent."""
    check_folder()
    for variant in VARIANTS:
        train(variant)
        print(f"| {variant.name} | {best(f'parser.{variant.name}')} |", flush=True)
    print(f"| all | {best('parser.in-order')} |")


def train(variant: Variant) -> None:
    """Train a variant, unless that has been done."""
    name, share, transitions, sizes = variant
    tagged = Path("train.tagged.trees").read_text(encoding="utf-8").splitlines(keepends=True)
    write(Path(f"{name}.trees"), tagged[::share])
    oracles = [f"{name}.{part}.oracle" for part in ("train", "dev")]
    for oracle, trees in zip(oracles, (f"{name}.trees", "dev.tagged.trees"), strict=True):
        make(oracle, f"oracle --train {name}.trees --transitions {transitions} {trees}")
    # those of general English come first
    train_parser(f"parser.{name}", *oracles, -(-general_trees() // share), *sizes.split())


def best(folder: str) -> str:
    """Return the best development F1 of a training."""
    return f"{max(record['f1'] for record in evaluations(Path(folder, LOG))):.1f}"


if __name__ == "__main__":
    main()
