"""The reference program's clusters: the same if equally frequent words are in its order."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from clusters.bigrams import Bigrams, average_mutual_information, count_bigrams
from clusters.brown import BrownClustering, brown_clusters
from clusters.files import read_clusters
from oracle.corpora import NltkSample
from oracle.treebank import clean, is_preterminal, words
from oracle.unknown import UnknownWords, known_words

MASK = (1 << 64) - 1


def city_hash(word: int) -> int:
    """CityHash64 (version 1.0) of a 4-byte integer."""
    multiplier = 0x9DDFEA08EB382D69
    low, high = 4 + (word << 3), word
    a = (low ^ high) * multiplier & MASK
    a ^= a >> 47
    b = (high ^ a) * multiplier & MASK
    b ^= b >> 47
    return b * multiplier & MASK


def hash_map_order(keys: Iterable[int]) -> list[int]:
    """How libstdc++'s unordered_map goes through keys that are inserted in order."""
    primes = iter([13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753])
    size, buckets = next(primes), {}
    for count, key in enumerate(keys):
        if count == size:
            size, old, buckets = next(primes), listed(buckets), {}
            for moved in old:
                buckets.setdefault(city_hash(moved) % size, []).append(moved)
        buckets.setdefault(city_hash(key) % size, []).append(key)
    return listed(buckets)


def listed(buckets: dict[int, list[int]]) -> list[int]:
    """New buckets come first in the list of all nodes, new nodes first in their bucket."""
    return [key for bucket in reversed(buckets.values()) for key in reversed(bucket)]


def introsort(items: list[int], counts: list[int]) -> None:
    """libstdc++'s std::sort by falling count; what it does with equal ones is its own affair."""

    def before(one: int, other: int) -> bool:
        return counts[one] > counts[other]

    def median(a: int, b: int, c: int) -> int:
        if before(items[a], items[b]):
            smaller, larger = a, b
        else:
            smaller, larger = b, a
        if before(items[larger], items[c]):
            return larger
        return c if before(items[smaller], items[c]) else smaller

    def partition(first: int, last: int) -> int:
        chosen = median(first + 1, first + (last - first) // 2, last - 1)
        items[first], items[chosen] = items[chosen], items[first]
        low, high = first + 1, last
        while True:
            while before(items[low], items[first]):
                low += 1
            high -= 1
            while before(items[first], items[high]):
                high -= 1
            if low >= high:
                return low
            items[low], items[high] = items[high], items[low]
            low += 1

    def split(first: int, last: int, depth: int) -> None:
        while last - first > 16:
            assert depth, "std::sort would change to a heap sort"
            depth -= 1
            cut = partition(first, last)
            split(cut, last, depth)
            last = cut

    split(0, len(items), 2 * len(items).bit_length() - 2)
    # insertion sort is stable
    items.sort(key=lambda item: -counts[item])


def in_order_of_wcluster(bigrams: Bigrams, sentences: list[list[str]]) -> Bigrams:
    """The same counts with the words ranked as wcluster sorts them."""
    first_occurrence = list(dict.fromkeys(word for sentence in sentences for word in sentence))
    count_of = dict(zip(bigrams.words, bigrams.counts.tolist(), strict=True))
    phrases = [first_occurrence[i] for i in hash_map_order(range(len(first_occurrence)))]
    order = list(range(len(phrases)))
    introsort(order, [count_of[phrase] for phrase in phrases])
    rank = {word: i for i, word in enumerate(bigrams.words)}
    old = np.array([rank[phrases[i]] for i in order])
    new = np.empty_like(old)
    new[old] = np.arange(len(old))
    return replace(
        bigrams,
        words=[phrases[i] for i in order],
        counts=bigrams.counts[old],
        left=new[bigrams.left],
        right=new[bigrams.right],
    )


@pytest.fixture(scope="module")
def terminals(shared) -> list[list[str]]:
    text = (shared / "clab_reference" / "train.terminals").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines()]


