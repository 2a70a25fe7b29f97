"""Written words and the tokens that they consist of."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.errors import InputError
from rnng_dy.evaluation.merging import merge, merge_spans
from rnng_dy.evaluation.surprisal_table import line
from rnng_dy.search.words import Analysis, WordRecord
from rnng_dy.text.segmenter import Segmenter


def records_of(tokens, end=False):
    """Records whose surprisals are 1, 2, 4, ... bits, so that a sum says what is in it."""
    records = [
        WordRecord(token, token.lower(), 2.0**i, rounds=i + 1, entropy=float(i), open=i)
        for i, token in enumerate(tokens)
    ]
    return records + [WordRecord(None, None, 0.5)] * end


def merged(raw, tokens):
    return [(row.token, row.token_ids) for row in merge(raw, records_of(tokens), "raw.txt", 3)]


@pytest.mark.parametrize(
    ("raw", "tokens", "expected"),
    [
        ("I can't go.", "I ca n't go .", "I=1 can't=2-3 go.=4-5"),
        ("word, (or) so", "word , -LRB- or -RRB- so", "word,=1-2 (or)=3-5 so=6"),
        ('"Yes," he said', "`` Yes , '' he said", '"Yes,"=1-4 he=5 said=6'),
        ("“Don’t”", "`` Do n't ''", "“Don’t”=1-4"),
        ("‘so’ he's", "` so ' he 's", "‘so’=1-3 he's=4-5"),
        ("and/or well…", "and\\/or well ...", "and/or=1 well…=2-3"),
        ("and\\/or -LRB- ...", "and\\/or -LRB- ...", "and\\/or=1 -LRB-=2 ...=3"),
        ("so—it is 1990–91 --", "so -- it is 1990-91 --", "so—it=1-3 is=4 1990–91=5 --=6"),
        ("f(x) [a] {b}", "f-LRB-x-RRB- -LSB- a -RSB- -LCB- b -RCB-", "f(x)=1 [a]=2-4 {b}=5-7"),
        ("x ''", 'x "', "x=1 ''=2"),
        ("  two\tspaces  ", "two spaces", "two=1 spaces=2"),
        ("10\u00a0000 猫が", "10 000 猫 が", "10\u00a0000=1-2 猫が=3-4"),
        ("", "", ""),
    ],
)
def test_tokens_are_found_in_the_written_words(raw, tokens, expected):
    found = [f"{word}={ids}" for word, ids in merged(raw, tokens.split())]
    assert found == re.split("[ \t]", expected) if expected else not found


def test_a_token_may_be_several_written_words():
    assert merged("a . . . New York b", ["a", "...", "NewYork", "b"]) == (
        [("a", "1"), (". . .", "2"), ("New York", "3"), ("b", "4")]
    )
    assert merged("New York", ["New York"]) == [("New York", "1")]


@pytest.mark.parametrize(
    ("raw", "tokens", "message"),
    [
        ("the  dog", "the cat", "raw.txt:3: column 6: expected token 2, 'cat', but 'dog' stands"),
        ("the dog", "the dog .", "column 8: expected token 3, '.', but the line ends here"),
        ("the dog barks", "the dog", "column 9: 'barks' is in none of the 2 tokens"),
        ("猫 ab cd", "猫 a bc d", "column 4: token 3, 'bc', is a part of several words of 'ab cd'"),
        ("", "a", "column 1: expected token 1, 'a', but the line ends here"),
        ("a", "", "column 1: 'a' is in none of the 0 tokens"),
    ],
)
def test_what_cannot_be_aligned_is_an_error_with_its_column(raw, tokens, message):
    with pytest.raises(InputError, match=re.escape(message)):
        merged(raw, tokens.split())


WRITTEN = st.sampled_from(
    ["can't", "U.S.", ". . .", "“Yes”,", "猫", "a", "\u200b", "\xadb", "x\u00a0y", "\n\n", "(z)."]
)


@given(st.lists(WRITTEN, max_size=12).map(" ".join), st.booleans())
def test_tokens_of_running_text_are_found_by_their_places(text, one_per_line):
    for sentence in Segmenter().sentences(text, one_per_line):
        words = merge_spans(sentence.text, sentence.spans, records_of(sentence.tokens, end=True))
        *words, end = words
        assert end.token is None and end.span is None
        assert [word.first for word in words[1:]] == [word.last + 1 for word in words[:-1]]
        assert (words[0].first, words[-1].last) == (1, len(sentence.tokens))
        for word in words:
            begin, last = word.span
            assert "".join(word.token.split()) == "".join(text[begin:last].split())
            inside = sentence.spans[word.first - 1 : word.last]
            assert (inside[0][0], inside[-1][1]) == word.span
            # white space may be in a token, as in `. . .`, but not between two
            assert not any(re.search(r"[ \n]", text[a:b]) for (_, a), (b, _) in pairwise(inside))


def test_a_token_without_characters_is_an_error():
    with pytest.raises(InputError, match=r"column 2: expected token 2, ' '"):
        merged("ab", ["a", " ", "b"])


def test_measures_are_added():
    beam = (Analysis(-1.0, ["NT(S)", "SHIFT"]),)
    records = [
        WordRecord(
            "ca", "ca", 3.0, 0.1, 1.0, 2.0, 0.5, 2.5, 4, 40, 1.5, 1.5, 2, beam, 1.5, 0, 2, 0, 4, 1
        ),
        WordRecord(
            "n't",
            "n't",
            2.0,
            0.1,
            0.5,
            1.5,
            0.25,
            1.75,
            3,
            30,
            1.0,
            -0.5,
            3,
            beam,
            1,
            0.5,
            1,
            0,
            3,
            -1,
        ),
        WordRecord("go", "UNK", math.inf, 0.2),
        WordRecord(None, None, 0.25, open=0),
    ]
    word, go, end = merge("can't go", records, None, 1)
    assert line(word, 1, word.token_ids) == (
        "1\t1-2\tcan't\t\t1\t5.000000\t\t1.500000\t3.500000\t0.750000\t4.250000\t7\t70\t1.000000\t1.000000\t3"
        "\t2.500000\t0.500000\t3\t0\t3\t0"
    )
    assert (go.surprisal, go.standard_error, go.unk, go.syntactic) == (math.inf, 0.2, "UNK", None)
    assert (word.known, go.known, end.known) == (True, False, None)
    assert (end.token, end.token_ids, end.surprisal, end.open) == (None, "4", 0.25, 0)


TOKENS = st.lists(
    st.text(st.sampled_from("ab'`\"-.…/\\(é猫—“\U0001f600"), min_size=1, max_size=4)
    | st.sampled_from(["-LRB-", "``", "''", "...", "--", "n't", "1\\/2", "-", "[", "'"]),
    min_size=1,
    max_size=8,
)
PLAIN = {"-LRB-": "(", "``": '"', "''": '"', "...": "…", "--": "—", "1\\/2": "1/2"}


@given(TOKENS, st.data())
def test_tokens_joined_at_random_align_again(tokens, data):
    raw, expected = "", []
    for i, token in enumerate(tokens, 1):
        written = PLAIN.get(token, token) if data.draw(st.booleans()) else token
        if not expected or data.draw(st.booleans()):
            raw += " " * bool(expected) + written
            expected.append((written, i, i))
        else:
            raw += written
            word, first, _ = expected[-1]
            expected[-1] = (word + written, first, i)
    rows = merge(raw, records_of(tokens, end=True), "raw.txt", 1)
    assert [(row.token, row.first, row.last) for row in rows[:-1]] == expected
    assert rows[-1].token is None
    assert [row.surprisal for row in rows[:-1]] == (
        [sum(2.0**i for i in range(first - 1, last)) for _, first, last in expected]
    )


@given(st.text(max_size=12), TOKENS)
def test_any_text_aligns_or_is_an_error(raw, tokens):
    try:
        rows = merge(raw, records_of(tokens), "raw.txt", 1)
    except InputError as error:
        assert 1 <= int(re.search(r"column (\d+)", str(error))[1]) <= len(raw) + 1
    else:
        assert "".join("".join(row.token.split()) for row in rows) == "".join(raw.split())
