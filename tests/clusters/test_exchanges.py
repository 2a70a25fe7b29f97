"""Exchanges against the information summed anew, and the clusters and trees after them."""

from itertools import islice, pairwise

import numpy as np
import pytest

from clusters.bigrams import Bigrams, average_mutual_information, count_bigrams
from clusters.brown import SWEEPS, BrownClustering
from clusters.exchanges import Exchanges
from tests.clusters.brute_force import BruteForce, clusters_of, inner_nodes, random_corpus


def small_bigrams(seed: int) -> Bigrams:
    """About 40 types, some of them twice in a row."""
    bigrams = count_bigrams(random_corpus(seed, types=40, tokens=700))
    assert (bigrams.left == bigrams.right).any()
    return bigrams


def random_clusters(bigrams: Bigrams, seed: int, slots: int, empty: int) -> np.ndarray:
    """Each slot but one has words."""
    used = np.delete(np.arange(slots), empty)
    class_of = np.random.default_rng(seed).choice(used, len(bigrams.words))
    class_of[: len(used)] = used
    return class_of


def information_after(
    bigrams: Bigrams, class_of: np.ndarray, word: int, slot: int, within: bool
) -> float:
    """T times the information, summed anew, where a word is in another slot."""
    moved = class_of.copy()
    moved[word] = slot
    total = bigrams.pairs(within)[2].sum()
    return total * average_mutual_information(bigrams, moved, within_sentences=within)


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_gains_are_differences_of_the_information(seed, within):
    bigrams = small_bigrams(seed)
    exchanges = Exchanges(bigrams.pairs(within), random_clusters(bigrams, seed, 6, 2), 6)
    class_of = exchanges.class_of
    # and stay so when words have moved
    for _ in range(2):
        for word, own in enumerate(class_of.tolist()):
            after = [information_after(bigrams, class_of, word, slot, within) for slot in range(6)]
            expected = np.array(after) - after[own]
            assert exchanges.gains(word) == pytest.approx(expected, abs=1e-8)
        exchanges.sweep()
    assert not np.array_equal(class_of, random_clusters(bigrams, seed, 6, 2))


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_sweeps_go_up_to_clusters_that_no_exchange_makes_better(seed, within):
    bigrams = small_bigrams(seed)
    exchanges = Exchanges(bigrams.pairs(within), random_clusters(bigrams, seed, 6, 2), 6)
    class_of = exchanges.class_of
    reached = [information_after(bigrams, class_of, 0, class_of[0], within)]
    moved = 1
    while moved:
        before = class_of.copy()
        moved = exchanges.sweep()
        assert (moved > 0) == (not np.array_equal(before, class_of))
        reached.append(information_after(bigrams, class_of, 0, class_of[0], within))
    assert len(reached) >= 4
    assert all(after > before for before, after in pairwise(reached[:-1]))
    assert reached[-1] == reached[-2] > reached[0] + 1
    sizes = np.bincount(class_of, minlength=6)
    assert np.flatnonzero(sizes == 0).tolist() == [2]
    for word, own in enumerate(class_of.tolist()):
        if sizes[own] > 1:
            others = [slot for slot in range(6) if slot not in (own, 2)]
            best = max(information_after(bigrams, class_of, word, s, within) for s in others)
            assert best <= reached[-1] + 1e-8


def test_a_sweep_takes_the_best_move_of_each_word_in_turn():
    bigrams = small_bigrams(4)
    class_of = random_clusters(bigrams, 4, 5, 4)
    exchanges = Exchanges(bigrams.pairs(False), class_of.copy(), 5)
    exchanges.sweep()
    for word in range(len(bigrams.words)):
        if np.count_nonzero(class_of == class_of[word]) > 1:
            after = [information_after(bigrams, class_of, word, s, False) for s in range(4)]
            if max(after) > after[class_of[word]] + 1e-8:
                class_of[word] = np.argmax(after)
    assert np.array_equal(exchanges.class_of, class_of)


def test_the_last_word_of_a_cluster_stays():
    # a and b have the same neighbours: together they would tell no less
    bigrams = count_bigrams([["a", "x"], ["b", "x"]] * 3)
    assert Exchanges(bigrams.pairs(True), np.arange(3), 3).sweep() == 0


