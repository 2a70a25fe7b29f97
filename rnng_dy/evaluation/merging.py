"""Measures of written words with several tokens, `can't` or `word,`, by alignment with the raw text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from oracle.errors import InputError
from oracle.files import WHITE_SPACE, read_lines
from rnng_dy.evaluation.records import ALL_MEASURES, WordRecord

_WAYS = {
    "-LRB-": ["("],
    "-RRB-": [")"],
    "-LCB-": ["{"],
    "-RCB-": ["}"],
    "-LSB-": ["["],
    "-RSB-": ["]"],
    "\\/": ["/"],
    "\\*": ["*"],
    "...": ["…"],
    "``": ['"', "“", "„", "«", "''", "‘‘"],
    "''": ['"', "”", "“", "»", "’’"],
    '"': ["“", "”", "„", "«", "»", "``", "''"],
    "`": ["'", "‘", "‚", "‹"],
    "'": ["’", "‘", "›", "`"],
    "--": ["—", "–"],
    "-": ["‐", "‑", "–", "−"],
}
"""A token's pieces, with other ways of writing each. No way of writing a piece begins with another, so that the first
match is right.
"""

_NOT_ADDED = ("standard_error", "entropy", "open", "next_word_entropy")

_PIECE = re.compile("|".join(map(re.escape, _WAYS)) + "|.", re.DOTALL)
_WRITTEN = re.compile(rf"[^{WHITE_SPACE}]+")


@dataclass(frozen=True)
class MergedWord(WordRecord):
    """A written word, or the end of a sentence, with the measures of the tokens that it covers.

    Surprisal, its shares, rounds, actions, changes of entropies and numbers of nodes are sums; a sum is None if some
    token lacks the measure. Entropies and open constituents are the values after the last token. The standard error is
    a single token's, and None for several tokens, since the errors of neighbours are not independent. `token` is as in
    the raw text; if one token covers several words, a space joins them. `unk` is the model's form of a single token.
    """

    first: int = 1
    """Number of the first token, from 1."""
    last: int = 1
    known: bool | None = None
    """Whether the model saw all tokens unchanged; None for the end of a sentence."""
    span: tuple[int, int] | None = None
    """Its characters in the text, if known, from 0, the end exclusive."""

    @property
    def token_ids(self) -> str:
        """`3`, or `3-4` for several tokens."""
        return f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"


def merge(raw: str, records: Sequence[WordRecord], path: object, line: int) -> list[MergedWord]:
    r"""Return the written words of a raw line with their tokens' measures; a record without a token stays alone.

    Characters are compared, ignoring white space. Tokens may have PTB's -LRB-, ``, '', \/, ... and -- for brackets,
    quotes, /, … and dashes. Raises InputError with the column, from 1, if tokens and text cannot be aligned.
    """
    tokens = [(i, r.token) for i, r in enumerate(records) if r.token is not None]
    rows = []
    for text, first, last in _aligned(_Line(raw, path, line), [token for _, token in tokens]):
        rows.append(covering(text, records, tokens[first][0], tokens[last][0]))
    ends = [covering(None, records, i, i) for i, r in enumerate(records) if r.token is None]
    return sorted(rows + ends, key=lambda row: row.first)


def merge_spans(
    text: str, spans: Sequence[tuple[int, int]], records: Sequence[WordRecord]
) -> list[MergedWord]:
    """Return the written words of a sentence with their tokens' measures; white space separates words.

    `spans` has the characters of each token in a whole text, where `text` begins with the first token. A written word
    reaches from its first token to its last. Records after the tokens, such as that of the end, stay alone.
    """
    offset = spans[0][0] if spans else 0
    begins = [offset + written.start() for written in _WRITTEN.finditer(text)]
    rows = []
    for _, of_word in groupby(range(len(spans)), lambda i: bisect_right(begins, spans[i][0])):
        first, *others = of_word
        last = others[-1] if others else first
        begin, end = spans[first][0], spans[last][1]
        word = " ".join(_WRITTEN.findall(text[begin - offset : end - offset]))
        rows.append(covering(word, records, first, last, (begin, end)))
    return rows + [covering(None, records, i, i) for i in range(len(spans), len(records))]


def check_alignment(raw: str, tokens: Sequence[str], path: object, line: int) -> None:
    """Raise the InputError that `merge` would raise for records of these tokens."""
    for _ in _aligned(_Line(raw, path, line), tokens):
        pass


class _Line:
    """A raw line without its white space, with the positions of its characters and words."""

    def __init__(self, raw: str, path: object, number: int):
        self._path, self._number = path, number
        columns = [i for i, character in enumerate(raw) if not character.isspace()]
        self.text = "".join(raw[i] for i in columns)
        self._columns = [*columns, len(raw)]
        spans = [match.span() for match in _WRITTEN.finditer(raw) if match[0].strip()]
        self.words = [raw[begin:end] for begin, end in spans]
        self.begins = [bisect_left(columns, begin) for begin, _ in spans]
        """Where each written word begins in `text`."""

    def error(self, position: int, message: str) -> InputError:
        """Return an error at a position in `text`."""
        return InputError(
            f"column {self._columns[position] + 1}: {message}", self._path, self._number
        )


def _aligned(line: _Line, tokens: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield written words, each with its first and last token, counted from 0."""
    begins = _token_begins(line, tokens)
    if not tokens:
        return
    common = sorted(set(begins) & set(line.begins))
    for begin, end in zip(common, [*common[1:], len(line.text)], strict=True):
        covered = [i for i, position in enumerate(begins) if begin <= position < end]
        written = [i for i, position in enumerate(line.begins) if begin <= position < end]
        if len(covered) > 1 and len(written) > 1:
            across = max(i for i in covered if begins[i] < line.begins[written[1]])
            words = " ".join(line.words[i] for i in written)
            raise line.error(
                begins[across],
                f"token {across + 1}, {tokens[across]!r}, is a part of several words of {words!r}: "
                "tokenise the line again, or write the words as one",
            )
        yield " ".join(line.words[i] for i in written), covered[0], covered[-1]


