"""Labelled bracketing scores by the rules of EVALB (Sekine and Collins, 1997; version of 2008).

The rules are EVALB's, including its oddities. The label of a bracket is cut at `-` or `=` but a tag is not. A word is
deleted by its exact tag, but a bracket also by labels equal to its own. A deleted quote is put back if the other side
kept it. This module differs from EVALB in three ways. It has no limits on lines, sentences, words, labels, quotes or
numbers of rules (EVALB cuts or overwrites its memory beyond them). It raises `InputError` for faulty input, of which
EVALB only warns: a line that is not one tree, a word without a tag, files of different numbers of lines, a bad
parameter file. It does not print the listings of `DEBUG`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from itertools import compress, zip_longest
from typing import Any

from oracle.errors import InputError
from oracle.lazy import nltk
from rnng_dy.evaluation.evalb_params import COLLINS, Params
from rnng_dy.evaluation.evalb_sentence import Sentence, fix_quotes, matches, read_off


class Status(IntEnum):
    """EVALB's status of a sentence."""

    SCORED = 0
    ERROR = 1
    """The words differ from those of the gold tree."""
    SKIPPED = 2
    """The system's tree has no words."""


SCORED, ERROR, SKIPPED = Status
Bracket = tuple[str, int]
"""The label and the number of words of a bracket; labels that are equal have one name."""
BINS = 10
"""Bins of posteriors, of equal width."""


@dataclass(frozen=True)
class SentenceScore:
    """EVALB's counts of one sentence.

    `problem` says why it could not be scored. `length` is the number of gold words without those of
    `DELETE_LABEL_FOR_LENGTH`; `words` leaves out deleted words. `matched` to `crossing` count brackets.
    """

    status: Status
    length: int
    matched: int = 0
    gold: int = 0
    system: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    problem: str = ""
    rated: tuple[tuple[float, bool], ...] = ()
    """The posterior of each system bracket that counts, if it has one, and whether it matches."""
    kinds: tuple[Counter[Bracket], ...] = ()
    """The gold brackets, the system's, and the matched ones."""

    @property
    def f1(self) -> float:
        """F1 of the brackets in percent; 0 if there are none."""
        return percent(2 * self.matched, self.gold + self.system)

    @property
    def wrong(self) -> int:
        """The number of wrong and missing brackets."""
        return self.gold + self.system - 2 * self.matched

    @property
    def complete(self) -> bool:
        """Whether every bracket of both trees matches."""
        return self.status == SCORED and self.gold == self.system == self.matched


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
        return tuple(s for s in self.per_sentence if s.status == SCORED)

    @property
    def sentences(self) -> int:
        """Number of sentences, including unscorable ones."""
        return len(self.per_sentence)

    @property
    def errors(self) -> int:
        """Number of sentences whose words differ from gold."""
        return sum(s.status == ERROR for s in self.per_sentence)

    @property
    def skipped(self) -> int:
        """Number of sentences without words in the system's tree."""
        return sum(s.status == SKIPPED for s in self.per_sentence)

    @property
    def valid(self) -> int:
        """Number of scored sentences."""
        return len(self.scored)

    @property
    def unscorable(self) -> tuple[tuple[int, SentenceScore], ...]:
        """The sentences in error or skipped, each with its 1-based number."""
        return tuple((i, s) for i, s in enumerate(self.per_sentence, 1) if s.status != SCORED)

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

    @property
    def complete_match(self) -> float:
        """Scored sentences in which every bracket matches, percent."""
        return percent(self.total("complete"), self.valid)

    @property
    def average_crossing(self) -> float:
        """System brackets that cross a gold bracket, per scored sentence."""
        return self.total("crossing") / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Scored sentences without a crossing bracket, percent."""
        return percent(sum(s.crossing == 0 for s in self.scored), self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Scored sentences with at most two crossing brackets, percent."""
        return percent(sum(s.crossing <= 2 for s in self.scored), self.valid)

    @property
    def tagging_accuracy(self) -> float:
        """Words with the gold tag, percent of the words that are not deleted."""
        return percent(self.total("correct_tags"), self.total("words"))

    @property
    def calibration_error(self) -> float:
        """Expected calibration error of the system's brackets, percent; 0 without posteriors.

        It is the mean difference, over brackets, between the mean posterior and the precision of the brackets with
        similar posteriors, in ten bins of equal width (Guo et al. 2017).
        """
        bins: dict[int, list[float]] = defaultdict(list)
        for s in self.scored:
            for posterior, is_right in s.rated:
                bins[min(int(posterior * BINS), BINS - 1)].append(posterior - is_right)
        surplus = [abs(sum(of_bin)) for of_bin in bins.values()]
        return percent(sum(surplus), sum(map(len, bins.values())))


