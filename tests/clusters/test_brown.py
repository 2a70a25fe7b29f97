"""The algorithm against one that recomputes the mutual information of every merge from scratch."""

from itertools import islice

import numpy as np
import pytest

from clusters.bigrams import count_bigrams
from clusters.brown import BrownClustering, brown_clusters
from clusters.files import ClusteredWord
from clusters.merge_tables import MergeTables
from oracle.common.errors import RnngError
from oracle.unknown import RULES, unknown_classes
from tests.clusters.brute_force import BruteForce, clusters_of, inner_nodes, random_corpus


@pytest.mark.parametrize("classes", [2, 3, 6, 12])
@pytest.mark.parametrize("seed", range(6))
def test_merges_are_those_of_brute_force(seed, classes):
    sentences = random_corpus(seed, types=25, tokens=60 + 40 * seed)
    clustering = BrownClustering(count_bigrams(sentences), classes).run()
    expected = BruteForce(sentences, classes)
    assert clusters_of(clustering) == expected.found
    assert inner_nodes(clustering) == sorted(expected.tree)


def test_losses_stay_those_of_the_definition_through_many_merges():
    clustering = BrownClustering(count_bigrams(random_corpus(7, types=300, tokens=6000)), 12)
    for _ in islice(clustering.steps(), 200):
        pass
    tables = clustering._tables
    fresh = MergeTables(tables.slots)
    counts = tables.contexts
    # entered one by one, in another order than the words came
    for slot in reversed(np.flatnonzero(tables._active)):
        seen = np.append(np.flatnonzero(fresh._active), slot)
        right, left = np.zeros(tables.slots), np.zeros(tables.slots)
        right[seen], left[seen] = counts[seen, slot], counts[tables.slots + seen, slot]
        fresh.add(slot, tables._size[slot], right, left)
    expected, found = fresh.losses(), tables.losses()
    assert np.array_equal(np.isinf(expected), np.isinf(found))
    pairs = np.isfinite(expected)
    assert pairs.sum() == 12 * 11
    assert found[pairs] == pytest.approx(expected[pairs], abs=1e-8)
    assert (found[pairs] > 0).all()


def test_of_merges_that_lose_the_same_the_earliest_words_go_first():
    # a, b, c and d have the same contexts: every merge of two of them loses nothing
    sentences = [[word, "x"] for word in "abcd"]
    clustering = BrownClustering(count_bigrams(sentences), 3, within_sentences=True).run()
    assert clusters_of(clustering) == [("a", "b", "c"), ("d",), ("x",)]
    # in the tree they come together before x, which has other contexts; d is older than a merge
    assert clustering.words == ["x", "a", "b", "c", "d"]
    assert clustering.paths() == ["0", "11", "11", "11", "10"]


def test_words_come_by_frequency_then_by_first_occurrence():
    assert count_bigrams([["b", "c", "a"], ["a", "d"]]).words == ["a", "b", "c", "d"]


def test_of_two_merged_words_the_earlier_is_0():
    entries = brown_clusters([["b", "a", "b"]], 2)
    assert entries == [ClusteredWord("0", "b", 2), ClusteredWord("1", "a", 1)]


def test_classes_are_the_square_root_of_the_vocabulary():
    bigrams = count_bigrams([[f"w{i}" for i in range(90)]])
    assert BrownClustering(bigrams).classes == 9
    assert len({entry.path for entry in brown_clusters([bigrams.words])}) == 9


def test_more_classes_than_words_gives_each_word_its_own():
    assert len({entry.path for entry in brown_clusters([["a", "b", "a", "c"]], 50)}) == 3


@pytest.mark.parametrize("sentences", [[["a", "b", "a"]], [["a"]]])
def test_one_class_still_has_a_path(sentences):
    assert {entry.path for entry in brown_clusters(sentences, 1)} == {"0"}


def test_rules_are_those_whose_classes_the_corpus_shows():
    entries = brown_clusters([["a", "UNK-ed", "b", "UNK-LC"]], 2)
    assert {*unknown_classes("berkeley-unicode")} == {entry.word for entry in entries} - {"a", "b"}


def test_classes_are_those_of_the_rules():
    corpus = [["a", "UNK-LC-s", "b"]]
    by_rules = {rules: brown_clusters(corpus, 2, rules) for rules in (None, *RULES[:2])}
    assert by_rules[None] == by_rules["berkeley"]
    for rules in RULES[:2]:
        assert {*unknown_classes(rules)} == {entry.word for entry in by_rules[rules]} - {"a", "b"}
    assert len(brown_clusters([["a", "b"]], 2, "berkeley-unicode")) == 2


def test_an_empty_corpus_is_an_error():
    with pytest.raises(RnngError, match="the corpus is empty"):
        brown_clusters([])


def test_a_min_count_that_no_word_reaches_is_an_error():
    with pytest.raises(RnngError, match="no word occurs 3 times"):
        BrownClustering(count_bigrams([["a", "b", "a"]]), 2, min_count=3)


def test_rare_words_only_join_and_never_change_the_clusters_of_frequent_ones():
    bigrams = count_bigrams(random_corpus(6, types=120, tokens=900))
    frequent = int((bigrams.counts >= 8).sum())
    assert 16 < frequent < len(bigrams.words) - 40
    before = BrownClustering(bigrams, 8)
    for _ in islice(before.steps(), frequent):
        pass
    after = BrownClustering(bigrams, 8, min_count=8).run()
    _, expected = np.unique(before.class_of[:frequent], return_inverse=True)
    # slots may differ, clusters not
    pairs = set(zip(expected.tolist(), after.class_of[:frequent].tolist(), strict=True))
    assert len(pairs) == len(set(expected.tolist())) == len(set(after.class_of.tolist())) == 8
    assert clusters_of(BrownClustering(bigrams, 8).run()) != clusters_of(after)


def test_pairs_across_sentences_count_unless_told_otherwise():
    # sentences alternate: between them, "end" is always followed by "begin"
    sentences = [["begin", "x", "end"], ["begin", "y", "end"]] * 5
    bigrams = count_bigrams(sentences)
    joined = [[word for sentence in sentences for word in sentence]]
    running = BrownClustering(bigrams, 2).run()
    within = BrownClustering(bigrams, 2, within_sentences=True).run()
    one_line = BrownClustering(count_bigrams(joined), 2, within_sentences=True).run()
    assert clusters_of(running) == clusters_of(one_line) != clusters_of(within)
