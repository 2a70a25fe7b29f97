"""POS tags that are not gold: NLTK's averaged perceptron, jackknifed over the training part, or a file's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from nltk import Tree
from nltk.tag import perceptron
from nltk.tag.perceptron import PerceptronTagger

from oracle.brackets import LocatedTree, read_trees
from oracle.errors import InputError, RnngError
from oracle.sentences import read_sentences
from oracle.training_data import evenly_spaced
from oracle.treebank import tags, words

TaggedSentence = list[tuple[str, str]]
ITERATIONS = 5
MOST_SENTENCES = 20_000
"""That a parser's own tagger is trained on: some two minutes, where more of them would change little."""


class Agreement(NamedTuple):
    """Tags compared with others."""

    words: int
    same: int

    @property
    def percent(self) -> float:
        """Of the words."""
        return 100 * self.same / self.words


def tagged(tree: Tree) -> TaggedSentence:
    """Words with the tree's tags."""
    return list(zip(words(tree), tags(tree), strict=True))


def tagged_trees(trees: Iterable[LocatedTree]) -> list[TaggedSentence]:
    """Words and tags of each tree. Raises InputError naming the line of a tree without tags."""
    found = []
    for located in trees:
        try:
            found.append(tagged(located.tree))
        except RnngError as error:
            raise InputError(str(error), located.path, located.line) from None
    return found


def training_pairs(path: str) -> list[TaggedSentence]:
    """Words and tags of the trees to train a tagger on. Raises InputError naming the file and line where it cannot."""
    training = tagged_trees(read_trees(path))
    if not training:
        raise InputError("no trees to train a tagger on", path)
    return training


def train_tagger(sentences: Sequence[TaggedSentence], seed: int) -> PerceptronTagger:
    """NLTK's averaged perceptron, trained in an order that the seed decides. Not for two threads at once."""
    # it draws from Python's global generator, from which other threads may draw meanwhile
    perceptron.random = random.Random(seed)
    try:
        tagger = PerceptronTagger(load=False)
        # it shuffles the list that it is given
        tagger.train(list(sentences), nr_iter=ITERATIONS)
        return tagger
    finally:
        perceptron.random = random


def tagger_of_training(sentences: Sequence[TaggedSentence], seed: int) -> PerceptronTagger:
    """A parser's own tagger, from its training sentences; from MOST_SENTENCES, evenly spaced, where there are more."""
    tagger = train_tagger(evenly_spaced(sentences, MOST_SENTENCES), seed)
    # without what only its training needs, which is the larger part
    return PerceptronTagger.decode_json_obj(tagger.encode_json_obj())


def tags_by(tagger: PerceptronTagger, words: Sequence[str]) -> list[str]:
    """The tags that a tagger gives words."""
    return [tag for _, tag in tagger.tag(words)]


def same_tags(sentences: Iterable[TaggedSentence], found: Iterable[Sequence[str]]) -> Agreement:
    """How many tags of the sentences were found."""
    same = [
        old == new
        for sentence, tags in zip(sentences, found, strict=True)
        for (_, old), new in zip(sentence, tags, strict=True)
    ]
    return Agreement(len(same), sum(same))


def fold_tags(
    sentences: Sequence[TaggedSentence], folds: int, seed: int, fold: int
) -> list[list[str]]:
    """Tags of every `folds`-th sentence from `fold` on, by a tagger trained on the others."""
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
    run: Callable[[Callable, Iterable[int]], Iterable] = map,
) -> list[list[str]]:
    """Tags of each sentence, by taggers that have not seen it. `run` maps over the folds, in order."""
    if not 2 <= folds <= len(sentences):
        raise ValueError(f"{folds} folds of {len(sentences)} sentences")
    found: list[list[str]] = [[] for _ in sentences]
    for fold, part in enumerate(run(partial(fold_tags, sentences, folds, seed), range(folds))):
        found[fold::folds] = part
    return found


def tags_of_file(path: str, trees: Sequence[LocatedTree]) -> Iterator[Sequence[str]]:
    """Tags of a file of one sentence of word_TAG tokens a line, for the trees in order.

    Raises InputError where a line is empty, or its words are not those of its tree.
    """
    sentences = read_sentences(path, tagged=True)
    for sentence in sentences:
        if not sentence.tokens:
            raise InputError("an empty line among the sentences: take it out", path, sentence.line)
    if len(sentences) != len(trees):
        raise InputError(
            f"{len(sentences)} sentences for {len(trees)} trees of {trees[0].path}", path
        )
    for sentence, located in zip(sentences, trees, strict=True):
        if list(sentence.tokens) != words(located.tree):
            message = f"its words are not those of the tree at {located.path}:{located.line}"
            raise InputError(message, path, sentence.line)
        yield sentence.tags
