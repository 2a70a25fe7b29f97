"""report.json and report.md: the paper's numbers beside ours, and differences of systems."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import rnng_dy
from oracle.blocks import read_oracle
from oracle.brackets import read_trees
from oracle.common.errors import InputError, RnngError
from oracle.common.files import indented
from oracle.common.lazy import nltk
from rnng_dy.evaluation import evalb, significance
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.reproduce import paper
from rnng_dy.reproduce.runner import is_done, keys
from rnng_dy.reproduce.stages import BASELINES, PARTS, Experiment, stages
from rnng_dy.reproduce.systems import System
from rnng_dy.search.importance import read_sampled

TAGS = {"jackknife": "POS tags of a tagger.", "gold": "Gold POS tags.", "none": "No POS tags."}
KINDS = {"discriminative": "greedy", "generative": "reranked"}
"""How the trees of each kind of model are made."""
Figures = dict[str, Any]
"""A row of a table: its values by column."""


class Table(NamedTuple):
    """Rows of values by column; a column of lists is not printed."""

    title: str
    rows: Sequence[Figures]
    note: str


class Trial(NamedTuple):
    """The results of one system with one seed."""

    scores: Mapping[str, evalb.Scores]
    """Of the parser's greedy trees ("discriminative"), and of the reranked ones ("generative")."""
    log_probs: Sequence[float]
    """Nats per sentence, from the samples."""
    lengths: Sequence[int]
    """Words per sentence."""


Trials = Mapping[tuple[System, int], Trial]


def write_report(folder: Path, e: Experiment) -> list[Path]:
    """Write the report of the finished stages; return its files.

    Raises RnngError if a required stage is missing.
    """
    planned = stages(e)
    key_of = keys(folder, planned)
    done = [stage for stage in planned if is_done(folder, stage, key_of[stage.name])]
    not_run = [stage for stage in planned if stage not in done]
    if missing := next((s.name for s in not_run if s.group != BASELINES), None):
        raise RnngError(
            f"no report without the stage `{missing}`: run with --stages data,train,infer,report"
        )
    made = tables(folder, e, with_baselines=not not_run)
    commands = [f"rnng-dy {stage.command}" for stage in done]
    content = {
        "version": rnng_dy.__version__,
        "corpus": e.corpus,
        "seeds": e.seeds,
        "tables": {table.title: table.rows for table in made},
        "commands": commands,
    }
    title = f"# Recurrent Neural Network Grammars on {e.corpus}"
    origin = ["## How it was made", "", "```", f"rnng_dy {rnng_dy.__version__}", *commands, "```"]
    text = "\n".join([title, "", *map(markdown, made), *origin, ""])
    paths = [folder / "report.json", folder / "report.md"]
    for path, written in zip(paths, (indented(content), text), strict=True):
        path.write_text(written, encoding="utf-8")
    return paths


def tables(folder: Path, e: Experiment, with_baselines: bool) -> list[Table]:
    """Return the tables that have rows."""
    golds = _trees(folder / "test.trees")
    trials = {(s, seed): _trial(folder, s, seed, golds) for s in e.systems for seed in e.seeds}
    scores = _f1(e, trials), _perplexity(folder, e, trials, with_baselines)
    every = *scores, _differences(e, trials), _statistics(folder, e)
    return [table for table in every if table.rows]


def _trial(folder: Path, system: System, seed: int, golds: Sequence[nltk.Tree]) -> Trial:
    """Return the results of a system. Raises InputError if a sentence has no tree."""
    run, parser = f"{system.slug}-{seed}", f"{system.proposal.slug}-{seed}"
    sampled = read_sampled(folder / f"{parser}.props", folder / f"{run}.likelihoods")
    files = {"discriminative": f"{parser}.greedy.trees", "generative": f"{run}.map.trees"}
    scores = {}
    for kind, name in files.items():
        trees = _trees(folder / name)
        if len(trees) != len(golds):
            problem = f"{len(trees)} trees for {len(golds)} sentences: one did not fit into memory"
            raise InputError(f"{problem}; remove this file and run again", folder / name)
        # EVALB recognises punctuation by the gold tags, whatever tags the system saw
        scores[kind] = evalb.score(golds, trees, gold_tags=True)
    log_probs = [sentence.estimate.log_marginal for sentence in sampled]
    return Trial(scores, log_probs, [sentence.words for sentence in sampled])


def _trees(path: Path) -> list[nltk.Tree]:
    return [located.tree for located in read_trees(str(path))]


