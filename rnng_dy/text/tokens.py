"""Tokenisation of a sentence, and spelling of its tokens, by the Penn Treebank's rules.

A chunk between blanks is first cut at marks that are always tokens (quotes, brackets, dashes, most
marks). Marks, clitics and the period are removed from the ends of what is between. The rest is a
word, or a compound to be divided. Conventions modify these rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple
from unicodedata import normalize

from rnng_dy.text import conventions
from rnng_dy.text.conventions import Conventions


class Piece(NamedTuple):
    """A token before the treebank's spelling is applied: its position and its letters."""

    begin: int
    end: int
    letters: str


_DECOMPOSED = re.compile("[^\\W\\d_][\u0300-\u036f]+")
"""A letter in several characters, as macOS and PDF files write é."""
_NOT_BLANK = re.compile(r"[^ \n]")
_CHUNK = re.compile(r"\.(?: +\.){2,}(?![^ \n])|[^ \n]+")
_TREE_BRACKET = re.compile(r"-[LR][RCS]B-")
_ADDRESS = (
    r"(?<![\w.+@/-])(?:(?:[a-z][a-z\d+]*://|www\.|mailto:)"
    r"(?:[^\s<>\"“”()]|\(\w*\))*(?:[\w/]|\(\w*\))"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[\w-]+\.)+[a-z]{2,}/[^\s<>\"“”]*[\w/])"
)
_EMOJI_ONE = (
    "[\u2600-\u27bf\U0001f300-\U0001faff][\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
)
_EMOJI = f"[\U0001f1e6-\U0001f1ff]{{2}}|{_EMOJI_ONE}(?:\u200d{_EMOJI_ONE})*"
_BRACKETS = re.escape((conventions.OPENERS + conventions.CLOSERS).replace("’", "").replace("‘", ""))
_DIVIDERS = (
    rf"{_ADDRESS}|``|''|\"|\.{{3}}(?=\.(?!\.))|\.{{2,}}|…|-{{2,}}(?![LR][RCS]B-)"
    rf"|[—―;!?，。｡；：！？、•{_BRACKETS}]"
    rf"|(?<!\d),|,(?!\d)|(?<!\d):|:(?!\d)|{_EMOJI}"
)
_FIRST = re.compile(r"(?:[A-Z]{1,3})?\$(?=[\d.])|[$£€¥#](?=\d)|[`‘'’*](?=.)")
_APOSTROPHE = re.compile(
    r"['’](?:\d|(?:s|m|d|re|ve|ll|em|til|cause|tis|twas|n|round|bout)(?:['’]|(?!\w)))",
    re.IGNORECASE,
)
_LAST = "`'’%$£€¥*"
_LONGEST_CLITIC = 4
"""Characters of the longest clitic, with the letter before it."""
_TWO_WORDS = {
    "cannot": 3, "gimme": 3, "gonna": 3, "gotta": 3, "lemme": 3, "wanna": 3,
    "d'ye": 1, "more'n": 4, "'tis": 2, "'twas": 2,
}  # fmt: skip
"""The position where each word is cut (MacIntyre's tokenizer of the Penn Treebank)."""
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_SEVERAL_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_AFTER_THE_END = conventions.CLOSERS + "\"' \n"
_INSIDE_A_SENTENCE = frozenset(",;:")
_BEFORE_OPENING = set(conventions.OPENERS) | set(" \n\"'`-—–")
_BY_CHARACTER = {"characters": f"|[{conventions.HAN}]", "every character": "|[^ \n]"}
"""Additional dividers, by the kind of Chinese tokens."""


