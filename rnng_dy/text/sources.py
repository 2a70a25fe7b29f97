"""Sentences for models: files of trees, oracles, tokenised or running text, with the tags that a model reads."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from oracle.blocks import OracleSentence
from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed, read_lines
from oracle.sentences import DECIDING, SourceSentence, read_sentences
from rnng_dy.text.no_sentences import require_unmarked
from rnng_dy.text.regions import mark_of
from rnng_dy.text.segmenter import Segmenter

S = TypeVar("S", SourceSentence, OracleSentence)

_log = logging.getLogger(__name__)
_STUCK = re.compile(r"[^\W\d_][,;:!?][\"'”’)]*\Z")
_STUCK_PERIOD = re.compile(r"[^\W\d_]{2}\.[\"'”’)]*\Z")


class NumberedSentence(NamedTuple):
    """A sentence for a model."""

    index: int
    """The sentence's index in the input, from 0."""
    sentence: SourceSentence


class Source(NamedTuple):
    """A command's input and the settings for reading it."""

    path: str
    is_text: bool = False
    """Whether the input is running text."""
    one_per_line: bool = False
    """Whether each line of a running text, or each text of a table, is a sentence."""
    given: str | None = None
    """The running text itself, in place of a file's."""
    tagged: bool | None = None
    """Whether tokens are word_TAG; None refuses tokens that look so."""
    own_tags: bool = False
    """Whether a parser reads the tags of its own tagger even if the input has tags."""
    is_stimuli: bool = False
    """Whether the input is a table of stimuli."""

    def read(self, model) -> Iterator[SourceSentence]:
        """Return the sentences. Raises InputError, also while they are read, that names the line.

        The model's segmenter reads running text.
        """
        text = self._read_text(model.segmenter) if self.is_text else None
        sentences = text or read_sentences(self.path, self.tagged)
        head = list(islice(sentences, DECIDING))
        lines = [s for s in head if s.tokens and s.tags is None and s.unkified is None]
        for sentence in lines:
            # running text may have a stray question mark before a sentence
            if text is None or sentence.tokens[0][0] != "?":
                with placed(self.path, sentence.line):
                    require_unmarked(sentence.text or " ".join(sentence.tokens))
        if text is None and (found := running_text([s.tokens for s in lines])):
            _log.warning(f"{self.path}:{lines[found[0]].line}: {found[1]}")
        if marked := mark_of([(s.line, s.text or " ".join(s.tokens)) for s in lines]):
            mark, line, _ = marked
            _log.warning(f"{self.path}:{line}: {mark!r} is text here; stimuli have regions")
        return (read_by(model, sentence) for sentence in chain(head, sentences))

    def _read_text(self, segmenter: Segmenter) -> Iterator[SourceSentence]:
        """Yield the sentences of running text.

        If lines are sentences, a line without words becomes a sentence without tokens. Raises
        InputError for a text without words and for one that cannot be read.
        """
        text, last = self.given, 0
        if text is None:
            text = "".join(line for _, line in read_lines(self.path))
        try:
            for sentence in segmenter.stream(text, self.one_per_line):
                for line in range(last + 1, sentence.line if self.one_per_line else 0):
                    yield SourceSentence((), None, None, line)
                last = sentence.line
                yield sentence
        except InputError as error:
            raise InputError(error.message, self.path, error.line) from None
        if not last:
            raise InputError("no sentence in this text", self.path)


def read_by(model: Any, sentence: S) -> S:
    """Return a sentence with the words that the model reads, if it is of an oracle, which may know other words."""
    if sentence.unkified is None or model.unknown is None:
        return sentence
    return replace(sentence, unkified=tuple(model.unknown.read(sentence.tokens, sentence.unkified)))


class SentenceReader:
    """Reader of a source for one model; it also counts the sentences that the model's own tagger tagged."""

    def __init__(self, model, source: Source):
        """Raises RnngError if the source asks for the model's own tags and the model reads none."""
        self._model, self._source = model, source
        # a model that generates words reads no tags
        self.known_tags = model.vocabulary.tags if hasattr(model, "tags_read") else None
        """The POS tags that the model knows; None if it reads no tags."""
        if source.own_tags and self.known_tags is None:
            raise RnngError("`own_tags`: this model reads no POS tags, it has no tagger")
        self._sentences = self._own = 0
        self._unseen: Counter[str] = Counter()

    def sentences(self) -> Iterator[NumberedSentence]:
        """Yield the sentences of the source. Raises InputError that names the line."""
        for index, sentence in enumerate(self._source.read(self._model)):
            if self.known_tags is not None and sentence.tokens:
                with placed(self._source.path, sentence.line):
                    sentence = self._with_tags(sentence)
            yield NumberedSentence(index, sentence)

    def _with_tags(self, sentence: SourceSentence) -> SourceSentence:
        """Return a sentence with the tags that the model reads, without tags where its own tagger will tag it.

        Raises RnngError if there are none.
        """
        given = sentence.tags
        self._sentences += 1
        if self._source.own_tags or self._model.is_to_tag(given):
            self._model.require_tagger()
            self._own += 1
            return replace(sentence, tags=None)
        self._unseen.update(tag for tag in given if tag not in self.known_tags)
        return sentence

    def report(self, left_out: Sequence[NumberedSentence] = ()) -> None:
        """Report tags by the model's own tagger, unknown tags, and sentences that do not fit into memory."""
        if self._own:
            some = f" in {self._own} of {self._sentences} sentences"
            _log.info(f"tags: by the model's own tagger{some * (self._own < self._sentences)}")
        if self._unseen:
            names = ", ".join(f"{tag} ({count})" for tag, count in self._unseen.most_common())
            _log.warning(f"POS tags unseen in training, taken for an average tag: {names}")
        for _, sentence in left_out:
            words = f"{len(sentence.tokens)} words do not fit into memory"
            _log.warning(f"{self._source.path}:{sentence.line}: left out: {words}")
        if left_out:
            _log.warning(f"{len(left_out)} sentences left out")


def stuck_mark(tokens: Sequence[str]) -> str | None:
    """Return a token that ends in a mark, as in running text, or None; periods count only at the end of the sentence.

    >>> stuck_mark(["Mr.", "Smith,", "yes"]), stuck_mark(["He", "sat."]), stuck_mark(["Mr.", "Smith", ",", "yes", "."])
    ('Smith,', 'sat.', None)
    """
    found = next((token for token in tokens if _STUCK.search(token)), None)
    return tokens[-1] if found is None and _STUCK_PERIOD.search(tokens[-1]) else found


def running_text(sentences: Sequence[Sequence[str]]) -> tuple[int, str] | None:
    """Return the place of the first sentence with a mark attached to a word, and a warning of running text.

    Returns None if fewer than a tenth of the sentences have such a mark.

    >>> running_text([["It", "works", "."], ["It", "works."]])[0], running_text([["It", "works."]] + 10 * [["Yes"]])
    (1, None)
    """
    stuck = [(i, word) for i, s in enumerate(sentences) if (word := stuck_mark(s)) is not None]
    if not stuck or 10 * len(stuck) < len(sentences):
        return None
    place, word = stuck[0]
    return place, (
        f"running text? {word!r:.80} ends in a mark ({len(stuck)} of {len(sentences)} sentences): "
        "add --text, or put blanks around marks"
    )