def percent(part: float, whole: int) -> float:
    """Return 100 part / whole in EVALB's order of operations, 0 for an empty whole."""
    return 100.0 * part / whole if whole else 0.0


def _crossing(gold: list[Any], system: list[Any], words: int) -> int:
    """Count system brackets that overlap some gold bracket without either containing the other."""
    spans = {(start, end) for _, start, end in gold}
    first_start = list(range(words + 1))
    last_end = list(range(words + 1))
    for start, end in spans:
        first_start[end] = min(first_start[end], start)
        last_end[start] = max(last_end[start], end)
    # a bracket with a gold bracket's span crosses none, since gold brackets are nested
    return sum(
        min(first_start[start + 1 : end]) < start or max(last_end[start + 1 : end]) > end
        for _, start, end in system
        if end - start > 1 and (start, end) not in spans
    )


def score_read_off(
    gold: Sentence, system: Sentence, params: Params, posteriors: Sequence[float] | None = None
) -> SentenceScore:
    """Score two sentences as EVALB's `calc_result` does, putting deleted quotes back into them.

    `posteriors` are those of the system's constituents, from the top down.
    """
    length = gold.length
    if not system.words:
        return SentenceScore(SKIPPED, length, problem="No words in the system's tree")
    if len(gold.words) != len(system.words):
        fix_quotes(gold, system, params)
    if len(gold.words) != len(system.words):
        problem = f"Length unmatch ({len(gold.words)}|{len(system.words)})"
        return SentenceScore(ERROR, length, problem=problem)
    for word, other in zip(gold.words, system.words, strict=True):
        if not params.same_word(word, other):
            return SentenceScore(ERROR, length, problem=f"Words unmatch ({word}|{other})")
    gold_brackets = list(gold.counted_brackets(params).values())
    numbered = system.counted_brackets(params)
    system_brackets = list(numbered.values())
    matched = matches(gold_brackets, system_brackets, params)
    parts = gold_brackets, system_brackets, [gold_brackets[i] for i, _ in matched]
    right = {position for _, position in matched}
    words = len(gold.words)
    return SentenceScore(
        SCORED,
        length,
        matched=len(matched),
        gold=len(gold_brackets),
        system=len(system_brackets),
        crossing=_crossing(gold_brackets, system_brackets, words),
        words=words,
        correct_tags=sum(map(params.same_label, gold.tags, system.tags)),
        rated=tuple(
            (posteriors[number], position in right)
            for position, number in enumerate(numbered if posteriors else ())
        ),
        kinds=tuple(
            Counter((params.canonical(label), end - start) for label, start, end in part)
            for part in parts
        ),
    )


def score_sentence(gold: nltk.Tree, system: nltk.Tree, params: Params = COLLINS) -> SentenceScore:
    """Score one tree; a tree without words stands for an empty line. Raises InputError for a word without a tag.

    >>> gold = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .))")
    >>> system = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (NP (NNS sleeps)) (. .))")
    >>> score = score_sentence(gold, system)
    >>> score.matched, score.gold, score.system, score.correct_tags, score.words
    (2, 3, 3, 2, 3)
    """
    return score_read_off(read_off(gold, params), read_off(system, params), params)


def score(
    golds: Iterable[nltk.Tree], systems: Iterable[nltk.Tree], params: Params = COLLINS
) -> Scores:
    """Score the trees of a system against gold trees of the same sentences by EVALB's rules.

    Sentences that cannot be scored are counted; EVALB stops after some of them. Raises InputError if the numbers of
    trees differ, or a word has no POS tag.
    """
    sentences = []
    for number, (gold, system) in enumerate(zip_longest(golds, systems), 1):
        if gold is None or system is None:
            few, many = ("gold", "system") if gold is None else ("system", "gold")
            message = f"sentence {number} has a {many} tree but no {few} tree; give one for each"
            raise InputError(message)
        sentences.append(score_sentence(gold, system, params))
    return Scores(tuple(sentences), params)


def on_common_sentences(systems: Sequence[Scores]) -> list[Scores]:
    """Return the scores of the sentences that every system has scored; other figures are not comparable."""
    rows = zip(*(of.per_sentence for of in systems), strict=True)
    kept = [all(s.status == SCORED for s in row) for row in rows]
    return [replace(of, per_sentence=tuple(compress(of.per_sentence, kept))) for of in systems]


def summed(systems: Sequence[Scores]) -> Scores:
    """Return scores with, per sentence, the sums of the bracket counts of several systems (or seeds).

    Only sentences that all systems have scored may be given.
    """
    counts = ("matched", "gold", "system")
    return Scores(
        tuple(
            replace(of[0], **{name: sum(getattr(s, name) for s in of) for name in counts})
            for of in zip(*(system.per_sentence for system in systems), strict=True)
        )
    )
