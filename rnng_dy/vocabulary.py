"""Words, nonterminals and POS tags as ids: frozen maps, numbered in the order of the original."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import Any

from clusters.files import ClusteredWord
from oracle.blocks import OracleSentence, counted
from oracle.common.errors import RnngError, UnseenSymbolError
from oracle.unknown import UnknownWords, infer_unknown_words, known_in, lower

UNK = "UNK"


class Vocabulary(dict[str, int]):
    """The ids 0, 1, 2, ... of symbols, which do not change.

    >>> v = Vocabulary(["NP", "VP", "NP"])
    >>> v["VP"], v.symbols[0], len(v), "PP" in v, v.get("PP")
    (1, 'NP', 2, False, None)
    """

    def __init__(self, symbols: Iterable[str]):
        self.symbols = tuple(dict.fromkeys(symbols))
        super().__init__(zip(self.symbols, count(), strict=False))


@dataclass(frozen=True)
class ModelVocabulary:
    """The words and nonterminals of a model; a subclass says which words it has."""

    words: Vocabulary
    nonterminals: tuple[str, ...]
    unknown: UnknownWords
    # what only parsers have
    tags = pretrained = None

    def known_after(
        self, sentences: Iterable[OracleSentence], words: Container[str]
    ) -> UnknownWords:
        """Return the known words of this vocabulary and of further training.

        Of the latter, only those of `words` count.
        """
        pairs = chain.from_iterable(zip(s.tokens, s.unkified, strict=True) for s in sentences)
        more = (word for word in known_in(pairs) if word in words)
        return UnknownWords(self.unknown.rules, self.unknown.known.union(more))

    def to_json(self) -> dict[str, object]:
        """Return the content of vocabulary.json."""
        return {
            "words": self.words.symbols,
            "nonterminals": self.nonterminals,
            "unknown_rules": self.unknown.rules,
            "known": sorted(self.unknown.known),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], **more: object) -> Any:
        """Return the vocabulary that `to_json` wrote.

        Raises KeyError, TypeError or ValueError for anything else. `more` are the fields of a
        subclass.
        """
        # raises TypeError for anything but texts
        "".join(chain(data["words"], data["nonterminals"], data["known"], data.get("tags") or ()))
        unknown = UnknownWords(data["unknown_rules"], set(data["known"]))
        return cls(Vocabulary(data["words"]), tuple(data["nonterminals"]), unknown, **more)


@dataclass(frozen=True)
class ParserVocabulary(ModelVocabulary):
    """The discriminative parser's words, nonterminals and tags, from the training data.

    Words are the raw, lower-cased and unkified words of the training oracle, sentence by sentence,
    and UNK.
    """

    singletons: frozenset[int]
    """Ids of words that training also reads as their classes: seen once, or not known."""
    tags: Vocabulary | None = None
    tag_counts: tuple[int, ...] = ()
    pretrained: Vocabulary | None = None
    """Words that have a pretrained vector, in the order of its table."""

    @classmethod
    def from_oracle(
        cls,
        sentences: Sequence[OracleSentence],
        use_tags: bool,
        pretrained: Iterable[str] | None = None,
        more_words: Iterable[str] = (),
        rules: str | None = None,
    ) -> ParserVocabulary:
        """Make the vocabulary of a training oracle.

        `more_words` join the dictionary without training; the original adds all words of its
        embedding file. `rules` are those of unknown words if the oracle leaves a choice.
        Raises RnngError if the oracle lacks the tags and lower-cased lines of a discriminative one.
        """
        counts = counted(sentences)
        if not counts.tags:
            needed = "the parser needs one made without --generative"
            raise RnngError(f"this is a generative oracle; {needed}")
        words = Vocabulary([*counts.words, *more_words, UNK])
        unknown = infer_unknown_words(((s.tokens, s.unkified) for s in sentences), rules)
        once = {word for word, n in counts.tokens.items() if n == 1}
        return cls(
            words=words,
            nonterminals=counts.nonterminals(),
            unknown=unknown,
            singletons=frozenset(words[w] for w in once | (counts.tokens.keys() - unknown.known)),
            tags=Vocabulary(counts.tags) if use_tags else None,
            tag_counts=tuple(counts.tags.values()) if use_tags else (),
            pretrained=None if pretrained is None else Vocabulary(pretrained),
        )

    def trained_on(self, sentences: Sequence[OracleSentence]) -> ParserVocabulary:
        """Return the vocabulary after further training, whose known words become known.

        The sentences' other words are read as their classes, too, if the vocabulary has them.
        """
        unknown = self.known_after(sentences, self.words)
        rare = self.words.keys() & (counted(sentences).tokens.keys() - unknown.known)
        more = unknown.known - self.unknown.known
        singletons = self.singletons.difference(self.words[word] for word in more)
        singletons |= {self.words[word] for word in rare}
        return replace(self, unknown=unknown, singletons=singletons)

    def to_json(self) -> dict[str, object]:
        """Return the content of vocabulary.json."""
        return super().to_json() | {
            "singletons": sorted(self.singletons),
            "tags": None if self.tags is None else self.tags.symbols,
            "tag_counts": self.tag_counts,
            "pretrained": None if self.pretrained is None else self.pretrained.symbols,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> ParserVocabulary:
        """Return the vocabulary that `to_json` wrote.

        Raises KeyError, TypeError or ValueError for anything else.
        """
        tags, tag_counts = data["tags"], tuple(data["tag_counts"])
        if UNK not in data["words"]:
            raise ValueError("there is no word UNK")
        if [*map(type, tag_counts)] != [int] * len(tags or ()):
            raise ValueError("the counts are of other tags")
        return super().from_json(
            data,
            singletons=frozenset(data["singletons"]),
            tags=None if tags is None else Vocabulary(tags),
            tag_counts=tag_counts,
            pretrained=None if data["pretrained"] is None else Vocabulary(data["pretrained"]),
        )

    def word_ids(self, unkified: Iterable[str]) -> list[int]:
        """Return the ids of words after unkifying; a word outside the vocabulary is UNK."""
        unk = self.words[UNK]
        return [self.words.get(word, unk) for word in unkified]

    def pretrained_rows(self, tokens: Iterable[str]) -> list[int | None]:
        """Return rows of the pretrained table, None for a word without a vector.

        As in the original, a lower-cased word outside the dictionary counts as UNK, which may have
        a vector itself.
        """
        unk = self.pretrained.get(UNK)
        words = (lower(token, self.unknown.rules) for token in tokens)
        return [self.pretrained.get(word, None if word in self.words else unk) for word in words]


@dataclass(frozen=True)
class GeneratorVocabulary(ModelVocabulary):
    """The generative model's vocabulary: the words of the clusters file, and its classes.

    Words are known if training has them. The first word is `<s>`, which begins sentences and is a
    word only if the clusters file has it; then follow the words of that file in order.
    """

    clusters: tuple[tuple[int, ...], ...]
    """Word ids of each cluster, in the order in which their bit strings first appear."""
    paths: tuple[str, ...]
    """The bit string of each cluster."""

    @classmethod
    def build(
        cls,
        clustered: Sequence[ClusteredWord],
        sentences: Sequence[OracleSentence],
        rules: str | None = None,
    ) -> GeneratorVocabulary:
        """Make the vocabulary of word clusters and a training oracle.

        Words that the oracle lacks are unknown. `rules` are those of unknown words if the oracle
        leaves a choice. Raises RnngError, with examples, if training words have no cluster.
        """
        counts = counted(sentences)
        have = {entry.word for entry in clustered}
        if missing := [word for word, _ in counts.unkified.most_common() if word not in have]:
            such = f"{', '.join(missing[:5])}: make clusters from this training oracle"
            message = f"{len(missing)} training words are not in the clusters file"
            raise RnngError(f"{message}, such as {such}")
        words = Vocabulary(["<s>", *(entry.word for entry in clustered)])
        members: dict[str, list[int]] = {}
        for entry in clustered:
            members.setdefault(entry.path, []).append(words[entry.word])
        return cls(
            words=words,
            clusters=tuple(map(tuple, members.values())),
            paths=tuple(members),
            nonterminals=counts.nonterminals(),
            unknown=infer_unknown_words(((s.tokens, s.unkified) for s in sentences), rules),
        )

    def trained_on(self, sentences: Sequence[OracleSentence]) -> GeneratorVocabulary:
        """Return the vocabulary after further training, whose known words become known."""
        return replace(self, unknown=self.known_after(sentences, self.ids))

    def to_json(self) -> dict[str, object]:
        """Return the content of vocabulary.json."""
        return super().to_json() | {"clusters": self.clusters, "paths": self.paths}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> GeneratorVocabulary:
        """Return the vocabulary that `to_json` wrote.

        Raises KeyError, TypeError or ValueError for anything else.
        """
        clusters = tuple(map(tuple, data["clusters"]))
        # the first symbol need not be a word, and so in a cluster
        clustered = sorted(chain.from_iterable(clusters))
        if not clustered or clustered != [*range(len(data["words"]))][-len(clustered) :]:
            raise ValueError("the clusters are of other words")
        return super().from_json(data, clusters=clusters, paths=tuple(data["paths"]))

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The ids of the words and classes of unknown words that the model can generate."""
        return {self.words.symbols[i]: i for i in chain.from_iterable(self.clusters)}

    def word_ids(self, unkified: Iterable[str]) -> list[int]:
        """Return the ids of words after unkifying.

        Raises UnseenSymbolError: such a sentence has p = 0.
        """
        unkified = list(unkified)
        if unseen := [word for word in unkified if word not in self.ids]:
            raise UnseenSymbolError(unseen)
        return [self.ids[word] for word in unkified]
