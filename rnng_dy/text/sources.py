"""Sentences for models: files of trees, oracles, tokenised or running text, with the tags that a model reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import NamedTuple

from oracle.errors import InputError, RnngError, placed
from oracle.files import WHITE_SPACE, read_lines, reading, require_text
from oracle.sentences import SourceSentence, read_sentence, read_sentences
from rnng_dy.text.segmenter import Segmenter, TextSentence
from rnng_dy.text.tokens import running_text

AUTO, GIVEN, OWN = "auto", "given", "own"
"""Sources of a parser's POS tags: AUTO the input or else its own tagger, GIVEN the input, OWN its own tagger."""
MAX_LENGTH = 500
"""The most tokens of a sentence; the longest sentences of treebanks have some 150."""
SHOWN_LINES = 5
"""The most empty lines whose numbers a warning shows."""
_TREE_BEGINS = re.compile(r"\s*(# )?\(\S*\s*\(\S")


class NumberedSentence(NamedTuple):
    """A sentence for a model."""

    index: int
    """The sentence's index in the input, from 0."""
    sentence: SourceSentence
    ids: object = None
    """The parser's `Tokens`; None for an empty line, and for a generative model."""


class RawText(NamedTuple):
    """Settings for reading running text."""

    one_per_line: bool = False
    max_length: int = MAX_LENGTH

    def read(
        self, path: str, segmenter: Segmenter, warn: Callable[[str], None]
    ) -> list[SourceSentence]:
        """Return the sentences of a text. A sentence that is too long is reported and loses its tokens.

        If lines are sentences, a line without words becomes a sentence without tokens. Raises InputError for a text
        without words and for one that cannot be read.
        """
        lines = [line for _, line in read_lines(path)]
        first = next((line for line in lines if line.strip(WHITE_SPACE)), "")
        if _TREE_BEGINS.match(first):
            warn(f"{path}: {first.strip()!r:.60} looks like a tree: leave out --text")
        found = []
        for sentence in self._segmented("".join(lines), path, 1, segmenter):
            if problem := self._too_long(sentence):
                warn(f"{path}:{sentence.line}: left out: {problem}")
                sentence = sentence._replace(tokens=(), spans=())
            found.append(_untagged(sentence))
        if not found:
            raise InputError("no sentence in this text", path)
        return _with_empty_lines(found) if self.one_per_line else found

    def read_line(self, text: str, path: str, line: int, segmenter: Segmenter) -> SourceSentence:
        """Return the sentence of one line. Raises InputError for a line without words, and for one that is too long."""
        with reading(path, line):
            require_text(text)
        found = self._replace(one_per_line=True)._segmented(text, path, line, segmenter)
        problem = self._too_long(found[0]) if found else "a line without words"
        if problem:
            raise InputError(problem, path, line)
        return _untagged(found[0]._replace(line=line))

    def _segmented(
        self, text: str, path: str, line: int, segmenter: Segmenter
    ) -> list[TextSentence]:
        """Return the sentences of a text whose first line is `line`. Raises InputError that names path and line."""
        try:
            return segmenter.sentences(text, self.one_per_line)
        except InputError as error:
            raise InputError(error.message, path, line + error.line - 1) from None

    def _too_long(self, sentence: TextSentence) -> str:
        """Return why a sentence is left out; empty if it is kept."""
        tokens, most = len(sentence.tokens), self.max_length
        return f"a sentence of {tokens} tokens, more than --max-length {most}" * (tokens > most)


def _untagged(sentence: TextSentence) -> SourceSentence:
    return SourceSentence(sentence.tokens, None, None, sentence.line, sentence.spans, sentence.text)


def _with_empty_lines(sentences: Sequence[SourceSentence]) -> list[SourceSentence]:
    of_line = {sentence.line: sentence for sentence in sentences}
    lines = range(1, sentences[-1].line + 1)
    return [of_line.get(line) or SourceSentence((), None, None, line) for line in lines]


class Source(NamedTuple):
    """A command's input and the settings for reading it."""

    path: str
    text: RawText | None = None
    """None if the input is not running text."""
    tagged: bool | None = None
    """Whether tokens are word_TAG; None decides by the tokens."""
    tags_from: str = AUTO
    column: str | None = None
    """The column of the text if the input is a table of stimuli, empty for the default; else None."""

    def read(
        self,
        segmenter: Callable[[], Segmenter],
        warn: Callable[[str], None],
        known_tags: Container[str] | None = None,
    ) -> list[SourceSentence]:
        """Return the sentences, and warn of empty lines. Raises InputError that names the line.

        `known_tags` are the tags that tokens may have; `segmenter` is called only if the input is running text.
        """
        if self.text is not None:
            sentences = self.text.read(self.path, segmenter(), warn)
        else:
            sentences = read_sentences(self.path, self.tagged, known_tags)
            _warn_of_running_text(sentences, self.path, warn)
        empty = [str(s.line) for s in sentences if not s.tokens and s.text is None]
        if empty:
            shown = ", ".join(empty[:SHOWN_LINES]) + ", ..." * (len(empty) > SHOWN_LINES)
            lines = f"{shown} ({len(empty)} in all)"
            warn(f"{self.path}: empty lines, whose places stay empty: {lines}")
        return sentences


