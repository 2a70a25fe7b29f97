"""Training from an existing model on other data (--init): symbols that the model lacks, and adding them (--extend)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from oracle.blocks import OracleSentence
from oracle.encoded import EncodedOracle
from oracle.encoding import encoded
from oracle.unknown import UnknownWords
from rnng_dy.model import Model
from rnng_dy.models.network import Rnng
from rnng_dy.parser import DiscriminativeParser
from rnng_dy.training.examples import require_transitions
from rnng_dy.vocabulary import ParserVocabulary, Vocabulary

M = TypeVar("M", bound=Model)

SHOWN = 10
"""How many symbols a message lists."""


@dataclass(frozen=True)
class Unseen:
    """Symbols of training sentences that a model lacks, in order of first appearance."""

    nonterminals: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def __str__(self) -> str:
        named = (("nonterminals", self.nonterminals), ("POS tags", self.tags))
        return " and ".join(f"{what} {_list(symbols)}" for what, symbols in named if symbols)


def unseen(model: Model, sentences: Sequence[OracleSentence]) -> Unseen:
    """Return the nonterminals and POS tags that the model lacks; words do not count, since they have classes.

    Raises RnngError for sentences of another transition system.
    """
    if not isinstance(model, Rnng):
        return Unseen()
    oracle = encoded(sentences)
    require_transitions(model, oracle.symbols.systems)
    own = model.vocabulary.nonterminals
    labels = tuple(label for label in oracle.nonterminals() if label not in own)
    if not isinstance(model, DiscriminativeParser) or model.vocabulary.tags is None:
        return Unseen(labels)
    tags = oracle.symbols.tags
    return Unseen(labels, tuple(tag for tag in tags if tag not in model.vocabulary.tags))


def extended(model: M, sentences: Sequence[OracleSentence], seed: int) -> M:
    """Return a larger model that also has the sentences' nonterminals, POS tags and, for a parser, repeated words.

    The model's own symbols keep their ids and parameters; the seed determines the new rows. But a new word begins with
    the parameters of its class of unknown words, which stood for it so far. The model keeps its tagger unless there
    are new tags.
    Models that generate words get no new words, since those have no cluster.

    Raises RnngError for sentences of another transition system.
    """
    oracle = encoded(sentences)
    new, v, words = unseen(model, oracle), model.vocabulary, []
    vocabulary = replace(v, nonterminals=(*v.nonterminals, *new.nonterminals))
    if isinstance(model, DiscriminativeParser):
        words = _new_words(model, oracle)
        vocabulary = replace(
            vocabulary,
            words=Vocabulary([*v.words.symbols, *words]),
            unknown=UnknownWords(v.unknown.rules, v.unknown.known.union(words)),
            singletons=v.singletons.difference(map(v.words.get, words)),
        )
        if new.tags:
            counts = dict(zip(oracle.symbols.tags, oracle.counts("tags").tolist(), strict=True))
            vocabulary = replace(
                vocabulary,
                tags=Vocabulary([*v.tags.symbols, *new.tags]),
                tag_counts=(*v.tag_counts, *(counts[tag] for tag in new.tags)),
            )
    larger = _grown(model, vocabulary, seed, words)
    larger.segmenter = model.segmenter
    larger.spelling = model.spelling
    if not new.tags:
        larger.tagger = model.tagger
    return larger


def as_seen_by(model: Model, sentences: Sequence[OracleSentence]) -> EncodedOracle:
    """Return the sentences with classes of unknown words by the model's vocabulary instead of those of their oracle."""
    v = model.vocabulary
    unkify = v.unknown.unkify if isinstance(v, ParserVocabulary) else v.unkify
    return encoded(sentences).with_classes(unkify)


def _new_words(parser: DiscriminativeParser, oracle: EncodedOracle) -> list[str]:
    """Return the words that occur at least twice and that the parser does not know."""
    counts, words = oracle.counts("tokens"), oracle.symbols.words
    repeated = [words[i] for i in oracle.tokens_by_appearance() if counts[i] >= 2]
    return [word for word in repeated if word not in parser.vocabulary.unknown.known]


def _grown(model: M, vocabulary: object, seed: int, words: Sequence[str]) -> M:
    """Return the model with a vocabulary that begins with its own; only first dimensions of arrays grow.

    The `words` are new words of a parser, which begin with the parameters of their classes of unknown words.
    """
    config = model.config()
    given = {name: config[name] for name in model.config_defaults if name in config}
    constants = {name: getattr(model, name) for name in model.constants_of(vocabulary)}
    larger = type(model)(vocabulary, model.sizes, seed=seed, **given, **constants)
    arrays = larger.store.arrays()
    for name, values in model.store.arrays().items():
        arrays[name][: len(values)] = values
    if words:
        classes = model.vocabulary.word_ids(model.vocabulary.unknown.unkify(words))
        arrays["word"][vocabulary.word_ids(words)] = arrays["word"][classes]
    larger.store.load(arrays)
    larger.updates = model.updates
    return larger


def _list(symbols: Sequence[str]) -> str:
    more = f" and {len(symbols) - SHOWN} more" if len(symbols) > SHOWN else ""
    return ", ".join(symbols[:SHOWN]) + more
