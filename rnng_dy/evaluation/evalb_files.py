"""Scoring of files of one tree per line by EVALB's rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from oracle.brackets import parse_line
from oracle.errors import InputError
from oracle.files import WHITE_SPACE, read_lines
from oracle.lazy import nltk
from oracle.parsed import ParsedSentence
from oracle.treebank import is_preterminal, is_trace, subtrees, with_tags
from rnng_dy.evaluation.evalb import Scores, SentenceScore, score_read_off
from rnng_dy.evaluation.evalb_params import COLLINS, Params
from rnng_dy.evaluation.evalb_sentence import Sentence, read_off

# what parsers print for a sentence without a parse
NO_TREE = frozenset(["", "()", "(())"])


def score_files(
    gold: str, system: str, params: Params = COLLINS, gold_tags: bool = False
) -> Scores:
    """Score two files of one tree per line; `-` is standard input. See `scored_lines`."""
    golds, systems = (TreeLines(path, read_one_per_line(path)) for path in (gold, system))
    lines = scored_lines(golds, systems, params, gold_tags)
    return Scores(tuple(line.score for line in lines), params)


class ReadTree(NamedTuple):
    """A tree of a file."""

    tree: nltk.Tree
    posteriors: Sequence[float] | None = None
    """Probabilities of its constituents, from the top down and from left to right."""


class TreeLines(NamedTuple):
    """A file's trees, one per line."""

    path: str
    trees: Iterable[ReadTree]


class ScoredLine(NamedTuple):
    """The trees of one line in two files, with their score."""

    gold: nltk.Tree
    system: nltk.Tree
    score: SentenceScore


def scored_lines(
    golds: TreeLines, systems: TreeLines, params: Params = COLLINS, gold_tags: bool = False
) -> Iterator[ScoredLine]:
    """Score the lines of two files; with `gold_tags`, `with_gold_tags` is applied to the system's trees.

    Raises InputError, with file and line, for a word without a tag, and files of different numbers of lines.
    """
    for line, (gold, system) in enumerate(zip_longest(golds.trees, systems.trees), 1):
        if gold is None or system is None:
            few, many = (golds, systems) if gold is None else (systems, golds)
            message = f"the file ends before this line, which {many.path} has; both need one tree per line"
            raise InputError(message, few.path, line)
        expected = _read_off(gold.tree, params, golds.path, line)
        tree = with_gold_tags(gold.tree, system.tree) if gold_tags else system.tree
        found = _read_off(tree, params, systems.path, line)
        score = score_read_off(expected, found, params, system.posteriors)
        yield ScoredLine(gold.tree, tree, score)


def with_gold_tags(gold: nltk.Tree, system: nltk.Tree) -> nltk.Tree:
    """Return the system's tree with the tags of the gold tree, so that EVALB deletes the same words in both.

    The system's tree may lack the gold tree's traces. A tree with another number of words is returned unchanged.

    >>> gold, system = map(parse_line, ("(S (NN a) (. .))", "(S (NN a) (NN .))"))
    >>> print(with_gold_tags(gold, system))
    (S (NN a) (. .))
    """
    every = [node for node in subtrees(gold) if is_preterminal(node)]
    number = sum(map(is_preterminal, subtrees(system)))
    for nodes in (every, [node for node in every if not is_trace(node)]):
        if len(nodes) == number:
            return with_tags(system, [node.label() for node in nodes])
    return system


def read_one_per_line(path: str) -> Iterator[ReadTree]:
    """Yield a file's trees, one per line, or the first trees of lines of JSON by `parse`.

    An empty line, `()`, `(())` and JSON without trees stand for a tree without words. Raises InputError, with file and
    line, for a line that is not one tree, and for an empty file.
    """
    line = 0
    for line, text in read_lines(path):
        if text.startswith("{"):
            found = ParsedSentence.read(text, path, line).trees[:1]
            trees = [ReadTree(each.parsed(path, line), each.posteriors) for each in found]
        else:
            without_tree = text.strip(WHITE_SPACE) in NO_TREE
            trees = [] if without_tree else [ReadTree(parse_line(text, path, line))]
        yield from trees or [ReadTree(nltk.Tree("", []))]
    if not line:
        raise InputError("the file is empty; give one tree per line", path, 1)


def _read_off(tree: nltk.Tree, params: Params, path: str, line: int) -> Sentence:
    try:
        return read_off(tree, params)
    except InputError as error:
        raise InputError(error.message, path, line) from None
