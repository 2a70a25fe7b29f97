"""Segmentation of raw text into sentences of tokens, each with its position in the text.

A text is cleaned, split into sentences by paragraphs, Chinese ends, and NLTK's Punkt (Kiss and
Strunk 2006), and each sentence is cut into tokens.
"""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from oracle.common.errors import InputError, RnngError
from oracle.common.files import WHITE_SPACE, placed, reading, replacing
from oracle.common.lazy import nltk
from oracle.sentences import SourceSentence, is_list
from oracle.treebank import require_length
from rnng_dy.text.conventions import CLITIC, CLOSERS, HAN, HAN_ENDS, NUMBERED, TITLES, Conventions
from rnng_dy.text.no_sentences import require_sentence, require_unmarked, running_text
from rnng_dy.text.tokens import Tokenizer, spelled

FORMAT, VERSION = "rnng_dy text", 1
Span = tuple[int, int]

# joiners of emoji and of Persian and Indic letters, signs of Arabic and Kaithi numbers
_KEPT = re.compile(
    "[\u200c\u200d\u0600-\u0605\u06dd\u070f\u08e2\U000110bd\U000110cd]|[\U000e0020-\U000e007f]"
)
_BLANKS = "\u200b\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LOWER_CASE = 1 << 5
"""Punkt's flag of a word that was seen in lower case inside a sentence."""
_PARAGRAPH = re.compile(r"\n(?: *\n)+")
_LINE = re.compile(r"\n")
_HAN_END = re.compile(rf"[{HAN_ENDS}]+[!?…]*[{re.escape(CLOSERS)}\"']*")
_GOES_ON = re.compile(r"[,;:!?–—)\]}]|\.(?!\.)|--|\[\d")
"""Marks that continue a sentence, or begin a note to the previous one."""
_NUMBER_OF_AN_ITEM = re.compile(r"\d{1,3}\.\s*\Z")
_WORD_BEFORE = re.compile(r"([^\W\d]+(?:['’][^\W\d]+)?)\.\s+\Z")
_LONGEST_WORD_BEFORE = 20
_NAME_FOLLOWS = re.compile(rf"\b(?:{'|'.join(TITLES)}|[A-Z]\.\s+[A-Z])\.\s+\Z")
"""A title, or two initials with a blank between them."""
_INITIALS_BEFORE = re.compile(r"(?:[^\W\d_]\.){2,}\s+\Z")
_WORD = re.compile(r"[^\W\d_]+")
_TAGS = re.compile(r"[^a-z]*[A-Z]{2}[^a-z]*")
"""POS tags in a row; second words of sentences have lower case."""
_MARKED = re.compile(r"\w[.!?…]+[\"'”’)]*\Z")
"""The end of a text of one word; a sentence of tokens has its last mark alone."""


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
        self._tokenizer = Tokenizer(self.conventions)

    @classmethod
    def of_training(cls, sentences: Iterable[Sequence[str]]) -> Segmenter:
        """Return a segmenter that learns the conventions of training sentences."""
        return cls(Conventions.of_training(list(sentences)))

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Segmenter:
        """Return a segmenter that learns from the words of a vocabulary alone."""
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
        remedy = "train the model again, or delete this file; its words then tell how to read text"
        with reading(path, remedy=f"the file is damaged: {remedy}"):
            content = json.loads(path.read_bytes().decode("utf-8", "surrogateescape"))
            if (content["format"], content["version"]) != (FORMAT, VERSION):
                raise ValueError("not of this version of rnng_dy")
            return cls(Conventions.from_json(content))

    def sentences(self, text: str, one_per_line: bool = False) -> list[SourceSentence]:
        """Return the sentences of a text as a list; `stream` yields them."""
        return list(self.stream(text, one_per_line))

    def stream(self, text: str, one_per_line: bool = False) -> Iterator[SourceSentence]:
        """Yield the sentences of a text.

        A blank line ends a sentence, or with `one_per_line` the end of each line.
        Tokens are as the treebank writes them: -LRB-, ``, n't. Spans count the characters of the
        text.

        Raises RnngError for characters that UTF-8 cannot encode. Raises InputError, with the line,
        for a sentence that is too long, and for Chinese without blanks if the treebank's tokens are
        words.
        """
        cleaned, positions = clean(text)
        self._require_words(cleaned)
        line, counted = 1, 0
        for begin, end in self._spans(cleaned, one_per_line):
            line += cleaned.count("\n", counted, begin)
            counted = begin
            pieces = self._tokenizer.pieces(cleaned, begin, end)
            tokens = tuple(spelled(cleaned, begin, end, pieces, self.conventions))
            with placed(None, line):
                require_length(tokens)
            spans = tuple((positions[p.begin], positions[p.end - 1] + 1) for p in pieces)
            yield SourceSentence(tokens, None, None, line, spans, text[spans[0][0] : spans[-1][1]])

    def sentences_in(self, text: Any, has_tags: bool = True) -> tuple[list[Sequence[Any]], bool]:
        """Return the tokens of each sentence of a text, and whether there may be several.

        Args:
            text: A str is running text, and so is anything with an attribute `text`, such as a
                document of spaCy. Any other iterable, such as a list, is a list of sentences if an
                element is a list of tokens, or a str (or has a `text`) with a blank, or if all
                elements end in a mark, as texts of one word do; each element is then one sentence.
                Otherwise it is one sentence of tokens, which are words, tuples of word and POS tag,
                or tokens of spaCy. A column of a table (a Series) is a list of sentences.
            has_tags: Whether a tuple is a word with its tag; otherwise it is a list of tokens.

        Warns of lists of tokens whose words end in marks, as `text.split()` makes them.

        Raises:
            RnngError: An element is neither, or tuples that are lists look like tagged words.
        """
        text = getattr(text, "text", text)
        if isinstance(text, str):
            require_unmarked(text)
            return [sentence.tokens for sentence in self.sentences(text)], True
        if not is_list(text):
            return [text], False
        items = _texts(text)
        tags = (str(i[1]) if isinstance(i, tuple) and len(i) == 2 else "x" for i in items)
        if not has_tags and items[1:] and _TAGS.fullmatch("".join(tags)):
            raise RnngError(f"{items[0]!r:.60} looks like a tagged word: give a list of sentences")
        items = [list(i) if isinstance(i, tuple) and not has_tags else i for i in items]
        are_marked = all(isinstance(item, str) and _MARKED.search(item) for item in items)
        several = hasattr(text, "to_frame") or are_marked or any(map(_is_sentence, items))
        items = [_texts(i) if several and not isinstance(i, str) else i for i in items]
        for number, item in enumerate(items, 1):
            words = item.strip(WHITE_SPACE) if isinstance(item, str) else item
            if not isinstance(words, Iterable) or not len(words):
                raise RnngError(f"text {number} of the list is {item!r}")
            if several:
                with placed(f"text {number} of the list"):
                    (require_sentence if isinstance(words, str) else require_length)(words)
        if not several:
            require_length(items)
            items = [items]
        split = [s for s in items if not isinstance(s, str) and all(isinstance(x, str) for x in s)]
        if warning := running_text(split, "give sentences as str"):
            warnings.warn(warning[1], stacklevel=3)
        return [self.tokens(i) if isinstance(i, str) else i for i in items], several

    def tokens(self, sentence: str) -> list[str]:
        """Return the tokens of one sentence of running text."""
        lines = self.stream(" ".join(sentence.split()), one_per_line=True)
        return [token for line in lines for token in line.tokens]

    @cached_property
    def _punkt(self) -> nltk.tokenize.punkt.PunktSentenceTokenizer:
        """NLTK's splitter with the abbreviations and the sentence starters of the treebank."""
        parameters = nltk.tokenize.punkt.PunktParameters()
        parameters.abbrev_types = set(self.conventions.abbreviations)
        # a Counter does not store the unseen words that it is asked for
        parameters.ortho_context = Counter(dict.fromkeys(self.conventions.starters, _LOWER_CASE))
        return nltk.tokenize.punkt.PunktSentenceTokenizer(parameters)

    def _spans(self, text: str, one_per_line: bool) -> Iterator[Span]:
        """Yield the spans of the sentences of a clean text, or of its lines, none empty."""
        if one_per_line:
            yield from _split(text, (0, len(text)), _LINE)
            return
        for paragraph in _split(text, (0, len(text)), _PARAGRAPH):
            for begin, end in _split(text, paragraph, _HAN_END):
                cuts = [begin]
                for start, _ in self._punkt.span_tokenize(text[begin:end]):
                    if start and self._begins(text, cuts[-1], begin + start):
                        cuts.append(begin + start)
                for start, stop in pairwise([*cuts, end]):
                    yield from _stripped(text, start, stop)

    def _begins(self, text: str, begin: int, start: int) -> bool:
        """Return whether a sentence may begin at `start`, after the one that begins at `begin`."""
        if _GOES_ON.match(text, start) or _NUMBER_OF_AN_ITEM.match(text, begin, start):
            return False
        before = max(begin, start - _LONGEST_WORD_BEFORE)
        if _NAME_FOLLOWS.search(text, before, start):
            return False
        starters = self.conventions.starters
        if _INITIALS_BEFORE.search(text, before, start) and (word := _WORD.match(text, start)):
            return word[0][0].isupper() and word[0].lower() in starters
        match = _WORD_BEFORE.search(text, before, start)
        word_before = match[1] if match else ""
        if text[start].isdigit():
            return word_before not in NUMBERED
        if text[start].islower():
            return word_before.lower() in starters or CLITIC.search(word_before) is not None
        return True

    def _require_words(self, text: str) -> None:
        """Raise InputError if Chinese without blanks is longer than every training word."""
        c = self.conventions
        if c.han == "words" and (run := re.search(f"[{HAN}]{{{c.longest_han + 1},}}", text)):
            message = f"no blank tells where the words of {run[0]!r:.20} end, and this model was "
            message += "trained on Chinese words: put blanks between words, or train a model on "
            message += "single characters"
            raise InputError(message, line=text.count("\n", 0, run.start()) + 1)


