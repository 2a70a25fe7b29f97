"""Training that begins with an existing model on other data (--init): symbols that it lacks, and adding them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from oracle.blocks import OracleSentence
from oracle.counts import OracleCounts, counted
from oracle.errors import RnngError, placed
from oracle.unknown import UnknownWords
from rnng_dy.training.data import Data
from rnng_dy.training.examples import require_transitions
from rnng_dy.vocabulary import ParserVocabulary, Vocabulary

M = TypeVar("M")

_log = logging.getLogger(__name__)


def require_same(
    model: Any, config: Mapping[str, str], sizes: Mapping[str, int], folder: object
) -> None:
    """Raise RnngError if the user's options differ from those of the model of a folder."""
    for name, value in config.items():
        if value != model.config()[name]:
            raise RnngError(f"{folder} has another {name}: leave --{name} out")
    if replace(model.sizes, **sizes) != model.sizes:
        dimensions = ", ".join(f"{name} {value}" for name, value in asdict(model.sizes).items())
        raise RnngError(f"{folder} has other dimensions, {dimensions}: leave them out")


def fine_tuned(model: M, data: Data, init: object, extend: bool, seed: int) -> M:
    """Return the model of --init, with the symbols that --extend adds. Raises RnngError if it lacks any without."""
    with placed(data.source):
        if symbols := listed(unseen(model, data.train)):
            if not extend:
                raise RnngError(
                    f"{symbols} are not in {init}: add them with --extend, or take them out"
                )
            _log.info(f"{init}: adding {symbols}")
        return extended(model, data.train, seed) if extend else model


def unseen(model: Any, sentences: Sequence[OracleSentence]) -> dict[str, list[str]]:
    """Return the "nonterminals" and "POS tags" that the model lacks, in order of first appearance.

    Words do not count, since they have classes. Raises RnngError for sentences of another transition system.
    """
    if not hasattr(model, "transitions"):
        return {}
    counts, vocabulary = counted(sentences), model.vocabulary
    require_transitions(model, counts.systems)
    own, tags = vocabulary.nonterminals, getattr(vocabulary, "tags", None)
    found = {"nonterminals": [label for label in counts.nonterminals() if label not in own]}
    if tags is not None:
        found["POS tags"] = [tag for tag in counts.tags if tag not in tags]
    return {what: symbols for what, symbols in found.items() if symbols}


def listed(symbols: Mapping[str, Sequence[str]]) -> str:
    """Return the symbols of `unseen` as text.

    >>> listed({"nonterminals": ["X", "Y"], "POS tags": ["Z"]})
    'nonterminals X, Y and POS tags Z'
    """
    return " and ".join(f"{what} {', '.join(names)}" for what, names in symbols.items())


def extended(model: M, sentences: Sequence[OracleSentence], seed: int) -> M:
    """Return a larger model that also has the sentences' nonterminals, POS tags and, for a parser, repeated words.

    The model's own symbols keep their ids and parameters; the seed determines the new rows. But a new word begins with
    the parameters of its class of unknown words, which stood for it so far. The model keeps its tagger unless there
    are new tags.
    Models that generate words get no new words, since those have no cluster.

    Raises RnngError for sentences of another transition system.
    """
    counts = counted(sentences)
    new, v, words = unseen(model, sentences), model.vocabulary, []
    tags = new.get("POS tags", [])
    vocabulary = replace(v, nonterminals=(*v.nonterminals, *new.get("nonterminals", ())))
    if isinstance(v, ParserVocabulary):
        words = _new_words(v, counts)
        vocabulary = replace(
            vocabulary,
            words=Vocabulary([*v.words.symbols, *words]),
            unknown=UnknownWords(v.unknown.rules, v.unknown.known.union(words)),
            singletons=v.singletons.difference(map(v.words.get, words)),
        )
        if tags:
            vocabulary = replace(
                vocabulary,
                tags=Vocabulary([*v.tags.symbols, *tags]),
                tag_counts=(*v.tag_counts, *(counts.tags[tag] for tag in tags)),
            )
    larger = _grown(model, vocabulary, seed, words)
    larger.segmenter, larger.spelling = model.segmenter, model.spelling
    if not tags:
        larger.tagger = model.tagger
    return larger


def as_seen_by(model: Any, sentences: Sequence[OracleSentence]) -> Iterator[OracleSentence]:
    """Yield the sentences with classes of unknown words by the model's vocabulary instead of those of their oracle."""
    v = model.vocabulary
    unkify = v.unknown.unkify if isinstance(v, ParserVocabulary) else v.unkify
    return (replace(s, unkified=tuple(unkify(s.tokens))) for s in sentences)


def _new_words(vocabulary: ParserVocabulary, counts: OracleCounts) -> list[str]:
    """Return the words that occur at least twice and that the parser does not know."""
    known = vocabulary.unknown.known
    return [word for word, n in counts.tokens.items() if n >= 2 and word not in known]


def _grown(model: M, vocabulary: Any, seed: int, words: Sequence[str]) -> M:
    """Return the model with a vocabulary that begins with its own; only first dimensions of arrays grow.

    The `words` are new words of a parser, which begin with the parameters of their classes of unknown words.
    """
    config = model.config()
    given = {name: config[name] for name in model.config_defaults if name in config}
    if isinstance(vocabulary, ParserVocabulary):
        given["vectors"] = model.vectors
    larger = type(model)(vocabulary, model.sizes, seed=seed, **given)
    arrays = larger.store.arrays()
    for name, values in model.store.arrays().items():
        arrays[name][: len(values)] = values
    if words:
        classes = model.vocabulary.word_ids(model.vocabulary.unknown.unkify(words))
        arrays["word"][vocabulary.word_ids(words)] = arrays["word"][classes]
    larger.store.load(arrays)
    larger.updates = model.updates
    return larger
