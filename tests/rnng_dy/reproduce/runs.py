"""Runs of `rnng-dy reproduce` at a tiny size, and their results."""

from __future__ import annotations

import json

from click.testing import CliRunner

from rnng_dy.cli import main

SMALL = "--preset fast --epochs 2 --hidden 10 --lstm-input 10 --samples 5 --beam 20 --particles 10 --seeds 1,2 --jobs 2"


def write_parts(folder, lines, sizes):
    start = 0
    for part, size in zip(("train", "dev", "test"), sizes, strict=True):
        path = folder / f"{part}.trees"
        path.write_text("".join(lines[start : start + size]), encoding="utf-8")
        start += size


def arguments(folder, *more):
    parts = [
        x for part in ("train", "dev", "test") for x in (f"--{part}", str(folder / f"{part}.trees"))
    ]
    return ["reproduce", "trees", *parts, *SMALL.split(), *more, "-o", str(folder / "out")]


def run(folder, *more):
    return CliRunner().invoke(main, arguments(folder, *more))


def results(folder):
    return json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))


def states(result):
    """What was done with each stage: `rnng-dy ...` for one that ran, or `up to date`."""
    pairs = (line.split(": ", 1) for line in result.stderr.splitlines() if ": " in line)
    return {name: text for name, text in pairs if not text.startswith("done in")}
