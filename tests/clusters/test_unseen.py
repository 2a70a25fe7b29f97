"""Every class that the rules can give has a place among the clusters."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clusters.files import ClusteredWord, place_unseen
from oracle.unknown import RULES, UnknownWords, unknown_classes

ALPHABET = "abdegilnorstuyzABDEGILNORSTUYZ019-.é中Éǅß²"


@pytest.mark.parametrize("rules", RULES)
@settings(deadline=None)
@given(word=st.text(ALPHABET, min_size=1, max_size=9), known=st.booleans())
@example(word="中NEWS", known=False)
@example(word="1980ed", known=False)
def test_no_word_has_a_class_that_is_not_listed(rules, word, known):
    unknown_words = UnknownWords(rules, {word.lower()} if known else ())
    assert unknown_words.word_class(word) in unknown_classes(rules)


@pytest.mark.parametrize("rules", RULES)
def test_classes_are_listed_once(rules):
    assert len(set(unknown_classes(rules))) == len(unknown_classes(rules))


ENTRIES = [
    ClusteredWord("00", "UNK-LC", 20),
    ClusteredWord("01", "UNK-LC-DASH", 5),
    ClusteredWord("10", "the", 90),
    ClusteredWord("11", "UNK", 1),
]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("UNK-LC-DASH-s", "01"),
        ("UNK-LC-NUM-DASH-s", "00"),
        ("UNK-LC-s", "00"),
        ("UNK-CAPS-NUM", "11"),
    ],
)
def test_an_unseen_class_joins_the_one_with_the_nearest_name(name, path):
    placed = place_unseen(ENTRIES, [name])
    assert [entry for entry in placed if entry not in ENTRIES] == [ClusteredWord(path, name, 0)]
    assert [entry for entry in placed if entry in ENTRIES] == ENTRIES


def test_without_a_near_name_the_most_frequent_class_is_joined():
    placed = place_unseen(ENTRIES[:3], ["UNK", "UNK-CAPS"])
    unseen = [(entry.word, entry.path) for entry in placed if not entry.count]
    assert unseen == [("UNK", "00"), ("UNK-CAPS", "00")]


def test_without_any_class_the_cluster_with_most_tokens_is_joined():
    """A word that begins as a class does is none."""
    entries = [ClusteredWord("0", "UNK-friendly", 5), *(ClusteredWord("1", w, 3) for w in "bc")]
    assert place_unseen(entries, ["UNK"])[-1] == ClusteredWord("1", "UNK", 0)


def test_classes_that_occur_stay_where_they_are():
    assert place_unseen(ENTRIES, ["UNK", "UNK-LC"]) == ENTRIES
