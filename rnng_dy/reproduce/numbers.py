"""The numbers of a finished reproduction, read from its files."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from oracle.blocks import read_oracle
from oracle.brackets import parse_line, read_trees
from oracle.errors import InputError
from oracle.files import finite
from oracle.lazy import nltk
from oracle.samples import read_likelihoods
from oracle.treebank import tags, with_tags, with_words, words
from rnng_dy.evaluation import evalb, significance
from rnng_dy.evaluation.perplexity import gap, in_all, likelihood
from rnng_dy.reproduce.stages import PARTS, SEARCHES, Experiment
from rnng_dy.reproduce.systems import System
from rnng_dy.search.importance import growth_with_samples, read_sampled

NO_CONSTITUENTS = "TOP"
"""A label that EVALB does not count."""
POOLED = "all"
"""Stands for the seed in a comparison that pools all seeds."""


class Trial:
    """The results of a system with a seed on the test part."""

    def __init__(self, folder: Path, system: System, seed: int, golds: Sequence[nltk.Tree]):
        self.folder, self.system, self.seed, self.golds = folder, system, seed, golds
        self.name, self.proposal = f"{system.slug}-{seed}", f"{system.proposal.slug}-{seed}"
        self.sampled = read_sampled(
            folder / f"{self.proposal}.props", folder / f"{self.name}.likelihoods"
        )
        self.log_marginals = [sentence.estimate.log_marginal for sentence in self.sampled]
        self.lengths = [sentence.words for sentence in self.sampled]
        self.trees = {
            "discriminative": self._trees(f"{self.proposal}.greedy.trees"),
            "generative": self._trees(f"{self.name}.map.trees"),
        }

    @cached_property
    def scores(self) -> dict[str, evalb.Scores]:
        """The scores of each kind of trees."""
        return {kind: evalb.score(self.golds, trees) for kind, trees in self.trees.items()}

    def _trees(self, name: str) -> list[nltk.Tree]:
        """Return a system's trees with the gold tags, by which EVALB recognises punctuation, whatever tags it saw."""
        trees = [located.tree for located in read_trees(str(self.folder / name))]
        if len(trees) != len(self.golds):
            problem = (
                f"{len(trees)} trees for {len(self.golds)} sentences: one did not fit into memory"
            )
            raise InputError(f"{problem}; remove this file and run again", self.folder / name)
        return [with_tags(t, tags(gold)) for t, gold in zip(trees, self.golds, strict=True)]

    def read_beam(self) -> int:
        """Add the trees of the generative model alone, kind `alone`; return how many it lacks.

        A sentence without a tree has no constituents.
        """
        path, found = self.folder / f"{self.name}.beam.trees", []
        # words may contain characters that Python counts as line ends
        lines = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")[:-1]
        for number, (line, gold) in enumerate(zip(lines, self.golds, strict=True), 1):
            flat = nltk.Tree(NO_CONSTITUENTS, [nltk.Tree(tag, [word]) for word, tag in gold.pos()])
            tree = parse_line(line, path, number, any_bytes=True) if line else flat
            found.append(with_tags(tree, tags(gold)))
        self.trees["alone"] = found
        return lines.count("")

    def several_ways(self) -> dict[str, object]:
        """Return the perplexity by each search beside importance sampling, on sentences with p > 0 by all of them."""
        paths = [self.folder / f"{self.name}.{search}.likelihoods" for search in SEARCHES]
        searched = [[-negative for _, negative in read_likelihoods(path)] for path in paths]
        of_samples, *of_searches = in_all([self.log_marginals, *searched])
        found: dict[str, object] = {"run": self.name, "of": len(self.golds)}
        for search, of_search in zip(SEARCHES, of_searches, strict=True):
            beside = gap(of_search, of_samples, self.lengths)
            found["sentences"], found["words"] = beside.sampled.sentences, beside.sampled.words
            found["samples"] = {"perplexity": beside.sampled.perplexity}
            measures = ("nats_per_sentence", "nats_per_word", "ratio", "above")
            found[search] = {name: getattr(beside, name) for name in measures}
            found[search]["perplexity"] = beside.searched.perplexity
        return found

    def growth(self) -> dict[str, object]:
        """Return F1, perplexity, effective sample size and standard error by number of samples."""
        groups = [of_sentence.samples for of_sentence in self.sampled]
        log_qs = [[sample.log_q for sample, _ in group] for group in groups]
        log_ps = [[log_p for _, log_p in group] for group in groups]
        points = []
        for row in growth_with_samples(log_qs, log_ps, self.lengths):
            best = (group[i][0].tree for group, i in zip(groups, row.best, strict=True))
            pairs = zip(best, self.golds, strict=True)
            point = {
                **vars(row),
                "f1": evalb.score(
                    self.golds, [with_words(t, words(g), tags(g)) for t, g in pairs]
                ).f1,
            }
            del point["best"]
            points.append(point)
        return {"run": self.name, "points": points}


