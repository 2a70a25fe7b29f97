"""New models for a training oracle, and what else they learn from it: Brown clusters, spelling."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from clusters import brown
from clusters.files import ClusteredWord
from oracle.blocks import OracleSentence
from oracle.counts import counted
from oracle.errors import placed
from oracle.unknown import infer_unknown_words
from rnng_dy.spelling import SpellingModel, learnt_spelling
from rnng_dy.training.data import Data
from rnng_dy.vocabulary import GeneratorVocabulary, ParserVocabulary

_log = logging.getLogger(__name__)


def new_model(
    kind: type[Any],
    sentences: Sequence[OracleSentence],
    sizes: Any,
    pos: bool = True,
    vectors: tuple[list[str] | None, np.ndarray | None] = (None, None),
    clusters: Sequence[ClusteredWord] | None = None,
    **config: Any,
) -> Any:
    """Return a model with random parameters for the sentences of a training oracle.

    A parser reads POS tags if `pos` is true, and words with their pretrained `vectors`. A model that generates words
    has the classes of `clusters`, by default Brown clusters of the sentences. `config` are arguments of the class.
    """
    if kind.has_trees:
        config = {"transitions": sentences[0].transitions} | config
    if not kind.generates_words:
        words, array = vectors
        vocabulary = ParserVocabulary.from_oracle(sentences, pos, words)
        return kind(vocabulary, sizes, vectors=array, **config)
    vocabulary = GeneratorVocabulary.build(clusters or brown_clusters(sentences), sentences)
    return kind(vocabulary, sizes, **config)


def brown_clusters(sentences: Sequence[OracleSentence]) -> list[ClusteredWord]:
    """Return the Brown clusters of an oracle's words; all classes of its rules for unknown words are in one."""
    rules = infer_unknown_words((s.tokens, s.unkified) for s in sentences).rules
    entries = brown.brown_clusters((s.unkified for s in sentences), rules=rules)
    classes = len({entry.path for entry in entries})
    _log.info(f"{classes} Brown clusters of {len(entries)} words")
    return entries


def spelling_of_training(model: Any, data: Data) -> SpellingModel:
    """Return a spelling model of the training words that the model does not know."""
    counts = counted(data.train)
    tokens = {word: counts.tokens[word] for word in counts.words if word in counts.tokens}
    with placed(data.source):
        return learnt_spelling(model, tokens)
