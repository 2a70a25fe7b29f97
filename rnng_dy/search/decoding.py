"""Decoders: which trees a sentence gets, of a parser or of a search with a generative model."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple

from oracle.brackets import format_tree
from oracle.common.errors import RnngError
from oracle.common.lazy import nltk
from oracle.sentences import ScoredTree, SourceSentence
from rnng_dy.parallel import batches
from rnng_dy.search.batched_search import BatchedModel
from rnng_dy.search.parsing import Parsed, nbest_batch, parse_batch
from rnng_dy.search.posterior import posterior
from rnng_dy.search.sampling import FLATTENED, sample_batch
from rnng_dy.search.scoring import tree_log_probs
from rnng_dy.search.surprisal import measure_batch, search_batches
from rnng_dy.search.word_search import SearchOptions, T
from rnng_dy.text.sources import NumberedSentence

Batch = Sequence[NumberedSentence]

PARSED_WORDS, SEARCHED_WORDS, SAMPLED_WORDS = 600, 100, 100
"""Words in one batch."""
MBR_WORDS = 10_000
"""Words in one batch, each counted once per sample."""
BESIDE = 0.2
"""The weight of a generative model beside a parser, chosen on the English development trees."""
JUDGED_BY_PARSER = "p = 0 for all samples by the generative model: the parser decides alone"


class Found(NamedTuple):
    """The trees of a sentence; an empty line has none."""

    trees: Sequence[ScoredTree] = ()
    problem: str | None = None
    """The reason why there are none, or why a generative model did not decide."""


class Decoded(NamedTuple):
    """A sentence as the model reads it, with what was found."""

    sentence: SourceSentence
    found: Found = Found()


def without_memory(sentence: SourceSentence) -> Decoded:
    """Return a sentence that does not fit into memory."""
    problem = f"left out: {len(sentence.tokens)} words do not fit into memory"
    return Decoded(sentence, Found((), problem))


@dataclass(frozen=True)
class Decoder(ABC):
    """A function from a batch and models to decoded sentences; its fields decide the trees."""

    words: ClassVar[int] = PARSED_WORDS
    """The most words in one batch."""

    @abstractmethod
    def find(self, batch: Batch, *models: Any) -> Iterable[Found]:
        """Return the trees of each sentence of a batch without empty lines."""

    def batches(self, sentences: Iterable[NumberedSentence]) -> Iterator[list[NumberedSentence]]:
        """Yield batches of neighbouring sentences."""
        return batches(sentences, lambda item: len(item.sentence.tokens), self.words)

    def __call__(self, batch: Batch, *models: Any) -> list[Decoded]:
        """Return the sentences of a batch, as the first model reads them, with their trees."""
        if not models[0].generates_words:
            batch = [item._replace(sentence=_tagged(models[0], item.sentence)) for item in batch]
        found = without_empty_lines(lambda some: self.find(some, *models), batch, Found())
        return [Decoded(s, of) for (_, s), of in zip(batch, found, strict=True)]


@dataclass(frozen=True)
class GreedyTrees(Decoder):
    """The greedy tree of a parser, with its log q(y | x)."""

    def batches(self, sentences: Iterable[NumberedSentence]) -> Iterator[list[NumberedSentence]]:
        """Yield batches of neighbouring sentences, 20 at least if these are not very long.

        The steps of a batch of few sentences take twice as long per word.
        """
        return batches(sentences, _greedy_size, self.words)

    def find(self, batch: Batch, parser: Any) -> list[Found]:
        """Return a tree per sentence."""
        parses = parse_batch(parser, _encoded(parser, batch))
        return _scored(parser, batch, [[parsed] for parsed in parses])


@dataclass(frozen=True)
class BestTrees(Decoder):
    """The k best trees that a search with a parser finds, with their log q(y | x)."""

    k: int
    beam: int

    def __post_init__(self) -> None:
        """Raise RnngError for a beam that is too small."""
        if self.k > self.beam:
            raise RnngError(f"`nbest` {self.k} needs `beam` {self.k} or more")

    def batches(self, sentences: Iterable[NumberedSentence]) -> Iterator[list[NumberedSentence]]:
        """Yield batches of sentences that are searched together."""
        return search_batches(SearchOptions(beam=self.beam), sentences)

    def find(self, batch: Batch, parser: Any) -> list[Found]:
        """Return the trees of each sentence, best first."""
        parses = nbest_batch(parser, _encoded(parser, batch), self.k, self.beam)
        return _scored(parser, batch, parses)


@dataclass(frozen=True)
class SampledTrees(Decoder):
    """Trees without tags, drawn from q(y | x) flattened by alpha, with their log q.

    They have the words of an oracle's last line, or those of a text.
    """

    n: int
    alpha: float
    seed: int
    words = SAMPLED_WORDS

    def find(self, batch: Batch, parser: Any) -> list[Found]:
        """Return n trees per sentence."""
        parses = _sampled(parser, batch, self.n, self.alpha, self.seed)
        return _scored(parser, batch, parses, tagged=False)


@dataclass(frozen=True)
class MbrTrees(Decoder):
    """The tree with the highest expected F1 by a parser's samples.

    It has the posteriors of its constituents, and no log probability. A generative model after the
    parser changes the posteriors, as `posterior` explains; if it gives all samples p = 0, the
    parser alone decides.
    """

    n: int
    seed: int

    @property
    def words(self) -> int:
        """The most words in one batch."""
        return max(1, min(PARSED_WORDS, MBR_WORDS // self.n))

    def find(
        self, batch: Batch, parser: Any, generator: BatchedModel | None = None
    ) -> Iterator[Found]:
        """Yield a tree per sentence."""
        parses = _sampled(parser, batch, self.n, FLATTENED if generator else 1.0, self.seed)
        for (_, sentence), drawn in zip(batch, parses, strict=True):
            samples = [(_tree(parser, sentence, ids), log_q) for ids, log_q in drawn]
            log_joint = _joint(generator, sentence, samples) if generator else None
            brackets = posterior(samples, log_joint, preterminals=True, weight=BESIDE)
            tree = brackets.decode()
            best = ScoredTree(format_tree(tree), None, brackets.of_constituents(tree))
            yield Found([best], JUDGED_BY_PARSER if generator and log_joint is None else None)


@dataclass(frozen=True)
class SearchedTrees(Decoder):
    """The k best complete trees that a generative search finds, with their log p(x, y).

    There are none if p = 0 for the words or the search fails, which is the `problem`.
    """

    k: int
    options: SearchOptions
    words = SEARCHED_WORDS

    def __post_init__(self) -> None:
        """Raise RnngError for a search that keeps too few trees."""
        if self.k > self.options.word_beam:
            raise RnngError(f"`nbest` {self.k} needs `word_beam` {self.k} or more")

    def find(self, batch: Batch, model: Any) -> Iterator[Found]:
        """Yield the trees of each sentence, best first."""
        measured = measure_batch(batch, model, self.options, end=True)
        for (_, sentence), whole in zip(batch, measured, strict=True):
            make, words, tags = model.transitions.tagged_tree, sentence.tokens, sentence.tags
            pairs = ((make(found.actions, words, tags), found) for found in whole.trees[: self.k])
            yield Found([ScoredTree(format_tree(t), x.log_prob) for t, x in pairs], whole.problem)


def without_empty_lines(
    results_of: Callable[[Batch], Iterable[T]], batch: Batch, empty: T
) -> list[T]:
    """Return the results of sentences in order; an empty line has the result `empty`."""
    sentences = [item for item in batch if item.sentence.tokens]
    results = iter(results_of(sentences) if sentences else ())
    return [next(results) if item.sentence.tokens else empty for item in batch]


def _greedy_size(item: NumberedSentence) -> int:
    words = len(item.sentence.tokens)
    return max(min(words, 30), words // 4)


def _tagged(parser: Any, sentence: SourceSentence) -> SourceSentence:
    """Return a sentence with the tags that the parser reads, its own or its tagger's."""
    tags = parser.tags_read(sentence.tokens, sentence.tags) if sentence.tokens else None
    return replace(sentence, tags=tags and tuple(tags))


