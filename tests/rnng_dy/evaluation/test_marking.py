"""Wrong and missed constituents."""

from __future__ import annotations

from itertools import count

from oracle.brackets import parse_line
from oracle.treebank import copied, is_preterminal
from rnng_dy.evaluation.evalb import SKIPPED
from rnng_dy.evaluation.evalb_params import COLLINS
from rnng_dy.evaluation.evalb_sentence import read_off
from rnng_dy.evaluation.marking import mark


def marks(gold, system):
    found = mark(parse_line(gold), parse_line(system))
    return sorted(found.missed), sorted(found.wrong)


def test_a_constituent_of_another_label_or_span_is_marked_in_both_trees():
    # numbered from the top down: S 0, NP 1, VP 2, NP 3
    gold = "(S (NP (DT a)) (VP (V b) (NP (N c) (N d))))"
    assert marks(gold, gold) == ([], [])
    assert marks(gold, "(S (PP (DT a)) (VP (V b) (NP (N c) (N d))))") == ([1], [1])
    assert marks(gold, "(S (NP (DT a)) (VP (V b) (NP (N c)) (N d)))") == ([3], [3])
    assert marks(gold, "(S (NP (DT a)) (V b) (N c) (N d))") == ([2, 3], [])


def test_of_two_equal_ones_over_the_same_words_one_is_wrong():
    gold, twice = "(S (NP (N a)) (V b))", "(S (NP (NP (N a))) (V b))"
    assert marks(gold, twice) == ([], [2])
    assert marks(twice, gold) == ([2], [])


def test_what_does_not_count_is_not_marked():
    """TOP and punctuation are deleted by EVALB, PRT equals ADVP, function tags are cut."""
    gold = "(TOP (S (NP-SBJ (N a)) (PRT (R b)) (. .)))"
    assert marks(gold, "(S (NP (N a)) (ADVP (R b) (. .)))") == ([], [])


def test_nothing_is_marked_in_trees_that_cannot_be_scored():
    found = mark(parse_line("(S (N a) (N b))"), parse_line("(S (. .) (. .))"))
    assert (found.score.status, found.missed, found.wrong) == (SKIPPED, frozenset(), frozenset())


def without_constituent(tree, number):
    """A copy in which the children of the constituent with this number stand in its place."""
    copy, found = copied(tree), -1
    agenda = [(None, copy)]
    while agenda:
        parent, node = agenda.pop()
        if isinstance(node, str) or is_preterminal(node):
            continue
        found += 1
        if found == number:
            place = next(i for i, child in enumerate(parent) if child is node)
            parent[place : place + 1] = list(node)
            return copy
        agenda.extend((node, child) for child in reversed(node))
    return None


def test_the_constituent_that_is_taken_out_is_the_one_that_is_missed(trees):
    checked = 0
    for located in trees[:20]:
        gold = located.tree
        for number in count(1):
            system = without_constituent(gold, number)
            if system is None:
                break
            [missed], wrong = marks(str(gold), str(system))
            label, *span = read_off(gold, COLLINS).brackets[number]
            assert read_off(gold, COLLINS).brackets[missed] == [label, *span]
            assert wrong == []
            checked += 1
    assert checked > 100
