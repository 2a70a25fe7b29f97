"""Sentences to parse, from files of several formats or from Python, and their JSON."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from oracle.blocks import read_oracle_lines
from oracle.brackets import EXPORT, NO_BRACKETS, escape_brackets, read_tree_lines
from oracle.common import files
from oracle.common.errors import InputError, RnngError
from oracle.common.files import WHITE_SPACE
from oracle.treebank import has_preterminals, tags, untraced, words

_ORACLE_BEGINS = re.compile(rf"# [{WHITE_SPACE}]*\(")
_TREE_BEGINS = re.compile(
    rf"[{WHITE_SPACE}]*\([^(){WHITE_SPACE}]*[{WHITE_SPACE}]*\([^ ]|\d+ \|\|\| \S+ \|\|\| \("
    r"|\d+\t(?:\d+\.\d+|inf)$"
)
"""A tree, one under outer brackets, a sample, or its likelihood."""

_TAG = re.compile(r"[A-Z]+\$?|[-.,:;$#`'()A-Z]{1,5}")
# surrogates stand for bytes of a file that are not UTF-8; all others are half a character
_WRONG = re.compile(rf"[{WHITE_SPACE}\ud800-\udc7f\udd00-\udfff]")
DECIDING = 1000
"""The first sentences of a file, by which it is decided whether there are POS tags."""
Token = str | tuple[str, str]
"""A word, or a word and its tag."""


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence to parse; without tokens it stands for an empty line of a text."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...] | None
    unkified: tuple[str, ...] | None
    """The oracle's unkified words; None if the input is no oracle."""
    line: int
    """1-based line where the sentence begins."""
    spans: tuple[tuple[int, int], ...] | None = None
    """The characters of each token in the source text, from 0, the end exclusive."""
    text: str | None = None
    """The sentence as written in the source text."""


def format_of(first: str) -> str:
    """Return what a file is, `oracle`, `trees` or `text`, by its first line with text.

    Raises RnngError for the export format.
    """
    if EXPORT.match(first):
        raise RnngError(NO_BRACKETS)
    if _ORACLE_BEGINS.match(first):
        return "oracle"
    return "trees" if first.lstrip(WHITE_SPACE).startswith("(") else "text"


def read_sentences(path: files.FileName, tagged: bool | None = None) -> Iterator[SourceSentence]:
    """Yield the sentences of an oracle, of trees, or of tokenised text, one per line.

    The first line that is not empty decides the format. Brackets in tokens become -LRB- and -RRB-,
    as in the PTB. An empty line between tokenised sentences becomes a sentence without tokens.

    `tagged` says whether tokens are `word_TAG`, or `word/TAG` if most in the first DECIDING lines
    are. None says that they are words, and refuses a text if most of these look so.

    Raises InputError for other input.
    """
    with files.reading(path), files.open_text(path) as stream:
        first, lines = files.peeked(stream)
        if not first:
            raise InputError("no sentence in this file", path)
        format = format_of(first)
        if tagged is not None and format != "text":
            raise InputError("--tagged and --untagged are for tokenised text", path)
        if format == "oracle":
            for s in read_oracle_lines(lines, path):
                yield SourceSentence(s.tokens, s.tags, s.unkified, s.line)
        elif format == "trees":
            yield from _from_trees(files.numbered_lines(lines, path), path)
        else:
            yield from _from_tokens(files.numbered_lines(lines, path), path, tagged)


def _from_trees(lines: files.NumberedLines, path: object) -> Iterator[SourceSentence]:
    """Yield the sentences of trees; they have tags if the first DECIDING trees have."""
    located = read_tree_lines(lines, path, bare=True)
    head = list(islice(located, DECIDING))
    tagged = all(has_preterminals(tree) for tree, *_ in head)
    for tree, _, line, _ in chain(head, located):
        if tagged and not has_preterminals(tree):
            raise InputError("a tree without POS tags after trees with them", path, line)
        with files.placed(path, line):
            untraced(tree)
        yield SourceSentence(tuple(words(tree)), tuple(tags(tree)) if tagged else None, None, line)


def _from_tokens(
    lines: files.NumberedLines, path: object, tagged: bool | None
) -> Iterator[SourceSentence]:
    rows = ((number, tokens_of(line, path, number)) for number, line in lines)
    head = list(islice(rows, DECIDING))
    mark = None if tagged is False else _mark_of_tags(head)
    if tagged is None and mark is not None:
        line, token = next((line, t) for line, tokens in head for t in tokens if _has_tag(t, mark))
        how = "say --tagged if they are, --untagged if they are words"
        message = f"{token!r} looks like word{mark}TAG, as most tokens do: {how}"
        raise InputError(message, path, line)
    last = 0
    for number, tokens in chain(head, rows):
        # empty lines at the end of the file are no sentences
        if tokens:
            for empty in range(last + 1, number):
                yield SourceSentence((), () if tagged else None, None, empty)
            yield _from_row(tokens, path, number, mark or "_" if tagged else None)
            last = number