class Tokenizer:
    """Splits sentences of a clean text into tokens."""

    def __init__(self, conventions: Conventions):
        self._c = conventions
        self._dividers = re.compile(_DIVIDERS + _BY_CHARACTER.get(conventions.han, ""))
        marks = re.escape(conventions.marks)
        self._marks = re.compile(rf"(?<=[^\W_])[{marks}](?=[^\W_])" if marks else "(?!)")

    def pieces(self, text: str, begin: int, end: int) -> list[Piece]:
        """Return the tokens of the sentence in this span, which cover all characters but blanks."""
        final = begin + len(text[begin:end].rstrip(_AFTER_THE_END)) - 1
        sentence = _SentenceText(text, end, final)
        pieces: list[Piece] = []
        for chunk in _CHUNK.finditer(text, begin, end):
            span = chunk.span()
            pieces += [Piece(*span, "...")] if " " in chunk[0] else self._cut(sentence, *span)
        return pieces

    def _cut(self, sentence: _SentenceText, begin: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of a chunk without blanks."""
        text = sentence.text
        if _TREE_BRACKET.fullmatch(text, begin, end):
            yield Piece(begin, end, text[begin:end])
            return
        for divider in self._dividers.finditer(text, begin, end):
            yield from self._peeled(sentence, begin, divider.start())
            yield Piece(*divider.span(), divider[0])
            begin = divider.end()
        yield from self._peeled(sentence, begin, end)

    def _peeled(self, sentence: _SentenceText, begin: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of what is between two dividers."""
        text, last = sentence.text, []
        while begin < end:
            if _APOSTROPHE.match(text, begin, end) or not (first := _FIRST.match(text, begin, end)):
                break
            yield Piece(*first.span(), first[0])
            begin = first.end()
        while begin < end and (taken := self._taken_off(sentence, begin, end)):
            last += taken
            end = taken[-1].begin
        if begin < end:
            yield from self._divided(text, begin, end)
        yield from reversed(last)

    def _taken_off(self, sentence: _SentenceText, begin: int, end: int) -> list[Piece]:
        """Return the pieces to remove from the end, from the right; empty if a word remains."""
        text = sentence.text
        if text[end - 1] == ".":
            return self._period(sentence, begin, end)
        window = max(begin, end - _LONGEST_CLITIC)
        if clitic := conventions.CLITIC.search(text[window:end]):
            return [Piece(window + clitic.start(), end, clitic[0])]
        if text[end - 1] in _LAST and end - begin > 1:
            return [Piece(end - 1, end, text[end - 1])]
        return []

    def _period(self, sentence: _SentenceText, begin: int, end: int) -> list[Piece]:
        """Return the period if it is a token, and the abbreviation before it that shares it."""
        text, period = sentence.text, Piece(end - 1, end, ".")
        if end - begin == 1:
            return []
        is_short = end - begin <= conventions.LONGEST_ABBREVIATION
        stem = text[begin : end - 1].lower() if is_short else ""
        if end - 1 == sentence.final:
            is_known = stem in self._c.abbreviations or _SEVERAL_INITIALS.fullmatch(stem)
            way = self._c.at_end.get(stem, self._c.at_end_else) if is_known else "split"
            if way == "shared":
                return [period, Piece(begin, end - 1, text[begin:end])]
            return [] if way == "kept" else [period]
        if stem in self._c.abbreviations or _INITIALS.fullmatch(stem):
            return []
        match = _NOT_BLANK.search(text, end, sentence.end)
        following = match[0] if match else ""
        if following.isdigit():
            goes_on = text[begin : end - 1] in conventions.NUMBERED
        else:
            # texts may lack capitals: the period after an ordinary word still ends the sentence
            is_word = stem in self._c.starters or conventions.CLITIC.search(stem)
            goes_on = following.islower() and not is_word
        return [] if goes_on or following in _INSIDE_A_SENTENCE else [period]

    def _divided(self, text: str, begin: int, end: int) -> Iterator[Piece]:
        """Yield the parts of a compound or of a word such as `cannot`, or else the word."""
        cut = _TWO_WORDS.get(text[begin:end].lower().replace("’", "'")) if end - begin < 7 else None
        if cut:
            yield Piece(begin, begin + cut, text[begin : begin + cut])
            begin += cut
        start = begin
        for mark in self._marks.finditer(text, begin + 1, end):
            if text[start : mark.start()].lower() in self._c.prefixes or _is_fraction(text, mark):
                continue
            yield Piece(start, mark.start(), text[start : mark.start()])
            yield Piece(*mark.span(), mark[0])
            start = mark.end()
        yield Piece(start, end, text[start:end])


def spelled(
    text: str, begin: int, end: int, pieces: Sequence[Piece], c: Conventions
) -> Iterator[str]:
    """Yield the tokens of a sentence's pieces.

    A straight quote opens if a blank or an opening bracket precedes it and no blank follows.
    Between two blanks it closes an open quote.
    """
    is_open = False
    for piece in pieces:
        letters = piece.letters
        if letters in ('"', "``", "''"):
            opens = letters == '"' and _opens(text, begin, end, piece, is_open)
            is_open = letters == "``" or opens
            yield c.quotes[0 if is_open else 1]
        elif letters in ("'", "`"):
            opens = letters == "`" or _opens(text, begin, end, piece, True)
            yield c.single_quotes[0 if opens else 1]
        elif len(letters) > 2 and len(set(letters)) == 1 and letters[0] in ".-":
            yield "..." if letters[0] == "." else "--"
        elif len(letters) == 1:
            yield c.spellings.get(letters, letters)
        else:
            letters = _DECOMPOSED.sub(partial(_composed, c), letters)
            # a dash inside a word is a hyphen
            ways = (c.spellings.get(letter, letter) for letter in letters)
            yield "".join("-" if way == "--" else way for way in ways)


def _composed(c: Conventions, match: re.Match) -> str:
    return match[0] if c.spellings.keys() & match[0] else normalize("NFC", match[0])


def _opens(text: str, begin: int, end: int, piece: Piece, is_open: bool) -> bool:
    before = text[piece.begin - 1] if piece.begin > begin else " "
    after = text[piece.end] if piece.end < end else " "
    if after in " \n":
        return before in " \n" and not is_open and piece.end < end
    return before in _BEFORE_OPENING


class _SentenceText(NamedTuple):
    """A sentence of a text, with the position where its final period would be, or -1."""

    text: str
    end: int
    final: int


def _is_fraction(text: str, mark: re.Match) -> bool:
    return mark[0] == "/" and text[mark.start() - 1].isdigit() and text[mark.end()].isdigit()