def test_of_equal_gains_the_cluster_of_the_earliest_word_is_chosen():
    # d is among words that y follows, x follows it; x follows a and c too, which are apart
    lines = [*[f"{word} y ." for word in "bbee"], "a x .", "c x .", "d x ."]
    bigrams = count_bigrams([line.split() for line in [*lines, *lines[:-1]]])
    words = bigrams.words
    assert words == [".", "y", "x", "b", "e", "a", "c", "d"]
    slot_of = {"b": 0, "e": 0, "d": 0, "c": 1, "a": 2, "y": 3, "x": 4, ".": 5}
    exchanges = Exchanges(bigrams.pairs(False), np.array([slot_of[word] for word in words]), 6)
    gains = exchanges.gains(words.index("d"))
    assert gains[1] == pytest.approx(gains[2])
    assert gains[1] > 1
    assert exchanges.sweep() == 1
    assert exchanges.class_of[words.index("d")] == slot_of["a"]


def test_without_pairs_nothing_moves():
    bigrams = count_bigrams([["a"], ["b"], ["c"]])
    exchanges = Exchanges(bigrams.pairs(True), np.array([0, 0, 1]), 2)
    assert (exchanges.sweep(), exchanges.class_of.tolist()) == (0, [0, 0, 1])


def refined(bigrams: Bigrams, classes: int, **options) -> BrownClustering:
    return BrownClustering(bigrams, classes, refine=True, **options).run()


@pytest.mark.parametrize("within_sentences", [False, True])
def test_a_refined_clustering_tells_more_and_its_tree_is_a_tree_of_its_clusters(within_sentences):
    bigrams = count_bigrams(random_corpus(5, types=110, tokens=1500))
    plain = BrownClustering(bigrams, 20, within_sentences=within_sentences).run()
    better = refined(bigrams, 20, within_sentences=within_sentences)
    one, other = (
        average_mutual_information(bigrams, c.class_of, within_sentences=within_sentences)
        for c in (plain, better)
    )
    assert other > one + 0.002
    pairs = set(zip(better.paths(), better.class_of.tolist(), strict=True))
    leaves = sorted({path for path, _ in pairs})
    assert len(pairs) == len(leaves) == 20
    # no leaf is above another, and every inner node has two branches
    assert sum(2.0 ** -len(leaf) for leaf in leaves) == 1
    assert not any(b.startswith(a) for a, b in pairwise(leaves))
    counts = zip(bigrams.words, bigrams.counts.tolist(), strict=True)
    assert {entry.word: entry.count for entry in better.entries()} == dict(counts)


@pytest.mark.parametrize("seed", range(3))
def test_the_tree_of_refined_clusters_merges_what_brute_force_merges(seed):
    sentences = random_corpus(seed, types=25, tokens=400)
    clustering = refined(count_bigrams(sentences), 8)
    expected = BruteForce(sentences, 8)
    assert clusters_of(clustering) != expected.found
    expected.clusters = clusters_of(clustering)
    assert inner_nodes(clustering) == sorted([expected.merge_best() for _ in range(7)])


def test_frequent_words_are_exchanged_and_then_rare_ones_join():
    sentences = random_corpus(6, types=120, tokens=900)
    bigrams = count_bigrams(sentences)
    frequent = int((bigrams.counts >= 8).sum())
    before = BrownClustering(bigrams, 8)
    for _ in islice(before.steps(), frequent):
        pass
    class_of = before.class_of[:frequent].copy()
    exchanges = Exchanges(bigrams.pairs(False), class_of, 9)
    assert sum(exchanges.sweep() for _ in range(SWEEPS)) > 0

    expected = BruteForce(sentences, 8)
    clusters = [tuple(np.array(bigrams.words[:frequent])[class_of == s]) for s in set(class_of)]
    clusters.sort(key=lambda cluster: bigrams.words.index(cluster[0]))
    for word in bigrams.words[frequent:]:
        joined = [[*clusters[:i], (*c, word), *clusters[i + 1 :]] for i, c in enumerate(clusters)]
        # of ties the cluster with the earliest word
        clusters = max(joined, key=lambda clusters: round(expected.information(clusters), 10))
    assert clusters_of(refined(bigrams, 8, min_count=8)) == sorted(clusters)
