"""report.json, report.md and report.html from the numbers of a reproduction."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from html import escape
from pathlib import Path

from oracle.brackets import parse_line
from rnng_dy.comparison import brackets
from rnng_dy.reproduce import svg
from rnng_dy.reproduce.plan import COMPOSITIONS
from rnng_dy.reproduce.tables import Table, tables


def write(folder: Path, results: dict) -> list[Path]:
    """Write the three files, each under a temporary name first; gives their paths."""
    contents = {
        "report.json": json.dumps(results, indent=1, ensure_ascii=False) + "\n",
        "report.md": markdown(results),
        "report.html": html(results),
    }
    paths = []
    for name, text in contents.items():
        path = folder / name
        temporary = path.with_suffix(path.suffix + ".new")
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
        os.replace(temporary, path)
        paths.append(path)
    return paths


def charts(results: dict) -> list[tuple[str, str]]:
    """Titles and SVG."""
    by_samples = {run["run"]: run["points"] for run in results["samples"]}
    lengths = {
        f"{run['run']}, {name}": [
            (i + 1, row[kind]) for i, row in enumerate(run["rows"]) if row[kind] is not None
        ]
        for run in results["f1_by_length"]
        for kind, name in (("discriminative", "greedy"), ("generative", "reranked"))
    }
    learning = {run["run"]: run for run in results["learning"]}
    ess = [value for run in results["estimates"] for value in run["effective_sample_size"]]
    intervals = "; ".join(
        f"{i + 1}: {row['words']}" for i, row in enumerate(results["f1_by_length"][0]["rows"])
    )
    return [
        (
            "Parsers: F1 on the development part",
            svg.line_chart(_points(learning, "discriminative", "epoch", "f1"), "epochs", "F1"),
        ),
        (
            "Generative models: perplexity of words and trees on the development part",
            svg.line_chart(
                _points(learning, "generative", "epoch", "perplexity"), "epochs", "perplexity"
            ),
        ),
        (
            "F1 by number of samples",
            svg.line_chart(_xy(by_samples, "samples", "f1"), "samples", "F1", True),
        ),
        (
            "Perplexity by number of samples",
            svg.line_chart(_xy(by_samples, "samples", "perplexity"), "samples", "perplexity", True),
        ),
        (
            f"F1 by sentence length (words, {intervals})",
            svg.line_chart(lengths, "interval of length", "F1"),
        ),
        (
            "Effective sample sizes of all log marginals",
            svg.histogram(ess, "effective sample size"),
        ),
    ]


def _points(runs: dict[str, dict], kind: str, x: str, y: str) -> dict[str, list[svg.Point]]:
    return _xy({name: run[kind] for name, run in runs.items()}, x, y)


def _xy(series: dict[str, list[dict]], x: str, y: str) -> dict[str, list[svg.Point]]:
    return {
        name: [(p[x], p[y]) for p in points if p.get(y) is not None]
        for name, points in series.items()
    }


def markdown(results: dict) -> str:
    """Tables, sentences and how it was made."""
    lines = [f"# Recurrent Neural Network Grammars on {_corpus(results)}", ""]
    for table in tables(results):
        lines += [f"## {table.title}", ""]
        lines.append("| " + " | ".join(table.header) + " |")
        lines.append("|" + "---|" * len(table.header))
        lines += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table.rows
        ]
        lines += ["", table.note, ""] if table.note else [""]
    for title, sentences in _most_different(results):
        lines += [f"## {title}", ""]
        for sentence in sentences:
            lines += [f"Sentence {sentence['sentence']}:", "", "```"]
            lines += [f"{name:>9}  {sentence[name]}" for name in ("gold", "buggy", "corrected")]
            lines += ["```", ""]
    lines += ["## Sentences drawn from the models", ""]
    for name, sentences in results["generated"].items():
        lines += [f"{name}:", "", "```", *sentences, "```", ""]
    lines += ["## How it was made", "", "```", *_made(results), "```", ""]
    return "\n".join(lines)


def _most_different(results: dict) -> list[tuple[str, list[dict]]]:
    """Titles, and the sentences in which the compositions differ most."""
    first = results["composition"][0]
    return [
        (
            f"Where the compositions differ most, {name}, seed {first['seed']}",
            first[kind]["most_different"],
        )
        for kind, name in (("discriminative", "greedy"), ("generative", "reranked"))
    ]


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
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 980px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse } th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd }
th { border-bottom: 2px solid #888 } td:first-child, th:first-child { text-align: left; padding-left: 0 }
.note { color: #555 } .chart, .tree { overflow-x: auto } figure { margin: 1em 0 }
svg text { font: 12px system-ui, sans-serif; fill: #333 } svg .grid { stroke: #e4e4e4 } svg .axis { stroke: #888 }
svg .edge { stroke: #aaa } svg .label { fill: #1b6ca8; font-weight: 600 } svg .tag { fill: #777 }
svg .wrong { fill: #c00; font-weight: 700; text-decoration: underline }
.legend span { margin-right: 1.2em; white-space: nowrap }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em }
pre { overflow-x: auto; background: #f6f6f6; padding: .8em; font-size: 12px }
"""


def html(results: dict) -> str:
    """One page that needs nothing else."""
    title = f"Recurrent Neural Network Grammars on {_corpus(results)}"
    parts = [f"<h1>{escape(title)}</h1>"]
    parts += map(_html_table, tables(results))
    for name, chart in charts(results):
        if chart:
            parts.append(f'<h2>{escape(name)}</h2><figure class="chart">{chart}</figure>')
    parts.append(
        "<h2>Trees</h2><p class='note'>The corrected composition; wrong constituents are red and underlined.</p>"
    )
    shown = ("gold", "discriminative", "reranked")
    parts += (_html_trees(drawn, shown) for drawn in results["trees"])
    for title, sentences in _most_different(results):
        parts.append(f"<h2>{escape(title)}</h2>")
        parts += (_html_trees(drawn, ("gold", *COMPOSITIONS)) for drawn in sentences)
    parts.append("<h2>Sentences drawn from the models</h2>")
    for name, sentences in results["generated"].items():
        parts.append(f"<h3>{escape(name)}</h3><pre>{escape(chr(10).join(sentences))}</pre>")
    parts.append(f"<h2>How it was made</h2><pre>{escape(chr(10).join(_made(results)))}</pre>")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head>\n<body>{''.join(parts)}</body></html>\n"
    )


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.header)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"<h2>{escape(table.title)}</h2><table><tr>{head}</tr>{rows}</table>{note}"


def _html_trees(drawn: dict, names: Sequence[str]) -> str:
    """The trees of a sentence under their names, gold first."""
    gold = parse_line(drawn["gold"])
    right = brackets(gold)
    parts = [f"<h3>Sentence {drawn['sentence']}</h3>"]
    for name in names:
        tree = parse_line(drawn[name])
        picture = svg.draw_tree(tree, None if name == "gold" else right)
        parts.append(f'<p class="note">{name}</p><figure class="tree">{picture}</figure>')
    return "".join(parts)
