"""One sentence by EVALB's rules: what counts, deleted quotes put back, matches, counts.

The rules are EVALB's, including its oddities. The label of a bracket is cut at `-` or `=` but a tag
is not. A word is deleted by its exact tag, but a bracket also by labels equal to its own. A deleted
quote is put back if the other side kept it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from oracle.common.errors import InputError
from oracle.common.lazy import nltk
from rnng_dy.evaluation.evalb_params import COLLINS, Params

QUOTE_WORDS = frozenset("'\"/")
Bracket = tuple[str, int, int]
"""A label, and the words from its first to its last, the end exclusive."""
Brackets = Mapping[int, Bracket]
"""The brackets of a sentence that count, by number."""


class Status(IntEnum):
    """EVALB's status of a sentence."""

    SCORED = 0
    ERROR = 1
    """The words differ from those of the gold tree."""
    SKIPPED = 2
    """The system's tree has no words."""


@dataclass(frozen=True)
class SentenceScore:
    """EVALB's counts of one sentence.

    `length` is the number of gold words without those of `DELETE_LABEL_FOR_LENGTH`; `words` leaves
    out deleted words. `matched` to `crossing` count brackets. Constituents are numbered from 0,
    from the top down.
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
    """The reason why it could not be scored."""
    missed: frozenset[int] = frozenset()
    """Numbers of the gold brackets that the system's tree lacks."""
    wrong: frozenset[int] = frozenset()
    """Numbers of the system's brackets that the gold tree lacks."""

    @property
    def f1(self) -> float:
        """F1 of the brackets in percent; 0 if there are none."""
        return percent(2 * self.matched, self.gold + self.system)

    @property
    def complete(self) -> bool:
        """Whether every bracket of both trees matches."""
        return self.status == Status.SCORED and self.gold == self.system == self.matched


def percent(part: float, whole: int) -> float:
    """Return 100 part / whole in EVALB's order of operations, 0 for an empty whole."""
    return 100.0 * part / whole if whole else 0.0


@dataclass
class Quote:
    """A word that may be a quotation mark or a possessive, whether deleted or kept."""

    word: str
    tag: str
    index: int
    brackets_before: int
    enclosing: list[int]


@dataclass
class FlatTree:
    """A tree as EVALB stores it: words that are kept, and brackets `[label, start, end]`."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    brackets: list[list] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    length: int = 0

    def reinsert(self, number: int) -> None:
        """Put a deleted quote back; the brackets after and around it move with it."""
        quote = self.quotes[number]
        self.words.insert(quote.index, quote.word)
        self.tags.insert(quote.index, quote.tag)
        for bracket in self.brackets[quote.brackets_before :]:
            bracket[1] += 1
            bracket[2] += 1
        for bracket_number in quote.enclosing:
            self.brackets[bracket_number][2] += 1
        for later in self.quotes[number:]:
            later.index += 1

    def counted_brackets(self, params: Params) -> Brackets:
        """Return the brackets that count by number, with labels cut at - or =."""
        counted = {}
        for number, (label, start, end) in enumerate(self.brackets):
            cut = label.partition("-")[0].partition("=")[0]
            if start != end and cut not in params.deleted_bracket_labels:
                counted[number] = (cut, start, end)
        return counted


def flatten(tree: nltk.Tree, params: Params) -> FlatTree:
    """Read a tree as EVALB's `read_line` does. Raises InputError for an untagged word."""
    sentence = FlatTree()
    # a tree may be deeper than Python's stack; a number on the agenda closes the bracket with that
    # number
    agenda: list = [tree]
    while agenda:
        node = agenda.pop()
        if isinstance(node, int):
            sentence.brackets[node][2] = len(sentence.words)
        elif isinstance(node, str):
            raise InputError(f"the word `{node}` has no tag; write it as (TAG {node})")
        elif len(node) == 1 and isinstance(node[0], str):
            word, tag = node[0], node.label()
            sentence.length += tag not in params.delete_label_for_length
            if tag in params.quote_label and word in QUOTE_WORDS:
                enclosing = [item for item in agenda if isinstance(item, int)]
                position = len(sentence.words), len(sentence.brackets)
                sentence.quotes.append(Quote(word, tag, *position, enclosing))
            if tag not in params.delete_label:
                sentence.words.append(word)
                sentence.tags.append(tag)
        else:
            agenda.append(len(sentence.brackets))
            sentence.brackets.append([node.label(), len(sentence.words), 0])
            agenda.extend(reversed(node))
    return sentence


