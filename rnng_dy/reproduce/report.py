"""report.json, report.md and report.html from the numbers of a reproduction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from oracle.brackets import parse_line
from oracle.files import open_output
from rnng_dy.drawing.charts import STYLE as CHART_STYLE
from rnng_dy.drawing.charts import Point, histogram, line_chart
from rnng_dy.drawing.trees import STYLE as TREE_STYLE
from rnng_dy.drawing.trees import draw_tree
from rnng_dy.evaluation.marking import mark
from rnng_dy.execution.outputs import write_json
from rnng_dy.reproduce.tables import Table, compared_kinds, long_tables, short_tables


def write(folder: Path, results: dict) -> list[Path]:
    """Write the three files, each replaced only when it is complete; gives their paths."""
    paths = [folder / f"report.{ending}" for ending in ("json", "md", "html")]
    write_json(paths[0], results)
    for path, text in zip(paths[1:], (markdown(results), html(results)), strict=True):
        with open_output(path) as stream:
            stream.write(text)
    return paths


def charts(results: dict) -> list[tuple[str, str]]:
    """Titles and SVG."""
    by_samples = {run["run"]: run["points"] for run in results["samples"]}
    lengths = {
        run["run"]: [{"interval": i, **row} for i, row in enumerate(run["rows"], 1)]
        for run in results["f1_by_length"]
    }
    learning = {run["run"]: run for run in results["learning"]}
    ess = [value for run in results["estimates"] for value in run["effective_sample_size"]]
    intervals = "; ".join(
        f"{i + 1}: {row['words']}" for i, row in enumerate(results["f1_by_length"][0]["rows"])
    )
    return [
        (
            "Parsers: F1 on the development part",
            line_chart(_points(learning, "discriminative", "epoch", "f1"), "epochs", "F1"),
        ),
        (
            "Generative models: perplexity of words and trees on the development part",
            line_chart(
                _points(learning, "generative", "epoch", "perplexity"), "epochs", "perplexity"
            ),
        ),
        (
            "F1 by number of samples",
            line_chart(_xy(by_samples, "samples", "f1"), "samples", "F1", True),
        ),
        (
            "Perplexity by number of samples",
            line_chart(_xy(by_samples, "samples", "perplexity"), "samples", "perplexity", True),
        ),
        *(
            (
                f"F1 by sentence length, {name}",
                line_chart(_xy(lengths, "interval", kind), f"words: {intervals}", "F1"),
            )
            for kind, name in (("discriminative", "greedy"), ("generative", "reranked"))
        ),
        (
            "Effective sample sizes of all log marginals",
            histogram(ess, "effective sample size"),
        ),
    ]


def _points(runs: dict[str, dict], kind: str, x: str, y: str) -> dict[str, list[Point]]:
    return _xy({name: run[kind] for name, run in runs.items() if kind in run}, x, y)


def _xy(series: dict[str, list[dict]], x: str, y: str) -> dict[str, list[Point]]:
    return {
        name: [(p[x], p[y]) for p in points if p.get(y) is not None]
        for name, points in series.items()
    }


def markdown(results: dict) -> str:
    """Tables, sentences and how it was made."""
    lines = [f"# Recurrent Neural Network Grammars on {_corpus(results)}", ""]
    for table in (*short_tables(results), *long_tables(results)):
        lines += [f"## {table.title}", ""]
        lines.append("| " + " | ".join(table.header) + " |")
        lines.append("|" + "---|" * len(table.header))
        lines += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table.rows
        ]
        lines += ["", table.note, ""] if table.note else [""]
    for title, names, sentences in _most_different(results):
        lines += [f"## {title}", ""]
        width = max(map(len, names))
        for sentence in sentences:
            lines += [f"Sentence {sentence['sentence']}:", "", "```"]
            lines += [f"{name:>{width}}  {sentence[name]}" for name in names]
            lines += ["```", ""]
    lines += ["## Sentences drawn from the models", ""]
    for name, sentences in results["generated"].items():
        lines += [f"{name}:", "", "```", *sentences, "```", ""]
    lines += ["## How it was made", "", "```", *_made(results), "```", ""]
    return "\n".join(lines)


def _most_different(results: dict) -> Iterator[tuple[str, tuple[str, ...], list[dict]]]:
    """Titles, the names of trees, and the sentences in which two systems differ most, of the first seed."""
    for compared in results["comparisons"]:
        if compared["seed"] != results["seeds"][0]:
            continue
        first, second = compared["names"]
        for kind, name in compared_kinds(compared):
            title = f"Where {first} and {second} differ most, {name}, seed {compared['seed']}"
            yield title, ("gold", first, second), compared[kind]["most_different"]


def _corpus(results: dict) -> str:
    names = {
        "ptb": "the Penn Treebank",
        "ctb": "the Chinese Treebank",
        "nltk": "NLTK's sample of the Penn Treebank",
    }
    return names.get(results["corpus"], "a treebank")


def _made(results: dict) -> list[str]:
    made = results["made"]
    lines = [f"{name} {version}" for name, version in made["versions"].items()]
    lines.append(f"seeds {', '.join(map(str, results['seeds']))}")
    for stage in made["stages"]:
        lines.append(f"rnng-dy {stage['command']}")
        lines += [f"    {digest[:16]}  {name}" for name, digest in stage["outputs"].items()]
    return lines


STYLE = """
* { box-sizing: border-box }
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff; margin: 0 }
main { max-width: 980px; padding: 0 1em 4em; min-width: 0 }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em; scroll-margin-top: 3em }
nav a { color: #1b6ca8; text-decoration: none } nav a:hover { text-decoration: underline }
nav { position: sticky; top: 0; z-index: 1; background: #fff; border-bottom: 1px solid #ddd; padding: .5em 1em;
  overflow-x: auto; white-space: nowrap; font-size: .9em }
nav a { margin-right: 1.2em }
.table, .chart, .tree { overflow-x: auto } .note { color: #555 } figure { margin: 1em 0 }
table { border-collapse: collapse } td { white-space: nowrap }
th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd }
th { border-bottom: 2px solid #888; vertical-align: bottom }
td:first-child, th:first-child { text-align: left; padding-left: 0 }
pre { overflow-x: auto; background: #f6f6f6; padding: .8em; font-size: 12px }
@media (min-width: 1240px) {
  body { display: grid; grid-template-columns: 15em minmax(0, 1fr); column-gap: 2em }
  nav { height: 100vh; overflow: auto; white-space: normal; border: 0; padding: 2em 1em }
  nav a { display: block; margin: 0 0 .6em }
}
@media (max-width: 600px) {
  th, td { padding: .2em .45em } table { font-size: .88em } main { padding: 0 .7em 3em }
}
"""


def html(results: dict) -> str:
    """One page that needs nothing else, with its contents always in view."""
    title = f"Recurrent Neural Network Grammars on {_corpus(results)}"
    sections = list(_sections(results))
    links = "".join(f'<a href="#s{i}">{escape(name)}</a>' for i, (name, _) in enumerate(sections))
    body = "".join(
        f'<h2 id="s{i}">{escape(name)}</h2>{content}' for i, (name, content) in enumerate(sections)
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{TREE_STYLE}{CHART_STYLE}{STYLE}</style></head>\n<body><nav>{links}</nav>"
        f"<main><h1>{escape(title)}</h1>{body}</main></body></html>\n"
    )


def _sections(results: dict) -> Iterator[tuple[str, str]]:
    """Titles and HTML: the results, curves, then all that is long."""
    for table in short_tables(results):
        yield table.title, _html_table(table)
    for name, chart in charts(results):
        if chart:
            yield name, f'<figure class="chart">{chart}</figure>'
    for table in long_tables(results):
        yield table.title, _html_table(table)
    note = f"<p class='note'>{escape(results['systems'][-1])}; wrong constituents are red and underlined.</p>"
    shown = ("gold", "discriminative", "reranked")
    yield "Trees", note + "".join(_html_trees(drawn, shown) for drawn in results["trees"])
    for title, names, sentences in _most_different(results):
        yield title, "".join(_html_trees(drawn, names) for drawn in sentences)
    generated = (
        f"<h3>{escape(name)}</h3><pre>{escape(chr(10).join(sentences))}</pre>"
        for name, sentences in results["generated"].items()
    )
    yield "Sentences drawn from the models", "".join(generated)
    yield "How it was made", f"<pre>{escape(chr(10).join(_made(results)))}</pre>"


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f'<div class="table"><table><tr>{head}</tr>{rows}</table></div>{note}'


def _html_trees(drawn: dict, names: Sequence[str]) -> str:
    """The trees of a sentence under their names, gold first."""
    gold = parse_line(drawn["gold"])
    parts = [f"<h3>Sentence {drawn['sentence']}</h3>"]
    for name in names:
        tree = parse_line(drawn[name])
        picture = draw_tree(tree, mark(gold, tree).wrong)
        parts.append(f'<p class="note">{escape(name)}</p><figure class="tree">{picture}</figure>')
    return "".join(parts)
