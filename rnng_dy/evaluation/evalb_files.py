"""Scoring of files of one tree per line by EVALB's rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from oracle.brackets import parse_line
from oracle.errors import InputError, placed
from oracle.files import WHITE_SPACE, read_lines
from oracle.lazy import nltk
from oracle.parsed import ParsedSentence
from oracle.treebank import is_preterminal, is_trace, subtrees, with_tags
from rnng_dy.evaluation.evalb import Scores, SentenceScore, score_read_off
from rnng_dy.evaluation.evalb_params import COLLINS, Params
from rnng_dy.evaluation.evalb_sentence import read_off

# what parsers print for a sentence without a parse
NO_TREE = frozenset(["", "()", "(())"])


class ReadTree(NamedTuple):
    """A tree of a file."""

    tree: nltk.Tree
    posteriors: Sequence[float] | None = None
    """Probabilities of its constituents, from the top down and from left to right."""


def score_files(
    gold: str, system: str, params: Params = COLLINS, gold_tags: bool = False
) -> Scores:
    """Score two files of one tree per line; `-` is standard input. See `score_systems`."""
    return score_systems(gold, [system], params, gold_tags)[0]


def score_systems(
    gold: str, systems: Sequence[str], params: Params = COLLINS, gold_tags: bool = False
) -> list[Scores]:
    """Score the files of several systems; with `gold_tags`, `with_gold_tags` is applied to their trees.

    Raises InputError, with file and line, for a word without a tag, and files of different numbers of lines.
    """
    golds = list(read_one_per_line(gold))
    return [
        Scores(tuple(_scored_lines(gold, golds, path, params, gold_tags)), params)
        for path in systems
    ]


def _scored_lines(
    gold_path: str, golds: Sequence[ReadTree], path: str, params: Params, gold_tags: bool
) -> Iterator[SentenceScore]:
    for line, pair in enumerate(zip_longest(golds, read_one_per_line(path)), 1):
        gold, system = pair
        if None in pair:
            few, many = (gold_path, path) if gold is None else (path, gold_path)
            message = (
                f"the file ends before this line, which {many} has; both need one tree per line"
            )
            raise InputError(message, few, line)
        tree = with_gold_tags(gold.tree, system.tree) if gold_tags else system.tree
        with placed(gold_path, line):
            expected = read_off(gold.tree, params)
        with placed(path, line):
            found = read_off(tree, params)
        yield score_read_off(expected, found, params, system.posteriors)


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