def score_sentence(gold: nltk.Tree, system: nltk.Tree, params: Params = COLLINS) -> SentenceScore:
    """Score one tree; one without words is an empty line. Raises InputError for an untagged word.

    >>> gold = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .))")
    >>> system = nltk.Tree.fromstring("(S (NP (DT the) (NN cat)) (NP (NNS sleeps)) (. .))")
    >>> score = score_sentence(gold, system)
    >>> score.matched, score.gold, score.system, score.correct_tags, score.words
    (2, 3, 3, 2, 3)
    >>> sorted(score.missed), sorted(score.wrong), round(score.f1, 1)
    ([2], [2], 66.7)
    """
    return score_flat(flatten(gold, params), flatten(system, params), params)


def score_flat(gold: FlatTree, system: FlatTree, params: Params) -> SentenceScore:
    """Score two sentences as EVALB's `calc_result` does, putting deleted quotes back into them."""
    length = gold.length
    if not system.words:
        return SentenceScore(Status.SKIPPED, length, problem="No words in the system's tree")
    if len(gold.words) != len(system.words):
        fix_quotes(gold, system, params)
    if len(gold.words) != len(system.words):
        problem = f"Length unmatch ({len(gold.words)}|{len(system.words)})"
        return SentenceScore(Status.ERROR, length, problem=problem)
    for word, other in zip(gold.words, system.words, strict=True):
        if not params.same_word(word, other):
            return SentenceScore(Status.ERROR, length, problem=f"Words unmatch ({word}|{other})")
    golds, systems = gold.counted_brackets(params), system.counted_brackets(params)
    pairs = matches(golds, systems, params)
    return SentenceScore(
        Status.SCORED,
        length,
        matched=len(pairs),
        gold=len(golds),
        system=len(systems),
        crossing=_crossing(golds.values(), systems.values()),
        words=len(gold.words),
        correct_tags=sum(map(params.same_label, gold.tags, system.tags)),
        missed=frozenset(golds.keys() - pairs.keys()),
        wrong=frozenset(systems.keys() - pairs.values()),
    )


def matches(golds: Brackets, systems: Brackets, params: Params) -> dict[int, int]:
    """Return system's brackets by gold's, as numbers; each of gold takes the first free match."""
    free: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, (_, start, end) in systems.items():
        free[start, end].append(number)
    pairs = {}
    for number, (label, start, end) in golds.items():
        for other in free[start, end]:
            if not params.labeled or params.same_label(label, systems[other][0]):
                free[start, end].remove(other)
                pairs[number] = other
                break
    return pairs


def _crossing(golds: Collection[Bracket], systems: Collection[Bracket]) -> int:
    """Count system brackets that overlap some gold bracket without either containing the other."""
    spans = {(start, end) for _, start, end in golds}
    # a bracket with a gold bracket's span crosses none, since gold brackets are nested
    return sum(
        any(a < start < b < end or start < a < end < b for a, b in spans)
        for _, start, end in systems
        if (start, end) not in spans
    )


def fix_quotes(gold: FlatTree, system: FlatTree, params: Params) -> None:
    """Put back a quote that one side deleted and the other kept as a word (EVALB's `fix_quote`).

    A quote is compared at the index it had when its turn came, and one put back may be visited
    again. If several quotes are adjacent, the original's order of steps decides.
    """
    for number, quote in enumerate(system.quotes):
        index, in_system = quote.index, quote.tag not in params.delete_label
        for gold_number, gold_quote in enumerate(gold.quotes):
            if gold_quote.index == index:
                in_gold = gold_quote.tag not in params.delete_label
                if in_system and not in_gold:
                    gold.reinsert(gold_number)
                elif in_gold and not in_system:
                    system.reinsert(number)
