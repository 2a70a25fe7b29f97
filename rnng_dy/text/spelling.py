"""The spelling of unknown words: p(string | class) for every string, by character n-grams."""

from __future__ import annotations

import json
import math
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from oracle.common.errors import RnngError
from oracle.common.files import reading, replacing
from oracle.open_classes import OpenClasses, block_of, characters_by_kind
from oracle.unknown import UnknownWords

FORMAT, VERSION = "rnng_dy spelling", 1
ORDER = 5
"""The n of n-grams."""
SHARE = 0.5
"""The share of all words in the distribution to which a history of a class backs off."""
_START, _END = " ", "\n"
"""Symbols before the first and after the last character; no token has them."""


class SpellingModel:
    """A distribution over the strings of each class of unknown words.

    The classes partition the strings. While a string is spelled, a character
    after which it cannot reach the class has probability 0, and so has the end of a string that is
    not in the class. The other symbols share all probability, so that the strings of each class add
    up to 1.
    """

    def __init__(self, unknown: UnknownWords, vocabulary: Iterable[str], words: Mapping[str, int]):
        """Make the model of words and their counts, of which known words do not count.

        `vocabulary` has the words and classes that the language model generates. Raises RnngError
        if it has no class.
        """
        self.classes = OpenClasses(unknown, vocabulary)
        known = self.classes.known
        self.words = {word: count for word, count in sorted(words.items()) if word not in known}
        self._spelled = cache(self._spell)

    def read(self, tokens: Iterable[str]) -> tuple[list[str], list[float]]:
        """Return tokens as the language model reads them, and log p of their spellings in nats.

        A known word stays as it is, and its spelling has log p = 0. Any other is its class.
        """
        pairs = [self._spelled(token) for token in tokens]
        return [unk for unk, _ in pairs], [log_prob for _, log_prob in pairs]

    def _spell(self, token: str) -> tuple[str, float]:
        unk = self.classes.class_of(token)
        return unk, 0.0 if token in self.classes.known else self.log_prob(token, unk)

    def log_prob(self, word: str, name: str) -> float:
        """Return log p(word | class) in nats; -inf if the class `name` does not have the word."""
        if word in self.classes.known or self.classes.class_of(word) != name:
            return -math.inf
        share = self.ngrams.symbols.share
        steps = enumerate([*word, _END])
        return math.fsum(math.log(share(self.next_symbol(word[:i], name), s)) for i, s in steps)

    def next_symbol(self, prefix: str, name: str) -> np.ndarray:
        """Return the probability of each symbol after a prefix of strings of a class: float64."""
        possible = self.ngrams.probabilities(prefix, name) * self._may_follow(prefix, name)
        return possible / possible.sum()

    def _may_follow(self, prefix: str, name: str) -> np.ndarray:
        """Return which symbols can continue a prefix of strings of a class, or end it."""
        classes, symbols = self.classes, self.ngrams.symbols
        features = classes.features(prefix)
        extended = (classes.extended(features, kind) for kind in symbols.kinds)
        reached = [name in classes.reachable(longer) for longer in extended]
        possible = np.array(reached)[symbols.kind_numbers]
        for character in self._next_of_capitalised.get((name, prefix), ()):
            possible[symbols.numbers[character]] = True
        ends = bool(prefix) and prefix not in classes.known and classes.class_of(prefix) == name
        possible[symbols.numbers[_END]] = ends
        return possible

    @cached_property
    def _next_of_capitalised(self) -> Mapping[tuple[str, str], list[str]]:
        """The next characters of `OpenClasses.capitalised` words, by class and prefix."""
        following = defaultdict(list)
        for word, name in self.classes.capitalised.items():
            for i, character in enumerate(word):
                following[name, word[:i]].append(character)
        return following

    @cached_property
    def ngrams(self) -> ClassNgrams:
        """The n-grams, made when they are first needed."""
        by_class: dict[str, dict[str, int]] = {name: {} for name in self.classes.names}
        for word, count in self.words.items():
            by_class[self.classes.class_of(word)][word] = count
        return ClassNgrams(Symbols(self.classes, self.words), by_class, self.classes.known)

    def save(self, path: Path) -> None:
        """Write the words and their counts as JSON."""
        with replacing(path) as stream:
            content = {"format": FORMAT, "version": VERSION, "words": self.words}
            json.dump(content, stream, ensure_ascii=False, indent=0)

    @classmethod
    def load(
        cls, path: Path | zipfile.Path, unknown: UnknownWords, vocabulary: Iterable[str]
    ) -> SpellingModel:
        """Return the spelling model of a file. Raises InputError for a damaged one."""
        with reading(path, remedy="damaged: train the model again"):
            content = json.loads(path.read_bytes().decode("utf-8", "surrogateescape"))
            if (content["format"], content["version"]) != (FORMAT, VERSION):
                raise ValueError("not of this version of rnng_dy")
            if not all(type(n) is int and n > 0 for n in content["words"].values()):
                raise ValueError("counts of words that are none")
            return cls(unknown, vocabulary, content["words"])


