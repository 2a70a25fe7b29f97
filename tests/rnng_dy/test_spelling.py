"""The spelling of unknown words: each class is a distribution over its strings."""

import math
from itertools import product

import numpy as np
import pytest

from oracle.common.errors import InputError
from oracle.unknown import RULES, UnknownWords
from rnng_dy.text.spelling import SpellingModel

KNOWN = ["ba", "as", "a-"]
CLASSES = ["UNK", "UNK-LC", "UNK-LC-s", "UNK-INITC", "UNK-INITC-KNOWNLC", "UNK-CAPS-DASH", "UNK-LC-NUM"]  # fmt: skip
WORDS = {"abs": 2, "Ab": 1, "a1": 1, "bb": 3, "A-B": 1, "1": 1, "Ba": 1}


def model_of(rules, classes=CLASSES):
    return SpellingModel(UnknownWords(rules, KNOWN), [*classes, *KNOWN], WORDS)


def others(model):
    """One character for each group of characters that are in no word, with the number of characters in its group."""
    symbols, found = model.ngrams.symbols, {}
    for character in map(chr, range(0x21, 0x5000)):
        if character not in symbols.numbers:
            found.setdefault(symbols.number_of(character), character)
    assert set(found) | set(symbols.numbers.values()) == set(np.flatnonzero(symbols.sizes))
    return {character: symbols.sizes[number] for number, character in found.items()}


@pytest.mark.parametrize("rules", RULES)
def test_the_strings_of_each_class_add_up_to_one(rules):
    model, longest = model_of(rules, ["UNK", *CLASSES] if rules != "single" else ["UNK"]), 3
    # characters in no word are alike, so one of each kind stands for all
    weights = dict.fromkeys("".join(WORDS) + "".join(KNOWN), 1.0) | others(model)
    sums = dict.fromkeys(model.classes.names, 0.0)
    longer = dict.fromkeys(model.classes.names, 0.0)
    for length in range(1, longest + 1):
        for string in map("".join, product(weights, repeat=length)):
            [unk], [log_prob] = model.read([string])
            weight = math.prod(map(weights.__getitem__, string))
            if string in KNOWN:
                assert (unk, log_prob) == (string, 0.0)
            else:
                sums[unk] += weight * math.exp(log_prob)
            if length == longest:
                for name in longer:
                    longer[name] += weight * prefix_probability(model, string, name)
    for name in model.classes.names:
        assert sums[name] + longer[name] == pytest.approx(1, abs=1e-9)
        assert sums[name] > 0


def prefix_probability(model, prefix, name):
    """Return the probability that a string of the class begins so and is longer, from the steps of the model."""
    symbols, probability = model.ngrams.symbols, 1.0
    for i, character in enumerate(prefix):
        probability *= symbols.share(model.next_symbol(prefix[:i], name), character)
        if not probability:
            return 0.0
    return probability * (1 - model.next_symbol(prefix, name)[0])


@pytest.mark.parametrize("rules", RULES)
def test_a_string_has_probability_in_its_own_class_alone(rules):
    model = model_of(rules)
    unknown = UnknownWords(rules, KNOWN)
    for string in ("bs", "Bs", "AB-", "9", "É", "é", "Ba", "xylophones", "中", "ba"):
        possible = [n for n in model.classes.names if model.log_prob(string, n) > -math.inf]
        assert possible == [n for n in model.classes.names if n == model.classes.class_of(string)]
        if unknown.word_class(string) in CLASSES and string not in KNOWN:
            assert possible == [unknown.word_class(string)]


def test_a_class_with_two_ends_is_left_by_them_alone():
    # known words end in no class of unknown words, and a capitalised known word in no other class
    # than its own
    model = model_of("berkeley")
    end = model.ngrams.symbols.numbers["\n"]
    assert model.next_symbol("ba", "UNK-LC")[end] == 0
    assert model.next_symbol("Ba", "UNK-INITC")[end] == 0
    assert model.next_symbol("Ba", "UNK-INITC-KNOWNLC")[end] == 1
    assert model.next_symbol("bb", "UNK-LC")[end] > 0


@pytest.mark.parametrize("rules", RULES)
def test_every_string_has_a_probability(rules):
    model = model_of(rules)
    for string in ("x" * 300, "😀", "中文", "\u3000", "-LRB-", "UNK-LC", "\x00", "a\udc80", "İK"):
        [unk], [log_prob] = model.read([string])
        assert unk in model.classes.names and -math.inf < log_prob < 0


def test_a_new_character_of_a_script_that_is_known_costs_less():
    model = SpellingModel(UnknownWords("berkeley", ()), ["UNK", "UNK-LC"], {"中文": 2, "ab": 1})
    assert model.log_prob("丐", "UNK") > model.log_prob("ऄ", "UNK") + 2


def test_a_file_gives_the_same_numbers(tmp_path):
    model, unknown = model_of("berkeley"), UnknownWords("berkeley", KNOWN)
    model.save(tmp_path / "spelling.json")
    again = SpellingModel.load(tmp_path / "spelling.json", unknown, [*CLASSES, *KNOWN])
    assert again.read(WORDS) == model.read(WORDS)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "spelling.json").read_bytes()


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        '{"format": "rnng_dy spelling", "version": 2, "words": {}}',
        '{"format": "rnng_dy spelling", "version": 1, "words": ["a"]}',
    ],
)
def test_a_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "spelling.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"spelling.json: .*damaged"):
        SpellingModel.load(path, UnknownWords("berkeley", KNOWN), [*CLASSES, *KNOWN])
