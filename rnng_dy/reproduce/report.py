"""report.json, report.md and report.html from the numbers of a reproduction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from oracle.brackets import parse_line
from oracle.errors import RnngError
from oracle.streams import open_output
from rnng_dy.drawing import pages
from rnng_dy.drawing.charts import Chart, Point, histogram, line_chart
from rnng_dy.drawing.trees import draw_tree
from rnng_dy.engine import CPU
from rnng_dy.evaluation.marking import mark
from rnng_dy.execution.outputs import write_json
from rnng_dy.reproduce.plan import OPTIONAL, Experiment, Stage
from rnng_dy.reproduce.results import collect
from rnng_dy.reproduce.runner import Runner
from rnng_dy.reproduce.tables import Table, compared_trees, long_tables, short_tables
from rnng_dy.training.about import versions


class Section(NamedTuple):
    """A part of the report: a table, a chart, trees of sentences, or lines of text under names."""

    title: str
    table: Table | None = None
    chart: Chart | None = None
    note: str = ""
    names: Sequence[str] = ()
    """Names of each sentence's trees, gold first."""
    sentences: Sequence[Mapping] = ()
    """Sentences: their numbers, and their trees by name."""
    texts: Mapping[str, Sequence[str]] = {}
    is_drawn: bool = False
    """Whether the section appears only in report.html."""


def make_report(
    folder: Path, experiment: Experiment, runner: Runner, planned: Sequence[Stage]
) -> list[Path]:
    """Write the report of the finished stages and return its files. Raises RnngError if a required stage is missing."""
    not_run = {stage.name: stage for stage in planned if not runner.is_done(stage)}
    missing = next((stage for stage in not_run.values() if stage.group not in OPTIONAL), None)
    if missing:
        raise RnngError(
            f"no report without the stage `{missing.name}`: run with --stages data,train,infer,report"
        )
    found = collect(folder, experiment, not_run)
    found["made"] = {
        "versions": versions(),
        "stages": [
            {
                "name": stage.name,
                "command": " ".join(stage.command),
                **runner.last_run(stage),
            }
            for stage in planned
            if stage.name not in not_run
        ],
    }
    return write(folder, found)


def write(folder: Path, results: dict) -> list[Path]:
    """Write the three files, each replaced only when complete; return their paths."""
    paths = [folder / f"report.{ending}" for ending in ("json", "md", "html")]
    write_json(paths[0], results)
    with open_output(paths[1]) as stream:
        stream.write(markdown(results))
    with open_output(paths[2]) as stream:
        stream.writelines(html(results))
    return paths


def sections(results: dict) -> Iterator[Section]:
    """Yield the sections: the results, curves, then the long tables."""
    for table in short_tables(results):
        yield Section(table.title, table=table)
    for title, chart in charts(results):
        if chart:
            yield Section(title, chart=chart, is_drawn=True)
    for table in long_tables(results):
        yield Section(table.title, table=table)
    note = f"{results['systems'][-1]}; wrong constituents are red and underlined."
    names = ("gold", "discriminative", "reranked")
    yield Section("Trees", note=note, names=names, sentences=results["trees"], is_drawn=True)
    yield from _most_different(results)
    yield Section("Sentences drawn from the models", texts=results["generated"])
    yield Section("How it was made", texts={"": _made(results)})


def _most_different(results: dict) -> Iterator[Section]:
    """Yield the sentences in which two systems differ most, of the first seed."""
    for names, kind, compared in compared_trees(results):
        title = f"Where {names[0]} and {names[1]} differ most, {kind}, seed {results['seeds'][0]}"
        yield Section(title, names=("gold", *names), sentences=compared["most_different"])


