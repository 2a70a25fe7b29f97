"""Trees of sentences, one per line: a parser's greedy, best or sampled ones, or a generative search's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from oracle.blocks import OracleSentence
from oracle.brackets import format_tree
from oracle.lazy import nltk
from oracle.parsed import ScoredTree
from oracle.sentences import SourceSentence
from oracle.transitions import TransitionSystem
from oracle.treebank import NO_TAG
from rnng_dy.evaluation.records import Analysis
from rnng_dy.search import greedy, nbest, sampling
from rnng_dy.search.model import Model
from rnng_dy.search.posterior import posterior
from rnng_dy.search.scoring import tree_log_probs
from rnng_dy.search.surprisal import SearchOptions, measure_batch
from rnng_dy.text.sources import NumberedSentence

T = TypeVar("T")
Actions = Sequence[int]
Find = Callable[[object, Sequence, Sequence[int]], list[list[tuple[Actions, float]]]]
"""A function of a parser, sentences as its ids, and their numbers; it returns actions and log q of each one's trees."""


def in_places(
    results_of: Callable[[list[NumberedSentence]], Iterable[T]],
    batch: Sequence[NumberedSentence],
    empty: T | tuple[()] = (),
) -> list[T | tuple[()]]:
    """Return the results of sentences in order; an empty line has the result `empty`."""
    sentences = [item for item in batch if item.sentence.tokens]
    results = iter(results_of(sentences) if sentences else ())
    return [next(results) if item.sentence.tokens else empty for item in batch]


def as_read(model, batch: Sequence[NumberedSentence]) -> list[NumberedSentence]:
    """Return a batch with the tags that the model reads, by its own tagger where sentences have none."""
    if not hasattr(model, "tags_for") or model.vocabulary.tags is None:
        return list(batch)

    def tagged(sentence: SourceSentence) -> SourceSentence:
        if sentence.tags is not None or not sentence.tokens:
            return sentence
        return replace(sentence, tags=tuple(model.tags_for(sentence.tokens)))

    return [item._replace(sentence=tagged(item.sentence)) for item in batch]


def decoded(
    trees_of: Callable[..., list[list[ScoredTree]]], *models_and_batch
) -> list[tuple[NumberedSentence, Sequence[ScoredTree]]]:
    """Return the sentences of a batch, as the first model reads them, with their trees; an empty line has none.

    `trees_of` is a function from the models and a batch without empty lines to the trees of each sentence.
    """
    *models, batch = models_and_batch
    batch = as_read(models[0], batch)
    return list(zip(batch, in_places(partial(trees_of, *models), batch), strict=True))


def _ids(parser, batch: Sequence[NumberedSentence]) -> list:
    return [parser.encode(s.tokens, s.tags, s.unkified) for _, s in batch]


def tagged_tree(parser, sentence: SourceSentence, actions: Actions) -> nltk.Tree:
    """Return the tree of actions with the sentence's words and tags."""
    return parser.tree_of(actions, sentence.tokens, sentence.tags)


def unkified_tree(parser, sentence: SourceSentence, actions: Actions) -> nltk.Tree:
    """Return the tree of actions as a generator reads it: without tags, unknown words as classes of unknown words."""
    unkify, transitions = parser.vocabulary.unknown.unkify, parser.transitions
    words = sentence.unkified or unkify(sentence.tokens)
    return transitions.tree_of(transitions.decode(actions), words)


def parser_trees(
    find: Find, tree_of: Callable[..., nltk.Tree], parser, batch: Sequence[NumberedSentence]
) -> list[list[ScoredTree]]:
    """Return the trees of the actions that `find` returns; `tree_of` makes one from parser, sentence and actions."""

    def of_sentence(
        sentence: SourceSentence, found: Sequence[tuple[Actions, float]]
    ) -> list[ScoredTree]:
        # most samples of a sentence equal another
        different = {tuple(actions) for actions, _ in found}
        written = {key: format_tree(tree_of(parser, sentence, key)) for key in different}
        return [ScoredTree(written[tuple(actions)], float(log_q)) for actions, log_q in found]

    found = find(parser, _ids(parser, batch), [item.index for item in batch])
    return [of_sentence(item.sentence, each) for item, each in zip(batch, found, strict=True)]


def mbr_trees(draw: Find, weight: float, parser, *generator_and_batch) -> list[list[ScoredTree]]:
    """Return the tree with the highest expected F1 per sentence, with the posteriors of its constituents.

    The posteriors are estimated from the trees that `draw` returns. The tree has no log probability. The last
    argument is the batch. A generative model before it changes the posteriors, as `posterior` explains; if it gives
    all trees p = 0, the parser alone decides.
    """
    *generators, batch = generator_and_batch
    generator = generators[0] if generators else None

    def of_sentence(
        sentence: SourceSentence, drawn: Sequence[tuple[Actions, float]]
    ) -> list[ScoredTree]:
        samples = [(tagged_tree(parser, sentence, actions), log_q) for actions, log_q in drawn]
        log_joint = generator and joint_of_trees(generator, sentence, [tree for tree, _ in samples])
        found = posterior(samples, log_joint, preterminals=True, weight=weight)
        tree = found.decode()
        return [ScoredTree(format_tree(tree), None, found.of_constituents(tree))]

    found = draw(parser, _ids(parser, batch), [item.index for item in batch])
    return [of_sentence(item.sentence, each) for item, each in zip(batch, found, strict=True)]


def joint_of_trees(
    generator: Model, sentence: SourceSentence, trees: Sequence[nltk.Tree]
) -> list[float] | None:
    """Return log p(x, y) in nats of trees with POS tags of a sentence; None if p = 0 for all."""
    sequences = [tuple(generator.transitions.actions_of(tree, True)) for tree in trees]
    log_ps = tree_log_probs(generator, generator.vocabulary.unkify(sentence.tokens), sequences)
    return None if max(log_ps) == -math.inf else log_ps


def greedy_tree(parser, sentences: Sequence, numbers: Sequence[int]) -> list[list[tuple]]:
    """Return the greedy tree of each sentence; see `Find`."""
    return [[found] for found in greedy.parse_batch(parser, sentences)]


def best(
    k: int, beam: int, parser, sentences: Sequence, numbers: Sequence[int]
) -> list[list[tuple]]:
    """Return the k best trees of a beam search; see `Find`."""
    return nbest.nbest_batch(parser, sentences, k, beam)


def drawn(
    n: int, alpha: float, seed: int, parser, sentences: Sequence, numbers: Sequence[int]
) -> list[list[tuple]]:
    """Return n trees drawn from q flattened by alpha; the seed and a sentence's number decide its draws. See `Find`."""
    seeds = [[seed, number] for number in numbers]
    return sampling.sample_batch(parser, sentences, n, alpha, seeds)


def search_trees(
    options: SearchOptions, k: int, model: Model, batch: Sequence[NumberedSentence]
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


def tree_line(
    system: TransitionSystem, sentence: SourceSentence | OracleSentence, tree: Analysis
) -> str:
    """Return a complete tree of a search on one line, with the sentence's tags if it has them."""
    tags = sentence.tags or [NO_TAG] * len(sentence.tokens)
    return format_tree(system.tree_of(tree.actions, sentence.tokens, tags))