def _f1(e: Experiment, trials: Trials) -> Table:
    published, rows = paper.F1.get(e.corpus), []
    for kind, name in KINDS.items():
        for system in e.systems:
            values = [trials[system, seed].scores[kind].f1 for seed in e.seeds]
            beside = _beside(published, (kind, system.name), values)
            rows.append({"trees": name, "system": system.name, **beside})
    return Table("Labelled F1 on the test part", rows, TAGS[e.tags])


def _perplexity(folder: Path, e: Experiment, trials: Trials, with_baselines: bool) -> Table:
    published, rows = paper.PERPLEXITY.get(e.corpus), []
    baselines = {
        "kneser-ney": (f"Kneser-Ney {paper.ORDER}-gram", ["kneser-ney"]),
        "lstm": ("LSTM", [f"lstm-{seed}" for seed in e.seeds]),
    }
    for key, (model, runs) in baselines.items() if with_baselines else ():
        saved = [json.loads((folder / f"{run}.json").read_text(encoding="utf-8")) for run in runs]
        values = [content["perplexity"] for content in saved]
        rows.append({"model": model, **_beside(published, key, values)})
    left_out = 0
    for system in e.systems:
        values = []
        for trial in (trials[system, seed] for seed in e.seeds):
            result = likelihood(trial.log_probs, trial.lengths)
            left_out += len(trial.lengths) - result.sentences
            values.append(result.perplexity)
        rows.append({"model": f"RNNG, {system.name}", **_beside(published, system.name, values)})
    note = "The end of a sentence is in its likelihood, and not one of its words."
    if left_out:
        note += f" Left out, p = 0: {left_out} sentences of all models."
    return Table("Perplexity on the test part", rows, note)


def _differences(e: Experiment, trials: Trials) -> Table:
    """Return the table of each system less the first, per seed."""
    rows: list[Figures] = []
    for system in e.systems[1:]:
        for seed in e.seeds:
            rows += _compare(e.systems[0], system, seed, trials)
    families = defaultdict(list)
    for row in rows:
        families[row["seed"], row["measure"]].append(row)
    for family in families.values():
        for row, p in zip(family, significance.holm([row["p"] for row in family]), strict=True):
            row["p_Holm"] = p
    note = (
        "Models of the same seed, 95 % intervals by a paired bootstrap over sentences. p is by a "
        "permutation test, of each row for itself; the last column is corrected by Holm's method "
        "for the pairs of the same seed and measure."
    )
    return Table("Differences", rows, note)


def _compare(one: System, two: System, seed: int, trials: Trials) -> Iterator[Figures]:
    """Yield the differences, second system minus first."""
    first, second = trials[one, seed], trials[two, seed]
    differences = {}
    for kind in ("generative",) if one.proposal == two.proposal else KINDS:
        common = evalb.on_common_sentences([first.scores[kind], second.scores[kind]])
        differences[f"F1, {KINDS[kind]}"] = significance.f1_difference(*common)
    differences["perplexity"] = significance.perplexity_difference(
        first.log_probs, second.log_probs, first.lengths
    )
    systems = f"{two.name} less {one.name}"
    for measure, difference in differences.items():
        interval = {name: getattr(difference, name) for name in ("low", "high", "p")}
        row = {"systems": systems, "seed": str(seed), "measure": measure}
        yield {**row, "difference": difference.value, **interval}


def _statistics(folder: Path, e: Experiment) -> Table:
    """Return table 1 of the paper: sentences, tokens, types and classes of unknown words."""
    rows = []
    for part in PARTS:
        sentences = read_oracle(folder / f"{part}.gen.oracle")
        pairs = [pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True)]
        types = {word_read for _, word_read in pairs}
        classes = {word_read for word, word_read in pairs if word_read != word}
        counts = (len(sentences), len(pairs), len(types), len(classes))
        published = paper.TABLE_1.get((e.corpus, part), [None] * len(counts))
        for name, value, number in zip(paper.STATISTICS, counts, published, strict=True):
            row: Figures = {"part": part, "count": name, "here": value}
            rows.append(row | ({"paper": number} if e.corpus in paper.F1 else {}))
    return Table("Corpus statistics (table 1)", rows, "")


def _beside(published: Mapping[Any, float] | None, key: object, values: Sequence[float]) -> Figures:
    """Return the columns of a value per seed: mean and deviation, beside the paper's numbers."""
    mean, deviation = significance.mean_and_deviation(values)
    theirs = {} if published is None else {"paper": published.get(key)}
    return {**theirs, "here": mean, "sd_over_seeds": deviation, "values": [*values]}


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
    digits = 4 if column in ("p", "p_Holm") else 2
    sign = "+" if "difference" in column or column in ("low", "high") else ""
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign},.{digits}f}"
