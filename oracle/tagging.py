"""POS tags that are not gold: from an averaged perceptron, jackknifed over the training part."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from nltk import Tree
from nltk.tag import perceptron

from oracle.brackets import LocatedTree, read_trees
from oracle.errors import InputError, placed
from oracle.tagger import Tagger
from oracle.training_data import evenly_spaced
from oracle.treebank import tags, words

TaggedSentence = list[tuple[str, str]]
ITERATIONS = 5
MOST_SENTENCES = 20_000
"""The most sentences to train a parser's own tagger on: some two minutes; more sentences would change little."""


def tagged(tree: Tree) -> TaggedSentence:
    """Return the words of a tree with their tags."""
    return list(zip(words(tree), tags(tree), strict=True))


def tagged_trees(trees: Iterable[LocatedTree]) -> list[TaggedSentence]:
    """Return words and tags per tree. Raises InputError naming the line of a tree without tags."""
    tagged_sentences = []
    for located in trees:
        with placed(located.path, located.line):
            tagged_sentences.append(tagged(located.tree))
    return tagged_sentences


def training_pairs(path: str) -> list[TaggedSentence]:
    """Return words and tags of the trees of a file. Raises InputError naming file and line if there are none."""
    training = tagged_trees(read_trees(path))
    if not training:
        raise InputError("no trees to train a tagger on", path)
    return training


def train_tagger(sentences: Sequence[TaggedSentence], seed: int) -> Tagger:
    """Train an averaged perceptron; the seed decides the order. Not safe for two threads at once."""
    # it draws from Python's global generator, which other threads may use meanwhile
    perceptron.random = random.Random(seed)
    try:
        tagger = Tagger(load=False)
        # train() shuffles the list that it gets
        tagger.train(list(sentences), nr_iter=ITERATIONS)
        return tagger
    finally:
        perceptron.random = random


def tagger_of_training(sentences: Sequence[TaggedSentence], seed: int) -> Tagger:
    """Train a parser's own tagger on its training sentences, or on MOST_SENTENCES of them, evenly spaced.

    A word that it has seen three times or more has one of its tags there.
    """
    training = evenly_spaced(sentences, MOST_SENTENCES)
    tagger = train_tagger(training, seed)
    tagger.keep_to(training)
    # drops the data that only training needs, which is the larger part
    return Tagger.decode_json_obj(tagger.encode_json_obj())


def tags_by(tagger: Tagger, words: Sequence[str]) -> list[str]:
    """Return the tags that a tagger assigns to words."""
    return [tag for _, tag in tagger.tag(words)]


def same_tags(sentences: Iterable[TaggedSentence], new_tags: Iterable[Sequence[str]]) -> str:
    """Return the share of the new tags that agree with those of the sentences, for a message."""
    same = [
        old == new
        for sentence, tags in zip(sentences, new_tags, strict=True)
        for (_, old), new in zip(sentence, tags, strict=True)
    ]
    return f"{100 * sum(same) / len(same):.2f} % of {len(same)} words"


def fold_tags(
    sentences: Sequence[TaggedSentence], folds: int, seed: int, fold: int
) -> list[list[str]]:
    """Return tags of every `folds`-th sentence from `fold` on, by a tagger trained on the others."""
    held_out = [[word for word, _ in sentence] for sentence in sentences[fold::folds]]
    if not held_out:
        return []
    others = [sentence for i, sentence in enumerate(sentences) if i % folds != fold]
    tagger = train_tagger(others, seed)
    return [tags_by(tagger, sentence) for sentence in held_out]


def jackknife(
    sentences: Sequence[TaggedSentence],
    folds: int,
    seed: int,
    run: Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]] = map,
) -> list[list[str]]:
    """Return tags per sentence, by taggers that have not seen it. `run` maps over the folds, in order."""
    if not 2 <= folds <= len(sentences):
        raise ValueError(f"{folds} folds of {len(sentences)} sentences")
    new_tags: list[list[str]] = [[] for _ in sentences]
    for fold, part in enumerate(run(partial(fold_tags, sentences, folds, seed), range(folds))):
        new_tags[fold::folds] = part
    return new_tags
