"""Sections of a drawing, one per sentence: its trees, their captions, and the marked constituents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oracle.brackets import format_tree
from oracle.lazy import nltk
from oracle.treebank import words
from rnng_dy.drawing.trees import Picture
from rnng_dy.evaluation.evalb_sentence import SentenceScore, Status, score_sentence


class DrawnTree(NamedTuple):
    """A tree to be drawn, and what a model says of it."""

    tree: nltk.Tree
    log_prob: float | None = None
    posteriors: Sequence[float] | None = None
    """Probabilities of its constituents, from the top down and from left to right."""
    line: int = 0
    """1-based line of a file where the tree begins."""


class Section(NamedTuple):
    """A sentence with its pictures."""

    name: str
    """The sentence's number."""
    pictures: Sequence[Picture]
    title: str = ""
    score: SentenceScore | None = None
    """Score by EVALB's rules, if there is a gold tree and the sentence can be scored."""

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"{self.name}: {self.title}" if self.title else self.name

    @property
    def words(self) -> list[str]:
        """The words of the sentence."""
        return words(self.pictures[0].tree) if self.pictures else []

    def captioned(self, numbered: bool) -> Iterator[tuple[str, Picture | None]]:
        """Yield captions with the pictures below them; the first is the heading if there is something to say."""
        heading = self.heading if numbered else self.title
        if heading:
            yield heading, None
        for picture in self.pictures:
            yield picture.caption, picture


def section(number: int, trees: Sequence[DrawnTree]) -> Section:
    """Return a sentence with its trees; equal trees, common among samples, are drawn once and counted."""
    pictures = [
        Picture(found.tree, said, posteriors=found.posteriors) for found, said in _captioned(trees)
    ]
    return Section(str(number), pictures, "" if pictures else "no tree")


def compared(number: int, gold: nltk.Tree, system: nltk.Tree | None) -> Section:
    """Return the gold and the system's tree, marked in both directions; only the system's if every bracket is right.

    Raises InputError, without a line, for a word without a tag.
    """
    name = str(number)
    if system is None:
        return Section(name, [Picture(gold, "gold")], "no tree")
    score = score_sentence(gold, system)
    if score.complete:
        return Section(name, [Picture(system)], "F1 100.00", score)
    pictures = [Picture(gold, "gold", score.missed), Picture(system, "system", score.wrong)]
    if score.status != Status.SCORED:
        return Section(name, pictures, f"not scored: {score.problem}")
    title = f"F1 {score.f1:.2f}, {len(score.wrong)} wrong, {len(score.missed)} missed"
    return Section(name, pictures, title, score)


def _captioned(trees: Sequence[DrawnTree]) -> list[tuple[DrawnTree, str]]:
    """Return the distinct trees with captions: how many are the same, and their log probability."""
    texts = [format_tree(found.tree) for found in trees]
    counts = Counter(texts)
    found = []
    for text, count in counts.most_common():
        first = trees[texts.index(text)]
        said = [f"{count} of {len(trees)}"] if len(counts) < len(trees) else []
        if first.log_prob is not None:
            said.append(f"log probability {first.log_prob:.2f}")
        found.append((first, ", ".join(said)))
    return found
