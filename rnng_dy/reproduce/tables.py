"""The tables of a report: the paper's numbers beside ours, and more detailed comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rnng_dy.reproduce import paper
from rnng_dy.reproduce.alone import process_seconds

KINDS = {
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
    """Return the tables of results and of corpus statistics; a table without rows is left out."""
    first = (_systems, _f1, _perplexity, _ablations)
    tables = [make(results) for make in (*first, _several_ways, _significance, _statistics)]
    return [table for table in tables if table.rows]


def long_tables(results: dict) -> list[Table]:
    """Return the detailed tables: systems by length and label, growth with the number of samples."""
    return [*_by_length_and_label(results), _growth(results)]


def _systems(results: dict) -> Table:
    """Return the main results, a row per system."""
    seeds = str(len(results["seeds"]))
    rows = []
    for name in results["systems"]:
        f1 = [results["f1"][f"{kind} {name}"] for kind in ("discriminative", "generative")]
        perplexity = [results["perplexity"][key] for key in (name, f"{name} with ends")]
        cells = [_with_spread(found, "{:.2f}") for found in f1]
        cells += [_with_spread(found, "{:.1f}") for found in perplexity]
        rows.append((name, *cells, seeds))
    header = ("", "F1, greedy", "F1, reranked", "perplexity", "perplexity, ends counted", "seeds")
    note = (
        "Test part; mean ± standard deviation over seeds. A parser state is the generative model's alone: the parser, "
        "whose samples it scores, is that of the system with the full one."
    )
    return Table("Systems", header, rows, note)


def _ablations(results: dict) -> Table:
    """Return the table of Kuncoro et al. (2017) with the systems that were run; without rows if none is an ablation."""
    full, *ablations = paper.KUNCORO
    is_any = set(ablations) & set(results["systems"])
    names = [name for name in paper.KUNCORO if is_any and name in results["systems"]]
    measures = (
        ("F1", {name: results["f1"][f"generative {name}"] for name in names}, "{:.2f}"),
        ("perplexity", {name: results["perplexity"][name] for name in names}, "{:.1f}"),
    )
    is_papers = results["corpus"] == "ptb"
    header, rows = [""], [[name] for name in names]
    for i, (measure, found, style) in enumerate(measures):
        header += [f"{measure}, paper"] if is_papers else []
        header += [measure, f"{measure} less {full}"]
        of_full = found.get(full, {}).get("mean")
        for name, row in zip(names, rows, strict=True):
            row += [_text(paper.KUNCORO[name][i], "{:.1f}")] if is_papers else []
            expected = None if name == full else of_full
            row += [_with_spread(found[name], style), _less(found[name]["mean"], expected)]
    note = (
        "F1 of reranked trees; mean ± standard deviation over seeds. To expect from the paper: leaving out the stack "
        "hurts, leaving out the history or the buffer does not; the stack alone and gated attention are as good as the "
        "full model or better."
    )
    return Table("Ablations (Kuncoro et al. 2017)", header, [tuple(row) for row in rows], note)


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
        kind, system = key.split()
        expected = (known or {}).get((kind, system))
        cells = _beside(known, expected, found["mean"], "{:.2f}")
        rows.append((f"{KINDS[kind]}, {system}", *cells, _spread(found)))
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
    baselines = {"kneser-ney": f"Kneser-Ney {paper.ORDER}-gram", "lstm": "LSTM"}
    names = {key: name for key, name in baselines.items() if key in results["perplexity"]}
    names |= {system: f"RNNG, {system}" for system in results["systems"]}
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
    """Return means over seeds, and counts summed over them; without rows if no generative model was searched."""
    measures = (("perplexity", "{:.1f}"), ("a_sentence", "{:.2f}"), ("a_word", "{:.3f}"))
    rows = []
    for system in dict.fromkeys(run["system"] for run in results["several_ways"]):
        runs = [run for run in results["several_ways"] if run["system"] == system]
        stages = results["made"]["stages"]
        seconds = [process_seconds(run["run"], run["proposal"], stages) for run in runs]
        for way, name in WAYS.items():
            of_way = [run[way] for run in runs]
            above = "–"
            if way != "samples":
                above = f"{sum(x['above'] for x in of_way)} of {sum(x['sentences'] for x in runs)}"
            means = (_text(_mean(of_way, measure), style) for measure, style in measures)
            took = _text(_mean(seconds, way), "{:,.0f}")
            rows.append((f"{name}, {system}", *means, above, took))
    note = (
        "Sentences with p > 0 by all ways. Gap: nats below importance sampling. A beam's probabilities are lower "
        "bounds: where one is above the samples' estimate, they missed mass. Seconds of the stages, times their "
        "processes."
    )
    header = ("", "perplexity", "gap a sentence", "gap a word", "above samples", "seconds")
    return Table("Perplexity several ways", header, rows, note)


def _mean(found: Sequence[Mapping], name: str) -> float | None:
    """Return the mean of a measure; None if a run lacks it."""
    values = [of_run.get(name) for of_run in found]
    return None if None in values else sum(values) / len(values)


def _significance(results: dict) -> Table:
    """Return the differences between systems; without rows if only one was trained."""
    rows = []
    for compared in results["comparisons"]:
        measured = [
            (f"F1, {name}", compared[kind]["f1"]) for kind, name in _compared_kinds(compared)
        ]
        for name, d in (*measured, ("perplexity", compared["perplexity"])):
            interval = f"{_text(d['low'], '{:+.2f}')} to {_text(d['high'], '{:+.2f}')}"
            value = _text(d["value"], "{:+.2f}")
            p, p_holm = (_text(d[key], "{:.4f}") for key in ("p", "p_holm"))
            first, second = compared["names"]
            less = f"{second} less {first}"
            rows.append((less, str(compared["seed"]), name, value, interval, p, p_holm))
    header = ("", "seed", "", "difference", "95 % interval", "p", "p, Holm")
    note = (
        "Models of the same seed; paired bootstrap over sentences. With seed `all`, the counts of each sentence are "
        "summed over the seeds before sentences are resampled. p is of each row for itself; the last column is "
        "corrected by Holm's method for the pairs of the same seed and measure."
    )
    return Table("Differences", header, rows, note)


def _by_length_and_label(results: dict) -> list[Table]:
    """Return tables per pair of compared systems, with the first seed."""
    found = []
    for (first, second), kind, compared in compared_trees(results):
        for key, title in (("by_length", "words in the constituent"), ("by_label", "label")):
            rows = [
                (
                    row["kind"],
                    f"{row['gold']:,}",
                    f"{row['first']:.2f}",
                    f"{row['second']:.2f}",
                    f"{row['second'] - row['first']:+.2f}",
                )
                for row in compared[key][:20]
            ]
            header = (title, "gold brackets", f"{first} F1", f"{second} F1", "difference")
            caption = f"{first} and {second} by {title}, {kind}"
            found.append(Table(caption, header, rows, f"Seed {results['seeds'][0]}."))
    return found


def compared_trees(results: dict) -> Iterator[tuple[Sequence[str], str, Mapping]]:
    """Yield the names of two systems, the kind of their trees, and their comparison, with the first seed."""
    for compared in results["comparisons"]:
        if compared["seed"] == results["seeds"][0]:
            for kind, name in _compared_kinds(compared):
                yield compared["names"], name, compared[kind]


def _compared_kinds(compared: Mapping) -> list[tuple[str, str]]:
    """Return the kinds of trees compared, with titles; systems that share a parser have no greedy ones."""
    names = (("discriminative", "greedy"), ("generative", "reranked"))
    return [(kind, name) for kind, name in names if kind in compared]


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
    """Return the column names; without numbers of the paper there is only our column."""
    return ("here",) if known is None else ("paper", "here", "difference")


def _beside(
    known: Mapping | None, expected: float | None, value: float | None, style: str
) -> tuple[str, ...]:
    """Return cells of `_columns`: the paper's number, ours, and the difference."""
    if known is None:
        return (_text(value, style),)
    difference = _less(value, expected).removesuffix(".00")
    return _text(expected, style), _text(value, style), difference


def _less(value: float | None, other: float | None) -> str:
    return "–" if None in (value, other) else f"{value - other:+,.2f}"


def _with_spread(found: Mapping, style: str) -> str:
    """Return mean ± standard deviation; with one seed, the mean."""
    mean, deviation = (_text(found[key], style) for key in ("mean", "deviation"))
    return mean if deviation == "–" else f"{mean} ± {deviation}"


def _spread(found: dict) -> str:
    return _text(found["deviation"], "{:.2f}")


def _text(value: float | None, style: str) -> str:
    is_number = value is not None and not math.isnan(value)
    return style.format(value) if is_number else "–"
