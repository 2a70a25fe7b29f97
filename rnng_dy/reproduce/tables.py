"""The tables of a report: the paper's with its numbers beside ours, and those that a reviewer asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rnng_dy.reproduce import paper


class Table(NamedTuple):
    """Rows of cells under a header."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def tables(results: dict) -> list[Table]:
    """The paper's tables, and those that a reviewer asks for."""
    return [
        _statistics(results),
        _f1(results),
        _perplexity(results),
        _significance(results),
        *_composition(results),
        _growth(results),
    ]


def _statistics(results: dict) -> Table:
    known = paper.TABLE_1.get(results["corpus"], {})
    rows = []
    for part, found in results["statistics"].items():
        for name, value in found.items():
            expected = known.get(part, {}).get(name)
            rows.append((part, name.replace("_", " "), *_beside(expected, value, "{:,.0f}")))
    return Table("Corpus statistics (table 1)", ("", "", "paper", "here", "difference"), rows)


def _f1(results: dict) -> Table:
    known = paper.F1.get(results["corpus"], {})
    rows = []
    for key, found in results["f1"].items():
        kind, composition = key.split()
        name = "q(y given x), greedy" if kind == "discriminative" else "p(x, y), reranked"
        cells = _beside(known.get((kind, composition)), found["mean"], "{:.2f}")
        rows.append((f"{name}, {composition}", *cells, _spread(found)))
    tags = results["tags"]["test"]
    said = {"gold": "Gold POS tags.", "none": "No POS tags."}.get(tags)
    said = said or f"POS tags of a tagger, {tags:.2f} % as in the treebank."
    return Table(
        "Labelled F1 on the test part",
        ("", "paper", "here", "difference", "sd over seeds"),
        rows,
        said,
    )


def _perplexity(results: dict) -> Table:
    known = paper.PERPLEXITY.get(results["corpus"], {})
    names = {
        "kneser-ney": "Kneser-Ney 5-gram",
        "lstm": "LSTM",
        "buggy": "RNNG, buggy",
        "corrected": "RNNG, corrected",
    }
    rows = []
    for key, name in names.items():
        found, ends = results["perplexity"][key], results["perplexity"][f"{key} with ends"]
        rows.append(
            (
                name,
                *_beside(known.get(key), found["mean"], "{:.1f}"),
                _spread(found),
                _text(ends["mean"], "{:.1f}"),
            )
        )
    left = results["perplexity"]["sentences with p = 0"]
    note = "The end of a sentence is in its likelihood and, but for the last column, not one of its words."
    if any(left.values()):
        note += (
            " Left out, p = 0: "
            + ", ".join(f"{run}: {n} sentences" for run, n in left.items())
            + "."
        )
    header = ("", "paper", "here", "difference", "sd over seeds", "ends counted")
    return Table("Perplexity on the test part", header, rows, note)


def _significance(results: dict) -> Table:
    rows = []
    for of_seed in results["composition"]:
        for name, d in (
            ("F1, greedy", of_seed["discriminative"]["f1"]),
            ("F1, reranked", of_seed["generative"]["f1"]),
            ("perplexity", of_seed["perplexity"]),
        ):
            interval = f"{_text(d['low'], '{:+.2f}')} to {_text(d['high'], '{:+.2f}')}"
            rows.append(
                (
                    str(of_seed["seed"]),
                    name,
                    _text(d["value"], "{:+.2f}"),
                    interval,
                    _text(d["p"], "{:.4f}"),
                )
            )
    note = "Corrected less buggy, of the same seed; paired bootstrap over sentences."
    return Table("Compositions", ("seed", "", "difference", "95 % interval", "p"), rows, note)


def _composition(results: dict) -> list[Table]:
    first = results["composition"][0]
    found = []
    for kind, name in (("discriminative", "greedy"), ("generative", "reranked")):
        for key, title in (("by_length", "words in the constituent"), ("by_label", "label")):
            rows = [
                (
                    row["kind"],
                    f"{row['gold']:,}",
                    f"{row['buggy']:.2f}",
                    f"{row['corrected']:.2f}",
                    f"{row['corrected'] - row['buggy']:+.2f}",
                )
                for row in first[kind][key][:20]
            ]
            header = (title, "gold brackets", "buggy F1", "corrected F1", "difference")
            found.append(
                Table(f"Compositions by {title}, {name}", header, rows, f"Seed {first['seed']}.")
            )
    return found


def _growth(results: dict) -> Table:
    rows = [
        (
            of_run["run"],
            str(p["samples"]),
            _text(p["f1"], "{:.2f}"),
            _text(p["perplexity"], "{:.1f}"),
            _text(p["effective_sample_size"], "{:.1f}"),
            _text(p["standard_error"] if p["samples"] > 1 else None, "{:.3f}"),
        )
        for of_run in results["samples"]
        for p in of_run["points"]
    ]
    header = ("run", "samples", "F1", "perplexity", "mean ESS", "mean se of log p(x)")
    note = "ESS: effective sample size; se: Monte-Carlo standard error, nats."
    return Table("By number of samples", header, rows, note)


def _beside(expected: float | None, value: float | None, style: str) -> tuple[str, str, str]:
    """The paper's number, ours, and the difference."""
    both = expected is not None and value is not None
    difference = f"{value - expected:+,.2f}".removesuffix(".00") if both else "–"
    return _text(expected, style), _text(value, style), difference


def _spread(found: dict) -> str:
    return _text(found["deviation"], "{:.2f}")


def _text(value: float | None, style: str) -> str:
    return (
        "–"
        if value is None or (isinstance(value, float) and math.isnan(value))
        else style.format(value)
    )