def learnt_spelling(model: Any, words: Mapping[str, int]) -> SpellingModel:
    """Return a spelling model of words and their counts. Raises RnngError if all are known."""
    spelling = SpellingModel(model.vocabulary.unknown, model.vocabulary.ids, words)
    if not spelling.words:
        raise RnngError("the model knows every word of this text: it shows no spelling to learn")
    return spelling


def required_spelling(model: Any, name: str) -> SpellingModel:
    """Return a language model's spelling model. Raises RnngError, with `name`, if it has none."""
    if model.spelling is None:
        message = f"{name} has no spelling model, so it gives no probability to unknown words: "
        message += "`rnng-dy train --open` makes one; n-grams of data with unknown words have one"
        raise RnngError(message)
    return model.spelling


def with_open_classes(
    spelling: SpellingModel, sentences: Sequence[Any]
) -> tuple[list[Any], list[list[float]]]:
    """Return sentences with the spelling model's classes, and log p of each spelling in nats.

    The classes that sentences of an oracle have do not count.
    """
    read = [spelling.read(sentence.tokens) for sentence in sentences]
    pairs = zip(sentences, read, strict=True)
    classified = [replace(sentence, unkified=tuple(unkified)) for sentence, (unkified, _) in pairs]
    return classified, [log_probs for _, log_probs in read]


def read_words(
    model: Any, words: Sequence[str], open_vocabulary: bool
) -> tuple[Sequence[str], float]:
    """Return words as the model reads them, and log p of their spelling in nats, 0 if closed.

    Raises RnngError if the vocabulary is open and the model has no spelling model.
    """
    if not open_vocabulary:
        return model.unknown.unkify(words, keep_classes=True), 0.0
    unkified, log_probs = required_spelling(model, "this model").read(words)
    return unkified, math.fsum(log_probs)


