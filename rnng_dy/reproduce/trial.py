"""Trials: the results of a system with one seed on the test part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oracle.brackets import read_trees
from oracle.errors import InputError
from oracle.lazy import nltk
from oracle.treebank import tags, with_tags
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.perplexity import likelihood
from rnng_dy.reproduce.alone import read_trees_alone
from rnng_dy.reproduce.systems import System
from rnng_dy.search.importance import read_sampled
from rnng_dy.training.log import evaluations


class Trial:
    """A system with a seed: its parser, its generator and their samples."""

    def __init__(
        self,
        folder: Path,
        system: System,
        seed: int,
        golds: Sequence[nltk.Tree],
        is_searched: bool = True,
    ):
        """Read the results; `is_searched` says whether the generative model was also searched without the parser."""
        name, proposal = f"{system.slug}-{seed}", f"{system.proposal.slug}-{seed}"
        self.system, self.seed, self.name, self.is_searched = system, seed, name, is_searched
        self.proposal = proposal
        self.trees = {
            "discriminative": _with_gold_tags(folder / f"{proposal}.greedy.trees", golds),
            "generative": _with_gold_tags(folder / f"{name}.map.trees", golds),
        }
        if is_searched:
            path = folder / f"{name}.beam.trees"
            self.trees["alone"], self.without_tree = read_trees_alone(path, golds)
        self.scores = {kind: evalb.score(golds, trees) for kind, trees in self.trees.items()}
        self.sampled = read_sampled(folder / f"{proposal}.props", folder / f"{name}.likelihoods")
        self.estimates = [of_sentence.estimate for of_sentence in self.sampled]
        self.log_marginals = [e.log_marginal for e in self.estimates]
        self.lengths = [of_sentence.words for of_sentence in self.sampled]
        self.logs = {"generative": _evaluations(folder / f"generator-{name}" / "log.jsonl")}
        if system == system.proposal:
            self.logs["discriminative"] = _evaluations(folder / f"parser-{name}" / "log.jsonl")

    def perplexity(self, ends: bool = False) -> float:
        """Return the perplexity of sentences that have p > 0; with `ends`, their ends count as words."""
        return likelihood(self.log_marginals, [n + ends for n in self.lengths]).perplexity


def _with_gold_tags(path: Path, golds: Sequence[nltk.Tree]) -> list[nltk.Tree]:
    """Return a system's trees with the gold tags, by which EVALB recognises punctuation, whatever tags it saw.

    Raises InputError if a tree is missing.
    """
    located = list(read_trees(str(path)))
    if len(located) != len(golds):
        raise InputError(
            f"{len(located)} trees for {len(golds)} sentences: one did not fit into memory; free some, remove this "
            "file and run again",
            path,
        )
    return [with_tags(t.tree, tags(gold)) for t, gold in zip(located, golds, strict=True)]


def _evaluations(path: Path) -> list[dict]:
    kept = ("epoch", "seconds", "f1", "perplexity")
    return [{key: r[key] for key in kept if key in r} for r in evaluations(path)]
