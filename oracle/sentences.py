"""Sentences to parse, from an oracle, from trees or from tokenised text."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from oracle.blocks import read_oracle_lines
from oracle.brackets import escape_brackets, read_tree_lines
from oracle.errors import InputError
from oracle.streams import WHITE_SPACE, open_input, require_utf8, split_words
from oracle.treebank import has_preterminals, tags, words

_ORACLE_BEGINS = re.compile(rf"# [{WHITE_SPACE}]*\(")
_TREE_BEGINS = re.compile(rf"[{WHITE_SPACE}]*\([^(){WHITE_SPACE}]*[{WHITE_SPACE}]*\([^ ]")


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence to parse; without tokens it is an empty line of a text, which keeps its place."""

    tokens: tuple[str, ...]
    tags: tuple[str, ...] | None
    unkified: tuple[str, ...] | None
    """As the oracle has them; None where the input is no oracle."""
    line: int
    """1-based line where it begins."""


def read_sentences(path: str | os.PathLike, tagged: bool | None = None) -> list[SourceSentence]:
    """Sentences of an oracle, of bracketed trees, or one tokenised sentence a line.

    The first line that is not empty tells which. `tagged` says whether tokens are `word_TAG`; None
    takes them as such where every token of the file has an underscore with text on both sides.
    Brackets in tokens become -LRB- and -RRB-, as in the PTB. An empty line between sentences is a sentence without
    tokens. Raises InputError for other input.
    """
    with open_input(path) as stream:
        lines = stream.readlines()
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    first = next((line for line in lines if line.strip(WHITE_SPACE)), None)
    if first is None:
        raise InputError("no sentence in this file", path)
    if _ORACLE_BEGINS.match(first):
        return [
            SourceSentence(s.tokens, s.tags, s.unkified, s.line)
            for s in read_oracle_lines(lines, path)
        ]
    for number, line in enumerate(lines, 1):
        require_utf8(line, path, number)
    if first.lstrip(WHITE_SPACE).startswith("("):
        return _from_trees(lines, path)
    return _from_tokens(lines, path, tagged)


def _from_trees(lines: Sequence[str], path: object) -> list[SourceSentence]:
    located = list(read_tree_lines(enumerate(lines, 1), path, bare=True))
    tagged = all(has_preterminals(tree) for tree, *_ in located)
    return [
        SourceSentence(tuple(words(tree)), tuple(tags(tree)) if tagged else None, None, line)
        for tree, _, line, _ in located
    ]


def _from_tokens(lines: Sequence[str], path: object, tagged: bool | None) -> list[SourceSentence]:
    while not lines[-1].strip(WHITE_SPACE):
        lines = lines[:-1]
    rows = []
    for number, line in enumerate(lines, 1):
        if _TREE_BEGINS.match(line):
            raise InputError(
                "a tree among tokenised sentences: give a file of one format", path, number
            )
        rows.append((number, [escape_brackets(token) for token in split_words(line)]))
    if tagged is None:
        tagged = _are_tagged(rows, path)
    sentences = []
    for number, tokens in rows:
        tags_of_line = None
        if tagged:
            untagged = next((token for token in tokens if not _has_tag(token)), None)
            if untagged is not None:
                raise InputError(f"the token {untagged!r} is not word_TAG", path, number)
            pairs = [token.rpartition("_") for token in tokens]
            tokens, tags_of_line = [p[0] for p in pairs], tuple(p[2] for p in pairs)
        sentences.append(SourceSentence(tuple(tokens), tags_of_line, None, number))
    return sentences


def _has_tag(token: str) -> bool:
    word, _, tag = token.rpartition("_")
    return bool(word and tag)


def _are_tagged(rows: Sequence[tuple[int, list[str]]], path: object) -> bool:
    """Are the tokens word_TAG? Raises InputError where most but not all of them are."""
    total = sum(len(tokens) for _, tokens in rows)
    untagged = [(line, token) for line, tokens in rows for token in tokens if not _has_tag(token)]
    if untagged and 2 * len(untagged) < total:
        line, token = untagged[0]
        raise InputError(
            f"{total - len(untagged)} of {total} tokens are word_TAG, but {token!r} is not: give "
            "every token a tag, or none",
            path,
            line,
        )
    return not untagged
