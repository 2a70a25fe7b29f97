"""The results of one system with one seed, read from the files of a reproduction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from oracle.brackets import parse_line, read_trees
from oracle.errors import InputError
from oracle.lazy import nltk
from oracle.samples import read_likelihoods
from oracle.treebank import tags, with_tags
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.perplexity import gap, in_all
from rnng_dy.reproduce.stages import SEARCHES
from rnng_dy.reproduce.systems import System
from rnng_dy.search.importance import read_sampled

NO_CONSTITUENTS = "TOP"
"""A label that EVALB does not count."""


class Trial:
    """The results of a system with a seed on the test part, whose gold trees are `golds`.

    `scores` holds those of the parser's greedy trees ("discriminative"), of the reranked ones ("generative") and, if
    the generative model has searched, of its own ("alone"). `log_probs` are nats per sentence, from the samples.

    Raises:
        InputError: A sentence has no tree, because it did not fit into memory.
    """

    def __init__(
        self, folder: Path, system: System, seed: int, golds: Sequence[nltk.Tree], searched: bool
    ):
        self.system, self.seed = system, seed
        self._folder, self._golds, self.name = folder, golds, f"{system.slug}-{seed}"
        parser = f"{system.proposal.slug}-{seed}"
        sampled = read_sampled(folder / f"{parser}.props", folder / f"{self.name}.likelihoods")
        self.log_probs = [sentence.estimate.log_marginal for sentence in sampled]
        self.lengths = [sentence.words for sentence in sampled]
        self.scores = {
            "discriminative": self._score(_trees(folder / f"{parser}.greedy.trees", len(golds))),
            "generative": self._score(_trees(folder / f"{self.name}.map.trees", len(golds))),
        }
        self.sentences_without_tree = 0
        if searched:
            self.scores["alone"] = self._score(self._beam_trees())

    def _score(self, trees: Sequence[nltk.Tree]) -> evalb.Scores:
        """Score trees with the gold tags, by which EVALB recognises punctuation, whatever tags the system saw."""
        pairs = zip(trees, self._golds, strict=True)
        return evalb.score(self._golds, [with_tags(tree, tags(gold)) for tree, gold in pairs])

    def _beam_trees(self) -> list[nltk.Tree]:
        """Return the trees of the generative model alone; a sentence without a tree has no constituents."""
        path = self._folder / f"{self.name}.beam.trees"
        # words may contain characters that Python counts as line ends
        lines = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")[:-1]
        self.sentences_without_tree = lines.count("")
        return [
            parse_line(line, path, number, any_bytes=True)
            if line
            else nltk.Tree(NO_CONSTITUENTS, [nltk.Tree(tag, [word]) for word, tag in gold.pos()])
            for number, (line, gold) in enumerate(zip(lines, self._golds, strict=True), 1)
        ]

    def perplexities(self) -> Iterator[dict[str, object]]:
        """Yield the perplexity by importance sampling and each search, on sentences with p > 0 by all of them."""
        paths = [self._folder / f"{self.name}.{search}.tsv" for search in SEARCHES]
        searched = [[-negative for _, negative in read_likelihoods(path)] for path in paths]
        by_samples, *by_searches = in_all([self.log_probs, *searched])
        for search, log_probs in zip(
            ("samples", *SEARCHES), (by_samples, *by_searches), strict=True
        ):
            beside = gap(log_probs, by_samples, self.lengths)
            is_search = search in SEARCHES
            yield {
                "search": search,
                "run": self.name,
                "perplexity": beside.first.perplexity,
                "gap_per_sentence": beside.nats_per_sentence if is_search else None,
                "gap_per_word": beside.nats_per_word if is_search else None,
                "above_samples": beside.above if is_search else None,
                "sentences": beside.second.sentences,
            }


def _trees(path: Path, sentences: int) -> list[nltk.Tree]:
    trees = [located.tree for located in read_trees(str(path))]
    if len(trees) != sentences:
        problem = f"{len(trees)} trees for {sentences} sentences: one did not fit into memory"
        raise InputError(f"{problem}; remove this file and run again", path)
    return trees
