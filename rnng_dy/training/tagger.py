"""A parser's own POS tagger, with which it can parse untagged words."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from oracle import tagging
from oracle.blocks import OracleSentence
from oracle.errors import RnngError
from oracle.files import locked
from oracle.tagging import Tagger, save_tagger
from oracle.training_data import evenly_spaced
from rnng_dy.checkpoint import new_folder
from rnng_dy.model_folder import TAGGER, located
from rnng_dy.parser import DiscriminativeParser

_log = logging.getLogger(__name__)


def train_own_tagger(
    parser: DiscriminativeParser,
    sentences: Sequence[OracleSentence],
    dev: Sequence[OracleSentence],
    seed: int,
) -> None:
    """Train a parser's tagger on its training tags, and report its accuracy on the sentences `dev`."""
    _log.info("training a POS tagger")
    chosen = evenly_spaced(sentences, tagging.MOST_SENTENCES)
    parser.tagger = tagging.tagger_of_training([_pairs(sentence) for sentence in chosen], seed)
    same = tagging.same_tags(map(_pairs, dev), (parser.tags_for(s.tokens) for s in dev))
    _log.info(f"POS tagger: dev accuracy {same}")


def _pairs(sentence: OracleSentence) -> tagging.TaggedSentence:
    return list(zip(sentence.tokens, sentence.tags, strict=True))


def train_into(folder: str, trees: str, seed: int) -> Tagger:
    """Train a tagger on a file of trees, and write it into the folder of a parser, where it appears when complete.

    Raises RnngError if the parser has a tagger, reads no tags, or lacks most of the tagger's tags.
    """
    place = located(folder)
    if not isinstance(place, Path) or place.is_file():
        raise RnngError(f"{folder} is no model folder: archives are only read")
    parser = DiscriminativeParser.build(folder)
    if parser.vocabulary.tags is None:
        raise RnngError(
            f"{folder} was trained without --pos: it reads no POS tags, a tagger is of no use"
        )
    if parser.tagger is not None:
        raise RnngError(f"{folder} has a tagger: remove {place / TAGGER} first")
    tagger = tagging.tagger_of_training(tagging.training_pairs(trees), seed)
    unknown = sorted(tag for tag in tagger.classes if tag not in parser.vocabulary.tags)
    if 2 * len(unknown) > len(tagger.classes):
        shown = ", ".join(unknown[:5])
        raise RnngError(
            f"{len(unknown)} of the tagger's {len(tagger.classes)} POS tags are none of the parser's, such as {shown}: "
            "train it on trees with the tags of the parser's training oracle"
        )
    with locked(place), new_folder(place / TAGGER) as new:
        save_tagger(tagger, new)
    return tagger