def _warn_of_running_text(
    sentences: Sequence[SourceSentence], path: str, warn: Callable[[str], None]
) -> None:
    """Warn of tokenised lines that look like running text."""
    lines = [s for s in sentences if s.tokens and s.tags is None and s.unkified is None]
    if stuck := running_text([s.tokens for s in lines]):
        place, word = stuck[0]
        warn(
            f"{path}:{lines[place].line}: running text? {word!r:.80} ends in a mark ({len(stuck)} of {len(lines)} "
            "lines): add --text, or put blanks around marks"
        )


class SentenceReader:
    """Reader of a source for one model; it also counts the sentences that the model's own tagger tagged."""

    def __init__(
        self, model, source: Source, say: Callable[[str], None], warn: Callable[[str], None]
    ):
        """Raises RnngError if the source asks for the model's own tags and the model reads none."""
        self._model, self._source, self._say, self._warn = model, source, say, warn
        # a model that generates words reads no tags
        self._is_parser = hasattr(model, "tags_read")
        self.known_tags = model.vocabulary.tags if self._is_parser else None
        """The POS tags that the model knows; None if it reads no tags."""
        if source.tags_from == OWN and self.known_tags is None:
            raise RnngError("--tags own: this model reads no POS tags, it has no tagger")
        self._sentences = self._own = 0
        self._unseen: Counter[str] = Counter()

    def sentences(self) -> list[NumberedSentence]:
        """Return the sentences of the source. Raises InputError that names the line."""
        read = self._source.read(lambda: self._model.segmenter, self._warn, self.known_tags)
        sentences = [self._numbered(index, sentence) for index, sentence in enumerate(read)]
        self.report_tags()
        return sentences

    def require_lines(self) -> None:
        """Decide for `sentence_of_line` whether lines are word_TAG: yes if the parser needs tags and has no tagger.

        Raises RnngError if the parser needs tags and the source says that tokens have none.
        """
        tagged = self._source.tagged
        if self.known_tags is None:
            tagged = bool(tagged)
        elif self._model.tagger is None:
            if tagged is False:
                raise RnngError(
                    "this parser was trained with POS tags and has no tagger: it cannot parse lines --untagged"
                )
            tagged = True
        self._source = self._source._replace(tagged=tagged)

    def sentence_of_line(self, line: str, number: int) -> NumberedSentence:
        """Return the sentence of one line of the source, with its number from 1. Raises InputError."""
        path, text, tagged, *_ = self._source
        if text is not None:
            sentence = text.read_line(line, path, number, self._model.segmenter)
        else:
            sentence = read_sentence(line, path, number, tagged, self.known_tags)
        return self._numbered(number - 1, sentence)

    def _numbered(self, index: int, sentence: SourceSentence) -> NumberedSentence:
        """Return a sentence with tags and ids. Raises InputError if the model needs tags and there are none."""
        if not (sentence.tokens and self._is_parser):
            return NumberedSentence(index, sentence)
        with placed(self._source.path, sentence.line):
            if self.known_tags is not None:
                sentence = self._tagged(sentence)
            ids = self._model.encode(sentence.tokens, sentence.tags, sentence.unkified)
        return NumberedSentence(index, sentence, ids)

    def _tagged(self, sentence: SourceSentence) -> SourceSentence:
        """Return a sentence with the tags that the model reads. Raises RnngError if there are none."""
        given, way = sentence.tags, self._source.tags_from
        if way == GIVEN and given is None:
            raise RnngError("no POS tags, which --tags given asks for: see to --tags auto")
        tags = given
        if way == OWN:
            tags = self._model.tags_for(sentence.tokens)
        elif way == AUTO:
            tags = self._model.tags_read(sentence.tokens, given)
        self._sentences += 1
        self._own += tags is not given
        self._unseen.update(tag for tag in tags if tag not in self.known_tags)
        return replace(sentence, tags=tuple(tags))

    def report_tags(self) -> None:
        """Report how many sentences were tagged by the model's own tagger."""
        if self._own:
            some = f" in {self._own} of {self._sentences} sentences"
            self._say(f"tags: by the model's own tagger{some * (self._own < self._sentences)}")

    def report(self, left_out: Sequence[NumberedSentence] = ()) -> None:
        """Warn of tags that the parser does not know, and of sentences that do not fit into memory."""
        if self._unseen:
            names = ", ".join(f"{tag} ({count})" for tag, count in self._unseen.most_common())
            self._warn(f"POS tags unseen in training, taken for an average tag: {names}")
        for _, sentence, _ in left_out:
            words = f"{len(sentence.tokens)} words do not fit into memory"
            self._warn(f"{self._source.path}:{sentence.line}: left out: {words}")
        if left_out:
            self._warn(f"{len(left_out)} sentences left out")
