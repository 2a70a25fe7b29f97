"""Sentences, tokens and trees found in raw text, compared with those of the treebank that the text was made from."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

from nltk import Tree

from oracle.brackets import parse_line
from oracle.treebank import copied, is_preterminal, subtrees, tags, words
from rnng_dy import registry
from rnng_dy.evaluation.evalb import score
from rnng_dy.evaluation.evalb_params import COLLINS
from rnng_dy.evaluation.evalb_sentence import read_off
from rnng_dy.text.segmenter import Segmenter
from scripts.raw_text.detokenised import detokenised

COMMAND = [sys.executable, "-m", "rnng_dy"]

Span = tuple[int, int]
Token = tuple[str, Span]
"""A token and its place in the text."""
WAYS = {"one per line": True, "running text": False}
"""Ways to write the text, and whether each sentence has a line."""


class Gold(NamedTuple):
    """Gold trees, their texts, and each tree's tokens with their places in all texts joined by one character."""

    trees: Sequence[Tree]
    texts: Sequence[str]
    sentences: Sequence[tuple[Token, ...]]

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Gold:
        """Make the texts of trees and find their tokens in them."""
        made = [detokenised(words(tree), tags(tree)) for tree in trees]
        begins = accumulate((len(text) + 1 for text, _ in made), initial=0)
        sentences = [
            tuple(zip(words(tree), [(b + begin, e + begin) for b, e in spans], strict=True))
            for tree, (_, spans), begin in zip(trees, made, begins, strict=False)
        ]
        return cls(trees, [text for text, _ in made], sentences)

    def text(self, one_per_line: bool) -> str:
        """Return the whole text."""
        return ("\n" if one_per_line else " ").join(self.texts)


def segmentation_figures(gold: Gold, segmenter: Segmenter) -> dict[str, float]:
    """Return the percentages of sentences and tokens that are found."""
    figures: dict[str, float] = {"sentences": len(gold.trees)}
    for way, one_per_line in WAYS.items():
        found = sentences_of(segmenter, gold.text(one_per_line), one_per_line)
        same = len(set(gold.sentences) & set(found))
        figures[f"{way}: sentences with all tokens right, %"] = 100 * same / len(gold.sentences)
        parts = (gold.sentences, found)
        figures[f"{way}: tokens, F1"] = _f1(*(Counter(chain(*part)) for part in parts))
        bounds = (Counter((s[0][1][0], s[-1][1][1]) for s in part) for part in parts)
        figures[f"{way}: sentences, F1"] = _f1(*bounds)
    return figures


def tree_figures(gold: Gold, model: str) -> dict[str, float]:
    """Return the F1 of trees that `rnng-dy parse` finds in gold tokens and in text, and the time it takes."""
    segmenter = registry.load(model).segmenter
    lines = "\n".join(" ".join(words(tree)) for tree in gold.trees)
    systems, _ = _parsed(model, lines, ["--untagged"])
    figures = {
        "gold tokens: EVALB F1": score(gold.trees, systems).f1,
        "gold tokens: F1 by characters": _tree_f1(gold, systems, gold.sentences),
    }
    for way, one_per_line in WAYS.items():
        text = gold.text(one_per_line)
        options = ["--text", "--max-length", "10000", *(["--one-per-line"] if one_per_line else [])]
        found = sentences_of(segmenter, text, one_per_line)
        from_text, seconds = _parsed(model, text, options)
        tree_of = dict(zip(found, from_text, strict=True))
        same = [i for i, tokens in enumerate(gold.sentences) if tokens in tree_of]
        golds, from_gold = ([trees[i] for i in same] for trees in (gold.trees, systems))
        those = [tree_of[gold.sentences[i]] for i in same]
        figures |= {
            f"{way}: sentences with gold's tokens": len(same),
            f"{way}: EVALB F1 of those": score(golds, those).f1,
            f"{way}: EVALB F1 of those, from gold tokens": score(golds, from_gold).f1,
            f"{way}: F1 by characters, all": _tree_f1(gold, from_text, found),
            f"{way}: sentences per second, start included": len(found) / seconds,
        }
    return figures


def sentences_of(segmenter: Segmenter, text: str, one_per_line: bool) -> list[tuple[Token, ...]]:
    """Return the tokens of each sentence of a text with their places."""
    found = segmenter.sentences(text, one_per_line)
    return [tuple(zip(s.tokens, s.spans, strict=True)) for s in found]


def brackets(tree: Tree, spans: Sequence[Span]) -> Counter[tuple[str, int, int]]:
    """Return the brackets that EVALB counts, from the first character of their first word to the last of their last."""
    numbered = copied(tree)
    for i, node in enumerate(node for node in subtrees(numbered) if is_preterminal(node)):
        node[0] = str(i)
    sentence = read_off(numbered, COLLINS)
    kept = [spans[int(word)] for word in sentence.words]
    return Counter(
        ("ADVP" if COLLINS.same_label(label, "ADVP") else label, kept[begin][0], kept[end - 1][1])
        for label, begin, end in sentence.counted_brackets(COLLINS).values()
    )


def _f1(gold: Counter, found: Counter) -> float:
    return 200 * (gold & found).total() / (gold.total() + found.total())


def _tree_f1(gold: Gold, systems: Sequence[Tree], sentences: Sequence[tuple[Token, ...]]) -> float:
    """Return the F1 of all brackets of all sentences, by characters."""
    counts = Counter(), Counter()
    of_both = ((gold.trees, gold.sentences), (systems, sentences))
    for count, (trees, tokens) in zip(counts, of_both, strict=True):
        for tree, sentence in zip(trees, tokens, strict=True):
            count.update(brackets(tree, [span for _, span in sentence]))
    return _f1(*counts)


def _parsed(model: str, text: str, options: Sequence[str]) -> tuple[list[Tree], float]:
    """Return the trees of a text, and the seconds of the whole command."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "text"), Path(folder, "trees")
        source.write_text(text, encoding="utf-8")
        begin = time.perf_counter()
        arguments = ["parse", "--model", model, *options, str(source), "-o", str(output)]
        subprocess.run([*COMMAND, "--quiet", *arguments], check=True)
        seconds = time.perf_counter() - begin
        lines = output.read_text(encoding="utf-8").splitlines()
    return [parse_line(line, model, number) for number, line in enumerate(lines, 1)], seconds
