"""POS tags: NLTK's averaged perceptron with more features of spelling, its files, and jackknifing.

The files have the names and content that NLTK's `save_to_json` gives them. NLTK's own functions
accept only folders that its settings allow (3.10), fail (3.9.1) or are missing (3.8). In an allowed
folder, `Tagger(lang="xxx", loc=folder)` reads these files, too.
"""

from __future__ import annotations

import json
import random
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from nltk.tag import perceptron

from oracle.brackets import LocatedTree, read_trees
from oracle.common.errors import InputError
from oracle.common.files import placed, reading, replacing
from oracle.common.lazy import nltk
from oracle.training_data import evenly_spaced
from oracle.treebank import tags, untraced, words

TaggedSentence = list[tuple[str, str]]
ITERATIONS = 5
MOST_SENTENCES = 20_000
"""The most sentences to train a parser's own tagger on; more would change little."""
FILES = tuple(
    f"averaged_perceptron_tagger_xxx.{kind}.json" for kind in ("weights", "tagdict", "classes")
)
"""The names of a tagger's files; `xxx` is NLTK's language code for a user's own tagger."""

_SEEN = 3
"""The least occurrences of a word that can only have its tags in training."""
_FAR = 1e6
"""A weight that outweighs all that training gives."""


class _Learner(perceptron.AveragedPerceptron):
    """NLTK's perceptron, which adds up arrays of weights while it learns; the numbers are equal."""

    def __init__(self, tags: Iterable[str]):
        super().__init__()
        self._tags = sorted(tags)
        self._rows: dict[str, np.ndarray] = defaultdict(partial(np.zeros, len(self._tags)))
        """By feature, the weight of each tag."""

    def predict(self, features: dict[str, int], return_conf: bool = False) -> tuple[str, None]:
        """Return the best tag, of several the last by alphabet, without confidence."""
        rows = [self._rows[feature] for feature in features if feature in self._rows]
        scores = np.add.reduce(rows) if rows else np.zeros(len(self._tags))
        return self._tags[len(scores) - 1 - scores[::-1].argmax()], None

    def update(self, truth: str, guess: str, features: dict[str, int]) -> None:
        """Add 1 to the weights of the true tag, and subtract it from those of a wrong guess."""
        super().update(truth, guess, features)
        if truth != guess:
            changed = [*map(self._tags.index, (truth, guess))]
            for feature in features:
                self._rows[feature][changed] += 1, -1


class Tagger(perceptron.PerceptronTagger):
    """A tagger that also sees capitals, digits, hyphens and endings of other lengths.

    A tagger that NLTK has trained has no weights for these features, and assigns the same tags with
    them.
    """

    def _get_features(
        self, i: int, word: str, context: Sequence[str], prev: str, prev2: str
    ) -> dict[str, int]:
        """Return NLTK's features of word `i`, and those of its spelling; all have the count 1."""
        features = super()._get_features(i, word, context, prev, prev2)
        # has weights since `keep_to`, and none while the tagger learns
        if (form := _form(word)) in self.model.weights:
            features[form] = 1
        spelling, lower, position = _spelling(word), word.lower(), i + len(self.START)
        for feature in (
            f"i spelling {spelling} first {i == 0}",
            f"i-1 tag+i spelling {prev} {spelling}",
            *(f"i suffix{n} {lower[-n:]}" for n in (1, 2, 4)),
            f"i prefix3 {lower[:3]}",
            f"i word+i+1 word {context[position]} {context[position + 1]}",
        ):
            features[feature] = 1
        return features

    def keep_to(self, sentences: Iterable[Sequence[tuple[str, str]]]) -> None:
        """Assign to frequent words only the tags that they have there (Collins 2002)."""
        counts = nltk.ConditionalFreqDist(chain.from_iterable(sentences))
        for word, by_tag in counts.items():
            if by_tag.N() >= _SEEN and word not in self.tagdict:
                self.model.weights[_form(word)] = dict.fromkeys(by_tag, _FAR)


def _form(word: str) -> str:
    """Return the feature of a word as it is written; NLTK's has lower case."""
    return f"i form {word}"


