"""Sections of a drawing, one per sentence: its trees, their captions, and the marked constituents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oracle.brackets import parse_line
from oracle.lazy import nltk
from oracle.parsed import ScoredTree
from oracle.treebank import words
from rnng_dy.drawing.trees import Picture
from rnng_dy.evaluation.evalb_sentence import SentenceScore, Status, score_sentence


class Section(NamedTuple):
    """A sentence with its pictures."""

    name: str
    """The sentence's number."""
    pictures: Sequence[Picture]
    title: str = ""
    score: SentenceScore | None = None
    """Score by EVALB's rules, if there is a gold tree and the sentence can be scored."""

    @property
    def errors(self) -> int | None:
        """Number of wrong and missed brackets; None without a score."""
        return None if self.score is None else len(self.score.wrong) + len(self.score.missed)

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


def section(number: int, trees: Sequence[ScoredTree], scored: bool = True) -> Section:
    """Return a sentence with its trees; equal trees, common among samples, are drawn once and counted.

    Log probabilities are above the trees if `scored` is set.
    """
    if not scored:
        trees = [tree._replace(log_prob=None) for tree in trees]
    pictures = [
        Picture(parse_line(found.tree, any_bytes=True), said, posteriors=found.posteriors)
        for found, said in _captioned(trees)
    ]
    return Section(str(number), pictures, "" if pictures else "no tree")


def compared(number: int, gold: nltk.Tree, trees: Sequence[ScoredTree]) -> list[Section]:
    """Return the gold and the system's tree, marked in both directions; only the system's if every bracket is right.

    There is one section per distinct tree of the system. Raises InputError, without a line, for a word without a tag.
    """
    captioned = _captioned(trees)
    if not captioned:
        return [Section(str(number), [Picture(gold, "gold")], "no tree")]
    names = [f"{number}.{i}" for i in range(1, len(captioned) + 1)]
    if len(names) == 1:
        names = [str(number)]
    return [_compared(name, gold, *of) for name, of in zip(names, captioned, strict=True)]


def _compared(name: str, gold: nltk.Tree, found: ScoredTree, said: str) -> Section:
    system = parse_line(found.tree, any_bytes=True)
    score = score_sentence(gold, system)
    pictures = [
        Picture(gold, "gold", score.missed),
        Picture(system, f"system, {said}" if said else "system", score.wrong, found.posteriors),
    ]
    if score.status != Status.SCORED:
        return Section(name, pictures, f"not scored: {score.problem}")
    if score.complete:
        return Section(name, [pictures[1]._replace(caption=said)], "F1 100.00", score)
    title = f"F1 {score.f1:.2f}, {len(score.wrong)} wrong, {len(score.missed)} missed"
    return Section(name, pictures, title, score)


def _captioned(trees: Sequence[ScoredTree]) -> list[tuple[ScoredTree, str]]:
    """Return the distinct trees with captions: how many are the same, and their log probability."""
    counts = Counter(scored.tree for scored in trees)
    first = {scored.tree: scored for scored in reversed(trees)}
    found = []
    for tree, count in counts.most_common():
        said = [f"{count} of {len(trees)}"] if len(counts) < len(trees) else []
        if first[tree].log_prob is not None:
            said.append(f"log probability {first[tree].log_prob:.2f}")
        found.append((first[tree], ", ".join(said)))
    return found
