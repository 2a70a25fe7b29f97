"""report.json and report.md: the paper's numbers beside ours, with a figure."""

from pathlib import Path
from typing import Any

from oracle.common.errors import RnngError
from oracle.common.files import finite, indented
from rnng_dy.reproduce import inside
from rnng_dy.reproduce.runner import is_done, keys, made_by
from rnng_dy.reproduce.stages import OPTIONAL, Experiment, stages
from rnng_dy.reproduce.tables import Table, tables


def write_report(folder: Path, e: Experiment) -> list[Path]:
    """Write the report of the finished stages; return its files.

    Raises RnngError if a required stage is missing.
    """
    planned = stages(e)
    key_of = keys(folder, planned)
    done = [stage for stage in planned if is_done(folder, stage, key_of[stage.name])]
    if missing := [s.name for s in planned if s.group not in OPTIONAL and s not in done]:
        raise RnngError(
            f"no report without the stage `{missing[0]}`: run with --stages data,train,infer,report"
        )
    outputs = {path for stage in done for path in stage.outputs}
    curves, heads = inside.curves(folder, e, outputs), inside.heads(folder, e)
    made = [t for t in (*tables(folder, e, outputs), curves, heads) if t.rows]
    commands = [f"rnng-dy {stage.command}" for stage in done]
    versions = ", ".join(sorted({made_by(folder, stage) for stage in done}))
    content = {
        "version": versions,
        "corpus": e.corpus,
        "seeds": e.seeds,
        "tables": {table.title: table.rows for table in made},
        "commands": commands,
    }
    title = f"# Recurrent Neural Network Grammars on {e.corpus}"
    origin = ["## How it was made", "", "```", f"rnng_dy {versions}", *commands, "```"]
    text = "\n".join([title, "", *map(markdown, made), *origin, ""])
    paths = [folder / "report.json", folder / "report.md"]
    for path, written in zip(paths, (indented(content), text), strict=True):
        path.write_text(written, encoding="utf-8")
    if curves.rows:
        paths.append(folder / inside.FIGURE)
        inside.draw(curves, paths[-1])
    return paths


def markdown(table: Table) -> str:
    """Return a table in Markdown, under its title."""
    columns = list(table.rows[0])
    sign = "+" if "difference" in columns else ""
    lines = [f"## {table.title}", "", f"| {' | '.join(columns).replace('_', ' ')} |"]
    lines.append("|" + "---|" * len(columns))
    for row in table.rows:
        lines.append(f"| {' | '.join(_cell(name, row[name], sign) for name in columns)} |")
    return "\n".join([*lines, "", *([table.note, ""] if table.note else [])])


def _cell(column: str, value: Any, sign: str) -> str:
    if isinstance(value, list):
        return ", ".join(_cell(column, x, sign) for x in value)
    if finite(value) is None:
        return "–"
    if isinstance(value, str):
        return value
    if column == "p":
        return f"{value:.4f}"
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign},.2f}"
