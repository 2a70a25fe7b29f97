"""Bracketing scores of corpora by the rules of EVALB (Sekine and Collins, 1997; version of 2008).

This module differs from EVALB in three ways. It has no limits on lines, sentences, words, labels,
quotes or numbers of rules (EVALB cuts or overwrites its memory beyond them), and does not stop at
`MAX_ERROR` errors. It raises `InputError` for faulty input, of which EVALB only warns: a line that
is not one tree, a word without a tag, files of different numbers of lines, a bad parameter file. It
does not print the listings of `DEBUG`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, compress, zip_longest

from oracle import treebank
from oracle.blocks import OracleSentence, counted, read_oracle
from oracle.brackets import is_wordless, parse_line, read_tree_lines
from oracle.common.errors import InputError
from oracle.common.files import WHITE_SPACE, placed, read_lines, reading
from oracle.common.lazy import nltk
from rnng_dy.evaluation.evalb_params import COLLINS, Params
from rnng_dy.evaluation.evalb_sentence import SentenceScore, Status, flatten, percent, score_flat

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scores:
    """The scores of a corpus: sums over its scored sentences; rates in percent, unrounded."""

    per_sentence: tuple[SentenceScore, ...]
    params: Params = COLLINS

    def up_to(self, length: float) -> Scores:
        """Return the scores of the sentences of at most `length` words (EVALB's second block)."""
        return replace(self, per_sentence=tuple(s for s in self.per_sentence if s.length <= length))

    @cached_property
    def scored(self) -> tuple[SentenceScore, ...]:
        """The sentences that count."""
        return tuple(s for s in self.per_sentence if s.status == Status.SCORED)

    @property
    def valid(self) -> int:
        """Number of scored sentences."""
        return len(self.scored)

    @property
    def unscorable(self) -> list[tuple[int, SentenceScore]]:
        """The sentences in error or skipped, each with its 1-based number."""
        return [(i, s) for i, s in enumerate(self.per_sentence, 1) if s.status != Status.SCORED]

    def total(self, count: str) -> int:
        """Return the sum of one count, such as `"matched"`, over the scored sentences."""
        return sum(getattr(s, count) for s in self.scored)

    @property
    def recall(self) -> float:
        """Matched brackets per gold bracket, percent."""
        return percent(self.total("matched"), self.total("gold"))

    @property
    def precision(self) -> float:
        """Matched brackets per system bracket, percent."""
        return percent(self.total("matched"), self.total("system"))

    @property
    def f1(self) -> float:
        """Harmonic mean of recall and precision, percent; 0 if nothing matches."""
        recall, precision = self.recall, self.precision
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def figures(self) -> dict[str, float]:
        """Return the figures of EVALB's summary by name: counts, rates in percent, averages.

        A sentence in error has other words than gold; one that is skipped has no words in the
        system's tree. `average_crossing` is the number of system brackets that cross a gold
        bracket, per scored sentence.
        """
        statuses = [s.status for s in self.per_sentence]
        crossing = [s.crossing for s in self.scored]
        return {
            "sentences": len(statuses),
            "errors": statuses.count(Status.ERROR),
            "skipped": statuses.count(Status.SKIPPED),
            "valid": self.valid,
            "recall": self.recall,
            "precision": self.precision,
            "f1": self.f1,
            "complete_match": percent(self.total("complete"), self.valid),
            "average_crossing": sum(crossing) / self.valid if self.valid else 0.0,
            "no_crossing": percent(crossing.count(0), self.valid),
            "two_or_less_crossing": percent(sum(n <= 2 for n in crossing), self.valid),
            "tagging_accuracy": percent(self.total("correct_tags"), self.total("words")),
        }


def score(
    golds: Iterable[nltk.Tree],
    systems: Iterable[nltk.Tree],
    params: Params = COLLINS,
    gold_tags: bool = False,
    paths: tuple[str, str] = ("gold", "system"),
) -> Scores:
    """Score the trees of a system against gold trees of the same sentences by EVALB's rules.

    Sentences that cannot be scored are counted; EVALB stops after some of them.

    Args:
        golds: The gold trees.
        systems: The system's trees.
        params: EVALB's parameters.
        gold_tags: Whether the system's trees get the gold tags by `with_gold_tags`.
        paths: The names of both in errors.

    Raises:
        InputError: The numbers of trees differ, or a word has no POS tag; the line is the number of
            the sentence.
    """
    scores, counts = [], treebank.WRAPPERS - params.deleted_bracket_labels
    roots: Counter[str] = Counter()
    for line, (gold, system) in enumerate(zip_longest(golds, systems), 1):
        if gold is None or system is None:
            few, many = paths if gold is None else reversed(paths)
            message = f"there is no tree here, and {many} has one; give a tree for each sentence"
            raise InputError(message, few, line)
        with placed(paths[0], line):
            expected = flatten(gold, params)
        with placed(paths[1], line):
            measured = flatten(with_gold_tags(gold, system) if gold_tags else system, params)
        scores.append(score_flat(expected, measured, params))
        if len(gold) and len(system):
            roots.update(counts & ({gold.label()} ^ {system.label()}))
    for label, number in roots.items():
        what = f"only one file has the roots ({label} ...) of {number} trees, which count"
        _log.warning(f"{', '.join(paths)}: {what} as in EVALB: `rnng-dy prepare` takes them off")
    return Scores(tuple(scores), params)


def score_systems(
    gold: str,
    systems: Iterable[str],
    params: Params = COLLINS,
    gold_tags: bool = False,
    oracle: str | None = None,
) -> list[Scores]:
    """Return `score` of the files of several systems, of a tree per line.

    The systems' trees get the words and tags of an oracle, if there is one.
    """
    golds = list(read_one_per_line(gold))
    sentences = None if oracle is None else read_oracle(oracle)
    scores = []
    for path in systems:
        trees = read_one_per_line(path)
        if sentences is not None:
            trees = _with_words_of(sentences, trees, path)
        scores.append(score(golds, trees, params, gold_tags, (gold, path)))
    return scores


def _with_words_of(
    sentences: Sequence[OracleSentence], trees: Iterable[nltk.Tree], path: str
) -> Iterator[nltk.Tree]:
    """Yield the trees, with the words and tags of sentences. Raises InputError if they do not fit.

    All trees decide whether they have tags, since the words of a single one may be only children
    without tags. If the words of all trees are, labels of the oracle's constituents are no tags.
    """
    trees = list(trees)
    if len(trees) != len(sentences):
        raise InputError(f"{len(trees)} trees for the {len(sentences)} of the oracle", path)
    nodes = chain.from_iterable(map(treebank.subtrees, trees))
    tags_or_labels = {node.label() for node in nodes if treebank.is_preterminal(node)}
    tagged = all(map(treebank.has_preterminals, trees))
    tagged = tagged and not tags_or_labels <= {*counted(sentences).nonterminals()}
    for line, (sentence, tree) in enumerate(zip(sentences, trees, strict=True), 1):
        with reading(path, line, "the oracle has other sentences"):
            tags = sentence.tags or [treebank.NO_TAG] * len(sentence.tokens)
            if len(tree) and not sentence.has_words(treebank.words(tree)):
                raise ValueError(f"not the words {' '.join(sentence.tokens)!r:.60}")
            if len(tree) and tagged:
                tree = treebank.copied(tree, word_of=partial(next, iter(sentence.tokens)))
                tree = treebank.with_tags(tree, tags)
            elif len(tree):
                tree = treebank.with_words(tree, sentence.tokens, tags)
        yield tree


def with_gold_tags(gold: nltk.Tree, system: nltk.Tree) -> nltk.Tree:
    """Return the system's tree with the gold tree's tags, so that both lose the same words.

    The system's tree may lack the gold tree's traces. A tree with another number of words is
    returned unchanged.

    >>> gold, system = map(parse_line, ("(S (NN a) (. .))", "(S (NN a) (NN .))"))
    >>> print(with_gold_tags(gold, system))
    (S (NN a) (. .))
    """
    tagged = [node for node in treebank.subtrees(gold) if treebank.is_preterminal(node)]
    number = sum(map(treebank.is_preterminal, treebank.subtrees(system)))
    for nodes in (tagged, [node for node in tagged if not treebank.is_trace(node)]):
        if len(nodes) == number:
            return treebank.with_tags(system, [node.label() for node in nodes])
    return system


def read_one_per_line(path: str) -> Iterator[nltk.Tree]:
    """Yield a file's trees, one per line (`-` is standard input).

    An empty line, and brackets without words such as `(TOP)`, stand for a tree without words.
    If the first tree has several lines, all may have.
    Raises InputError, with file and line, for a line that is not one tree, and for an empty file.
    """
    lines = [*read_lines(path)]
    if not lines:
        raise InputError("the file is empty; give one tree per line", path, 1)
    first = next((text for _, text in lines if text.strip(WHITE_SPACE)), "")
    if first.count("(") > first.count(")"):
        yield from (located.tree for located in read_tree_lines(iter(lines), path))
        return
    for line, text in lines:
        yield nltk.Tree("", []) if is_wordless(text) else parse_line(text, path, line)


def on_common_sentences(systems: Sequence[Scores]) -> list[Scores]:
    """Return the scores of the sentences that every system has scored, which alone compare."""
    rows = zip(*(scores.per_sentence for scores in systems), strict=True)
    kept = [all(s.status == Status.SCORED for s in row) for row in rows]
    return [replace(s, per_sentence=tuple(compress(s.per_sentence, kept))) for s in systems]
