"""Segmentation of raw text into sentences of tokens, each with its position in the text."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from oracle.errors import InputError
from oracle.files import reading, replacing
from oracle.sentences import SourceSentence
from rnng_dy.text.characters import HAN, clean
from rnng_dy.text.conventions import Conventions
from rnng_dy.text.learning import learn
from rnng_dy.text.splitting import SentenceSplitter
from rnng_dy.text.tokens import Tokenizer, spelled

TEXT = "text.json"
"""The file of a model folder with the settings that segment raw text."""
FORMAT, VERSION = "rnng_dy text", 1
_HAN_RUN = re.compile(f"[{HAN}]+")


class Segmenter:
    """Splits texts into sentences of tokens in a treebank's style; by default the Penn Treebank's.

    >>> [sentence] = Segmenter().sentences("He can't (or won't).")
    >>> " ".join(sentence.tokens)
    "He ca n't -LRB- or wo n't -RRB- ."
    >>> sentence.spans[:3]
    ((0, 2), (3, 5), (5, 8))
    """

    def __init__(self, conventions: Conventions | None = None):
        self.conventions = conventions or Conventions()
        self._splitter = SentenceSplitter(self.conventions)
        self._tokenizer = Tokenizer(self.conventions)

    @classmethod
    def of_training(cls, sentences: Iterable[Sequence[str]]) -> Segmenter:
        """Return a segmenter that learns from training sentences: their abbreviations, quotes, brackets, compounds."""
        return cls(learn(list(sentences)))

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Segmenter:
        """Return a segmenter that learns from the words of a vocabulary alone, without sentences."""
        # the made-up end keeps the last word from counting as the end of a sentence
        return cls.of_training([[*words, "END"]])

    def save(self, path: Path) -> None:
        """Write the segmenter as JSON."""
        content = {"format": FORMAT, "version": VERSION, **self.conventions.to_json()}
        with replacing(path) as stream:
            json.dump(content, stream, ensure_ascii=False, indent=1)

    @classmethod
    def load(cls, path: Path | zipfile.Path) -> Segmenter:
        """Return the segmenter of a file. Raises InputError for a damaged one."""
        remedy = "train the model again, or delete this file; text is then read as the model's words let see"
        with reading(path, remedy=f"the file is damaged: {remedy}"):
            given = json.loads(path.read_bytes().decode("utf-8", "surrogateescape"))
            if (given["format"], given["version"]) != (FORMAT, VERSION):
                raise ValueError("not of this version of rnng_dy")
            return cls(Conventions.from_json(given))

    def sentences(self, text: str, one_per_line: bool = False) -> list[SourceSentence]:
        """Return the sentences of a text (see `stream`)."""
        return list(self.stream(text, one_per_line))

    def stream(self, text: str, one_per_line: bool = False) -> Iterator[SourceSentence]:
        """Yield the sentences of a text; a blank line ends a sentence, or with `one_per_line` the end of each line.

        Tokens are as the treebank writes them: -LRB-, ``, n't. Spans count the characters of the text.

        Raises RnngError for characters that UTF-8 cannot encode. Raises InputError, with the line, for Chinese without
        blanks if the treebank's tokens are words.
        """
        cleaned = clean(text)
        _require_words(cleaned.text, self.conventions)
        line, counted = 1, 0
        for begin, end in self._splitter.spans(cleaned.text, one_per_line):
            line += cleaned.text.count("\n", counted, begin)
            counted = begin
            pieces = self._tokenizer.pieces(cleaned.text, begin, end)
            tokens = tuple(spelled(cleaned.text, begin, end, pieces, self.conventions))
            spans = tuple(cleaned.span(piece.begin, piece.end) for piece in pieces)
            written = text[spans[0][0] : spans[-1][1]]
            yield SourceSentence(tokens, None, None, line, spans, written)

    def sentences_in(self, text: Any, has_tags: bool = True) -> tuple[list[Sequence[Any]], bool]:
        """Return the tokens of each sentence of a text, and whether there may be several sentences.

        Args:
            text: A str is running text, and so is anything with an attribute `text`, such as a document of spaCy. Any
                other iterable, such as a list or a column of a table, is a list of sentences if an element is a list of
                tokens, or a str (or has a `text`) with a blank; each element is then one sentence. Otherwise it is one
                sentence of tokens, which are words, tuples of word and POS tag, or tokens of spaCy.
            has_tags: Whether a tuple is a word with its tag; otherwise it is a list of tokens.
        """
        text = getattr(text, "text", text)
        if isinstance(text, str):
            return [sentence.tokens for sentence in self.sentences(text)], True
        if not isinstance(text, Iterable) or isinstance(text, Set | Mapping):
            return [text], False
        items = [list(i) if isinstance(i, tuple) and not has_tags else i for i in _texts(text)]
        if not any(" " in item if isinstance(item, str) else _is_list(item) for item in items):
            return [items], False
        return [self.tokens(i) if isinstance(i, str) else _texts(i) for i in items], True

    def tokens(self, sentence: str) -> list[str]:
        """Return the tokens of one sentence of running text."""
        found = self.sentences(" ".join(sentence.split()), one_per_line=True)
        return [token for of in found for token in of.tokens]


def _texts(items: Any) -> Any:
    """Return the elements, of which those with an attribute `text` are that text; what has none, as it is."""
    if not isinstance(items, Iterable):
        return items
    return [getattr(item, "text", item) for item in items]


def _is_list(item: object) -> bool:
    return isinstance(item, Iterable) and not isinstance(item, str | tuple)


def _require_words(text: str, conventions: Conventions) -> None:
    """Raise InputError, with the line, if Chinese without blanks is longer than every training word."""
    if conventions.han != "words":
        return
    for run in _HAN_RUN.finditer(text):
        if len(run[0]) > conventions.longest_han:
            raise InputError(
                f"no blank tells where the words of {run[0]!r:.20} end, and this model was trained on Chinese words: "
                "put blanks between words, or train a model on single characters",
                line=text.count("\n", 0, run.start()) + 1,
            )
