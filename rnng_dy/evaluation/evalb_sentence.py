"""EVALB's reading of one tree: the words that count, the brackets over them, the quotes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from oracle.errors import InputError
from oracle.lazy import nltk
from rnng_dy.evaluation.evalb_params import Params

QUOTE_WORDS = frozenset("'\"/")


@dataclass
class Quote:
    """A word that may be a quotation mark or a possessive, whether deleted or kept."""

    word: str
    tag: str
    index: int
    brackets_before: int
    enclosing: list[int]


@dataclass
class Sentence:
    """A tree as EVALB stores it: the words that are not deleted, and brackets `[label, start, end]` over them."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    brackets: list[list] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    length: int = 0

    def add_word(self, word: str, tag: str, agenda: list, params: Params) -> None:
        """Count, remember or keep one word; the numbers on the agenda are the open brackets."""
        if tag not in params.delete_labels_for_length:
            self.length += 1
        if tag in params.quote_labels and word in QUOTE_WORDS:
            enclosing = [item for item in agenda if isinstance(item, int)]
            quote = Quote(word, tag, len(self.words), len(self.brackets), enclosing)
            self.quotes.append(quote)
        if tag not in params.delete_labels:
            self.words.append(word)
            self.tags.append(tag)

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

    def counted_brackets(self, params: Params) -> dict[int, tuple[str, int, int]]:
        """Return the brackets that count, over some word and with a label not deleted; labels are cut at - or =.

        Their keys are their numbers among all constituents, from the top down.
        """
        counted = {}
        for number, (label, start, end) in enumerate(self.brackets):
            cut = label.partition("-")[0].partition("=")[0]
            if start != end and cut not in params.deleted_bracket_labels:
                counted[number] = (cut, start, end)
        return counted


def read_off(tree: nltk.Tree, params: Params) -> Sentence:
    """Read a tree as EVALB's `read_line` does. Raises InputError, without a line, for an untagged word."""
    sentence = Sentence()
    # a tree may be deeper than Python's stack; a number on the agenda closes the bracket with that number
    agenda: list = [tree]
    while agenda:
        node = agenda.pop()
        if isinstance(node, int):
            sentence.brackets[node][2] = len(sentence.words)
        elif isinstance(node, str):
            raise InputError(f"the word `{node}` has no tag; write it as (TAG {node})")
        elif len(node) == 1 and isinstance(node[0], str):
            sentence.add_word(node[0], node.label(), agenda, params)
        else:
            agenda.append(len(sentence.brackets))
            sentence.brackets.append([node.label(), len(sentence.words), 0])
            agenda.extend(reversed(node))
    return sentence


def matches(
    gold: Sequence[tuple[str, int, int]], system: Sequence[tuple[str, int, int]], params: Params
) -> list[tuple[int, int]]:
    """Return indices in both lists of brackets matched one to one; each gold bracket takes the first free match."""
    free: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, (_, start, end) in enumerate(system):
        free[start, end].append(position)
    found = []
    for i, (label, start, end) in enumerate(gold):
        positions = free.get((start, end), [])
        for k, position in enumerate(positions):
            if not params.labelled or params.same_label(label, system[position][0]):
                del positions[k]
                found.append((i, position))
                break
    return found


def fix_quotes(gold: Sentence, system: Sentence, params: Params) -> None:
    """Put back a quote that one side deleted and the other kept as a word (EVALB's `fix_quote`).

    A quote is compared at the index it had when its turn came, and one put back may be visited again.
    If several quotes are adjacent, the original's order of steps decides.
    """
    for number, quote in enumerate(system.quotes):
        index = quote.index
        for gold_number, gold_quote in enumerate(gold.quotes):
            if gold_quote.index != index:
                continue
            in_gold = gold_quote.tag not in params.delete_labels
            in_system = quote.tag not in params.delete_labels
            if in_system and not in_gold:
                gold.reinsert(gold_number)
            elif in_gold and not in_system:
                system.reinsert(number)