@pytest.fixture(scope="module")
def nltk_terminals(shared) -> list[list[str]]:
    """The unkified words of files 1 to 159 of NLTK's sample of the Penn Treebank."""
    nltk_data = pytest.importorskip("nltk.data")
    path, nltk_data.path[:] = list(nltk_data.path), [str(shared / "nltk_data")]
    try:
        trees = [clean(located.tree) for located in NltkSample().read(sections="1-159")]
    finally:
        nltk_data.path[:] = path
    sentences = [words(tree) for tree in trees if tree and not is_preterminal(tree)]
    unknown_words = UnknownWords("berkeley", known_words(sentences))
    return [unknown_words.unkify(sentence) for sentence in sentences]


CORPORA = [("terminals", "clusters.paths", 25), ("nltk_terminals", "nltk.c140.paths", 140)]


@pytest.fixture(params=CORPORA, ids=lambda corpus: corpus[1])
def reference(request, shared):
    """Sentences, what wcluster made of them, the number of clusters."""
    corpus, name, classes = request.param
    return request.getfixturevalue(corpus), read_clusters(shared / "clab_reference" / name), classes


def test_the_whole_tree_is_wclusters_in_its_order_of_equal_frequencies(reference):
    sentences, entries, classes = reference
    bigrams = count_bigrams(sentences)
    ours = BrownClustering(in_order_of_wcluster(bigrams, sentences), classes).run()
    assert sorted(ours.entries()) == sorted(entries)


# of the large corpus one way is enough
BOTH_WAYS = [(CORPORA[0], False), (CORPORA[0], True), (CORPORA[1], False)]


@pytest.mark.parametrize(("reference", "within_sentences"), BOTH_WAYS, indirect=["reference"])
def test_clusters_are_as_informative_as_wclusters(reference, within_sentences):
    sentences, entries, classes = reference
    bigrams = count_bigrams(sentences)
    path_of = {entry.word: entry.path for entry in entries}
    _, theirs = np.unique([path_of[word] for word in bigrams.words], return_inverse=True)
    ours = BrownClustering(bigrams, classes, within_sentences=within_sentences).run()
    information = average_mutual_information(bigrams, ours.class_of)
    assert information >= average_mutual_information(bigrams, theirs)


@pytest.mark.parametrize(("reference", "reordered"), BOTH_WAYS, indirect=["reference"])
def test_refined_clusters_are_more_informative_than_wclusters_in_either_order(reference, reordered):
    sentences, entries, classes = reference
    bigrams = count_bigrams(sentences)
    path_of = {entry.word: entry.path for entry in entries}
    _, theirs = np.unique([path_of[word] for word in bigrams.words], return_inverse=True)
    information = average_mutual_information(bigrams, theirs)
    if reordered:
        bigrams = in_order_of_wcluster(bigrams, sentences)
    refined = BrownClustering(bigrams, classes, refine=True).run()
    assert len(set(refined.paths())) == classes
    # the order of equal frequencies makes less of a difference
    assert average_mutual_information(bigrams, refined.class_of) > information + 0.01


@pytest.mark.parametrize(("name", "nats"), [("clusters", 0.72669), ("nltk.c140", 1.29654)])
def test_information_is_measured_as_the_reference_says(request, shared, name, nats):
    corpus = next(corpus for corpus, file, _ in CORPORA if file == f"{name}.paths")
    bigrams = count_bigrams(request.getfixturevalue(corpus))
    path_of = {e.word: e.path for e in read_clusters(shared / "clab_reference" / f"{name}.paths")}
    _, classes = np.unique([path_of[word] for word in bigrams.words], return_inverse=True)
    assert average_mutual_information(bigrams, classes) == pytest.approx(nats, abs=5e-6)


def test_a_training_corpus_gets_clusters_for_its_words_and_for_all_classes(terminals):
    entries = brown_clusters(terminals)
    names = {entry.word for entry in entries}
    assert {word for sentence in terminals for word in sentence} < names
    assert {"UNK-LC-ity", "UNK-CAPS-NUM-DASH-s", "UNK-INITC-KNOWNLC-est"} < names
    assert len({entry.path for entry in entries}) == 35