def tokens_of(text: str, path: object, line: int) -> list[str]:
    """Return the tokens of a line. Raises InputError for a tree, a sample, a likelihood, a BOM."""
    if text.startswith("\ufeff"):
        raise InputError("a byte order mark, as of a file that was appended: remove it", path, line)
    if _TREE_BEGINS.match(text):
        what = "a tree or likelihood among tokenised sentences"
        raise InputError(f"{what}: give a file of one format", path, line)
    return [escape_brackets(token) for token in files.split_words(text)]


def _from_row(tokens: Sequence[str], path: object, line: int, mark: str | None) -> SourceSentence:
    """Return the sentence of a row.

    `mark` stands between words and tags, None if there are none.
    """
    if mark is None:
        return SourceSentence(tuple(tokens), None, None, line)
    untagged = next((token for token in tokens if not _has_tag(token, mark)), None)
    if untagged is not None:
        raise InputError(f"the token {untagged!r} is not word{mark}TAG", path, line)
    pairs = [token.rpartition(mark) for token in tokens]
    return SourceSentence(tuple(p[0] for p in pairs), tuple(p[2] for p in pairs), None, line)


def _has_tag(token: str, mark: str) -> bool:
    word, _, tag = token.rpartition(mark)
    # a slash is part of many words
    return bool(word and tag) and (mark == "_" or _TAG.fullmatch(tag) is not None)


def _mark_of_tags(rows: Iterable[tuple[int, list[str]]]) -> str | None:
    """Return what most tokens have before a tag, `_` or `/`; None if most look like words."""
    tokens = [token for _, row in rows for token in row]
    for mark in "_/":
        if 2 * sum(_has_tag(token, mark) for token in tokens) > len(tokens):
            return mark
    return None


def is_list(tokens: object) -> bool:
    """Return whether elements have an order and are no keys, or a DataFrame's names of columns."""
    is_table = isinstance(tokens, str | Set | Mapping) or hasattr(tokens, "columns")
    return isinstance(tokens, Iterable) and not is_table


def split_tokens(tokens: Iterable[Token]) -> tuple[list[str], list[str] | None]:
    """Return words and tags of a sentence whose tokens are words or (word, tag) tuples.

    Brackets become -LRB- and -RRB-, as in the trees and inputs of commands. Raises RnngError for
    other or mixed tokens, for none, and for an empty word or tag, white space and lone surrogates.

    >>> split_tokens([("(", "-LRB-"), ("see", "VB")])
    (['-LRB-', 'see'], ['-LRB-', 'VB'])
    """
    sentence = list(tokens) if is_list(tokens) else []
    if sentence and all(isinstance(token, str) for token in sentence):
        return _checked(sentence), None
    if sentence and all(isinstance(token, tuple) and len(token) == 2 for token in sentence):
        return _checked([word for word, _ in sentence]), _checked([tag for _, tag in sentence])
    message = "a sentence is a list of words, or of (word, tag) tuples, one at least; of a text "
    message += "`model(text)` gives the trees and `model.surprisals_of(text)` the surprisals"
    raise RnngError(message)


def _checked(texts: list[str]) -> list[str]:
    for text in texts:
        if not isinstance(text, str) or not text or _WRONG.search(text):
            what = "each is a text, not empty, without white space and lone surrogates"
            raise RnngError(f"{text!r:.80} is no word or tag: {what}")
    return [escape_brackets(text) for text in texts]


class ScoredTree(NamedTuple):
    """A tree of a sentence, with its score."""

    tree: str
    """Bracketed, on one line."""
    log_prob: float | None
    """In nats: log q(y | x) from a parser, log p(x, y) from a generative model."""
    posteriors: Sequence[float] | None = None
    """Probabilities of the constituents in the sentence's samples, top down."""

    def to_json(self) -> dict[str, object]:
        """Return an object for JSON; without samples it has no `posteriors`."""
        # the digits of a samples file
        content = {"tree": self.tree, "log_prob": self.log_prob and float(f"{self.log_prob:.9g}")}
        if self.posteriors is None:
            return content
        return {**content, "posteriors": [round(p, 6) for p in self.posteriors]}


def json_line(
    number: int, source: SourceSentence, trees: Sequence[ScoredTree], signature: str
) -> str:
    """Return a sentence with its trees, best first or as drawn, as a JSON object on one line.

    `number` counts from 1, with empty lines; `signature` says what the trees depend on. If the
    sentence comes from raw text, each token has its start and end there, in characters.
    """
    tags = source.tags or [None] * len(source.tokens)
    tokens: list[dict[str, object]] = [
        {"token": x, "tag": tag} for x, tag in zip(source.tokens, tags, strict=True)
    ]
    for token, (start, end) in zip(tokens, source.spans or (), strict=False):
        token |= {"start": start, "end": end}
    content = {
        "signature": signature,
        "sentence": number,
        "line": source.line,
        "text": source.text,
        "tokens": tokens,
    }
    return files.one_line({**content, "trees": [tree.to_json() for tree in trees]})
