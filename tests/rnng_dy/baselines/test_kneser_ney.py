"""Kneser-Ney n-grams against values computed by hand, and as a distribution."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from oracle.blocks import OracleSentence, make_oracle, write_oracle
from oracle.brackets import read_trees
from oracle.unknown import UnknownWords
from rnng_dy.baselines.kneser_ney import END, START, KneserNey, discounts

SENTENCES = [
    OracleSentence("", None, (a, b), None, (a, b), (), 1) for a, b in ("ab", "ab", "ac", "bd")
]


def test_discounts_are_chen_and_goodmans():
    # n1 = 6, n2 = 3, n3 = 2, n4 = 1: Y = 6/12; 1 - 2 Y 3/6, 2 - 3 Y 2/3, 3 - 4 Y 1/2
    assert discounts([1] * 6 + [2] * 3 + [3] * 2 + [4]) == pytest.approx((0, 0.5, 1.0, 2.0))


def test_half_a_count_is_taken_where_none_is_left_to_estimate_a_discount():
    # 4 has that of 3, which no n-gram has
    assert discounts([1] * 6 + [4]) == pytest.approx((0, 0.5, 1.0, 1.5))


def test_bigrams_by_hand():
    """Vocabulary: a, b, c, d, </s> and a class z, which training has not.

    Bigrams: <s>a 3, <s>b 1, ab 2, ac 1, bd 1, b</s> 2, c</s> 1, d</s> 1. n1 = 5, n2 = 2, n3 = 1, n4
    = 0: Y = 5/9, D1 = 1 - 2 (5/9)(2/5) = 5/9, D2 = 2 - 3 (5/9)(1/2) = 7/6, D3 = 3, out of its
    range: 3/2.
    Continuations: a 1, b 2, c 1, d 1, </s> 3, in all 8. n1 = 3, n2 = 1, n3 = 1: Y = 3/5, D1 = 1 - 2
    (3/5)(1/3) = 3/5, D2 = 2 - 3 (3/5) = 1/5, D3 = 3: 3/2. Taken off in all: 3 * 3/5 + 1/5 + 3/2 =
    7/2.
    """
    z = "UNK-LC"
    model = KneserNey(SENTENCES, [z, "a word that stays unknown"], order=2)

    def unigram(kept):
        return (kept + Fraction(7, 2) * Fraction(1, 6)) / 8

    b, c, unseen = unigram(2 - Fraction(1, 5)), unigram(1 - Fraction(3, 5)), unigram(0)
    for word, expected in (("b", b), ("c", c), (z, unseen)):
        assert model.probability(word, []) == pytest.approx(float(expected))
    # after a: b 2, c 1; taken off 7/6 + 5/9
    off = Fraction(7, 6) + Fraction(5, 9)
    assert model.probability("b", ["a"]) == pytest.approx(float((2 - Fraction(7, 6) + off * b) / 3))
    assert model.probability("c", ["a"]) == pytest.approx(float((1 - Fraction(5, 9) + off * c) / 3))
    assert model.probability(z, ["a"]) == pytest.approx(float(off * unseen / 3))
    # an unseen history: the shorter one
    assert model.probability("b", [z]) == pytest.approx(float(b))
    assert model.unknown.unkify(["a", "z"]) == ["a", z]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_sum_to_one_after_any_history(order):
    model = KneserNey(SENTENCES, ["UNK"], order)
    words = [*sorted(model.vocabulary), START]
    for history in itertools.product(words, repeat=min(order - 1, 2)):
        total = sum(model.probability(word, history) for word in model.vocabulary)
        assert total == pytest.approx(1, abs=1e-12), history


def test_surprisals_are_of_the_words_and_the_end_and_infinite_for_a_word_without_a_class():
    model = KneserNey(SENTENCES, order=3)
    [records] = model.records_of([["a", "x", "b"]])
    assert [r.token for r in records] == ["a", "x", "b", None]
    steps = [("a", [START, START]), ("b", [START, "a"]), (END, ["a", "b"])]
    expected = [-np.log2(model.probability(*step)) for step in steps]
    assert [r.surprisal for r in records] == pytest.approx([expected[0], np.inf, *expected[1:]])


def test_a_text_and_trees_train_as_their_oracle_does(tmp_path, caplog):
    texts = ["The dogs ran .", "The dogs sat .", "", "A cat sat ."]
    trees = "".join(f"(S {' '.join(f'(X {w})' for w in t.split())})\n" for t in texts if t)
    for name, content in (("text", "\n".join(texts)), ("trees", trees), ("run", "A dog ran.\n")):
        (tmp_path / name).write_text(content)
    unknown = UnknownWords("berkeley", {"The", "dogs", "sat", "."})
    with open(tmp_path / "oracle", "w") as stream:
        write_oracle(make_oracle(read_trees(tmp_path / "trees"), unknown, True), stream)
    found = [
        KneserNey.open(str(tmp_path / name), 3).records_of([["The", "dogs", "run", "."]])
        for name in ("oracle", "trees", "text")
    ]
    assert found[0] == found[1] == found[2]
    assert not caplog.text
    KneserNey.open(str(tmp_path / "run"))
    assert "run:1: running text? 'ran.' ends in a mark" in caplog.text
