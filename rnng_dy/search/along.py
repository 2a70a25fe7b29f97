"""Word-by-word measures along given trees: probabilities, and the nodes that parsers visit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.brackets import read_trees
from oracle.common.errors import RnngError, UnseenSymbolError
from oracle.common.files import placed
from oracle.common.lazy import nltk
from oracle.sentences import SourceSentence
from oracle.transitions import REDUCE, SHIFT, TOP_DOWN
from oracle.treebank import untraced
from oracle.treebank import words as words_of
from rnng_dy.engine import dy, one_graph
from rnng_dy.evaluation.records import NODE_COUNTS, Analysis, MeasuredSentence, WordRecord
from rnng_dy.models.generative import GeneratorExample


@dataclass(frozen=True, slots=True)
class TreeSentence(SourceSentence):
    """A sentence of a file of trees, with its tree."""

    tree: nltk.Tree | None = None


def tree_sentences(path: str) -> Iterator[TreeSentence]:
    """Yield the sentences of a file of trees. Raises InputError, with the line, for a trace."""
    for located in read_trees(path):
        with placed(path, located.line):
            tokens = tuple(words_of(untraced(located.tree)))
        yield TreeSentence(tokens, None, None, located.line, tree=located.tree)


def require_derivable(model: Any, path: str, sentences: Sequence[TreeSentence]) -> None:
    """Raise InputError, with the line, for a tree with a label or class that the model lacks."""
    for sentence in sentences:
        with placed(path, sentence.line):
            try:
                _example(model, sentence)
            except UnseenSymbolError as error:
                raise RnngError(
                    f"{error}: `rnng-dy prepare` takes function tags out, `is_open` reads any word"
                ) from None


def _example(model: Any, sentence: TreeSentence) -> GeneratorExample:
    unkified = sentence.unkified or model.vocabulary.unknown.unkify(sentence.tokens, True)
    return model.encode(unkified, model.transitions.actions_of(sentence.tree))


@one_graph
def measure_along(
    model: Any, sentences: Sequence[TreeSentence], end: bool = False
) -> list[MeasuredSentence]:
    """Return the measures of the words of trees, each as if its tree were the only one.

    The surprisals of a sentence and of its end are those of log p(x, y), the joint log probability.
    Raises ImpossibleError for a tree with p = 0.
    """
    dy.renew_cg(derivatives=False)
    examples = [_example(model, sentence) for sentence in sentences]
    losses, owners, paths = model.network.losses(map(model.network.derivation, examples))
    bits = dy.concatenate_to_batch(losses).npvalue().ravel().astype(np.float64) / math.log(2)
    # first come all actions, then the clusters of all words, then the words in their clusters
    actions, words = sum(map(len, paths)), sum(len(example.words) for example in examples)
    of_cluster, others = bits[actions : actions + words], slice(actions + words, None)
    in_cluster = np.bincount(owners[others], bits[others], minlength=actions)
    measured, clusters = [], iter(of_cluster.tolist())
    for sentence, example, path in zip(sentences, examples, paths, strict=True):
        ends = [i + 1 for i, action in enumerate(example.actions) if action == SHIFT]
        structure = np.add.reduceat(bits[path], [0, *ends]).tolist()
        unkified = sentence.unkified or model.vocabulary.unknown.unkify(sentence.tokens, True)
        named, log_p = model.transitions.decode(example.actions), 0.0
        counts, records = node_counts(sentence.tree), []
        tokens = zip((*sentence.tokens, None), (*unkified, None), strict=True)
        for i, (token, unk) in enumerate(tokens):
            is_word, last = token is not None, [*ends, len(named)][i]
            shares = {
                "structure": structure[i],
                "cluster": next(clusters) if is_word else 0.0,
                "word_in_cluster": float(in_cluster[path[last - 1]]),
            }
            surprisal = sum(shares.values())
            log_p -= surprisal * math.log(2)
            nodes = dict(zip(NODE_COUNTS, counts[i], strict=True)) if is_word else {}
            beam = [Analysis(log_p, named[:last])]
            records.append(WordRecord(token, unk, surprisal, **shares, **nodes, beam=beam))
        trees = records[-1].beam
        measured.append(MeasuredSentence(records if end else records[:-1], trees, log_p))
    return measured


def node_counts(tree: nltk.Tree) -> list[tuple[int, int, int, int]]:
    """Return, for each word, the `NODE_COUNTS`: nodes by three strategies, and the depth.

    They are the constituents that begin with the word (top-down), end with it (bottom-up), whose
    first child ends with it (left-corner), and that contain it. POS tags do not count.

    >>> from oracle.brackets import parse_line
    >>> node_counts(parse_line("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)))"))
    [(2, 0, 1, 2), (0, 1, 1, 2), (1, 2, 1, 2)]
    """
    counts: list[list[int]] = []
    has_child: list[bool] = []
    """Of each open constituent, the innermost last."""
    opened = 0
    for action in TOP_DOWN.actions_of(tree):
        if action == TOP_DOWN.names[SHIFT]:
            counts.append([opened, 0, 0, len(has_child)])
            opened = 0
        elif action == TOP_DOWN.names[REDUCE]:
            counts[-1][1] += 1
            has_child.pop()
        else:
            has_child.append(False)
            opened += 1
            continue
        # a child is complete
        if has_child and not has_child[-1]:
            has_child[-1] = True
            counts[-1][2] += 1
    return [(top, bottom, corner, depth) for top, bottom, corner, depth in counts]
