"""Tables of surprisals by any program: their reader, and the words of tokens, found by letters."""

import codecs
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, count, groupby
from typing import NamedTuple
from unicodedata import normalize

from oracle.brackets import unspelled
from oracle.common.errors import InputError, RnngError
from oracle.common.files import placed
from oracle.common.tables import is_whole_number, number_of, read_columns
from rnng_dy.evaluation.records import END, ROUNDING
from rnng_dy.text.columns import CONDITION_NAMES, ITEM
from rnng_dy.text.segmenter import clean

UNITS = {"bits": 1.0, "nats": 1 / math.log(2)}
"""Units of surprisals, in bits."""
COLUMNS = ("token", "surprisal")
_OPTIONAL = ("known", "unknown", "sentence_id", "item", "condition")
_USUAL = {
    "token": ("word", "content"),
    "surprisal": ("surp", "llmsurp", "sumsurprisal"),
    "sentence_id": ("sentid", "sentence"),
    "item": ITEM[1:],
    "condition": CONDITION_NAMES[1:],
}
"""Other usual names of columns, as `plain_column` writes them."""
_KNOWN = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
UNKNOWN = "<unk>"
_UNKNOWNS = (UNKNOWN, "<UNK>", "[UNK]")
_ENDS = (END, "<s>", "<eos>", "<bos>", "<|endoftext|>", "[CLS]", "[SEP]")
"""Marks of the beginning or the end of a sentence."""
_MARKS = "Ġ▁"
"""Marks of subwords that begin a word."""
_BEGINS_A_WORD = re.compile(f"[{_MARKS} ]")
_SUBWORD = re.compile(r"^##(?=.)|(?<=.)(?:@@|</w>)$")
"""Marks of subwords that go on with a word, or that a word goes on after, or that end it."""
GAP = "\0"
"""What stands for an unknown word among the letters of a sentence."""
# quotes and ellipses are equal however a tokeniser cuts them
_PLAIN_CHARACTERS = {
    ord(mark): letters
    for marks, letters in (('“”„"', "''"), ("‘’`", "'"), ("–—", "-"), ("…", "..."))
    for mark in marks
}


class Token(NamedTuple):
    """A row of a table of surprisals."""

    text: str
    letters: str
    """Its letters by `plain`; GAP for an unknown word, empty for a mark."""
    bits: float
    is_known: bool | None
    """None if the table does not say it."""
    is_end: bool
    """Whether it is a mark of the beginning or the end of a sentence."""
    line: int
    sentence: int | None
    """The number of its sentence, from 0; None if the table does not tell sentences apart."""
    variant: tuple[str | None, str | None]
    """Its item and condition."""
    continues: bool = False
    """Whether it goes on with the word of the token before it, by the marks of subwords."""
    measures: Mapping[str, float] = {}
    """Other measures that were asked for, by their columns."""
    cells: Mapping[str, str] = {}
    """All cells of the row by their columns."""
    has_ends: bool = False
    """Whether `sentence` is one sentence, and not all of an item."""


