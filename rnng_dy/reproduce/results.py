"""The numbers of a finished reproduction, read from its files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from oracle.errors import InputError
from oracle.files import open_input, read_oracle
from oracle.tagging import with_tags
from oracle.treebank import LocatedTree, format_tree, read_trees, tags, with_words, words
from rnng_dy.evaluation import comparison, evalb, significance
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.execution.outputs import finite
from rnng_dy.reproduce.alone import read_trees_alone, several_ways
from rnng_dy.reproduce.plan import PARTS, Experiment
from rnng_dy.search.importance import growth_with_samples, read_sampled
from rnng_dy.training.log import EVALUATION, Log

LENGTHS = (10, 20, 30, 40, 50, None)
"""F1 of sentences of up to as many words."""
DRAWN, DIFFERENT = 10, 5
"""Sentences whose trees are shown."""


class Trial:
    """A composition with a seed: its parser, its generator and their samples."""

    def __init__(self, folder: Path, composition: str, seed: int, golds: Sequence):
        name = f"{composition}-{seed}"
        self.composition, self.seed, self.name = composition, seed, name
        self.trees = {
            "discriminative": _with_gold_tags(folder / f"{name}.greedy.trees", golds),
            "generative": _with_gold_tags(folder / f"{name}.map.trees", golds),
        }
        self.trees["alone"], self.without_tree = read_trees_alone(
            folder / f"{name}.beam.trees", golds
        )
        self.scores = {kind: evalb.score(golds, trees) for kind, trees in self.trees.items()}
        self.sampled = read_sampled(folder / f"{name}.props", folder / f"{name}.likelihoods")
        self.estimates = [of_sentence.estimate for of_sentence in self.sampled]
        self.log_marginals = [e.log_marginal for e in self.estimates]
        self.lengths = [of_sentence.words for of_sentence in self.sampled]
        self.logs = {
            kind: _evaluations(folder / f"{model}-{name}" / "log.jsonl")
            for kind, model in (("discriminative", "parser"), ("generative", "generator"))
        }

    def perplexity(self, ends: bool = False) -> float:
        """Of the sentences that have p > 0; with `ends` their ends count as words."""
        return likelihood(self.log_marginals, [n + ends for n in self.lengths]).perplexity


def collect(folder: Path, e: Experiment) -> dict:
    """Everything that the report says of numbers; NaN is None."""
    golds = [located.tree for located in _trees(folder / "test.trees")]
    trials = {
        (composition, seed): Trial(folder, composition, seed, golds)
        for seed in e.seeds
        for composition in e.compositions
    }
    first, *others = e.compositions
    found = {
        "corpus": e.corpus,
        "seeds": list(e.seeds),
        "compositions": list(e.compositions),
        "statistics": {part: corpus_statistics(folder / f"{part}.gen.oracle") for part in PARTS},
        "tags": {part: _tag_accuracy(folder / f"{part}.tags.json", e) for part in PARTS},
        "f1": _f1(e, trials),
        "without_tree": {trial.name: trial.without_tree for trial in trials.values()},
        "perplexity": _perplexity(folder, e, trials),
        "several_ways": [
            several_ways(folder, trial.name, trial.log_marginals, trial.lengths)
            for trial in trials.values()
        ],
        "comparisons": [
            _compare(golds, trials[first, seed], trials[other, seed])
            for other in others
            for seed in e.seeds
        ],
        "samples": [_growth(golds, trial) for trial in trials.values()],
        "estimates": [_estimates(trial) for trial in trials.values()],
        "f1_by_length": [_by_length(trial) for trial in trials.values()],
        "learning": [{"run": trial.name, **trial.logs} for trial in trials.values()],
        "trees": _drawn(golds, trials[e.compositions[-1], e.seeds[0]]),
        "generated": _generated(folder, e),
    }
    return finite(found)


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


def _f1(e: Experiment, trials: Mapping[tuple[str, int], Trial]) -> dict[str, dict]:
    return {
        f"{kind} {composition}": _spread(
            [trials[composition, seed].scores[kind].f1 for seed in e.seeds]
        )
        for kind in ("discriminative", "generative", "alone")
        for composition in e.compositions
    }


def _spread(values: Sequence[float]) -> dict:
    mean, deviation = significance.mean_and_deviation(values)
    return {"values": values, "mean": mean, "deviation": deviation}


def _perplexity(
    folder: Path, e: Experiment, trials: Mapping[tuple[str, int], Trial]
) -> dict[str, dict]:
    found = {}
    for ends in (False, True):
        lstms = [_saved_perplexity(folder / f"lstm-{seed}.json", ends) for seed in e.seeds]
        ngrams = [_saved_perplexity(folder / "kneser-ney.json", ends)]
        values = {"kneser-ney": ngrams, "lstm": lstms}
        for composition in e.compositions:
            values[composition] = [trials[composition, s].perplexity(ends) for s in e.seeds]
        for name, of_seeds in values.items():
            found[f"{name} with ends" if ends else name] = _spread(of_seeds)
    found["sentences with p = 0"] = {
        trial.name: sum(not math.isfinite(p) for p in trial.log_marginals)
        for trial in trials.values()
    }
    return found


def _compare(golds: Sequence, first: Trial, second: Trial) -> dict:
    """Of one seed, the second composition less the first."""
    marginals = [trial.log_marginals for trial in (first, second)]
    found: dict[str, object] = {
        "seed": first.seed,
        "names": [first.composition, second.composition],
        "perplexity": vars(significance.perplexity_difference(*marginals, first.lengths)),
    }
    for kind in ("discriminative", "generative"):
        scores = first.scores[kind], second.scores[kind]
        trees = [trial.trees[kind] for trial in (first, second)]
        found[kind] = {
            "f1": vars(significance.f1_difference(*scores)),
            "by_length": _rows(comparison.by_length(golds, *trees)),
            "by_label": _rows(comparison.by_label(golds, *trees)),
            "most_different": [
                {
                    "sentence": i + 1,
                    "gold": format_tree(golds[i]),
                    first.composition: format_tree(trees[0][i]),
                    second.composition: format_tree(trees[1][i]),
                }
                for i in comparison.most_different(*scores, DIFFERENT)
            ],
        }
    return found


def _rows(rows: Sequence[comparison.Row]) -> list[dict]:
    return [
        {"kind": row.kind, "gold": row.first.gold, "first": row.first.f1, "second": row.second.f1}
        for row in rows
    ]


def _growth(golds: Sequence, trial: Trial) -> dict:
    """F1, perplexity, effective sample size and standard error by number of samples."""
    groups = [of_sentence.samples for of_sentence in trial.sampled]
    log_qs = [[sample.log_q for sample, _ in group] for group in groups]
    log_ps = [[log_p for _, log_p in group] for group in groups]
    rows = growth_with_samples(log_qs, log_ps, trial.lengths)
    points = []
    for row in rows:
        trees = [group[i][0].tree for group, i in zip(groups, row.best, strict=True)]
        tagged = [_like_gold(tree, gold) for tree, gold in zip(trees, golds, strict=True)]
        points.append(
            {
                "samples": row.samples,
                "f1": evalb.score(golds, tagged).f1,
                "perplexity": row.perplexity,
                "effective_sample_size": row.effective_sample_size,
                "standard_error": row.standard_error,
            }
        )
    return {"run": trial.name, "points": points}


def _like_gold(tree, gold):
    """A sampled tree with the words and tags of the gold tree."""
    return with_words(tree, words(gold), tags(gold))


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
            part = [
                s
                for s in scores.per_sentence
                if s.length > low and (high is None or s.length <= high)
            ]
            row[kind] = evalb.Scores(tuple(part)).f1 if part else None
            row["sentences"] = len(part)
        found.append(row)
    return {"run": trial.name, "rows": found}


def _drawn(golds: Sequence, trial: Trial) -> list[dict]:
    """Sentences to draw: those of middle length with most to see."""
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


def _generated(folder: Path, e: Experiment) -> dict[str, list[str]]:
    seed = e.seeds[0]
    files = {f"RNNG, {comp}": f"{comp}-{seed}.generated.trees" for comp in e.compositions}
    files["LSTM"] = f"lstm-{seed}.generated.txt"
    found = {}
    for name, file in files.items():
        # words of a treebank that is not UTF-8 keep their bytes, and may hold what Python takes for the end of a line
        with open_input(folder / file) as stream:
            found[name] = [line.rstrip("\n") for line in stream if line.strip()]
    return found


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


def _evaluations(path: Path) -> list[dict]:
    log = Log.read(path)
    log.require_whole()
    kept = ("epoch", "seconds", "f1", "perplexity")
    return [{key: r[key] for key in kept if key in r} for r in log.of(EVALUATION)]


def _saved_perplexity(path: Path, ends: bool) -> float:
    """From the numbers of `rnng-dy perplexity`; with `ends` the ends of sentences count as words."""
    found = json.loads(path.read_text(encoding="utf-8"))
    words = found["words"] + ends * found["sentences"]
    return math.exp(-found["llh"] / words) if words else math.nan


def _tag_accuracy(path: Path, e: Experiment) -> float | str:
    """How many tags are as in the treebank, percent; or `gold` or `none`."""
    if e.tags in ("gold", "none"):
        return e.tags
    return json.loads(path.read_text(encoding="utf-8"))["percent"]
