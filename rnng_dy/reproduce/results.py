"""The numbers of a finished reproduction, read from its files."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from oracle.blocks import read_oracle
from oracle.brackets import format_tree, read_trees
from oracle.files import finite, open_text
from oracle.lazy import nltk
from oracle.treebank import tags, with_words, words
from rnng_dy.evaluation import comparison, evalb, significance
from rnng_dy.reproduce.alone import SEARCHES, several_ways
from rnng_dy.reproduce.comparisons import compare_all
from rnng_dy.reproduce.plan import PARTS, Experiment
from rnng_dy.reproduce.systems import System
from rnng_dy.reproduce.trial import Trial
from rnng_dy.search.importance import growth_with_samples

LENGTHS = (10, 20, 30, 40, 50, None)
"""Upper limits of the sentence lengths by which F1 is reported."""
DRAWN = 10
"""Number of sentences whose trees are drawn."""
Trials = Mapping[tuple[System, int], Trial]
"""Trials by system and seed."""


def collect(folder: Path, e: Experiment, not_run: Collection[str] = ()) -> dict:
    """Return all numbers of the report, with None for NaN.

    `not_run` are names of stages of OPTIONAL groups. A system that lacks a search of any seed is omitted from
    `without_tree` and `several_ways`, and `f1` has no `alone` of it. A baseline that lacks numbers of any seed is
    omitted from `perplexity`. Without the LSTM's sentences, `generated` omits them.
    """
    golds = [located.tree for located in read_trees(str(folder / "test.trees"))]
    trials = _trials(folder, e, golds, not_run)
    searched = [trial for trial in trials.values() if trial.is_searched]
    found = {
        "corpus": e.corpus,
        "seeds": list(e.seeds),
        "systems": [system.name for system in e.systems],
        "statistics": {part: corpus_statistics(folder / f"{part}.gen.oracle") for part in PARTS},
        "tags": {part: _tag_accuracy(folder / f"{part}.tags.json", e) for part in PARTS},
        "f1": _f1(e, trials),
        "without_tree": {trial.name: trial.without_tree for trial in searched},
        "perplexity": _perplexity(folder, e, trials, not_run),
        "several_ways": [
            {"system": trial.system.name, "proposal": trial.proposal}
            | several_ways(folder, trial.name, trial.log_marginals, trial.lengths)
            for trial in searched
        ],
        "comparisons": compare_all(golds, e, trials),
        "samples": [_growth(golds, trial) for trial in trials.values()],
        "estimates": [_estimates(trial) for trial in trials.values()],
        "f1_by_length": [_by_length(trial) for trial in trials.values()],
        "learning": [{"run": trial.name, **trial.logs} for trial in trials.values()],
        "trees": _drawn(golds, trials[e.systems[-1], e.seeds[0]]),
        "generated": _generated(folder, e, not_run),
    }
    return finite(found)


def _trials(
    folder: Path, e: Experiment, golds: Sequence[nltk.Tree], not_run: Collection[str]
) -> Trials:
    def is_searched(system: System) -> bool:
        runs = (f"{system.slug}-{seed}" for seed in e.seeds)
        needed = (f"perplexity {run} {search}" for run in runs for search in SEARCHES)
        return not any(stage in not_run for stage in needed)

    return {
        (system, seed): Trial(folder, system, seed, golds, is_searched(system))
        for seed in e.seeds
        for system in e.systems
    }


def corpus_statistics(oracle: Path) -> dict[str, int]:
    """Return table 1 of the paper: sentences, tokens, types and classes of unknown words of a generative oracle."""
    sentences = read_oracle(oracle)
    return {
        "sequences": len(sentences),
        "tokens": sum(len(s.tokens) for s in sentences),
        "types": len({word for s in sentences for word in s.unkified}),
        "unk_types": len(
            {u for s in sentences for w, u in zip(s.tokens, s.unkified, strict=True) if u != w}
        ),
    }


def _f1(e: Experiment, trials: Trials) -> dict[str, dict]:
    return {
        f"{kind} {system.name}": _spread([trials[system, seed].scores[kind].f1 for seed in e.seeds])
        for kind in ("discriminative", "generative", "alone")
        for system in e.systems
        if kind in trials[system, e.seeds[0]].scores
    }


def _spread(values: Sequence[float]) -> dict:
    mean, deviation = significance.mean_and_deviation(values)
    return {"values": values, "mean": mean, "deviation": deviation}


def _perplexity(
    folder: Path, e: Experiment, trials: Trials, not_run: Collection[str]
) -> dict[str, dict]:
    baselines = {"kneser-ney": ["kneser-ney"], "lstm": [f"lstm-{seed}" for seed in e.seeds]}
    found = {}
    for ends in (False, True):
        values = {
            name: [_saved_perplexity(folder / f"{run}.json", ends) for run in runs]
            for name, runs in baselines.items()
            if not any(f"perplexity {run}" in not_run for run in runs)
        }
        for system in e.systems:
            values[system.name] = [trials[system, seed].perplexity(ends) for seed in e.seeds]
        for name, of_seeds in values.items():
            found[f"{name} with ends" if ends else name] = _spread(of_seeds)
    found["sentences with p = 0"] = {
        trial.name: sum(not math.isfinite(p) for p in trial.log_marginals)
        for trial in trials.values()
    }
    return found


def _growth(golds: Sequence[nltk.Tree], trial: Trial) -> dict:
    """Return F1, perplexity, effective sample size and standard error by number of samples."""
    groups = [of_sentence.samples for of_sentence in trial.sampled]
    log_qs = [[sample.log_q for sample, _ in group] for group in groups]
    log_ps = [[log_p for _, log_p in group] for group in groups]
    rows = growth_with_samples(log_qs, log_ps, trial.lengths)
    points = []
    for row in rows:
        best = (group[i][0].tree for group, i in zip(groups, row.best, strict=True))
        as_gold = [with_words(t, words(g), tags(g)) for t, g in zip(best, golds, strict=True)]
        points.append(
            {
                "samples": row.samples,
                "f1": evalb.score(golds, as_gold).f1,
                "perplexity": row.perplexity,
                "effective_sample_size": row.effective_sample_size,
                "standard_error": row.standard_error,
            }
        )
    return {"run": trial.name, "points": points}


def _estimates(trial: Trial) -> dict:
    return {
        "run": trial.name,
        "log_marginal": trial.log_marginals,
        "effective_sample_size": [e.effective_sample_size for e in trial.estimates],
        "standard_error": [e.standard_error for e in trial.estimates],
        "words": trial.lengths,
    }


def _by_length(trial: Trial) -> dict:
    found = []
    for low, high in zip((0, *LENGTHS), LENGTHS, strict=False):
        row = {"words": f"{low + 1}-{high}" if high else f"over {low}"}
        for kind, scores in trial.scores.items():
            part = [s for s in scores.up_to(high or math.inf).per_sentence if s.length > low]
            row[kind] = evalb.Scores(tuple(part)).f1 if part else None
            row["sentences"] = len(part)
        found.append(row)
    return {"run": trial.name, "rows": found}


def _drawn(golds: Sequence[nltk.Tree], trial: Trial) -> list[dict]:
    """Return sentences to draw: of those with 4 to 16 words, the ones with most errors."""
    scores = trial.scores["discriminative"].per_sentence
    every = range(len(golds))
    short = [i for i in every if 4 <= len(words(golds[i])) <= 16] or every
    chosen = sorted(sorted(short, key=lambda i: (-comparison.errors(scores[i]), i))[:DRAWN])
    return [
        {
            "sentence": i + 1,
            "gold": format_tree(golds[i]),
            "discriminative": format_tree(trial.trees["discriminative"][i]),
            "reranked": format_tree(trial.trees["generative"][i]),
        }
        for i in chosen
    ]


def _generated(folder: Path, e: Experiment, not_run: Collection[str]) -> dict[str, list[str]]:
    seed = e.seeds[0]
    files = {f"RNNG, {s.name}": f"{s.slug}-{seed}.generated.trees" for s in e.systems}
    if f"generate lstm-{seed}" not in not_run:
        files["LSTM"] = f"lstm-{seed}.generated.txt"
    found = {}
    for name, file in files.items():
        # words of a treebank that is not UTF-8 keep their bytes, and may contain characters that end lines in Python
        with open_text(folder / file) as stream:
            found[name] = [line.rstrip("\n") for line in stream if line.strip()]
    return found


def _saved_perplexity(path: Path, ends: bool) -> float:
    """Return the perplexity that `rnng-dy perplexity` saved; with `ends`, ends of sentences count as words."""
    found = json.loads(path.read_text(encoding="utf-8"))
    words = found["words"] + ends * found["sentences"]
    return math.exp(-found["llh"] / words) if words else math.nan


def _tag_accuracy(path: Path, e: Experiment) -> float | str:
    """Return the percentage of correct tags, or the source of tags if it is `gold` or `none`."""
    if e.tags in ("gold", "none"):
        return e.tags
    return json.loads(path.read_text(encoding="utf-8"))["percent"]
