"""Word-by-word measures as lines of text."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.transitions import TOP_DOWN
from rnng_dy.drawing.measured_words import WordWriter
from rnng_dy.evaluation import records
from rnng_dy.evaluation.records import Analysis, MeasuredSentence, WordRecord
from rnng_dy.evaluation.word_tables import TokenRows, token_cells
from rnng_dy.evaluation.word_tables import line as line_of_row

LACKING = (*records.OPEN_MEASURES, *records.OF_RUNS, *records.NODE_COUNTS)
MEASURES = [name for name in records.ALL_MEASURES if name not in LACKING]
THE = (
    Analysis(-5.09817553, ["NT(S)", "NT(NP)", "SHIFT"]),
    Analysis(-5.7619711234567, ["NT(S)", "SHIFT"]),
)
CAT = (Analysis(-12.25, ["NT(S)", "NT(NP)", "SHIFT", "SHIFT"]),)
END = (Analysis(-20.0, ["NT(S)", "NT(NP)", "SHIFT", "SHIFT", "REDUCE", "REDUCE"]),)
SENTENCE = [
    WordRecord(
        *("The", "The", 6.5323694, 0.5, 2.0323694, 4, 6, 130, 1.5, 1.5, 2),
        *(1.75, 0.0, 2, 0, 5.5, -0.25, THE),
    ),
    WordRecord("cat", "UNK-LC", math.inf, rounds=0, open=3, beam=CAT),
    WordRecord(None, None, -0.0, beam=END),
]


def line(record, number, token_id, columns=MEASURES):
    return line_of_row((token_cells(number, token_id, record, record.known), record), columns)


def written(form, columns, *sentences):
    writer = WordWriter(form, TokenRows(), columns, True, TOP_DOWN, None, "")
    return "".join(writer.parts(map(MeasuredSentence, sentences)))


def json_line(records, columns):
    return written(".jsonl", columns, records).removesuffix("\n")


def header(columns):
    return written(".tsv", columns).removesuffix("\n")


def test_a_table_has_the_columns_of_the_kind_of_model():
    names = ["sentence_id", "token_id", "token", "unk", "known", "surprisal", "structure"]
    assert header(MEASURES).split("\t")[:7] == names
    assert line(SENTENCE[0], 3, 1).replace("\t", " ") == (
        "3 1 The The 1 6.532369 0.500000 2.032369 4 6 130  1.500000 1.500000 2 "
        "1.750000 0.000000 2 0 5.500000 -0.250000"
    )
    assert header(["surprisal", "open"]).split("\t")[4:] == ["known", "surprisal", "open"]
    assert line(SENTENCE[1], 1, "2-3", ["surprisal", "open"]) == "1\t2-3\tcat\tUNK-LC\t0\tinf\t3"
    assert line(SENTENCE[2], 1, 3, ["surprisal"]) == "1\t3\t</s>\t\t\t0.000000"


@given(st.text(), st.none() | st.floats(allow_nan=False))
def test_a_line_stays_one_line_of_so_many_columns(token, value):
    text = line(WordRecord(token, token, 1.0, entropy=value), 1, 1)
    assert text.count("\t") == header(MEASURES).count("\t")
    assert text.splitlines() == [text]
    assert len(text.split("\t")[2].split(" ")) == 1


@pytest.mark.parametrize(
    ("token", "written"),
    [
        ("a\tb", "a\\tb"),
        ("a b\r\n", "a\\x20b\\r\\n"),
        ("\u2028", "\\u2028"),
        ("1\\/2", "1\\/2"),
        ("x\u3000y", "x\u3000y"),
        ("\udce9t\udce9", "\udce9t\udce9"),
    ],
)
def test_white_space_in_a_token_is_escaped(token, written):
    assert line(WordRecord(token, None, 1.0), 1, 1, []).split("\t")[2] == written


def test_json_has_null_for_infinity_and_says_so():
    found = json.loads(json_line(SENTENCE, MEASURES))
    assert found["sentence_id"] == 1
    the, cat, end = found["words"]
    assert the["surprisal"] == 6.5323694
    assert "infinite" not in the
    assert (cat["token_id"], cat["token"], cat["unk"]) == (2, "cat", "UNK-LC")
    assert (cat["surprisal"], cat["infinite"], cat["structure"]) == (None, True, None)
    tree = {"log_prob": -12.25, "tree": "(S (NP The cat", "actions": list(CAT[0].actions)}
    assert cat["beam"] == [tree]
    assert end["token"] is None
    assert "beam" not in json.loads(json_line([WordRecord("a", "a", 1.0)], []))["words"][0]


@given(st.text(st.characters(), max_size=8))
def test_json_keeps_every_token_on_one_line_of_utf8(token):
    text = json_line([WordRecord(token, None, 1.0)], [])
    assert text.splitlines() == [text]
    assert json.loads(text.encode("utf-8"))["words"][0]["token"] == token


def test_words_of_trees_have_no_white_space_or_brackets():
    records = [WordRecord("(a b)", None, 1.0, beam=(Analysis(-1.0, ["NT(S)", "SHIFT"]),))]
    [word] = json.loads(json_line(records, []))["words"]
    assert word["beam"][0]["tree"] == "(S -LRB-a\\x20b-RRB-"
