"""Joint log probabilities of trees under a generative model, whole and word by word.

The words of given trees also have the numbers of nodes that parsers visit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from oracle.brackets import read_tree_lines, read_trees
from oracle.common.errors import ImpossibleError, RnngError, UnseenSymbolError, listed
from oracle.common.files import numbered_lines, open_text, peeked, placed, reading
from oracle.common.lazy import nltk
from oracle.samples import begins_samples, format_likelihood, read_samples
from oracle.sentences import SourceSentence
from oracle.transitions import SHIFT
from oracle.treebank import untraced
from oracle.treebank import words as words_of
from rnng_dy.engine import dy, one_graph
from rnng_dy.evaluation.records import NODE_COUNTS, Analysis, MeasuredSentence, WordRecord
from rnng_dy.models.configuration import Derivation
from rnng_dy.models.generative import GeneratorExample
from rnng_dy.models.vectors import owned_log_probs
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.batched_search import BatchedModel
from rnng_dy.search.posterior import brackets_of

SCORED_STATES = 4000
"""Configurations per scoring graph; more would need gigabytes at the paper's sizes."""


@one_graph
def derivation_log_probs(model: BatchedModel, derivations: Iterable[Derivation]) -> np.ndarray:
    """Return the log probability in nats of each action sequence and its words, float64.

    All share one graph, which runs once.
    """
    dy.renew_cg(derivatives=False)
    losses, decision_of, paths = model.network.losses(derivations)
    log_probs = owned_log_probs(losses, decision_of)
    return np.array([log_probs[path].sum() for path in paths])


def joint_log_probs(
    model: BatchedModel, words: Sequence[int], sequences: Sequence[Sequence[int]]
) -> np.ndarray:
    """Return log p(x, y) in nats of trees of one sentence; equal prefixes are computed once."""
    graphs = batches(sequences, len, SCORED_STATES)
    values = [derivation_log_probs(model, [Derivation(None, trees, words)]) for trees in graphs]
    return np.concatenate(values)


def example_log_probs(model: BatchedModel, examples: Sequence) -> list[float]:
    """Return log p(x, y) in nats of training examples; all share one graph."""
    return derivation_log_probs(model, map(model.network.derivation, examples)).tolist()


def batched_log_probs(model: BatchedModel, examples: Iterable[Any]) -> list[float]:
    """Return log p(x, y) or log q(y | x) of examples in nats; NaN for one too large for memory."""
    return [
        math.nan if log_p is None else log_p
        for batch in batches(examples, lambda example: len(example.actions), SCORED_STATES)
        for log_p in split_on_memory_error(partial(example_log_probs, model), batch)
    ]


def tree_log_probs_of(
    model: BatchedModel, trees: Iterable, encode: Callable[..., Any]
) -> list[float]:
    """Return log probabilities in nats of trees; -inf for one that `encode` says has p = 0.

    Raises RnngError for a single tree, which is a list of its parts, too.
    """
    if isinstance(trees, nltk.Tree):
        raise RnngError("one tree where a list of trees is wanted: `log_prob` takes it")
    return _log_probs_of_possible(trees, encode, partial(batched_log_probs, model))


def tree_log_probs(
    model: BatchedModel, unkified: Sequence[str], sequences: Sequence[Sequence[str]]
) -> list[float]:
    """Return log p(x, y) in nats of the trees of a sentence, as action names; -inf if p = 0.

    Equal trees are computed once.
    """

    def joint(examples: Sequence[Any]) -> Iterable[float]:
        return joint_log_probs(model, examples[0].words, [e.actions for e in examples]).tolist()

    distinct = list(dict.fromkeys(sequences))
    log_ps = _log_probs_of_possible(distinct, partial(model.encode, unkified), joint)
    return list(map(dict(zip(distinct, log_ps, strict=True)).__getitem__, sequences))