def _spelling(word: str) -> str:
    """Return a class of spellings.

    >>> [_spelling(word) for word in ("cat", "Cat", "I", "DNA", "mRNA", "1990s", "IL-2")]
    ['', 'C', 'U', 'UU', 'm', 'd', 'dhUU']
    """
    digit = "d" if any(map(str.isdigit, word)) else ""
    hyphen = "h" if "-" in word[1:] else ""
    if word.isupper():
        case = "UU" if len(word) > 1 else "U"
    elif word[:1].isupper():
        case = "C"
    else:
        case = "m" if any(map(str.isupper, word)) else ""
    return digit + hyphen + case


def save_tagger(tagger: Tagger, folder: str | Path) -> None:
    """Write a tagger's files into a folder; equal taggers give equal files."""
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    weights, tagdict, classes = tagger.encode_json_obj()
    # classes are a set, whose order differs between processes
    for name, content in zip(FILES, (weights, tagdict, sorted(classes)), strict=True):
        with replacing(folder / name) as stream:
            stream.write(json.dumps(content))


def load_tagger(folder: Path | zipfile.Path) -> Tagger:
    """Return the tagger of a folder.

    Raises InputError or OSError naming the file that is damaged or missing.
    """
    contents = []
    for name in FILES:
        with reading(folder / name, remedy="damaged: train the tagger again with `rnng-dy tag`"):
            contents.append(json.loads((folder / name).read_bytes()))
    weights, tagdict, classes = contents
    with reading(folder / FILES[0], remedy="damaged: train the tagger again with `rnng-dy tag`"):
        tags = {tag for by_tag in weights.values() for tag in by_tag}
        if not tags | set(tagdict.values()) <= set(classes):
            raise ValueError("tags that the list of tags lacks")
        if not {type(x) for by_tag in weights.values() for x in by_tag.values()} <= {int, float}:
            raise ValueError("weights that are no numbers")
        return Tagger.decode_json_obj((weights, tagdict, classes))


def tagged(tree: nltk.Tree) -> TaggedSentence:
    """Return the words of a tree with their tags."""
    return list(zip(words(tree), tags(tree), strict=True))


def tagged_trees(trees: Iterable[LocatedTree]) -> list[TaggedSentence]:
    """Return words and tags per tree.

    Raises InputError naming the line of a tree without tags or with a trace.
    """
    tagged_sentences = []
    for located in trees:
        with placed(located.path, located.line):
            tagged_sentences.append(tagged(untraced(located.tree)))
    return tagged_sentences


def training_pairs(path: str) -> list[TaggedSentence]:
    """Return words and tags of the trees of a file.

    Raises InputError naming file and line if there are none.
    """
    if not (training := tagged_trees(read_trees(path))):
        raise InputError("no trees to train a tagger on", path)
    return training


def train_tagger(sentences: Sequence[TaggedSentence], seed: int) -> Tagger:
    """Train an averaged perceptron; the seed decides the order.

    Not safe for two threads at once.
    """
    # it draws from Python's global generator, which other threads may use meanwhile
    perceptron.random = random.Random(seed)
    try:
        tagger = Tagger(load=False)
        tagger.model = _Learner({tag for sentence in sentences for _, tag in sentence})
        # train() shuffles the list that it gets
        tagger.train(list(sentences), nr_iter=ITERATIONS)
        # without the data that only training needs
        return Tagger.decode_json_obj(tagger.encode_json_obj())
    finally:
        perceptron.random = random


def tagger_of_training(sentences: Sequence[TaggedSentence], seed: int) -> Tagger:
    """Train a parser's own tagger on at most MOST_SENTENCES of its training sentences.

    A word that it has seen three times or more has one of its tags there.
    """
    training = evenly_spaced(sentences, MOST_SENTENCES)
    tagger = train_tagger(training, seed)
    tagger.keep_to(training)
    return tagger


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
    """Return tags of every `folds`-th sentence from `fold` on; the others train the tagger."""
    others = [sentence for i, sentence in enumerate(sentences) if i % folds != fold]
    tagger = train_tagger(others, seed)
    return [tags_by(tagger, [word for word, _ in sentence]) for sentence in sentences[fold::folds]]


def jackknife(
    sentences: Sequence[TaggedSentence], folds: int, seed: int, run: Callable[..., Iterable[Any]]
) -> list[list[str]]:
    """Return tags per sentence, by taggers that have not seen it.

    `run`, such as `Workers.map`, maps a function over the folds, and yields each with its tags.
    """
    new_tags: list[list[str]] = [[] for _ in sentences]
    for fold, folded in run(partial(fold_tags, sentences, folds, seed), range(folds)):
        new_tags[fold::folds] = folded
    return new_tags
