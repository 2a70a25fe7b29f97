"""Tables as text: with tabs and as CSV, read again by Python's own reader."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnng_dy.evaluation.records import WordRecord
from rnng_dy.evaluation.tables import CSV, TSV, joined
from rnng_dy.evaluation.word_tables import header, line, token_cells

WORDS = ['"', '"Hello', 'say "so"', "a,b", "''", "-", "+1", "=A1", "#", "NA"]
QUOTED = '"Hello'


def read(text, **dialect):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True, **dialect))


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=5))
def test_any_cells_come_back_from_csv(rows):
    text = "".join(joined(cells, CSV) + "\n" for cells in rows)
    assert read(text) == rows


def test_csv_is_that_of_rfc_4180():
    assert joined(["1", 'a "b"', "c,d", "e"], CSV) == '1,"a ""b""","c,d",e\r'
    assert joined(["1", 'a "b"', "c,d", "e"]) == '1\ta "b"\tc,d\te'


@pytest.mark.parametrize("style", [TSV, CSV])
def test_no_word_with_quotation_marks_costs_rows(style):
    lines = [header(["surprisal"], style)]
    for number, word in enumerate(WORDS, 1):
        record = WordRecord(word, None, 1.5)
        lines.append(line((token_cells(1, number, record), record), ["surprisal"], style))
    text = "".join(f"{each}\n" for each in lines)
    # as README.md says: quoting=3
    as_documented = {"delimiter": "\t", "quoting": 3} if style == TSV else {}
    names, *rows = read(text, **as_documented)
    assert names == ["sentence_id", "token_id", "token", "unk", "known", "surprisal"]
    escaped = [word.replace(" ", "\\x20") for word in WORDS]
    assert [cells[2] for cells in rows] == escaped