def read_surprisals(
    path: str, columns: Mapping[str, str] = {}, unit: str = "bits", measures: Collection[str] = ()
) -> Sequence[Token]:
    """Return the rows of a table with the columns `token` and `surprisal`, or usual names of these.

    Rows of one `sentence_id`, item and condition are a sentence. `known` is 1 or true for known
    words, 0 or false for others; `unknown`, of regions, is the number of unknown words.

    Args:
        path: A table (CSV, TSV, xlsx).
        columns: The names of columns that have no usual name.
        unit: One of UNITS.
        measures: Columns of other measures.

    Raises:
        InputError: A column is missing, or a cell is no number, or a surprisal is negative; with
            the line.
    """
    names = [*(columns.get(role, role) for role in COLUMNS), *measures]
    # a table made from that of the times may have the same names
    usual = {columns[role]: (role, *_USUAL.get(role, ())) for role in _OPTIONAL if role in columns}
    optional = [columns.get(role, role) for role in _OPTIONAL]
    rows = list(read_columns(path, names, optional, {**_USUAL, **usual}, with_all=True))
    if not rows:
        raise InputError("no surprisals in this table", path)
    texts = [cells[0] for _, cells in rows]
    # a table with marks of unknown words knows the others
    others = None if {*_UNKNOWNS}.isdisjoint(texts) else True
    letters_of = _ByteLetters() if any("Ġ" in text for text in texts) else plain
    has_marks = any(map(_BEGINS_A_WORD.match, texts))
    tokens = []
    # by sentence_id, item and condition
    for number, (ids, of_sentence) in enumerate(groupby(rows, lambda row: row[1][-4:-1])):
        sentence = number if any(cell is not None for cell in ids) else None
        before = ""
        for line, (text, bits, *values, known, unknown, _, item, condition, cells) in of_sentence:
            continues = text.startswith("##") or before.endswith("@@")
            if has_marks and not _BEGINS_A_WORD.match(text):
                continues |= before not in ("", *_ENDS)
            before = text
            is_end, is_unknown = text in _ENDS, text in _UNKNOWNS
            letters = "" if is_end else GAP if is_unknown else letters_of(text)
            with placed(path, line):
                value = _number(names[1], bits) * UNITS[unit]
                if value < -ROUNDING:
                    raise RnngError(f"{bits} is negative: log probabilities need the other sign")
                # the end of a sentence, and a word that was not read, are neither known nor unknown
                is_read = not is_end and not math.isnan(value)
                is_known = _is_known(known, unknown, others) if is_read else None
                pairs = zip(measures, values, strict=True)
                by_measure = {name: _number(name, cell) for name, cell in pairs}
            is_known = False if is_unknown else is_known
            row = line, sentence, (item, condition), continues, by_measure, cells
            tokens.append(Token(text, letters, value, is_known, is_end, *row, ids[0] is not None))
    return tokens


def _is_known(known: str | None, unknown: str | None, otherwise: bool | None) -> bool | None:
    if known is not None:
        if (text := known.strip().lower()) not in _KNOWN:
            raise RnngError(f"column 'known': {known!r} is neither 1 nor 0, true nor false")
        return _KNOWN[text]
    if unknown is not None and not is_whole_number(unknown):
        raise RnngError(f"column 'unknown': {unknown!r} is no number of words")
    return otherwise if unknown is None else int(unknown) == 0


def _number(column: str, text: str) -> float:
    try:
        return number_of(text)
    except ValueError:
        raise RnngError(f"column {column!r}: {text!r} is no number") from None


def places(tokens: Sequence[Token], words: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the indices of the words in which each token begins and ends, by the words' letters.

    A token without letters belongs to the word after it. Returns None if tokens and words have
    different letters.
    """
    letters, begins = "".join(words), list(accumulate(map(len, words), initial=0))
    at, ranges = 0, []
    for token in tokens:
        first = bisect_right(begins, at) - 1
        if token.letters == GAP and begins[first] == at < len(letters):
            at = begins[first + 1]
        elif letters.startswith(token.letters, at):
            at += len(token.letters)
        elif token.letters == "-" == letters[at - 1 : at]:
            # the second half of `--`, which is one dash
            first = bisect_left(begins, at) - 1
        else:
            return None
        ranges.append((first, max(first, bisect_left(begins, at) - 1)))
    return ranges if at == len(letters) else None


def plain(token: str) -> str:
    r"""Return a token without blanks and marks of subwords, with plain brackets, quotes and dashes.

    Accents follow their letters (NFD).

    >>> [plain(token) for token in ("-LRB-", "``", "Ġdog", "##s", "do@@", "a\u00a0b", "1\\/2")]
    ['(', "''", 'dog', 's', 'do', 'ab', '1/2']
    """
    text = unspelled(_SUBWORD.sub("", "".join(clean(token)[0].split()).lstrip(_MARKS)))
    return normalize("NFD", text.replace("--", "-").translate(_PLAIN_CHARACTERS))


class _ByteLetters:
    """The letters of GPT-2's tokens, which are bytes; a letter belongs to the token that ends it.

    >>> letters = _ByteLetters()
    >>> [letters(token) for token in ("Ġsm", "Ã¸", "âĢ", "Ļ", "s")]
    ['sm', 'ø', '', "'", 's']
    """

    def __init__(self) -> None:
        printed, others = {*range(33, 127), *range(161, 173), *range(174, 256)}, count(256)
        self._bytes = {chr(b if b in printed else next(others)): b for b in range(256)}
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __call__(self, token: str) -> str:
        if not set(token) <= self._bytes.keys():
            return plain(token)
        return plain(self._decoder.decode(bytes(self._bytes[letter] for letter in token)))
