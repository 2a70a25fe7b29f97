"""Joint log probabilities of trees under a generative model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from oracle.brackets import read_tree_lines
from oracle.common.errors import ImpossibleError, RnngError
from oracle.common.files import numbered_lines, open_text, peeked, placed, reading
from oracle.common.lazy import nltk
from oracle.samples import begins_samples, format_likelihood, read_samples
from oracle.treebank import untraced
from oracle.treebank import words as words_of
from rnng_dy.engine import dy, one_graph
from rnng_dy.models.configuration import Derivation
from rnng_dy.models.vectors import owned_log_probs
from rnng_dy.parallel import batches, split_on_memory_error
from rnng_dy.search.model import Model

MAX_STATES = 4000
"""Configurations per scoring graph; more would need gigabytes at the paper's sizes."""


@one_graph
def joint_log_probs(
    model: Model, words: Sequence[int], sequences: Sequence[Sequence[int]]
) -> np.ndarray:
    """Return log p(x, y) in nats of several trees of one sentence, float64; equal prefixes are computed once."""
    values = []
    for part in batches(sequences, len, MAX_STATES):
        dy.renew_cg(derivatives=False)
        values.append(log_probs(model, [Derivation(None, part, words)]))
    return np.concatenate(values)


@one_graph
def example_log_probs(model: Model, examples: Sequence) -> list[float]:
    """Return log p(x, y) in nats of training examples, one tree per sentence; all share one graph."""
    dy.renew_cg(derivatives=False)
    return log_probs(model, map(model.network.derivation, examples)).tolist()


def batched_log_probs(model: Model, examples: Iterable[Any]) -> list[float]:
    """Return log p(x, y), or log q(y | x), in nats of examples; NaN for one that does not fit into memory."""
    return [
        math.nan if log_p is None else log_p
        for part in batches(examples, lambda example: len(example.actions), MAX_STATES)
        for log_p in split_on_memory_error(example_log_probs, model, part)
    ]


def tree_log_probs_of(model: Model, trees: Iterable, encode: Callable[..., Any]) -> list[float]:
    """Return log probabilities in nats of trees; -inf for one that `encode` says has p = 0.

    Raises RnngError for a single tree, which is a list of its parts, too.
    """
    if isinstance(trees, nltk.Tree):
        raise RnngError("one tree where a list of trees is wanted: `log_prob` takes it")
    examples: list[Any] = []
    for tree in trees:
        try:
            examples.append(encode(tree))
        except ImpossibleError:
            examples.append(None)
    found = iter(batched_log_probs(model, [e for e in examples if e is not None]))
    return [-math.inf if example is None else next(found) for example in examples]


def log_probs(model: Model, trees: Iterable[Derivation]) -> np.ndarray:
    """Return the log probability in nats of each action sequence and the words that it generates, float64.

    All are in the current graph, which runs once.
    """
    losses, decision_of, paths = model.network.losses(trees)
    of_decision = owned_log_probs(losses, decision_of)
    return np.array([of_decision[path].sum() for path in paths])


def tree_log_probs(
    model: Model, unkified: Sequence[str], sequences: Sequence[Sequence[str]]
) -> list[float]:
    """Return log p(x, y) in nats of each tree of a sentence, as action names; -inf if the model cannot derive it.

    Equal trees are computed once.
    """
    examples = {}
    for actions in dict.fromkeys(sequences):
        try:
            examples[actions] = model.encode(unkified, actions)
        except ImpossibleError:
            continue
    log_ps = {}
    if examples:
        words = next(iter(examples.values())).words
        values = joint_log_probs(model, words, [example.actions for example in examples.values()])
        log_ps = dict(zip(examples, values.tolist(), strict=True))
    return [log_ps.get(actions, -math.inf) for actions in sequences]


class SentenceTrees(NamedTuple):
    """The trees of a sentence that are to be scored."""

    number: int
    """The number of the sentence, from 0."""
    words: tuple[str, ...]
    """Unkified words."""
    trees: tuple[tuple[str, ...], ...]
    """The actions of each tree."""


def trees_to_score(path: str, model) -> Iterator[SentenceTrees]:
    """Yield the trees of a file of samples or trees, whose unknown words become classes, by sentence.

    Raises InputError, with the line, for a tree that has no actions.
    """
    # opened once, because a pipe cannot be read again
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        is_samples = begins_samples(first)
        numbered = numbered_lines(lines, path)
        read = read_samples(path, lines) if is_samples else read_tree_lines(numbered, path)

        def sentence_of(item: tuple[int, Any]) -> tuple[int, tuple[str, ...]]:
            number, found = item
            words = tuple(model.vocabulary.unkify(words_of(found.tree)))
            return found.index if is_samples else number, words

        def actions_of(found) -> tuple[str, ...]:
            with placed(path, found.line):
                if is_samples:
                    return tuple(model.transitions.actions_of(found.tree, False))
                return tuple(model.transitions.actions_of(untraced(found.tree)))

        for (number, words), group in groupby(enumerate(read), sentence_of):
            yield SentenceTrees(number, words, tuple(actions_of(found) for _, found in group))


def likelihood_lines(model: Model, sentences: Iterable[SentenceTrees]) -> list[list[str]]:
    """Return the lines of likelihoods of each sentence's trees."""
    found = []
    for s in sentences:
        log_ps = tree_log_probs(model, s.words, s.trees)
        found.append([format_likelihood(len(s.words), -log_p) for log_p in log_ps])
    return found


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
