"""The tables of a report: the paper's numbers beside those of the files of a reproduction."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from oracle.blocks import read_oracle
from oracle.brackets import read_trees
from rnng_dy.evaluation import evalb, significance
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.reproduce import paper
from rnng_dy.reproduce.stages import PARTS, SEARCHES, Experiment
from rnng_dy.reproduce.systems import System
from rnng_dy.reproduce.trial import Trial

RERANKED = "p(x, y), reranked"
KINDS = {
    "discriminative": "q(y given x), greedy",
    "generative": RERANKED,
    "alone": "p(x, y) alone, beam",
}
MEASURES = {"discriminative": "F1, greedy", "generative": "F1, reranked"}
POOLED = "all"
"""Stands for the seed in a comparison that pools all seeds."""
Row = dict[str, Any]
Trials = Mapping[tuple[System, int], Trial]


class Table(NamedTuple):
    """Rows of values by column; a column of lists is not printed."""

    title: str
    rows: Sequence[Row]
    note: str = ""


def tables(folder: Path, e: Experiment, not_run: Collection[str] = ()) -> list[Table]:
    """Return the tables that have rows.

    `not_run` are names of optional stages. Systems and baselines that lack one for any seed lack its numbers.
    """
    golds = [located.tree for located in read_trees(str(folder / "test.trees"))]
    searched = [
        system
        for system in e.systems
        if not any(
            f"perplexity {system.slug}-{seed} {search}" in not_run
            for seed in e.seeds
            for search in SEARCHES
        )
    ]
    trials = {
        (system, seed): Trial(folder, system, seed, golds, system in searched)
        for seed in e.seeds
        for system in e.systems
    }
    f1, perplexity = _f1(folder, e, trials), _perplexity(folder, e, trials, not_run)
    several = [row for t in trials.values() if t.system in searched for row in t.perplexities()]
    found = [
        f1,
        perplexity,
        _ablations(e, f1.rows, perplexity.rows),
        Table(
            "Perplexity several ways",
            several,
            "Sentences with p > 0 by all ways. Gap: nats below importance sampling (samples). A beam's probabilities "
            "are lower bounds: where one is above the samples' estimate, they missed mass.",
        ),
        _differences(e, trials),
        _statistics(folder, e),
    ]
    return [table for table in found if table.rows]


def _f1(folder: Path, e: Experiment, trials: Trials) -> Table:
    known, rows = paper.F1.get(e.corpus), []
    for kind, name in KINDS.items():
        for system in e.systems:
            if kind in trials[system, e.seeds[0]].scores:
                values = [trials[system, seed].scores[kind].f1 for seed in e.seeds]
                beside = _beside(known, (kind, system.name), values)
                rows.append({"trees": name, "system": system.name, **beside})
    notes = {"gold": "Gold POS tags.", "none": "No POS tags."}
    if (note := notes.get(e.tags)) is None:
        percent = json.loads((folder / "test.tags.json").read_text(encoding="utf-8"))["percent"]
        note = f"POS tags of a tagger, {percent:.2f} % as in the treebank."
    lacking = {trial.name: trial.sentences_without_tree for trial in trials.values()}
    note += _counts(" No tree by p(x, y) alone, which counts as no constituents:", lacking)
    return Table("Labelled F1 on the test part", rows, note)


def _perplexity(folder: Path, e: Experiment, trials: Trials, not_run: Collection[str]) -> Table:
    known, rows = paper.PERPLEXITY.get(e.corpus), []

    def add(model: str, key: str, values: Sequence[float], with_ends: Sequence[float]) -> None:
        ends, _ = significance.mean_and_deviation(with_ends)
        rows.append({"model": model, **_beside(known, key, values), "ends_counted": ends})

    baselines = {
        "kneser-ney": (f"Kneser-Ney {paper.ORDER}-gram", ["kneser-ney"]),
        "lstm": ("LSTM", [f"lstm-{seed}" for seed in e.seeds]),
    }
    for key, (model, runs) in baselines.items():
        if not any(f"perplexity {run}" in not_run for run in runs):
            paths = [folder / f"{run}.json" for run in runs]
            add(model, key, *([_saved_perplexity(path, ends) for path in paths] for ends in (0, 1)))
    for system in e.systems:
        of_seeds = [trials[system, seed] for seed in e.seeds]
        values = (
            [likelihood(t.log_probs, [n + ends for n in t.lengths]).perplexity for t in of_seeds]
            for ends in (0, 1)
        )
        add(f"RNNG, {system.name}", system.name, *values)
    lacking = {t.name: sum(not math.isfinite(p) for p in t.log_probs) for t in trials.values()}
    note = "The end of a sentence is in its likelihood and, but for the last column, not one of its words."
    note += _counts(" Left out, p = 0:", lacking)
    return Table("Perplexity on the test part", rows, note)


def _saved_perplexity(path: Path, ends: int) -> float:
    """Return the perplexity that `rnng-dy perplexity` saved; with `ends` 1, ends of sentences count as words."""
    found = json.loads(path.read_text(encoding="utf-8"))
    count = found["words"] + ends * found["sentences"]
    return math.exp(-found["llh"] / count) if count else math.nan


def _ablations(e: Experiment, f1: Sequence[Row], perplexity: Sequence[Row]) -> Table:
    """Return the table of Kuncoro et al. (2017) with the systems that were run; without rows if none is an ablation."""
    full, *ablations = paper.KUNCORO
    systems = [system.name for system in e.systems if system.name in paper.KUNCORO]
    reranked = {row["system"]: row["here"] for row in f1 if row["trees"] == RERANKED}
    by_model = {row["model"]: row["here"] for row in perplexity}
    ours = {name: (reranked[name], by_model[f"RNNG, {name}"]) for name in systems}
    rows = []
    for name in paper.KUNCORO if {*systems} & {*ablations} else ():
        if name in systems:
            row: Row = {"system": name}
            for i, measure in enumerate(("F1", "perplexity")):
                if e.corpus == "ptb":
                    row[f"{measure},_paper"] = paper.KUNCORO[name][i]
                row[measure] = ours[name][i]
                other = ours[full][i] if name != full and full in ours else None
                row[f"{measure},_difference_to_{full}"] = _less(ours[name][i], other)
            rows.append(row)
    note = (
        "F1 of reranked trees. To expect from the paper: leaving out the stack hurts, leaving out the history or the "
        "buffer does not; the stack alone and gated attention are as good as the full model or better."
    )
    return Table("Ablations (Kuncoro et al. 2017)", rows, note)


def _differences(e: Experiment, trials: Trials) -> Table:
    """Return the table of each system less the first, per seed and, of several seeds, with the seeds pooled."""
    first, *others = ([trials[system, seed] for seed in e.seeds] for system in e.systems)
    rows: list[Row] = []
    for other in others:
        for one, two in zip(first, other, strict=True):
            rows += _compare([one], [two])
        if len(e.seeds) > 1:
            rows += _compare(first, other)
    families = defaultdict(list)
    for row in rows:
        families[row["seed"], row["measure"]].append(row)
    for family in families.values():
        for row, p in zip(family, significance.holm([row["p"] for row in family]), strict=True):
            row["p_Holm"] = p
    note = (
        "Models of the same seed, 95 % intervals by a paired bootstrap over sentences. With seed `all`, the counts of "
        "each sentence are summed over the seeds before sentences are resampled. p is of each row for itself; the last "
        "column is corrected by Holm's method for the pairs of the same seed and measure."
    )
    return Table("Differences", rows, note)


def _compare(first: Sequence[Trial], second: Sequence[Trial]) -> Iterator[Row]:
    """Yield the differences, second system minus first, of one seed, or over the sums of several seeds."""
    one, two, seeds = first[0], second[0], len(first)
    has_one_parser = one.system.proposal == two.system.proposal
    differences = {}
    for kind in ("generative",) if has_one_parser else ("discriminative", "generative"):
        common = evalb.on_common_sentences([t.scores[kind] for t in (*first, *second)])
        sums = (evalb.summed(of) for of in (common[:seeds], common[seeds:]))
        differences[MEASURES[kind]] = significance.f1_difference(*sums)
    log_probs = [
        [sum(of_seeds) for of_seeds in zip(*(t.log_probs for t in of), strict=True)]
        for of in (first, second)
    ]
    lengths = [seeds * length for length in one.lengths]
    differences["perplexity"] = significance.perplexity_difference(*log_probs, lengths)
    for measure, found in differences.items():
        yield {
            "systems": f"{two.system.name} less {one.system.name}",
            "seed": str(one.seed) if seeds == 1 else POOLED,
            "measure": measure,
            "difference": found.value,
            "low": found.low,
            "high": found.high,
            "p": found.p,
        }


def _statistics(folder: Path, e: Experiment) -> Table:
    """Return table 1 of the paper: sentences, tokens, types and classes of unknown words."""
    known = paper.TABLE_1.get(e.corpus)
    rows = []
    for part in PARTS:
        sentences = read_oracle(folder / f"{part}.gen.oracle")
        pairs = [pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True)]
        types = {known_word for _, known_word in pairs}
        classes = {known_word for word, known_word in pairs if known_word != word}
        counts = (len(sentences), len(pairs), len(types), len(classes))
        for name, value in zip(paper.STATISTICS, counts, strict=True):
            row: Row = {"part": part, "count": name.replace("_", " "), "here": value}
            if known is not None:
                row["paper"] = known.get(part, {}).get(name)
                row["difference"] = _less(value, row["paper"])
            rows.append(row)
    return Table("Corpus statistics (table 1)", rows)


def _beside(known: Mapping[Any, float] | None, key: object, values: Sequence[float]) -> Row:
    """Return the columns of a value per seed: mean and deviation and, where it has numbers, the paper's beside them."""
    mean, deviation = significance.mean_and_deviation(values)
    row: Row = {"here": mean, "sd_over_seeds": deviation, "values": [*values]}
    if known is not None:
        number = known.get(key)
        row = {"paper": number, "here": mean, "difference": _less(mean, number)} | row
    return row


def _less(value: Any, other: Any) -> Any:
    return None if None in (value, other) else value - other


def _counts(what: str, found: Mapping[str, int]) -> str:
    counts = ", ".join(f"{run}: {n} sentences" for run, n in found.items())
    return f"{what} {counts}." if any(found.values()) else ""