def _token_begins(line: _Line, tokens: Sequence[str]) -> list[int]:
    """Return the position where each token begins in the text of the line."""
    begins, position = [], 0
    for number, token in enumerate(tokens, 1):
        begins.append(position)
        match = _written_as(token).match(line.text, position)
        if match is None or match.end() == position:
            there = line.text[position : position + 20]
            found = f"{there!r} stands here" if there else "the line ends here"
            raise line.error(position, f"expected token {number}, {token!r}, but {found}")
        position = match.end()
    if position < len(line.text):
        rest = line.text[position : position + 20]
        raise line.error(position, f"{rest!r} is in none of the {len(tokens)} tokens")
    return begins


@lru_cache(maxsize=1 << 16)
def _written_as(token: str) -> re.Pattern:
    """Return a pattern of the token's forms in the raw text, without white space."""
    pieces = _PIECE.findall("".join(token.split()))
    ways = ("|".join(map(re.escape, [piece, *_WAYS.get(piece, ())])) for piece in pieces)
    return re.compile("".join(f"(?:{way})" for way in ways))


def covering(
    text: str | None,
    records: Sequence[WordRecord],
    first: int,
    last: int,
    span: tuple[int, int] | None = None,
) -> MergedWord:
    """Return a text with the measures of the tokens that it covers, `first` to `last`, counted from 0."""
    covered = records[first : last + 1]
    alone, known = first == last, [record.known for record in covered]

    def total(name: str) -> float | None:
        values = [getattr(record, name) for record in covered]
        return None if None in values else sum(values)

    return MergedWord(
        token=text,
        first=first + 1,
        last=last + 1,
        standard_error=covered[0].standard_error if alone else None,
        entropy=covered[-1].entropy,
        open=covered[-1].open,
        next_word_entropy=covered[-1].next_word_entropy,
        unk=covered[0].unk if alone else None,
        known=None if None in known else all(known),
        span=span,
        **{name: total(name) for name in ALL_MEASURES if name not in _NOT_ADDED},
    )


def read_raw(path: str, sentences: Sequence[Sequence[str]], source: str) -> list[str]:
    """Return the raw line of each sentence, given as tokens, of the file `source`.

    Raises InputError if tokens and text cannot be aligned.
    """
    lines = [line.removesuffix("\n") for _, line in read_lines(path)]
    # empty lines at the end do not count, as for the sentences
    while len(lines) > len(sentences) and not lines[-1].strip(WHITE_SPACE):
        lines.pop()
    if len(lines) != len(sentences):
        raise InputError(
            f"{len(lines)} raw lines for {len(sentences)} sentences of {source}: one for each", path
        )
    for number, (line, tokens) in enumerate(zip(lines, sentences, strict=True), 1):
        check_alignment(line, tokens, path, number)
    return lines