def _texts(items: Any) -> Any:
    """Return the elements, or their attribute `text` if they have it; what has none, as it is."""
    return [getattr(item, "text", item) for item in items] if is_list(items) else items


def _is_sentence(item: object) -> bool:
    if isinstance(item, str):
        return " " in item
    return isinstance(item, Iterable) and not isinstance(item, tuple)


def _split(text: str, span: Span, mark: re.Pattern[str]) -> Iterator[Span]:
    """Yield the spans that end with a mark or with the whole span."""
    begin, end = span
    for match in mark.finditer(text, begin, end):
        yield from _stripped(text, begin, match.end())
        begin = match.end()
    yield from _stripped(text, begin, end)


def _stripped(text: str, begin: int, end: int) -> Iterator[Span]:
    """Yield the span without surrounding blanks, unless it is all blanks."""
    if stripped := text[begin:end].lstrip():
        yield end - len(stripped), end - len(stripped) + len(stripped.rstrip())


class _Cleaning(dict[int, str | None]):
    """A table for str.translate.

    Blanks but line ends become spaces, invisible characters inside words vanish.
    """

    def __missing__(self, code: int) -> str | None:
        character = self[code] = chr(code)
        category = unicodedata.category(character)
        if character.isspace() or category == "Cc" or character in _BLANKS:
            self[code] = " "
        elif category == "Cf" and not _KEPT.match(character):
            self[code] = None
        return self[code]


_CLEANING = _Cleaning({ord("\n"): "\n"})


def clean(text: str) -> tuple[str, Sequence[int]]:
    """Return a text without invisible characters, and where each character was in the original.

    Control characters, zero-width spaces and other white space become blanks, which are spaces and
    line ends. Soft hyphens and direction marks vanish.

    Raises RnngError for a character that UTF-8 cannot encode.
    """
    if lone := _SURROGATE.search(text):
        message = f"character {lone.start() + 1} of the text is a lone surrogate: decode it again"
        raise RnngError(message)
    cleaned = text.translate(_CLEANING)
    if len(cleaned) == len(text):
        return cleaned, range(len(text))
    return cleaned, [i for i, character in enumerate(text) if _CLEANING[ord(character)] is not None]
