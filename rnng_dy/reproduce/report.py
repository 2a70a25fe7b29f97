"""report.json and report.md: the paper's numbers beside ours, and the differences between systems."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import rnng_dy
from oracle.errors import RnngError
from oracle.files import indented
from rnng_dy.reproduce.runner import is_done, keys, record_of
from rnng_dy.reproduce.stages import OPTIONAL, Experiment, stages
from rnng_dy.reproduce.tables import Table, tables

CORPORA = {
    "ptb": "the Penn Treebank",
    "ctb": "the Chinese Treebank",
    "nltk": "NLTK's sample of the Penn Treebank",
    "trees": "a treebank",
}


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
    made = tables(folder, e, [stage.name for stage in not_run])
    commands = [
        {"command": stage.command, "seconds": record_of(folder, stage)["seconds"]} for stage in done
    ]
    content = {
        "version": rnng_dy.__version__,
        "corpus": e.corpus,
        "seeds": e.seeds,
        "tables": {table.title: table.rows for table in made},
        "stages": commands,
    }
    title = f"# Recurrent Neural Network Grammars on {CORPORA[e.corpus]}"
    origin = ["## How it was made", "", "```", f"rnng_dy {rnng_dy.__version__}"]
    origin += [f"rnng-dy {stage['command']}" for stage in commands]
    text = "\n".join([title, "", *map(markdown, made), *origin, "```", ""])
    paths = [folder / "report.json", folder / "report.md"]
    for path, written in zip(paths, (indented(content), text), strict=True):
        path.write_text(written, encoding="utf-8")
    return paths


def markdown(table: Table) -> str:
    """Return a table in Markdown, under its title."""
    columns = [name for name, value in table.rows[0].items() if not isinstance(value, list)]
    lines = [f"## {table.title}", "", f"| {' | '.join(columns).replace('_', ' ')} |"]
    lines.append("|" + "---|" * len(columns))
    for row in table.rows:
        lines.append(f"| {' | '.join(_cell(name, row[name]) for name in columns)} |")
    return "\n".join([*lines, "", *([table.note, ""] if table.note else [])])


def _cell(column: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, str):
        return value
    digits = 4 if column in ("p", "p_Holm") else 3 if column == "gap_per_word" else 2
    sign = "+" if "difference" in column or column in ("low", "high") else ""
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign},.{digits}f}"
