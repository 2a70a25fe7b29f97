"""Sentences to parse, from an oracle, from trees or from tokenised text."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from oracle.blocks import begins_oracle, read_oracle_lines
from oracle.brackets import escape_brackets, read_tree_lines
from oracle.errors import InputError
from oracle.files import WHITE_SPACE, numbered_lines, open_text, peeked, reading, split_words
from oracle.treebank import has_preterminals, tags, words

_TREE_BEGINS = re.compile(rf"[{WHITE_SPACE}]*\([^(){WHITE_SPACE}]*[{WHITE_SPACE}]*\([^ ]")

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
    known_tags: Container[str] | None = None,
) -> Iterator[SourceSentence]:
    """Yield the sentences of an oracle, of bracketed trees, or of tokenised text, one sentence per line.

    The first line that is not empty decides the format. Brackets in tokens become -LRB- and -RRB-, as in the PTB. An
    empty line between tokenised sentences becomes a sentence without tokens.

    `tagged` says whether tokens are `word_TAG`; None decides by the tokens of the first DECIDING lines. They are tagged
    if each has an underscore with text on both sides and the text after the last one looks like a tag: ASCII, no
    lower-case letter, no digit first. They are words if at most half of them have such an underscore. Anything in
    between is refused, and so is a text most of whose tags are not among `known_tags`, the model's.

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
            yield from _from_tokens(numbered_lines(lines, path), path, tagged, known_tags)


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
    known_tags: Container[str] | None,
) -> Iterator[SourceSentence]:
    rows = ((number, _tokens(line, path, number)) for number, line in lines)
    head = list(islice(rows, DECIDING))
    if tagged is None:
        tagged = _are_tagged(head, path, known_tags)
    last = 0
    for number, tokens in chain(head, rows):
        # empty lines at the end of the file are no sentences
        if tokens:
            for empty in range(last + 1, number):
                yield SourceSentence((), () if tagged else None, None, empty)
            yield _from_row(tokens, path, number, tagged)
            last = number


def _tokens(text: str, path: object, line: int) -> list[str]:
    if _TREE_BEGINS.match(text):
        raise InputError("a tree among tokenised sentences: give a file of one format", path, line)
    return [escape_brackets(token) for token in split_words(text)]


def _from_row(tokens: Sequence[str], path: object, line: int, tagged: bool) -> SourceSentence:
    if not tagged:
        return SourceSentence(tuple(tokens), None, None, line)
    untagged = next((token for token in tokens if not _has_tag(token)), None)
    if untagged is not None:
        raise InputError(f"the token {untagged!r} is not word_TAG", path, line)
    pairs = [token.rpartition("_") for token in tokens]
    return SourceSentence(tuple(p[0] for p in pairs), tuple(p[2] for p in pairs), None, line)


def _has_tag(token: str) -> bool:
    word, _, tag = token.rpartition("_")
    return bool(word and tag)


def _is_written_as_a_tag(text: str) -> bool:
    """Return whether a text looks like a tag of PTB, CTB or Universal Dependencies: NN or PRP$, not `case` or 1."""
    return text.isascii() and text == text.upper() and not text[0].isdigit()


def _are_tagged(
    rows: Sequence[tuple[int, list[str]]], path: object, known_tags: Container[str] | None
) -> bool:
    """Return whether the tokens are word_TAG. Raises InputError if that cannot be decided."""
    located = [(line, token) for line, tokens in rows for token in tokens]
    untagged = [(line, token) for line, token in located if not _has_tag(token)]
    if 2 * len(untagged) >= len(located):
        return False
    if untagged:
        line, token = untagged[0]
        raise InputError(
            f"{len(located) - len(untagged)} of {len(located)} tokens are word_TAG, but {token!r} is not: give "
            "every token a tag, or none, or say --untagged where the underscores belong to words",
            path,
            line,
        )
    _require_tags([(line, token.rpartition("_")[2]) for line, token in located], path, known_tags)
    return True


def _require_tags(
    located: Sequence[tuple[int, str]], path: object, known_tags: Container[str] | None
) -> None:
    """Raise InputError if the texts after the tokens' underscores may be parts of words."""
    doubtful = [(line, tag) for line, tag in located if not _is_written_as_a_tag(tag)]
    why = "is not written as POS tags are"
    if not doubtful and known_tags is not None:
        unknown = [(line, tag) for line, tag in located if tag not in known_tags]
        if 2 * len(unknown) > len(located):
            doubtful, why = unknown, "is, as most of the others, no POS tag of the parser"
    if doubtful:
        line, tag = doubtful[0]
        raise InputError(
            f"every token has an underscore, but {tag!r} {why}: say --tagged if tokens are "
            "word_TAG, --untagged if they are words",
            path,
            line,
        )
