"""`python3 -m scripts.english.curve`: train parsers on shares of the trees, for a learning curve.

It runs in the output folder of `scripts.english` with in-order transitions, and makes each file once. All parsers read
the same development trees with the same tags, so that they differ by their training trees alone.
"""

from __future__ import annotations

from pathlib import Path

import scripts.script_start  # noqa: F401
from rnng_dy.runs import EVALUATION, LOG, Log
from scripts.english.__main__ import general_trees, train_parser
from scripts.english.commands import make
from scripts.english.treebanks import write

SHARES = (8, 4, 2, 1)
"""One tree of this many, evenly spaced."""


def main() -> None:
    """Train what is missing; print the trees and the best development F1 of each share in percent."""
    tagged = Path("train.tagged.trees").read_text(encoding="utf-8").splitlines(keepends=True)
    for share in SHARES:
        trees = tagged[::share]
        folder = part_of(share, trees) if share > 1 else "parser.in-order"
        scores = [record["f1"] for record in Log.read(Path(folder, LOG)).of(EVALUATION)]
        print(f"| 1/{share} | {len(trees)} | {max(scores):.1f} |", flush=True)


def part_of(share: int, trees: list[str]) -> str:
    """Train a parser on these trees, unless that has been done; return its folder."""
    name = f"share{share}"
    train, dev, folder = f"{name}.train.oracle", f"{name}.dev.oracle", f"parser.{name}"
    write(Path(f"{name}.trees"), trees)
    oracle = f"oracle --train {name}.trees --transitions in-order"
    make(train, f"{oracle} {name}.trees")
    make(dev, f"{oracle} dev.tagged.trees")
    # those of general English come first
    train_parser(folder, train, dev, -(-general_trees() // share))
    return folder


if __name__ == "__main__":
    main()
