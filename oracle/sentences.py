"""Sentences to parse, from an oracle, from trees or from tokenised text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from oracle.blocks import begins_oracle, read_oracle_lines
from oracle.brackets import escape_brackets, read_tree_lines
from oracle.errors import InputError
from oracle.files import WHITE_SPACE, numbered_lines, open_text, peeked, reading, split_words
from oracle.treebank import has_preterminals, tags, words

_TREE_BEGINS = re.compile(rf"[{WHITE_SPACE}]*\([^(){WHITE_SPACE}]*[{WHITE_SPACE}]*\([^ ]")

_TAG = re.compile(r"[A-Z]+\$?|[-.,:;$#`'()A-Z]{1,5}")
DECIDING = 1000
"""The first sentences of a file, by which it is decided whether there are POS tags."""


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


def read_sentences(
    path: str | os.PathLike[str],
    tagged: bool | None = None,
) -> Iterator[SourceSentence]:
    """Yield the sentences of an oracle, of bracketed trees, or of tokenised text, one sentence per line.

    The first line that is not empty decides the format. Brackets in tokens become -LRB- and -RRB-, as in the PTB. An
    empty line between tokenised sentences becomes a sentence without tokens.

    `tagged` says whether tokens are `word_TAG`, or `word/TAG` if most in the first DECIDING lines are. None says that
    they are words, and refuses a text if most of these look so.

    Raises InputError for other input.
    """
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        if not first:
            raise InputError("no sentence in this file", path)
        if begins_oracle(first):
            for s in read_oracle_lines(lines, path):
                yield SourceSentence(s.tokens, s.tags, s.unkified, s.line)
        elif first.lstrip(WHITE_SPACE).startswith("("):
            yield from _from_trees(numbered_lines(lines, path), path)
        else:
            yield from _from_tokens(numbered_lines(lines, path), path, tagged)


def _from_trees(lines: Iterable[tuple[int, str]], path: object) -> Iterator[SourceSentence]:
    """Yield the sentences of trees; they have tags if the first DECIDING trees have."""
    located = read_tree_lines(lines, path, bare=True)
    head = list(islice(located, DECIDING))
    tagged = all(has_preterminals(tree) for tree, *_ in head)
    for tree, _, line, _ in chain(head, located):
        if tagged and not has_preterminals(tree):
            raise InputError("a tree without POS tags after trees with them", path, line)
        yield SourceSentence(tuple(words(tree)), tuple(tags(tree)) if tagged else None, None, line)


def _from_tokens(
    lines: Iterable[tuple[int, str]],
    path: object,
    tagged: bool | None,
) -> Iterator[SourceSentence]:
    rows = ((number, _tokens(line, path, number)) for number, line in lines)
    head = list(islice(rows, DECIDING))
    mark = None if tagged is False else _mark_of_tags(head)
    if tagged is None and mark is not None:
        line, token = next((line, t) for line, tokens in head for t in tokens if _has_tag(t, mark))
        raise InputError(
            f"{token!r} looks like word{mark}TAG, as most tokens do: say --tagged if they are, --untagged if they are "
            "words",
            path,
            line,
        )
    last = 0
    for number, tokens in chain(head, rows):
        # empty lines at the end of the file are no sentences
        if tokens:
            for empty in range(last + 1, number):
                yield SourceSentence((), () if tagged else None, None, empty)
            yield _from_row(tokens, path, number, mark or "_" if tagged else None)
            last = number


def _tokens(text: str, path: object, line: int) -> list[str]:
    if _TREE_BEGINS.match(text):
        raise InputError("a tree among tokenised sentences: give a file of one format", path, line)
    return [escape_brackets(token) for token in split_words(text)]


def _from_row(tokens: Sequence[str], path: object, line: int, mark: str | None) -> SourceSentence:
    """Return the sentence of a row; `mark` stands between words and tags, None if there are none."""
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
    tokens = [token for _, of_row in rows for token in of_row]
    for mark in "_/":
        if 2 * sum(_has_tag(token, mark) for token in tokens) > len(tokens):
            return mark
    return None