def _log_probs_of_possible(
    trees: Iterable, encode: Callable[..., Any], log_probs_of: Callable[[list], Iterable[float]]
) -> list[float]:
    """Return `log_probs_of` the encoded trees, and -inf for a tree that `encode` says has p = 0."""
    examples: list[Any] = []
    for tree in trees:
        try:
            examples.append(encode(tree))
        except ImpossibleError:
            examples.append(None)
    possible = [example for example in examples if example is not None]
    log_probs = iter(log_probs_of(possible) if possible else ())
    return [-math.inf if example is None else next(log_probs) for example in examples]


class SentenceTrees(NamedTuple):
    """The trees of a sentence that are to be scored."""

    number: int
    """The number of the sentence, from 0."""
    words: tuple[str, ...]
    """Unkified words."""
    trees: tuple[tuple[str, ...], ...]
    """The actions of each tree."""


def trees_to_score(path: str, model) -> Iterator[SentenceTrees]:
    """Yield the trees of a file of samples or trees by sentence; unknown words become classes.

    Raises InputError, with the line, for a tree without actions or with unseen labels.
    """
    # opened once, because a pipe cannot be read again
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        is_samples = begins_samples(first)
        numbered = numbered_lines(lines, path)
        read = read_samples(path, lines) if is_samples else read_tree_lines(numbered, path)

        def sentence_of(item: tuple[int, Any]) -> tuple[int, tuple[str, ...]]:
            number, located = item
            words = tuple(model.vocabulary.unknown.unkify(words_of(located.tree), True))
            return located.index if is_samples else number, words

        def actions_of(located) -> tuple[str, ...]:
            with placed(path, located.line):
                tree = located.tree if is_samples else untraced(located.tree)
                actions = model.transitions.actions_of(tree, False if is_samples else None)
                require_labels(model, model.transitions.labels(actions))
            return tuple(actions)

        for (number, words), group in groupby(enumerate(read), sentence_of):
            yield SentenceTrees(number, words, tuple(actions_of(located) for _, located in group))


def require_labels(model, labels: Iterable[str]) -> None:
    """Raise RnngError for labels that a generative model lacks: trees with them have p = 0."""
    if lacking := [label for label in labels if label not in model.vocabulary.nonterminals]:
        raise RnngError(
            f"the generative model has no label {listed(lacking, 3)}: name one that has learned "
            "from trees with all labels; `rnng-dy prepare --keep-labels` takes labels out of trees"
        )


def likelihood_lines(sentences: Iterable[SentenceTrees], model: BatchedModel) -> list[list[str]]:
    """Return the lines of likelihoods of each sentence's trees."""
    return [
        [format_likelihood(len(s.words), -p) for p in tree_log_probs(model, s.words, s.trees)]
        for s in sentences
    ]


def impossible_lines(sentence: SentenceTrees) -> list[str]:
    """Return the lines of likelihoods of trees with p = 0."""
    return [format_likelihood(len(sentence.words), math.inf)] * len(sentence.trees)


def impossible(model, sentence: SentenceTrees) -> list[str]:
    """Return the distinct reasons why trees of a sentence have p = 0."""
    reasons = []
    for actions in dict.fromkeys(sentence.trees):
        try:
            model.encode(sentence.words, actions)
        except ImpossibleError as error:
            reasons.append(str(error))
    return list(dict.fromkeys(reasons))


# word by word


@dataclass(frozen=True, slots=True)
class TreeSentence(SourceSentence):
    """A sentence of a file of trees, with its tree."""

    tree: nltk.Tree | None = None


def tree_sentences(path: str) -> Iterator[TreeSentence]:
    """Yield the sentences of a file of trees. Raises InputError, with the line, for a trace."""
    for located in read_trees(path):
        with placed(path, located.line):
            tokens = tuple(words_of(untraced(located.tree)))
        yield TreeSentence(tokens, None, None, located.line, tree=located.tree)


