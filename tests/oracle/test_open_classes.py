"""Classes of unknown words as a partition of all strings."""

from itertools import product

import pytest

from oracle.common.errors import RnngError
from oracle.open_classes import OpenClasses, characters_by_kind
from oracle.unknown import CLASSES, RULES, UnknownWords

KNOWN = ["dog", "é", "as", "Dogs"]


def strings(characters, longest):
    for length in range(1, longest + 1):
        yield from map("".join, product(characters, repeat=length))


@pytest.mark.parametrize("rules", RULES)
def test_each_string_has_the_class_that_the_rules_give(rules):
    unknown = UnknownWords(rules, KNOWN)
    classes = OpenClasses(unknown, [*sorted(CLASSES), *KNOWN])
    for string in strings("Aasé1-中%", 4):
        assert classes.class_of(string) == unknown.unkify([string])[0]
    assert [classes.class_of(word) for word in KNOWN] == KNOWN


@pytest.mark.parametrize("rules", RULES)
def test_every_prefix_of_a_string_can_reach_its_class(rules):
    classes = OpenClasses(UnknownWords(rules, KNOWN), [*sorted(CLASSES), *KNOWN])
    for string in strings("Asgé1-中%ⓐ", 4):
        if string not in classes.known and string not in classes.capitalised:
            name = classes.class_of(string)
            for end in range(1, len(string) + 1):
                assert name in classes.reachable(classes.features(string[:end]))


def test_a_prefix_cannot_reach_what_its_characters_exclude():
    classes = OpenClasses(UnknownWords("berkeley", ()), sorted(CLASSES))
    digit, capital = (classes.reachable(classes.features(x)) for x in ("a1", "A"))
    assert all("-NUM" in name for name in digit)
    assert "UNK-LC-NUM-DASH" in digit
    assert {name.split("-")[1] for name in capital} == {"INITC", "CAPS"}
    assert "UNK-INITC-ly" in capital


def test_words_known_in_lower_case_are_the_only_ones_of_their_classes():
    # an empty word is in no oracle, but it may be in a damaged file
    known = ["été", "dogs", "ßo", "Oslo", ""]
    classes = OpenClasses(UnknownWords("berkeley-unicode", known), sorted(CLASSES))
    assert classes.capitalised == {"Été": "UNK-INITC-KNOWNLC", "Dogs": "UNK-INITC-KNOWNLC-s"}


def test_a_class_that_the_model_lacks_goes_to_the_nearest_more_general_one():
    unknown = UnknownWords("berkeley", ["dog"])
    classes = OpenClasses(unknown, ["UNK", "UNK-LC", "UNK-INITC", "UNK-LC-NUM", "dog"])
    found = list(map(classes.class_of, ["walking", "a1-s", "Dog", "Walking", "42", "WALK"]))
    assert found == ["UNK-LC", "UNK-LC-NUM", "UNK-INITC", "UNK-INITC", "UNK", "UNK"]
    assert OpenClasses(unknown, ["UNK-LC-ing", "UNK-LC"]).class_of("42") == "UNK-LC"


def test_a_string_that_is_written_like_a_class_is_a_string():
    classes = OpenClasses(UnknownWords("berkeley", ()), ["UNK", "UNK-CAPS-DASH", "UNK-LC"])
    assert classes.class_of("UNK-LC") == "UNK-CAPS-DASH"


def test_a_model_without_classes_is_refused():
    with pytest.raises(RnngError, match="no class of unknown words"):
        OpenClasses(UnknownWords("single", ["dog"]), ["dog"])


@pytest.mark.parametrize("rules", RULES)
def test_all_characters_of_tokens_are_counted(rules):
    # 1,112,064 scalar values of Unicode without 6 blanks, and 128 bytes that are not UTF-8
    assert characters_by_kind(rules).total() == 1_112_064 - 6 + 128
