"""Trees of the sentences of a file: a parser's greedy, best, sampled or MBR trees, or those of a generative search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from oracle.brackets import format_tree
from oracle.common.errors import RnngError
from oracle.common.lazy import nltk
from oracle.samples import format_sample
from oracle.sentences import ScoredTree, SourceSentence
from oracle.transitions import TransitionSystem
from oracle.treebank import NO_TAG
from rnng_dy.evaluation.records import Analysis
from rnng_dy.parallel import batches
from rnng_dy.search.greedy import Parsed, parse_batch
from rnng_dy.search.model import Model
from rnng_dy.search.nbest import BEAM, nbest_batch
from rnng_dy.search.posterior import posterior
from rnng_dy.search.sampling import FLATTENED, sample_batch
from rnng_dy.search.scoring import tree_log_probs
from rnng_dy.search.surprisal import SearchOptions, measure_batch, search_batches
from rnng_dy.text.sources import NumberedSentence

T = TypeVar("T")
Batch = Sequence[NumberedSentence]
Find = Callable[[Any, Batch], list[list[Parsed]]]
"""Function from a parser and a batch to the action ids and log q of each sentence's trees."""

PARSED_WORDS, SEARCHED_WORDS, SAMPLED_WORDS = 600, 100, 10_000
"""Words in one batch; when sampling, each word counts once per sample."""
BESIDE = 0.2
"""The weight of a generative model beside a parser, chosen on the English development trees."""


class Wanted(NamedTuple):
    """Which trees a sentence gets."""

    nbest: int | None = None
    """The number of trees; None for one, without its log probability."""
    samples: int = 100
    """Trees drawn per sentence for MBR."""
    mbr: bool = False
    """Whether the tree is that with the highest expected F1."""
    seed: int = 1
    beside: bool = False
    """Whether a generative model decides beside the parser, with the weight BESIDE."""


class Decoder(NamedTuple):
    """How a kind of model finds trees."""

    trees: Callable[..., list[list[ScoredTree]]]
    """Function from the models and a batch without empty lines to the trees of each sentence."""
    batches: Callable[[Iterable[NumberedSentence]], Iterable[Batch]]
    options: SearchOptions | None = None
    """The options of the search on which the output depends; None if there is none."""


def generative_decoder(wanted: Wanted, options: SearchOptions) -> Decoder:
    """Return the decoder of a generative model. Raises RnngError for trees that it cannot make."""
    k = wanted.nbest or 1
    if wanted.mbr:
        raise RnngError(
            "`decode` mbr and `generator` are for a parser; `rnng-dy rerank` is for samples"
        )
    if k > options.word_beam:
        raise RnngError(f"`nbest` {k} needs `word_beam` {k} or more")
    trees = partial(search_trees, options, k)
    return Decoder(trees, partial(in_words, limit=SEARCHED_WORDS), options)


