"""Corpora to cluster: text, trees, or oracles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from oracle.blocks import read_oracle_lines
from oracle.brackets import read_tree_lines
from oracle.files import numbered_lines, open_text, peeked, reading, split_words
from oracle.sentences import format_of
from oracle.treebank import is_preterminal, words
from oracle.unknown import UnknownWords, known_words

FORMATS = ("oracle", "trees", "text")


def read_corpus(
    path: str | os.PathLike, format: str | None = None, rules: str = "berkeley"
) -> Iterator[Sequence[str]]:
    """Yield the words of each sentence of a corpus; `-` is standard input, and empty sentences do not count.

    Without a format, a file is an oracle if it begins with `# (`, trees if with `(`, else text, one sentence on each
    line. For an oracle the unkified words count. Words of trees are unkified by the rules for unknown words, as
    `rnng-dy oracle` does with these trees as the training file. Raises InputError if the file is not of that format.
    """
    with reading(path), open_text(path) as stream:
        first, lines = peeked(stream)
        if "\0" in first:
            raise ValueError("no text: give a file of text in UTF-8, trees, or an oracle")
        format = format or format_of(first)
        if format == "text":
            yield from filter(None, (split_words(line) for _, line in numbered_lines(lines, path)))
        elif format == "oracle":
            for sentence in read_oracle_lines(lines, path):
                yield sentence.unkified
        else:
            trees = read_tree_lines(numbered_lines(lines, path), path)
            sentences = [words(t.tree) for t in trees if not is_preterminal(t.tree)]
            yield from map(UnknownWords(rules, known_words(sentences)).unkify, sentences)
