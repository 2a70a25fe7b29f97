"""Counting in chunks is counting."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusters import bigrams as counting
from clusters.bigrams import Bigrams, average_mutual_information, count_bigrams

SENTENCES = st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=6), max_size=20)


def pairs_of(bigrams: Bigrams) -> Counter:
    """(left, right, inside) -> count."""
    keys = zip(bigrams.left.tolist(), bigrams.right.tolist(), bigrams.inside.tolist(), strict=True)
    counts = bigrams.pair_counts.tolist()
    found = Counter()
    for (left, right, inside), count in zip(keys, counts, strict=True):
        found[bigrams.words[left], bigrams.words[right], inside] += count
    assert len(found) == len(counts)
    return found


def expected_pairs(sentences: list[list[str]]) -> Counter:
    pairs = Counter()
    for sentence in sentences:
        pairs.update((a, b, True) for a, b in pairwise(sentence))
    for one, other in pairwise(sentences):
        pairs[one[-1], other[0], False] += 1
    return pairs


@settings(deadline=None)
@given(SENTENCES, st.integers(1, 12))
def test_counts_do_not_depend_on_chunks(sentences, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_PART", chunk)
        bigrams = count_bigrams(sentences)
    words = [word for sentence in sentences for word in sentence]
    by_rank = sorted(Counter(words).items(), key=lambda item: -item[1])
    assert list(zip(bigrams.words, bigrams.counts.tolist(), strict=True)) == by_rank
    assert pairs_of(bigrams) == expected_pairs(sentences)
    assert (bigrams.sentences, bigrams.tokens) == (len(sentences), len(words))


def test_words_keep_bytes_that_are_not_utf8_and_unicodes_spaces():
    words = ["caf\udce9", "a\u3000b", "\u00a0"]
    assert count_bigrams([words]).words == words


def test_information_of_classes_that_tell_each_other_apart_is_log_2():
    bigrams = count_bigrams([["a", "b", "a", "b", "a"]])
    assert average_mutual_information(bigrams, np.array([0, 1])) == pytest.approx(np.log(2))
    assert average_mutual_information(bigrams, np.array([0, 0])) == 0


def test_information_leaves_out_pairs_across_sentences():
    bigrams = count_bigrams([["a", "b"], ["c"], ["a", "b"]])
    # inside sentences b follows a and nothing else happens
    assert average_mutual_information(bigrams, np.arange(3)) == 0
    assert average_mutual_information(count_bigrams([["a"], ["b"]]), np.arange(2)) == 0