def parser_decoder(wanted: Wanted, beam: int | None = None) -> Decoder:
    """Return the decoder of a parser, for n-best trees with a beam. Raises RnngError for a beam that is too small."""
    options, of_words = None, partial(in_words, limit=PARSED_WORDS)
    trees = partial(parser_trees, greedy_parses, tagged_tree)
    if k := wanted.nbest:
        beam = beam or max(BEAM, 2 * k)
        if k > beam:
            raise RnngError(f"`nbest` {k} needs `beam` {k} or more")
        options = SearchOptions(beam=beam, seed=wanted.seed)
        trees = partial(parser_trees, partial(best_parses, k, beam), tagged_tree)
        of_words = partial(search_batches, options)
    elif wanted.mbr:
        alpha = FLATTENED if wanted.beside else 1.0
        draw = partial(sampled_parses, wanted.samples, alpha, wanted.seed)
        trees = partial(mbr_trees, draw)
        limit = max(1, min(PARSED_WORDS, SAMPLED_WORDS // wanted.samples))
        of_words = partial(in_words, limit=limit)
    return Decoder(trees, of_words, options)


def in_words(sentences: Iterable[NumberedSentence], limit: int) -> Iterator[list[NumberedSentence]]:
    """Yield batches of neighbouring sentences, of at most `limit` words."""
    return batches(sentences, lambda item: len(item.sentence.tokens), limit)


def in_places(
    results_of: Callable[[Batch], Iterable[T]], batch: Batch, empty: T | tuple[()] = ()
) -> list[T | tuple[()]]:
    """Return the results of sentences in order; an empty line has the result `empty`."""
    sentences = [item for item in batch if item.sentence.tokens]
    results = iter(results_of(sentences) if sentences else ())
    return [next(results) if item.sentence.tokens else empty for item in batch]


def decoded_lines(
    lines_of: Callable[[NumberedSentence, Sequence[ScoredTree]], list[str]],
    trees_of: Callable[..., list[list[ScoredTree]]],
    *models_and_batch,
) -> list[list[str]]:
    """Return `lines_of` each sentence of a batch, as the first model reads it, and its trees; an empty line has none.

    `trees_of` is a function from the models and a batch without empty lines to the trees of each
    sentence.
    """
    *models, batch = models_and_batch
    if hasattr(models[0], "tags_read"):
        batch = [item._replace(sentence=_tagged(models[0], item.sentence)) for item in batch]
    trees = in_places(partial(trees_of, *models), batch)
    return [lines_of(item, of_item) for item, of_item in zip(batch, trees, strict=True)]


def scored_lines(item: NumberedSentence, trees: Sequence[ScoredTree]) -> list[str]:
    """Return the trees of a sentence as lines of a file of samples."""
    return [format_sample(item.index, tree.log_prob, tree.tree) for tree in trees]


def _tagged(parser, sentence: SourceSentence) -> SourceSentence:
    """Return a sentence with the tags that the parser reads, by its own tagger if the sentence has none."""
    tags = parser.tags_read(sentence.tokens, sentence.tags) if sentence.tokens else None
    return replace(sentence, tags=tags and tuple(tags))


def tagged_tree(parser, sentence: SourceSentence, actions: Sequence[int]) -> nltk.Tree:
    """Return the tree of actions with the sentence's words and tags."""
    return parser.tree_of(actions, sentence.tokens, sentence.tags)


def unkified_tree(parser, sentence: SourceSentence, actions: Sequence[int]) -> nltk.Tree:
    """Return the tree of actions without tags, over the words of an oracle's last line, or over those of a text."""
    transitions = parser.transitions
    return transitions.tree_of(transitions.decode(actions), sentence.unkified or sentence.tokens)


def _encoded(parser, batch: Batch) -> list:
    return [parser.encode(s.tokens, s.tags, s.unkified) for _, s in batch]


def greedy_parses(parser, batch: Batch) -> list[list[Parsed]]:
    """Return the greedy parse of each sentence."""
    return [[parsed] for parsed in parse_batch(parser, _encoded(parser, batch))]


def best_parses(k: int, beam: int, parser, batch: Batch) -> list[list[Parsed]]:
    """Return the k best parses of a beam search."""
    return nbest_batch(parser, _encoded(parser, batch), k, beam)


def sampled_parses(n: int, alpha: float, seed: int, parser, batch: Batch) -> list[list[Parsed]]:
    """Return n parses drawn from q flattened by alpha; the seed and a sentence's number decide its draws."""
    seeds = [[seed, item.index] for item in batch]
    return sample_batch(parser, _encoded(parser, batch), n, alpha, seeds)


def parser_trees(
    find: Find, tree_of: Callable[..., nltk.Tree], parser, batch: Batch
) -> list[list[ScoredTree]]:
    """Return the trees of the parses that `find` returns; `tree_of` makes one from parser, sentence and actions."""

    def scored(sentence: SourceSentence, parses: Sequence[Parsed]) -> list[ScoredTree]:
        # most samples of a sentence equal another
        line_of = cache(lambda actions: format_tree(tree_of(parser, sentence, actions)))
        return [ScoredTree(line_of(tuple(actions)), float(log_q)) for actions, log_q in parses]

    found = find(parser, batch)
    return [scored(item.sentence, parses) for item, parses in zip(batch, found, strict=True)]


def mbr_trees(draw: Find, parser, *generator_and_batch) -> list[list[ScoredTree]]:
    """Return the tree with the highest expected F1 per sentence, with the posteriors of its constituents.

    The posteriors are estimated from the parses that `draw` returns. The tree has no log
    probability. The last argument is the batch. A generative model before it changes the
    posteriors, as `posterior` explains; if it gives all trees p = 0, the parser alone decides.
    """
    *generators, batch = generator_and_batch
    trees = []
    for item, parses in zip(batch, draw(parser, batch), strict=True):
        samples = [(tagged_tree(parser, item.sentence, ids), log_q) for ids, log_q in parses]
        log_joint = None
        for generator in generators:
            log_joint = _joint(generator, item.sentence, [tree for tree, _ in samples])
        found = posterior(samples, log_joint, preterminals=True, weight=BESIDE)
        tree = found.decode()
        trees.append([ScoredTree(format_tree(tree), None, found.of_constituents(tree))])
    return trees


def _joint(
    generator: Model, sentence: SourceSentence, trees: Sequence[nltk.Tree]
) -> list[float] | None:
    """Return log p(x, y) in nats of trees with POS tags of a sentence; None if p = 0 for all."""
    sequences = [tuple(generator.transitions.actions_of(tree, True)) for tree in trees]
    log_ps = tree_log_probs(generator, generator.vocabulary.unkify(sentence.tokens), sequences)
    return None if max(log_ps) == -math.inf else log_ps


def search_trees(
    options: SearchOptions, k: int, model: Model, batch: Batch
) -> list[list[ScoredTree]]:
    """Return the k best complete trees per sentence under the generative model, with their log p(x, y).

    The list is empty if p = 0 for the words or the search fails.
    """
    found = measure_batch(options, True, model, batch)
    system = model.transitions
    return [
        [ScoredTree(tree_line(system, item.sentence, t), t.log_prob) for t in measured.trees[:k]]
        for item, measured in zip(batch, found, strict=True)
    ]


def tree_line(system: TransitionSystem, sentence: SourceSentence, tree: Analysis) -> str:
    """Return a complete tree of a search on one line, with the sentence's tags if it has them."""
    tags = sentence.tags or [NO_TAG] * len(sentence.tokens)
    return format_tree(system.tree_of(tree.actions, sentence.tokens, tags))