def charts(results: dict) -> list[tuple[str, Chart | None]]:
    """Return titles and charts; a chart without data is None."""
    by_samples = {run["run"]: run["points"] for run in results["samples"]}
    lengths = {
        run["run"]: [{"interval": i, **row} for i, row in enumerate(run["rows"], 1)]
        for run in results["f1_by_length"]
    }
    parsers, generators = (
        {run["run"]: run[kind] for run in results["learning"] if kind in run}
        for kind in ("discriminative", "generative")
    )
    rows = enumerate(results["f1_by_length"][0]["rows"], 1)
    words = "words: " + "; ".join(f"{i}: {row['words']}" for i, row in rows)
    curves = (
        ("Parsers: F1 on the development part", parsers, "epoch", "f1", "epochs", "F1"),
        (
            "Generative models: perplexity of words and trees on the development part",
            *(generators, "epoch", "perplexity", "epochs", "perplexity"),
        ),
        ("F1 by number of samples", by_samples, "samples", "f1", "samples", "F1"),
        (
            "Perplexity by number of samples",
            *(by_samples, "samples", "perplexity", "samples", "perplexity"),
        ),
        ("F1 by sentence length, greedy", lengths, "interval", "discriminative", words, "F1"),
        ("F1 by sentence length, reranked", lengths, "interval", "generative", words, "F1"),
    )
    ess = [value for run in results["estimates"] for value in run["effective_sample_size"]]
    return [
        *(
            (title, line_chart(_xy(runs, x, y), x_title, y_title, logarithmic_x=x == "samples"))
            for title, runs, x, y, x_title, y_title in curves
        ),
        ("Effective sample sizes of all log marginals", histogram(ess, "effective sample size")),
    ]


def _xy(series: dict[str, list[dict]], x: str, y: str) -> dict[str, list[Point]]:
    return {
        name: [(p[x], p[y]) for p in points if p.get(y) is not None]
        for name, points in series.items()
    }


def title(results: dict) -> str:
    """Return the title of the report."""
    names = {
        "ptb": "the Penn Treebank",
        "ctb": "the Chinese Treebank",
        "nltk": "NLTK's sample of the Penn Treebank",
    }
    return f"Recurrent Neural Network Grammars on {names.get(results['corpus'], 'a treebank')}"


def markdown(results: dict) -> str:
    """Return the report as Markdown: tables, differing sentences, sentences of the models, and how it was made."""
    lines = [f"# {title(results)}", ""]
    for section in sections(results):
        if not section.is_drawn:
            lines += [f"## {section.title}", "", *_markdown(section)]
    return "\n".join(lines)


def _markdown(section: Section) -> Iterator[str]:
    if table := section.table:
        yield "| " + " | ".join(table.header) + " |"
        yield "|" + "---|" * len(table.header)
        for row in table.rows:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        yield from ("", table.note, "") if table.note else ("",)
    width = max(map(len, section.names), default=0)
    for sentence in section.sentences:
        trees = (f"{name:>{width}}  {sentence[name]}" for name in section.names)
        yield from (f"Sentence {sentence['sentence']}:", "", "```", *trees, "```", "")
    for name, texts in section.texts.items():
        yield from (f"{name}:", "") if name else ()
        yield from ("```", *texts, "```", "")


def _made(results: dict) -> list[str]:
    made = results["made"]
    lines = [f"{name} {version}" for name, version in made["versions"].items()]
    lines.append(f"seeds {', '.join(map(str, results['seeds']))}")
    for stage in made["stages"]:
        device = stage.get("device") or CPU
        on = "" if device == CPU else f" --device {device}"
        lines.append(f"rnng-dy {stage['command']}{on}")
        lines += [f"    {digest[:16]}  {name}" for name, digest in stage["outputs"].items()]
    return lines


def html(results: dict) -> Iterator[str]:
    """Return the parts of one self-contained page, whose table of contents is always in view."""
    return pages.parts(
        "report.html", title=title(results), sections=list(sections(results)), svg_of=_svg
    )


def _svg(sentence: Mapping, name: str) -> str:
    """Return the SVG of a sentence's tree, compared with gold."""
    gold, tree = parse_line(sentence["gold"]), parse_line(sentence[name])
    return draw_tree(tree, mark(gold, tree).wrong)
