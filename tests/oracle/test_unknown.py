"""UNK classes: PORTING.md section 8, and get_oracle.py of the original."""

import pytest

from clusters.files import rules_of
from oracle.common.errors import RnngError
from oracle.unknown import RULES, UnknownWords, infer_unknown_words, known_words, lower

KNOWN = {"apple", "the", "élan"}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # case
        ("Xyz", "UNK-INITC"),
        ("Apple", "UNK-INITC-KNOWNLC"),
        ("XyZ", "UNK-CAPS"),
        ("ABC", "UNK-CAPS"),
        ("3M", "UNK-CAPS-NUM"),
        ("'Tq", "UNK-CAPS"),
        ("iPhone", "UNK-LC"),
        ("xyz", "UNK-LC"),
        ("!?", "UNK"),
        # digits and dashes
        ("1990", "UNK-NUM"),
        ("mid-90", "UNK-LC-NUM-DASH"),
        ("--", "UNK-DASH"),
        # -s, and nothing else where a word ends in s
        ("dogs", "UNK-LC-s"),
        ("1990s", "UNK-LC-NUM-s"),
        ("t-shirts", "UNK-LC-DASH-s"),
        ("us", "UNK-LC"),
        ("glass", "UNK-LC"),
        ("basis", "UNK-LC"),
        ("bonus", "UNK-LC"),
        # other suffixes
        ("walked", "UNK-LC-ed"),
        ("walking", "UNK-LC-ing"),
        ("nation", "UNK-LC-ion"),
        ("walker", "UNK-LC-er"),
        ("biggest", "UNK-LC-est"),
        ("Quickly", "UNK-INITC-ly"),
        ("density", "UNK-LC-ity"),
        ("worry", "UNK-LC-y"),
        ("royal", "UNK-LC-al"),
        ("aged", "UNK-LC"),
        ("re-issued", "UNK-LC-DASH"),
        ("F16ed", "UNK-INITC-NUM"),
        ("f16ed", "UNK-LC-NUM-ed"),
        ("WALKED", "UNK-CAPS-ed"),
        # bytes: no letters but ASCII's, length in UTF-8 bytes
        ("Αθήνα", "UNK"),
        ("χ2", "UNK-NUM"),
        ("Élan", "UNK-LC"),
        ("éty", "UNK-LC"),
        ("ééy", "UNK-LC-y"),
        ("és", "UNK-LC-s"),
        ("éT", "UNK-CAPS"),
        ("２", "UNK"),
        ("\udce9T", "UNK-CAPS"),
    ],
)
def test_berkeley_classes(word, expected):
    assert UnknownWords("berkeley", KNOWN).word_class(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Αθήνα", "UNK-INITC"),
        ("Élan", "UNK-INITC-KNOWNLC"),
        ("ΑΘ", "UNK-CAPS"),
        ("χ２", "UNK-LC-NUM"),
        ("ééy", "UNK-LC"),
        ("Walked", "UNK-INITC-ed"),
    ],
)
def test_unicode_classes(word, expected):
    assert UnknownWords("berkeley-unicode", KNOWN).word_class(word) == expected


def test_one_class_for_all():
    unkified = UnknownWords("single", {"上海"}).unkify(["上海", "浦东", "Dogs"])
    assert unkified == ["上海", "UNK", "UNK"]


def test_an_oracle_whose_classes_several_rules_give_is_of_the_likely_or_the_simplest_ones():
    # as `rnng-dy clusters` says of the same oracle
    for word, class_, rules in (("浦东", "UNK", "single"), ("10月", "UNK-NUM", "berkeley")):
        assert infer_unknown_words([([word], [class_])]).rules == rules == rules_of([class_])
    assert infer_unknown_words([(["浦东"], ["UNK"])], "berkeley").rules == "berkeley"


def test_known_words_stay():
    assert UnknownWords("berkeley", KNOWN).unkify(["the", "The"]) == ["the", "UNK-INITC-KNOWNLC"]


def test_lower_casing_keeps_to_the_rules():
    assert lower("ÀB", "berkeley") == lower("ÀB", "single") == "Àb"
    assert lower("ÀB", "berkeley-unicode") == "àb"


@pytest.mark.parametrize("rules", RULES)
def test_every_letter_of_ascii_is_lower_cased_and_no_other_character_of_it(rules):
    characters = "".join(map(chr, range(128)))
    assert lower(characters, rules) == characters.lower()


def test_other_rules_are_refused():
    with pytest.raises(RnngError, match="'stanford': berkeley, berkeley-unicode, single"):
        UnknownWords("stanford", ())


def test_an_oracle_whose_parts_have_other_known_words_or_rules_is_refused():
    for first in ("cat", "UNK"):
        with pytest.raises(RnngError, match=f"'cat' both as '{first}' and as 'UNK-LC'"):
            infer_unknown_words([(["cat"], [first]), (["dog", "cat"] * 20, ["UNK-LC"] * 40)])


def test_a_word_is_known_from_its_second_occurrence_or_the_one_that_is_named():
    assert known_words([["a", "b"], ["b", "B"], ["c", "c"]]) == {"b", "c"}
    sentences = [["the", "cat", "the"], ["the", "dog", "dog"]]
    assert known_words(sentences, 3) == {"the"}
    assert known_words(sentences, 1) == {"the", "cat", "dog"}
