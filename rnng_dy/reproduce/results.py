"""The numbers of a finished reproduction, read from its files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

from oracle.errors import InputError
from oracle.files import read_oracle, read_scored_samples
from oracle.tagging import with_tags
from oracle.transitions import actions_of, tree_of
from oracle.treebank import LocatedTree, format_tree, read_trees, tags, words
from rnng_dy import comparison, evalb
from rnng_dy import statistics as stats
from rnng_dy.importance import Estimate, estimate_of, likelihood
from rnng_dy.reproduce.plan import COMPOSITIONS, Configuration

LENGTHS = (10, 20, 30, 40, 50, None)
"""F1 of sentences of up to as many words."""
DRAWN, DIFFERENT = 10, 5
"""Sentences whose trees are shown."""


class Run:
    """A composition with a seed: its parser, its generator and their samples."""

    def __init__(self, folder: Path, composition: str, seed: int, golds: Sequence):
        name = f"{composition}-{seed}"
        self.composition, self.seed, self.name = composition, seed, name
        self.trees = {
            "discriminative": _with_gold_tags(folder / f"{name}.greedy.trees", golds),
            "generative": _with_gold_tags(folder / f"{name}.map.trees", golds),
        }
        self.scores = {kind: evalb.score(golds, trees) for kind, trees in self.trees.items()}
        self.samples = read_scored_samples(folder / f"{name}.props", folder / f"{name}.likelihoods")
        self.estimates: list[Estimate] = [estimate_of(group) for group in self.samples]
        self.lengths = [len(group[0][0].tree.leaves()) for group in self.samples]
        self.logs = {
            kind: _evaluations(folder / f"{model}-{name}" / "log.jsonl")
            for kind, model in (("discriminative", "parser"), ("generative", "generator"))
        }

    def perplexity(self, ends: bool = False) -> float:
        """Of the sentences that have p > 0; with `ends` their ends count as words."""
        marginals = [e.log_marginal for e in self.estimates]
        return likelihood(marginals, [n + ends for n in self.lengths]).perplexity


def collect(folder: Path, c: Configuration) -> dict:
    """Everything that the report says of numbers; NaN is None."""
    golds = [located.tree for located in _trees(folder / "test.trees")]
    runs = [Run(folder, comp, seed, golds) for seed in c.seeds for comp in COMPOSITIONS]
    return _finite(
        {
            "corpus": c.corpus,
            "seeds": list(c.seeds),
            "statistics": {
                part: corpus_statistics(folder / f"{part}.gen.oracle")
                for part in ("train", "dev", "test")
            },
            "tags": {
                part: _tag_accuracy(folder / f"{part}.tags.txt", c)
                for part in ("train", "dev", "test")
            },
            "f1": _f1(runs),
            "perplexity": _perplexity(folder, c, runs),
            "composition": [_compare(golds, runs[i], runs[i + 1]) for i in range(0, len(runs), 2)],
            "samples": [_growth(golds, run) for run in runs],
            "estimates": [_estimates(run) for run in runs],
            "f1_by_length": [_by_length(run) for run in runs],
            "learning": [{"run": run.name, **run.logs} for run in runs],
            "trees": _drawn(golds, runs),
            "generated": _generated(folder, c),
        }
    )


def corpus_statistics(oracle: Path) -> dict[str, int]:
    """Table 1 of the paper: sentences, tokens, types, and UNK classes among the words of a generative oracle."""
    sentences = read_oracle(oracle)
    return {
        "sequences": len(sentences),
        "tokens": sum(len(s.tokens) for s in sentences),
        "types": len({word for s in sentences for word in s.unkified}),
        "unk_types": len(
            {u for s in sentences for w, u in zip(s.tokens, s.unkified, strict=True) if u != w}
        ),
    }


def _f1(runs: Sequence[Run]) -> dict[str, dict]:
    found = {}
    for kind in ("discriminative", "generative"):
        for composition in COMPOSITIONS:
            values = [run.scores[kind].f1 for run in runs if run.composition == composition]
            mean, deviation = stats.mean_and_deviation(values)
            found[f"{kind} {composition}"] = {
                "values": values,
                "mean": mean,
                "deviation": deviation,
            }
    return found


def _perplexity(folder: Path, c: Configuration, runs: Sequence[Run]) -> dict[str, dict]:
    found = {}
    for ends in (False, True):
        values = {
            "kneser-ney": [_printed_perplexity(folder / "kneser-ney.txt", ends)],
            "lstm": [_printed_perplexity(folder / f"lstm-{seed}.txt", ends) for seed in c.seeds],
        }
        for composition in COMPOSITIONS:
            values[composition] = [r.perplexity(ends) for r in runs if r.composition == composition]
        for name, of_seeds in values.items():
            mean, deviation = stats.mean_and_deviation(of_seeds)
            key = f"{name} with ends" if ends else name
            found[key] = {"values": of_seeds, "mean": mean, "deviation": deviation}
    found["sentences with p = 0"] = {
        run.name: sum(not math.isfinite(e.log_marginal) for e in run.estimates) for run in runs
    }
    return found


def _compare(golds: Sequence, buggy: Run, corrected: Run) -> dict:
    """Of one seed, corrected less buggy."""
    marginals = [[e.log_marginal for e in run.estimates] for run in (buggy, corrected)]
    found: dict[str, object] = {
        "seed": buggy.seed,
        "perplexity": vars(stats.perplexity_difference(*marginals, buggy.lengths)),
    }
    for kind in ("discriminative", "generative"):
        scores = buggy.scores[kind], corrected.scores[kind]
        trees = [run.trees[kind] for run in (buggy, corrected)]
        found[kind] = {
            "f1": vars(stats.f1_difference(*scores)),
            "by_length": _rows(comparison.by_length(golds, *trees)),
            "by_label": _rows(comparison.by_label(golds, *trees)),
            "most_different": [
                {
                    "sentence": i + 1,
                    "gold": format_tree(golds[i]),
                    "buggy": format_tree(trees[0][i]),
                    "corrected": format_tree(trees[1][i]),
                }
                for i in comparison.most_different(*scores, DIFFERENT)
            ],
        }
    return found


def _rows(rows: Sequence[comparison.Row]) -> list[dict]:
    return [
        {
            "kind": row.kind,
            "gold": row.first.gold,
            "buggy": row.first.f1,
            "corrected": row.second.f1,
        }
        for row in rows
    ]


def _growth(golds: Sequence, run: Run) -> dict:
    """F1, perplexity, effective sample size and standard error by number of samples."""
    log_qs = [[sample.log_q for sample, _ in group] for group in run.samples]
    log_ps = [[log_p for _, log_p in group] for group in run.samples]
    rows = stats.growth_with_samples(log_qs, log_ps, run.lengths)
    points = []
    for row in rows:
        trees = [group[i][0].tree for group, i in zip(run.samples, row.best, strict=True)]
        tagged = [_with_words(tree, gold) for tree, gold in zip(trees, golds, strict=True)]
        points.append(
            {
                "samples": row.samples,
                "f1": evalb.score(golds, tagged).f1,
                "perplexity": row.perplexity,
                "effective_sample_size": row.effective_sample_size,
                "standard_error": row.standard_error,
            }
        )
    return {"run": run.name, "points": points}


def _with_words(tree, gold):
    """A sampled tree with the words and tags of the gold tree."""
    return tree_of(actions_of(tree, preterminals=False), words(gold), tags(gold))


def _estimates(run: Run) -> dict:
    return {
        "run": run.name,
        "log_marginal": [e.log_marginal for e in run.estimates],
        "effective_sample_size": [e.effective_sample_size for e in run.estimates],
        "standard_error": [e.standard_error for e in run.estimates],
        "words": run.lengths,
    }


def _by_length(run: Run) -> dict:
    found = []
    for low, high in zip((0, *LENGTHS), LENGTHS, strict=False):
        row = {"words": f"{low + 1}-{high}" if high else f"over {low}"}
        for kind, scores in run.scores.items():
            part = [
                s
                for s in scores.per_sentence
                if s.length > low and (high is None or s.length <= high)
            ]
            row[kind] = evalb.Scores(tuple(part)).f1 if part else None
            row["sentences"] = len(part)
        found.append(row)
    return {"run": run.name, "rows": found}


def _drawn(golds: Sequence, runs: Sequence[Run]) -> list[dict]:
    """Sentences to draw, of the first run with the corrected composition: those of middle length with most to see."""
    run = next(run for run in runs if run.composition == "corrected")
    scores = run.scores["discriminative"].per_sentence

    every = range(len(golds))
    short = [i for i in every if 4 <= len(golds[i].leaves()) <= 16] or every
    chosen = sorted(sorted(short, key=lambda i: (-comparison.errors(scores[i]), i))[:DRAWN])
    return [
        {
            "sentence": i + 1,
            "gold": format_tree(golds[i]),
            "discriminative": format_tree(run.trees["discriminative"][i]),
            "reranked": format_tree(run.trees["generative"][i]),
        }
        for i in chosen
    ]


def _generated(folder: Path, c: Configuration) -> dict[str, list[str]]:
    seed = c.seeds[0]
    files = {f"RNNG, {comp}": f"{comp}-{seed}.generated.trees" for comp in COMPOSITIONS}
    files["LSTM"] = f"lstm-{seed}.generated.txt"
    return {
        # a word may hold what Python takes for the end of a line
        name: [line for line in (folder / file).read_text(encoding="utf-8").split("\n") if line]
        for name, file in files.items()
    }


def _with_gold_tags(path: Path, golds: Sequence) -> list:
    """A system's trees with the gold tags, whatever tags it saw: EVALB goes by them for what is punctuation.

    Raises InputError where a tree is missing.
    """
    located = _trees(path)
    if len(located) != len(golds):
        raise InputError(
            f"{len(located)} trees for {len(golds)} sentences: one did not fit into memory; free some, remove this "
            "file and run again",
            path,
        )
    return [with_tags(t.tree, tags(gold)) for t, gold in zip(located, golds, strict=True)]


def _trees(path: Path) -> list[LocatedTree]:
    return list(read_trees(str(path)))


def _evaluations(log: Path) -> list[dict]:
    records = [json.loads(line) for line in log.read_text().splitlines()]
    return [
        {key: r[key] for key in ("epoch", "seconds", "f1", "perplexity") if key in r}
        for r in records
        if r["event"] == "evaluation"
    ]


def _printed_perplexity(path: Path, ends: bool) -> float:
    """From what `rnng-dy perplexity` printed; with `ends` the ends of sentences count as words."""
    found = dict(re.findall(r"^(\w+)=(\S+)", path.read_text(), re.MULTILINE))
    words = int(found["len"]) + ends * int(found["sentences"])
    return math.exp(-float(found["LLH"]) / words) if words else math.nan


def _tag_accuracy(path: Path, c: Configuration) -> float | str:
    """What `rnng-dy tag` said of tags that are as in the treebank, percent; or `gold` or `none`."""
    if c.tags in ("gold", "none"):
        return c.tags
    return float(re.search(r"([\d.]+) %", path.read_text())[1])


def _finite(value):
    """NaN and infinities as None: JSON has none of them."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
