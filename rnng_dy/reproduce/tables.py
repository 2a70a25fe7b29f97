"""The tables of a report: the paper's with its numbers beside ours, and those that a reviewer asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rnng_dy.reproduce import paper
from rnng_dy.reproduce.alone import process_seconds

SYSTEMS = {
    "discriminative": "q(y given x), greedy",
    "generative": "p(x, y), reranked",
    "alone": "p(x, y) alone, beam",
}
WAYS = {"samples": "importance sampling", "beam": "beam", "particles": "particle filter"}


class Table(NamedTuple):
    """Rows of cells under a header."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def short_tables(results: dict) -> list[Table]:
    """The results, and what they are of."""
    return [
        _f1(results),
        _perplexity(results),
        _several_ways(results),
        *_significance(results),
        _statistics(results),
    ]


def long_tables(results: dict) -> list[Table]:
    """What a reviewer asks for: compositions by length and label, growth with the number of samples."""
    return [*_composition(results), _growth(results)]


def _statistics(results: dict) -> Table:
    known = paper.TABLE_1.get(results["corpus"])
    rows = []
    for part, found in results["statistics"].items():
        for name, value in found.items():
            expected = (known or {}).get(part, {}).get(name)
            cells = _beside(known, expected, value, "{:,.0f}")
            rows.append((part, name.replace("_", " "), *cells))
    return Table("Corpus statistics (table 1)", ("", "", *_columns(known)), rows)


def _f1(results: dict) -> Table:
    known = paper.F1.get(results["corpus"])
    rows = []
    for key, found in results["f1"].items():
        kind, composition = key.split()
        expected = (known or {}).get((kind, composition))
        cells = _beside(known, expected, found["mean"], "{:.2f}")
        rows.append((f"{SYSTEMS[kind]}, {composition}", *cells, _spread(found)))
    tags = results["tags"]["test"]
    said = {"gold": "Gold POS tags.", "none": "No POS tags."}.get(tags)
    said = said or f"POS tags of a tagger, {tags:.2f} % as in the treebank."
    if any(results["without_tree"].values()):
        runs = ", ".join(f"{run}: {n} sentences" for run, n in results["without_tree"].items())
        said += f" No tree by p(x, y) alone, which counts as no constituents: {runs}."
    header = ("", *_columns(known), "sd over seeds")
    return Table("Labelled F1 on the test part", header, rows, said)


def _perplexity(results: dict) -> Table:
    known = paper.PERPLEXITY.get(results["corpus"])
    names = {"kneser-ney": "Kneser-Ney 5-gram", "lstm": "LSTM"}
    names |= {composition: f"RNNG, {composition}" for composition in results["compositions"]}
    rows = []
    for key, name in names.items():
        found, ends = results["perplexity"][key], results["perplexity"][f"{key} with ends"]
        cells = _beside(known, (known or {}).get(key), found["mean"], "{:.1f}")
        rows.append((name, *cells, _spread(found), _text(ends["mean"], "{:.1f}")))
    left = results["perplexity"]["sentences with p = 0"]
    note = "The end of a sentence is in its likelihood and, but for the last column, not one of its words."
    if any(left.values()):
        sentences = ", ".join(f"{run}: {n} sentences" for run, n in left.items())
        note += f" Left out, p = 0: {sentences}."
    header = ("", *_columns(known), "sd over seeds", "ends counted")
    return Table("Perplexity on the test part", header, rows, note)


def _several_ways(results: dict) -> Table:
    """Means over seeds, and counts of all of them."""
    rows = []
    for composition in results["compositions"]:
        names = [f"{composition}-{seed}" for seed in results["seeds"]]
        runs = [run for run in results["several_ways"] if run["run"] in names]
        seconds = [process_seconds(name, results["made"]["stages"]) for name in names]
        for way, name in WAYS.items():
            of_way = [run[way] for run in runs]
            above = "–"
            if way != "samples":
                above = f"{sum(x['above'] for x in of_way)} of {sum(x['sentences'] for x in runs)}"
            means = (
                _text(_mean(of_way, "perplexity"), "{:.1f}"),
                _text(_mean(of_way, "a_sentence"), "{:.2f}"),
                _text(_mean(of_way, "a_word"), "{:.3f}"),
            )
            rows.append(
                (f"{name}, {composition}", *means, above, _text(_mean(seconds, way), "{:,.0f}"))
            )
    note = (
        "Sentences with p > 0 by all ways. Gap: nats below importance sampling. A beam's probabilities are lower "
        "bounds: where one is above the samples' estimate, they missed mass. Seconds of the stages, times their "
        "processes."
    )
    header = ("", "perplexity", "gap a sentence", "gap a word", "above samples", "seconds")
    return Table("Perplexity several ways", header, rows, note)


def _mean(found: Sequence[Mapping], name: str) -> float | None:
    """None where one of them has none."""
    values = [of_run.get(name) for of_run in found]
    return None if None in values else sum(values) / len(values)


def _significance(results: dict) -> list[Table]:
    """Empty where only one composition was trained."""
    rows = []
    for compared in results["comparisons"]:
        for name, d in (
            ("F1, greedy", compared["discriminative"]["f1"]),
            ("F1, reranked", compared["generative"]["f1"]),
            ("perplexity", compared["perplexity"]),
        ):
            interval = f"{_text(d['low'], '{:+.2f}')} to {_text(d['high'], '{:+.2f}')}"
            value, p = _text(d["value"], "{:+.2f}"), _text(d["p"], "{:.4f}")
            first, second = compared["names"]
            less = f"{second} less {first}"
            rows.append((less, str(compared["seed"]), name, value, interval, p))
    header = ("", "seed", "", "difference", "95 % interval", "p")
    note = "Models of the same seed; paired bootstrap over sentences."
    return [Table("Compositions", header, rows, note)] if rows else []


def _composition(results: dict) -> list[Table]:
    """By length and label, for each pair of compositions with the first seed."""
    found = []
    for compared in results["comparisons"]:
        if compared["seed"] != results["seeds"][0]:
            continue
        first, second = compared["names"]
        for kind, name in (("discriminative", "greedy"), ("generative", "reranked")):
            for key, title in (("by_length", "words in the constituent"), ("by_label", "label")):
                rows = [
                    (
                        row["kind"],
                        f"{row['gold']:,}",
                        f"{row['first']:.2f}",
                        f"{row['second']:.2f}",
                        f"{row['second'] - row['first']:+.2f}",
                    )
                    for row in compared[kind][key][:20]
                ]
                header = (title, "gold brackets", f"{first} F1", f"{second} F1", "difference")
                caption = f"{first} and {second} by {title}, {name}"
                found.append(Table(caption, header, rows, f"Seed {compared['seed']}."))
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


def _columns(known: Mapping | None) -> tuple[str, ...]:
    """Where the paper has nothing on a corpus, there is nothing to stand beside."""
    return ("here",) if known is None else ("paper", "here", "difference")


def _beside(
    known: Mapping | None, expected: float | None, value: float | None, style: str
) -> tuple[str, ...]:
    """Cells of `_columns`: the paper's number, ours, and the difference."""
    if known is None:
        return (_text(value, style),)
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
