"""Joint log probabilities of trees under a generative model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from oracle.brackets import read_tree_lines
from oracle.errors import ImpossibleError, InputError, placed
from oracle.files import numbered_lines, open_text, peeked, reading
from oracle.samples import begins_samples, read_samples
from oracle.treebank import words as words_of
from rnng_dy.engine import dy, one_graph
from rnng_dy.models.configuration import Derivation
from rnng_dy.open_vocabulary import read_words
from rnng_dy.parallel import batches
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


def log_probs(model: Model, trees: Iterable[Derivation]) -> np.ndarray:
    """Return the log probability in nats of each action sequence and the words that it generates, float64.

    All are in the current graph, which runs once.
    """
    losses, decision_of, paths = model.network.losses(trees)
    values = dy.concatenate_to_batch(losses).npvalue().ravel()
    of_decision = -np.bincount(decision_of, values.astype(np.float64))
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


class TreeToScore(NamedTuple):
    """A tree to score."""

    sentence: int
    """The number of the tree's sentence, from 0."""
    words: tuple[str, ...]
    """Unkified words."""
    actions: tuple[str, ...]
    spelling: float = 0.0
    """log p in nats of the words as strings, given the unkified words; 0 without an open vocabulary."""
    tokens: tuple[str, ...] = ()
    """The words as written."""


def trees_to_score(path: str, model, open_vocabulary: bool = False) -> Iterator[TreeToScore]:
    """Yield the trees of a file of samples or trees, whose unknown words become classes.

    With an open vocabulary the words of trees count as strings. Raises InputError, with the line, for a tree that has
    no actions, and for a samples file with an open vocabulary.
    """
    actions_of = model.transitions.actions_of
    # opened once, because a pipe cannot be read again
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        if is_samples := begins_samples(first):
            if open_vocabulary:
                raise InputError(
                    "samples have classes of unknown words in place of words: score them without --open, and "
                    "`rerank --oracle ORACLE --spelling MODEL` adds the spelling",
                    path,
                )
            trees = ((s.index, s) for s in read_samples(path, lines))
        else:
            trees = enumerate(read_tree_lines(numbered_lines(lines, path), path))
        for index, found in trees:
            with placed(path, found.line):
                actions = tuple(actions_of(found.tree, False if is_samples else None))
            tokens = tuple(words_of(found.tree))
            unkified, spelling = read_words(model, tokens, open_vocabulary)
            yield TreeToScore(index, tuple(unkified), actions, spelling, tokens)


def impossible(model, trees: Iterable[TreeToScore]) -> list[str]:
    """Return the distinct reasons why trees of a sentence have p = 0."""
    reasons = {}
    for tree in dict.fromkeys(trees):
        try:
            model.encode(tree.words, tree.actions)
        except ImpossibleError as error:
            reasons[str(error)] = None
    return list(reasons)
