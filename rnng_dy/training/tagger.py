"""A parser's own POS tagger, with which it can parse untagged words."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from oracle.blocks import OracleSentence
from oracle.errors import RnngError
from oracle.files import locked
from oracle.tagger import Tagger, save_tagger
from oracle.tagging import (
    MOST_SENTENCES,
    TaggedSentence,
    same_tags,
    tagger_of_training,
    training_pairs,
)
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
) -> dict[str, object]:
    """Train a parser's tagger on its training tags; return a record for the log, `accuracy` on `dev` in percent."""
    _log.info("training a POS tagger")
    chosen = evenly_spaced(sentences, MOST_SENTENCES)
    parser.tagger = tagger_of_training([_pairs(sentence) for sentence in chosen], seed)
    agreement = same_tags(map(_pairs, dev), (parser.tags_for(s.tokens) for s in dev))
    place = {"epoch": 0.0, "sentences": 0, "updates": 0, "seconds": 0.0}
    figures = {"accuracy": agreement.percent, "dev_words": agreement.words}
    _log.info(f"POS tagger: dev accuracy {agreement.percent:.2f} % of {agreement.words} words")
    return {"event": "tagger"} | place | figures


def _pairs(sentence: OracleSentence) -> TaggedSentence:
    return list(zip(sentence.tokens, sentence.tags, strict=True))


def parser_without_tagger(folder: str) -> DiscriminativeParser:
    """Load a parser that needs a tagger. Raises RnngError if it has a tagger or reads no tags."""
    parser = DiscriminativeParser.build(folder)
    if parser.vocabulary.tags is None:
        raise RnngError(
            f"{folder} was trained without --pos: it reads no POS tags, a tagger is of no use"
        )
    if parser.tagger is not None:
        raise RnngError(f"{folder} has a tagger: remove {Path(folder, TAGGER)} first")
    return parser


def give_tagger(parser: DiscriminativeParser, tagger: Tagger) -> None:
    """Make a tagger the parser's own. Raises RnngError if the parser lacks most of its tags."""
    unknown = sorted(tag for tag in tagger.classes if tag not in parser.vocabulary.tags)
    if 2 * len(unknown) > len(tagger.classes):
        shown = ", ".join(unknown[:5])
        raise RnngError(
            f"{len(unknown)} of the tagger's {len(tagger.classes)} POS tags are none of the parser's, such as {shown}: "
            "train it on trees with the tags of the parser's training oracle"
        )
    parser.tagger = tagger


def train_into(folder: str, trees: str, seed: int) -> Tagger:
    """Train a tagger on a file of trees, and write it into the folder of a parser that has none."""
    folder = str(located(folder))
    if os.path.isfile(folder.rstrip("/")):
        raise RnngError(f"{folder} is no model folder: archives are only read")
    parser, training = parser_without_tagger(folder), training_pairs(trees)
    with locked(folder):
        give_tagger(parser, tagger_of_training(training, seed))
        keep_tagger(parser.tagger, folder)
    return parser.tagger


def keep_tagger(tagger: Tagger, folder: str | Path) -> None:
    """Write a tagger into a model folder that has none; it appears there only when complete."""
    target = Path(folder, TAGGER)
    with locked(folder), new_folder(target) as new:
        save_tagger(tagger, new)