def collect(folder: Path, e: Experiment, not_run: Collection[str] = ()) -> dict:
    """Return all numbers of the report, with None for NaN and infinity.

    `not_run` are names of optional stages. Systems and baselines that lack one of any seed lack its numbers.
    """
    golds = [located.tree for located in read_trees(str(folder / "test.trees"))]
    trials = {(s, seed): Trial(folder, s, seed, golds) for seed in e.seeds for s in e.systems}
    searched = [
        trial
        for trial in trials.values()
        if not any(
            f"perplexity {trial.system.slug}-{seed} {search}" in not_run
            for seed in e.seeds
            for search in SEARCHES
        )
    ]
    without_tree = {trial.name: trial.read_beam() for trial in searched}
    return finite(
        {
            "corpus": e.corpus,
            "seeds": list(e.seeds),
            "systems": [system.name for system in e.systems],
            "statistics": {p: corpus_statistics(folder / f"{p}.gen.oracle") for p in PARTS},
            "tags": {part: _tag_accuracy(folder / f"{part}.tags.json", e) for part in PARTS},
            "f1": {
                f"{kind} {system.name}": spread(
                    [trials[system, s].scores[kind].f1 for s in e.seeds]
                )
                for kind in ("discriminative", "generative", "alone")
                for system in e.systems
                if kind in trials[system, e.seeds[0]].scores
            },
            "without_tree": without_tree,
            "perplexity": _perplexity(folder, e, trials, not_run),
            "several_ways": [{"system": t.system.name, **t.several_ways()} for t in searched],
            "comparisons": _comparisons(e, trials),
            "samples": [trial.growth() for trial in trials.values()],
        }
    )


def corpus_statistics(oracle: Path) -> dict[str, int]:
    """Return table 1 of the paper: sentences, tokens, types and classes of unknown words of a generative oracle."""
    sentences = read_oracle(oracle)
    pairs = [pair for s in sentences for pair in zip(s.tokens, s.unkified, strict=True)]
    return {
        "sequences": len(sentences),
        "tokens": len(pairs),
        "types": len({known for _, known in pairs}),
        "unk_types": len({known for word, known in pairs if known != word}),
    }


def spread(values: Sequence[float]) -> dict:
    """Return the values of seeds, their mean and standard deviation."""
    mean, deviation = significance.mean_and_deviation(values)
    return {"values": values, "mean": mean, "deviation": deviation}


def _perplexity(folder: Path, e: Experiment, trials: Mapping, not_run: Collection[str]) -> dict:
    baselines = {"kneser-ney": ["kneser-ney"], "lstm": [f"lstm-{seed}" for seed in e.seeds]}
    found: dict[str, dict] = {}
    for ends in (False, True):
        values = {
            name: [_saved_perplexity(folder / f"{run}.json", ends) for run in runs]
            for name, runs in baselines.items()
            if not any(f"perplexity {run}" in not_run for run in runs)
        }
        for system in e.systems:
            of_seeds = [trials[system, seed] for seed in e.seeds]
            values[system.name] = [
                likelihood(t.log_marginals, [n + ends for n in t.lengths]).perplexity
                for t in of_seeds
            ]
        found |= {f"{name} with ends" if ends else name: spread(v) for name, v in values.items()}
    impossible = (sum(not math.isfinite(p) for p in t.log_marginals) for t in trials.values())
    names = (trial.name for trial in trials.values())
    return found | {"sentences with p = 0": dict(zip(names, impossible, strict=True))}


def _saved_perplexity(path: Path, ends: bool) -> float:
    """Return the perplexity that `rnng-dy perplexity` saved; with `ends`, ends of sentences count as words."""
    found = json.loads(path.read_text(encoding="utf-8"))
    count = found["words"] + ends * found["sentences"]
    return math.exp(-found["llh"] / count) if count else math.nan


def _tag_accuracy(path: Path, e: Experiment) -> float | str:
    """Return the percentage of correct tags, or the source of tags if it is `gold` or `none`."""
    if e.tags in ("gold", "none"):
        return e.tags
    return json.loads(path.read_text(encoding="utf-8"))["percent"]


def _comparisons(e: Experiment, trials: Mapping[tuple[System, int], Trial]) -> list[dict]:
    """Return each system less the first, per seed and, of several seeds, with the seeds pooled.

    `p_holm` is p corrected for all pairs of a seed and measure.
    """
    first, *others = e.systems
    compared = []
    for other in others:
        of_first, of_other = (
            [trials[system, seed] for seed in e.seeds] for system in (first, other)
        )
        compared += [_compare([a], [b]) for a, b in zip(of_first, of_other, strict=True)]
        if len(e.seeds) > 1:
            compared.append(_compare(of_first, of_other))
    families = defaultdict(list)
    for pair in compared:
        for measure in pair.keys() - {"seed", "names"}:
            families[pair["seed"], measure].append(pair[measure])
    for family in families.values():
        for found, p in zip(family, significance.holm([d["p"] for d in family]), strict=True):
            found["p_holm"] = p
    return compared


def _compare(first: Sequence[Trial], second: Sequence[Trial]) -> dict:
    """Return the differences, second system minus first, of one seed, or over the sums of several seeds."""
    seeds, one = len(first), first[0]
    marginals = [
        [sum(of_seeds) for of_seeds in zip(*(t.log_marginals for t in of), strict=True)]
        for of in (first, second)
    ]
    lengths = [seeds * length for length in one.lengths]
    found = {
        "seed": one.seed if seeds == 1 else POOLED,
        "names": [one.system.name, second[0].system.name],
        "perplexity": vars(significance.perplexity_difference(*marginals, lengths)),
    }
    have_one_parser = one.system.proposal == second[0].system.proposal
    for kind in ("generative",) if have_one_parser else ("discriminative", "generative"):
        common = evalb.on_common_sentences([t.scores[kind] for t in (*first, *second)])
        sums = (evalb.summed(of) for of in (common[:seeds], common[seeds:]))
        found[f"{kind} f1"] = vars(significance.f1_difference(*sums))
    return found
