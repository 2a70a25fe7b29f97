"""report.json and report.md: the paper's numbers beside ours, and the differences between systems."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import rnng_dy
from oracle.errors import RnngError
from rnng_dy.reproduce import paper
from rnng_dy.reproduce.numbers import collect
from rnng_dy.reproduce.runner import is_done, keys, record_of
from rnng_dy.reproduce.stages import OPTIONAL, Experiment, stages

KINDS = {
    "discriminative": "q(y given x), greedy",
    "generative": "p(x, y), reranked",
    "alone": "p(x, y) alone, beam",
}
WAYS = {"samples": "importance sampling", "beam": "beam", "particles": "particle filter"}
CORPORA = {
    "ptb": "the Penn Treebank",
    "ctb": "the Chinese Treebank",
    "nltk": "NLTK's sample of the Penn Treebank",
    "trees": "a treebank",
}


class Table(NamedTuple):
    """Rows of cells under a header."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def write_report(folder: Path, e: Experiment) -> list[Path]:
    """Write the report of the finished stages; return its files. Raises RnngError if a required stage is missing."""
    planned = stages(e)
    key_of = keys(folder, planned)
    done = [stage for stage in planned if is_done(folder, stage, key_of[stage.name])]
    not_run = [stage for stage in planned if stage not in done]
    if missing := next((s.name for s in not_run if s.group not in OPTIONAL), None):
        raise RnngError(
            f"no report without the stage `{missing}`: run with --stages data,train,infer,report"
        )
    found = collect(folder, e, [stage.name for stage in not_run])
    made = {stage.name: record_of(folder, stage) for stage in done}
    found["made"] = {
        "version": rnng_dy.__version__,
        "stages": [
            {"name": n, "command": r["command"], "seconds": r["seconds"]} for n, r in made.items()
        ],
    }
    paths = [folder / "report.json", folder / "report.md"]
    paths[0].write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    paths[1].write_text(markdown(found), encoding="utf-8")
    return paths


def markdown(results: Mapping) -> str:
    """Return the report as Markdown."""
    lines = [f"# Recurrent Neural Network Grammars on {CORPORA[results['corpus']]}", ""]
    for table in tables(results):
        lines += [f"## {table.title}", "", f"| {' | '.join(table.header)} |"]
        lines += ["|" + "---|" * len(table.header)]
        lines += [f"| {' | '.join(row)} |" for row in table.rows]
        lines += ["", table.note, ""] if table.note else [""]
    lines += ["## How it was made", "", "```", f"rnng_dy {results['made']['version']}"]
    lines += [f"rnng-dy {stage['command']}" for stage in results["made"]["stages"]]
    return "\n".join([*lines, "```", ""])


def tables(results: Mapping) -> Iterator[Table]:
    """Yield the tables that have rows."""
    for make in (_f1, _perplexity, _ablations, _several_ways, _differences, _statistics, _growth):
        table = make(results)
        if table.rows:
            yield table


def _f1(results: Mapping) -> Table:
    known = paper.F1.get(results["corpus"])
    rows = []
    for key, found in results["f1"].items():
        kind, system = key.split()
        cells = _beside(known, (kind, system), found["mean"], "{:.2f}")
        rows.append((f"{KINDS[kind]}, {system}", *cells, _text(found["deviation"], "{:.2f}")))
    tags = results["tags"]["test"]
    said = {"gold": "Gold POS tags.", "none": "No POS tags."}.get(tags)
    said = said or f"POS tags of a tagger, {tags:.2f} % as in the treebank."
    if lacking := _counts(results["without_tree"]):
        said += f" No tree by p(x, y) alone, which counts as no constituents: {lacking}."
    return Table(
        "Labelled F1 on the test part", ("", *_columns(known), "sd over seeds"), rows, said
    )


def _perplexity(results: Mapping) -> Table:
    known, found = paper.PERPLEXITY.get(results["corpus"]), results["perplexity"]
    names = {"kneser-ney": f"Kneser-Ney {paper.ORDER}-gram", "lstm": "LSTM"}
    names |= {system: f"RNNG, {system}" for system in results["systems"]}
    rows = []
    for key in (key for key in names if key in found):
        cells = _beside(known, key, found[key]["mean"], "{:.1f}")
        ends = _text(found[f"{key} with ends"]["mean"], "{:.1f}")
        rows.append((names[key], *cells, _text(found[key]["deviation"], "{:.2f}"), ends))
    note = "The end of a sentence is in its likelihood and, but for the last column, not one of its words."
    if lacking := _counts(found["sentences with p = 0"]):
        note += f" Left out, p = 0: {lacking}."
    header = ("", *_columns(known), "sd over seeds", "ends counted")
    return Table("Perplexity on the test part", header, rows, note)