class Symbols:
    """The symbols of spellings: the end, some characters, and groups of all other characters.

    A group has the characters of a kind in a block of Unicode, or in all blocks that have none of
    those characters.
    """

    def __init__(self, classes: OpenClasses, words: Iterable[str]):
        """The characters with numbers of their own are those of `words` and of the known words."""
        characters = sorted(set().union(*words, *classes.known, *classes.capitalised))
        self._kind_of = classes.kind_of
        by_block = Counter(map(block_of, characters))
        others: Counter[tuple[str, int | None]] = Counter()
        for (kind, block), size in characters_by_kind(classes.rules).items():
            others[kind, block if block in by_block else None] += size
        self._others = {group: i for i, group in enumerate(others, 1 + len(characters))}
        numbered = [(self._kind_of(character), block_of(character)) for character in characters]
        others.subtract(numbered)
        self.numbers = {symbol: i for i, symbol in enumerate([_END, *characters])}
        """The numbers of the end and of single characters."""
        self.sizes = np.array([1.0] * len(self.numbers) + [*map(float, others.values())])
        """How many characters each symbol stands for."""
        kinds = [kind for kind, _ in (*numbered, *others)]
        self.kinds = sorted(set(kinds))
        """The kinds of characters, which `UnknownWords.kind_of` tells."""
        self.kind_numbers = np.array([0, *map(self.kinds.index, kinds)])
        """The index in `kinds` of each symbol; that of the end has no meaning."""
        blocks = [None, *(block for _, block in (*numbered, *others))]
        prior = self.sizes / self.sizes.sum() + self._block_shares(blocks, by_block)
        self.prior = prior / prior.sum()
        """The probability of each symbol before anything is learnt.

        Half is equal for all characters, half is that of blocks.
        """

    def _block_shares(self, blocks: Sequence[int | None], numbered: Counter[int]) -> np.ndarray:
        """Return probabilities for symbols in some blocks, by the share of a block's characters.

        `numbered` counts the characters with numbers of each block. All characters of a block have
        the same, since a new character is likely to be of a script that is known.
        """
        sizes: Counter[int | None] = Counter()
        for block, size in zip(blocks, self.sizes.tolist(), strict=True):
            sizes[block] += size
        shares = [numbered[block] / sizes[block] for block in blocks]
        return self.sizes * np.array(shares) / max(numbered.total(), 1)

    def number_of(self, symbol: str) -> int:
        """Return the number of the end, of a character, or of the group that has it."""
        if symbol in self.numbers:
            return self.numbers[symbol]
        kind = self._kind_of(symbol)
        return self._others.get((kind, block_of(symbol))) or self._others[kind, None]

    def share(self, probabilities: np.ndarray, symbol: str) -> float:
        """Return the probability of the end or of a character, from those of all symbols."""
        number = self.number_of(symbol)
        return float(probabilities[number] / self.sizes[number])


Followers = Mapping[str, tuple[np.ndarray, np.ndarray, float]]
"""By history: numbers and shares of the symbols that follow it, and the share of its back-off."""


class ClassNgrams:
    """Character n-grams of classes and of all words, interpolated as by Witten and Bell (1991).

    A history of a class backs off to its shorter history and to the same history in all words, and
    in the end to `Symbols.prior`. Held-out unknown words of NLTK's sample take fewer bits than with
    Kneser-Ney's smoothing, or with an LSTM over characters.
    """

    def __init__(
        self, symbols: Symbols, by_class: Mapping[str, Mapping[str, int]], known: Iterable[str]
    ):
        """`by_class` counts the words of each class; each known word counts once, in no class."""
        self.symbols = symbols
        every = dict.fromkeys(sorted(known), 1)
        for words in by_class.values():
            every.update(words)
        self._all = self._followers(every)
        self._by_class = {name: self._followers(words) for name, words in by_class.items()}

    def probabilities(self, prefix: str, name: str) -> np.ndarray:
        """Return the probability of each symbol after a prefix in words of a class: float64."""
        padded = _START * (ORDER - 1) + prefix
        in_class = in_all = self.symbols.prior
        for k in range(ORDER):
            history = padded[len(padded) - k :]
            in_all = _interpolated(self._all, history, in_all)
            shorter = SHARE * in_all + (1 - SHARE) * in_class
            in_class = _interpolated(self._by_class[name], history, shorter)
        return in_class

    def _followers(self, words: Mapping[str, int]) -> Followers:
        """Return what follows each history of less than ORDER characters."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word, count in words.items():
            text = _START * (ORDER - 1) + word + _END
            for i in range(ORDER - 1, len(text)):
                for k in range(ORDER):
                    counts[text[i - k : i]][text[i]] += count
        return {history: self._entry(followers) for history, followers in counts.items()}

    def _entry(self, followers: Counter[str]) -> tuple[np.ndarray, np.ndarray, float]:
        # as many tokens of something new as there were types
        total = followers.total() + len(followers)
        numbers = np.array([self.symbols.numbers[symbol] for symbol in followers])
        return numbers, np.array([*followers.values()]) / total, len(followers) / total


def _interpolated(table: Followers, history: str, shorter: np.ndarray) -> np.ndarray:
    if history not in table:
        return shorter
    numbers, shares, rest = table[history]
    probabilities = rest * shorter
    probabilities[numbers] += shares
    return probabilities