def _encoded(parser: Any, batch: Batch) -> list[Any]:
    return [parser.encode(s.tokens, s.tags, s.unkified) for _, s in batch]


def _sampled(parser: Any, batch: Batch, n: int, alpha: float, seed: int) -> list[list[Parsed]]:
    """Return n parses per sentence; the seed and the sentence's number decide its draws."""
    seeds = [[seed, item.index] for item in batch]
    return sample_batch(parser, _encoded(parser, batch), n, alpha, seeds)


def _scored(
    parser: Any, batch: Batch, parses: Iterable[Sequence[Parsed]], tagged: bool = True
) -> list[Found]:
    """Return the trees of parses, with tags or without."""

    def scored(sentence: SourceSentence, parses: Sequence[Parsed]) -> Found:
        # most samples of a sentence equal another
        line_of = cache(lambda actions: format_tree(_tree(parser, sentence, actions, tagged)))
        return Found([ScoredTree(line_of(tuple(a)), float(log_q)) for a, log_q in parses])

    return [scored(item.sentence, drawn) for item, drawn in zip(batch, parses, strict=True)]


def _tree(
    parser: Any, sentence: SourceSentence, actions: Sequence[int], tagged: bool = True
) -> nltk.Tree:
    """Return the tree of actions with the sentence's words and tags.

    Without tags, the words are an oracle's with classes, or a text's.
    """
    if tagged:
        return parser.tree_of(actions, sentence.tokens, sentence.tags)
    names = parser.transitions.decode(actions)
    return parser.transitions.tree_of(names, sentence.unkified or sentence.tokens)


def _joint(
    generator: BatchedModel, sentence: SourceSentence, samples: Sequence[tuple[nltk.Tree, float]]
) -> list[float] | None:
    """Return log p(x, y) in nats of a sentence's samples with POS tags; None if p = 0 for all."""
    sequences = [tuple(generator.transitions.actions_of(tree, True)) for tree, _ in samples]
    log_ps = tree_log_probs(generator, generator.unknown.unkify(sentence.tokens, True), sequences)
    return None if max(log_ps) == -math.inf else log_ps