def require_derivable(model: Any, path: str, sentences: Sequence[TreeSentence]) -> None:
    """Raise InputError, with the line, for a tree with a label or class that the model lacks."""
    for sentence in sentences:
        with placed(path, sentence.line):
            try:
                _example(model, sentence)
            except UnseenSymbolError as error:
                raise RnngError(
                    f"{error}: `rnng-dy prepare` takes function tags out, `is_open` reads any word"
                ) from None


def _example(model: Any, sentence: TreeSentence) -> GeneratorExample:
    unkified = sentence.unkified or model.vocabulary.unknown.unkify(sentence.tokens, True)
    return model.encode(unkified, model.transitions.actions_of(sentence.tree))


@one_graph
def measure_along(
    model: Any, sentences: Sequence[TreeSentence], end: bool = False
) -> list[MeasuredSentence]:
    """Return the measures of the words of trees, each as if its tree were the only one.

    The surprisals of a sentence and of its end are those of log p(x, y), the joint log probability.
    Raises ImpossibleError for a tree with p = 0.
    """
    dy.renew_cg(derivatives=False)
    examples = [_example(model, sentence) for sentence in sentences]
    losses, owners, paths = model.network.losses(map(model.network.derivation, examples))
    bits = dy.concatenate_to_batch(losses).npvalue().ravel().astype(np.float64) / math.log(2)
    # first come all actions, then the clusters of all words, then the words in their clusters
    actions, words = sum(map(len, paths)), sum(len(example.words) for example in examples)
    of_cluster, others = bits[actions : actions + words], slice(actions + words, None)
    in_cluster = np.bincount(owners[others], bits[others], minlength=actions)
    measured, clusters = [], iter(of_cluster.tolist())
    for sentence, example, path in zip(sentences, examples, paths, strict=True):
        ends = [i + 1 for i, action in enumerate(example.actions) if action == SHIFT]
        structure = np.add.reduceat(bits[path], [0, *ends]).tolist()
        unkified = sentence.unkified or model.vocabulary.unknown.unkify(sentence.tokens, True)
        named, log_p = model.transitions.decode(example.actions), 0.0
        counts, records = node_counts(sentence.tree), []
        tokens = zip((*sentence.tokens, None), (*unkified, None), strict=True)
        for i, (token, unk) in enumerate(tokens):
            is_word, last = token is not None, [*ends, len(named)][i]
            shares = {
                "structure": structure[i],
                "cluster": next(clusters) if is_word else 0.0,
                "word_in_cluster": float(in_cluster[path[last - 1]]),
            }
            surprisal = sum(shares.values())
            log_p -= surprisal * math.log(2)
            nodes = dict(zip(NODE_COUNTS, counts[i], strict=True)) if is_word else {}
            beam = [Analysis(log_p, named[:last])]
            records.append(WordRecord(token, unk, surprisal, **shares, **nodes, beam=beam))
        measured.append(MeasuredSentence(records if end else records[:-1], records[-1].beam, log_p))
    return measured


def node_counts(tree: nltk.Tree) -> list[tuple[int, int, int, int]]:
    """Return, for each word, the `NODE_COUNTS`: nodes by three strategies, and the depth.

    They are the constituents that begin with the word (top-down), end with it (bottom-up), whose
    first child ends with it (left-corner), and that contain it. POS tags do not count.

    >>> from oracle.brackets import parse_line
    >>> node_counts(parse_line("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)))"))
    [(2, 0, 1, 2), (0, 1, 1, 2), (1, 2, 1, 2)]
    """
    spans = [(bracket.start, bracket.end) for bracket, _ in brackets_of(tree)]
    counts = [[0] * len(NODE_COUNTS) for _ in words_of(tree)]
    for (start, end), following in pairwise([*spans, (-1, -1)]):
        # the next constituent is the first child if it begins with the same word; else a word is
        first_end = following[1] if following[0] == start else start + 1
        counts[start][0] += 1
        counts[end - 1][1] += 1
        counts[first_end - 1][2] += 1
        for inside in counts[start:end]:
            inside[3] += 1
    return list(map(tuple, counts))
