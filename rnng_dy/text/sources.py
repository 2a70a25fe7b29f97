"""Sentences for models: of trees, oracles, tokenised or running text, with tags for parsers."""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from oracle.blocks import OracleSentence
from oracle.common.errors import RnngError
from oracle.common.files import placed, read_lines
from oracle.sentences import DECIDING, SourceSentence, read_sentences
from oracle.treebank import require_length
from rnng_dy.text.no_sentences import MARKUP, require_unmarked, running_text
from rnng_dy.text.regions import mark_of
from rnng_dy.text.segmenter import Segmenter

S = TypeVar("S", SourceSentence, OracleSentence)

_log = logging.getLogger(__name__)


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
    text: str | None = None
    """The running text itself, in place of a file's."""
    tagged: bool | None = None
    """Whether tokens are word_TAG; None refuses tokens that look so."""
    own_tags: bool = False
    """Whether a parser reads the tags of its own tagger even if the input has tags."""
    is_stimuli: bool = False
    """Whether the input is a table of stimuli."""

    def read(self, model) -> Iterator[SourceSentence]:
        """Yield the sentences. Raises InputError that names the line.

        The model's segmenter reads running text.
        """
        text = self._read_text(model.segmenter) if self.is_text else None
        sentences = text or read_sentences(self.path, self.tagged)
        head = list(islice(sentences, DECIDING))
        lines = [s for s in head if s.tokens and s.tags is None and s.unkified is None]
        texts = [(s.line, s.text or " ".join(s.tokens)) for s in lines]
        for sentence, (line, said) in zip(lines, texts, strict=True):
            # running text may have a stray question mark before a sentence
            if text is None or sentence.tokens[0][0] != "?":
                with placed(self.path, line):
                    require_unmarked(said)
        if text is None and (warning := running_text([s.tokens for s in lines], "add --text")):
            _log.warning(f"{self.path}:{lines[warning[0]].line}: {warning[1]}")
        if markup := next(((n, found[0]) for n, t in texts if (found := MARKUP.search(t))), None):
            _log.warning(f"{self.path}:{markup[0]}: {markup[1]!r} is text here: take markup out")
        if marked := mark_of(texts):
            mark, line, _ = marked
            _log.warning(f"{self.path}:{line}: {mark!r} is text here; stimuli have regions")
        for sentence in chain(head, sentences):
            with placed(self.path, sentence.line):
                require_length(sentence.tokens)
            yield read_by(model, sentence)

    def _read_text(self, segmenter: Segmenter) -> Iterator[SourceSentence]:
        """Yield the sentences of running text.

        If lines are sentences, a line without words becomes a sentence without tokens. Raises
        InputError for a text without words and for one that cannot be read.
        """
        text, last = self.text, 0
        if text is None:
            text = "".join(line for _, line in read_lines(self.path))
        with placed(self.path):
            for sentence in segmenter.stream(text, self.one_per_line):
                for line in range(last + 1, sentence.line if self.one_per_line else 0):
                    yield SourceSentence((), None, None, line)
                last = sentence.line
                yield sentence
            if not last:
                raise RnngError("no sentence in this text")


def read_by(model: Any, sentence: S) -> S:
    """Return a sentence with the words that the model reads; an oracle may know other words."""
    if sentence.unkified is None or model.unknown is None:
        return sentence
    return replace(sentence, unkified=tuple(model.unknown.read(sentence.tokens, sentence.unkified)))


class SentenceReader:
    """Reader of a source for one model, which counts the sentences that the model's tagger tags."""

    def __init__(self, model, source: Source):
        """Raises RnngError if the source asks for the model's own tags and the model has none."""
        self._model, self._source = model, source
        self.known_tags = model.vocabulary.tags
        """The POS tags that the model knows; None if it reads no tags."""
        if source.own_tags and self.known_tags is None:
            raise RnngError("`own_tags`: this model reads no POS tags, it has no tagger")
        self._sentences = self._to_tag = 0
        self._unseen: Counter[str] = Counter()

    def sentences(self) -> Iterator[NumberedSentence]:
        """Yield the sentences of the source. Raises InputError that names the line."""
        for index, sentence in enumerate(self._source.read(self._model)):
            if self.known_tags is not None and sentence.tokens:
                with placed(self._source.path, sentence.line):
                    sentence = self._with_tags(sentence)
            yield NumberedSentence(index, sentence)

    def _with_tags(self, sentence: SourceSentence) -> SourceSentence:
        """Return a sentence with the tags that the model reads, or for its tagger without tags.

        Raises RnngError if there are none.
        """
        self._sentences += 1
        if self._source.own_tags or self._model.is_to_tag(sentence.tags):
            self._model.require_tagger()
            self._to_tag += 1
            return replace(sentence, tags=None)
        self._unseen.update(tag for tag in sentence.tags if tag not in self.known_tags)
        return sentence

    def report(self) -> None:
        """Report tags by the model's tagger, and unknown tags."""
        if self._to_tag:
            some = f" in {self._to_tag} of {self._sentences} sentences"
            _log.info(f"tags: by the model's own tagger{some * (self._to_tag < self._sentences)}")
        if self._unseen:
            names = ", ".join(f"{tag} ({count})" for tag, count in self._unseen.most_common())
            _log.warning(f"POS tags unseen in training, taken for an average tag: {names}")