def _ablations(results: Mapping) -> Table:
    """Return the table of Kuncoro et al. (2017) with the systems that were run; without rows if none is an ablation."""
    full, *ablations = paper.KUNCORO
    is_any = set(ablations) & set(results["systems"])
    names = [name for name in paper.KUNCORO if is_any and name in results["systems"]]
    f1 = {name: results["f1"][f"generative {name}"]["mean"] for name in names}
    perplexity = {name: results["perplexity"][name]["mean"] for name in names}
    is_papers = results["corpus"] == "ptb"
    header, rows = [""], [[name] for name in names]
    for i, (measure, found) in enumerate((("F1", f1), ("perplexity", perplexity))):
        header += [f"{measure}, paper"] * is_papers + [measure, f"{measure} less {full}"]
        for name, row in zip(names, rows, strict=True):
            row += [_text(paper.KUNCORO[name][i], "{:.1f}")] * is_papers
            row += [_text(found[name], "{:.2f}")]
            row += [_less(found[name], None if name == full else found.get(full))]
    note = (
        "F1 of reranked trees. To expect from the paper: leaving out the stack hurts, leaving out the history or the "
        "buffer does not; the stack alone and gated attention are as good as the full model or better."
    )
    return Table("Ablations (Kuncoro et al. 2017)", header, rows, note)


def _several_ways(results: Mapping) -> Table:
    rows = []
    for run in results["several_ways"]:
        for way, name in WAYS.items():
            styles = {
                "perplexity": "{:.1f}",
                "nats_per_sentence": "{:.2f}",
                "nats_per_word": "{:.3f}",
            }
            cells = (_text(run[way].get(measure), style) for measure, style in styles.items())
            above = f"{run[way]['above']} of {run['sentences']}" if "above" in run[way] else "–"
            rows.append((f"{name}, {run['run']}", *cells, above))
    note = (
        "Sentences with p > 0 by all ways. Gap: nats below importance sampling. A beam's probabilities are lower "
        "bounds: where one is above the samples' estimate, they missed mass."
    )
    header = ("", "perplexity", "gap per sentence", "gap per word", "above samples")
    return Table("Perplexity several ways", header, rows, note)


def _differences(results: Mapping) -> Table:
    names = {"discriminative f1": "F1, greedy", "generative f1": "F1, reranked"}
    rows = []
    for compared in results["comparisons"]:
        first, second = compared["names"]
        for key in (key for key in (*names, "perplexity") if key in compared):
            d = compared[key]
            interval = f"{_text(d['low'], '{:+.2f}')} to {_text(d['high'], '{:+.2f}')}"
            cells = (_text(d["value"], "{:+.2f}"), interval)
            ps = (_text(d[p], "{:.4f}") for p in ("p", "p_holm"))
            row = (f"{second} less {first}", str(compared["seed"]), names.get(key, key))
            rows.append((*row, *cells, *ps))
    header = ("", "seed", "", "difference", "95 % interval", "p", "p, Holm")
    note = (
        "Models of the same seed; paired bootstrap over sentences. With seed `all`, the counts of each sentence are "
        "summed over the seeds before sentences are resampled. p is of each row for itself; the last column is "
        "corrected by Holm's method for the pairs of the same seed and measure."
    )
    return Table("Differences", header, rows, note)


def _statistics(results: Mapping) -> Table:
    known = paper.TABLE_1.get(results["corpus"])
    rows = [
        (
            part,
            name.replace("_", " "),
            *_beside(known and known.get(part, {}), name, value, "{:,.0f}"),
        )
        for part, found in results["statistics"].items()
        for name, value in found.items()
    ]
    return Table("Corpus statistics (table 1)", ("", "", *_columns(known)), rows)


def _growth(results: Mapping) -> Table:
    styles = {"f1": "{:.2f}", "perplexity": "{:.1f}", "effective_sample_size": "{:.1f}"}
    rows = []
    for run in results["samples"]:
        for point in run["points"]:
            error = point["standard_error"] if point["samples"] > 1 else None
            cells = (_text(point[name], style) for name, style in styles.items())
            rows.append((run["run"], str(point["samples"]), *cells, _text(error, "{:.3f}")))
    header = ("run", "samples", "F1", "perplexity", "mean ESS", "mean se of log p(x)")
    note = "ESS: effective sample size; se: Monte-Carlo standard error, nats."
    return Table("By number of samples", header, rows, note)


def _columns(known: Mapping | None) -> tuple[str, ...]:
    """Return the column names; without numbers of the paper there is only our column."""
    return ("here",) if known is None else ("paper", "here", "difference")


def _beside(known: Mapping | None, key: object, value: float | None, style: str) -> tuple[str, ...]:
    """Return cells of `_columns`: the paper's number, ours, and the difference."""
    if known is None:
        return (_text(value, style),)
    expected = known.get(key)
    difference = _less(value, expected).removesuffix(".00")
    return _text(expected, style), _text(value, style), difference


def _counts(found: Mapping[str, int]) -> str:
    return (
        ", ".join(f"{run}: {n} sentences" for run, n in found.items())
        if any(found.values())
        else ""
    )


def _less(value: float | None, other: float | None) -> str:
    return "–" if None in (value, other) else f"{value - other:+,.2f}"


def _text(value: float | None, style: str) -> str:
    return "–" if value is None else style.format(value)
