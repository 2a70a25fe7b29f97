"""Tables of stimuli: CSV as spreadsheets write it, regions, and errors with their lines."""

from __future__ import annotations

import re

import pytest

from oracle.errors import InputError
from rnng_dy.text import sources
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.sources import RawText
from rnng_dy.text.stimuli import read_stimuli


@pytest.fixture
def read(tmp_path):
    def of(content):
        path = tmp_path / "items.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_stimuli(str(path))

    return of


def shown(stimuli):
    """The sentences with `[name: text]` for each region, and the cells of its first region."""
    return [
        ("".join(f"[{name}:{text}]" for name, text in s.region_texts), *s.regions[0].cells)
        for s in stimuli.sentences
    ]


ROWS = [("[1:A dog, or two]", "1", "a"), ('[1:"Yes"; no]', "2", "b")]


@pytest.mark.parametrize(
    "content",
    [
        'item,text,c\n1,"A dog, or two",a\n2,"""Yes""; no",b\n',
        'item;text;c\r\n1;A dog, or two;a\r\n\r\n;;\r\n2;"""Yes""; no";b\r\n',
        'item\ttext\tc\n1\tA dog, or two\ta\n2\t"""Yes""; no"\tb',
        '\ufeff\n"item", Text ,c\n1,"A dog,\tor\ntwo",a\n2, """Yes""; no",b\n'.replace(', "', ',"'),
        ',item,text,c\n1,1,"A dog, or two",a\n2,2,"""Yes""; no",b\n',
    ],
)
def test_tables_of_spreadsheets_and_programs_are_read(read, content):
    stimuli = read(content)
    assert (list(stimuli.columns), shown(stimuli)) == (["item", "c"], ROWS)


def test_the_text_is_in_the_column_text_or_else_sentence(read):
    assert shown(read("id,sentence\n1,a b\n")) == [("[1:a b]", "1")]
    assert shown(read("text,sentence\na b,s1\n")) == [("[1:a b]", "s1")]


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("The dog | ran | home.", "[1:The dog ][2:ran ][3:home.]"),
        ("The dog|'s tail|, it|ran|.", "[1:The dog][2:'s tail][3:, it ][4:ran][5:.]"),
        ("我|喜欢|2 cats", "[1:我][2:喜欢][3:2 cats]"),
        ("| The dog |, or | | so |", "[1:The dog ][2:, or ][3:][4:so]"),
        ("| The dog | ran", "[1:][2:The dog ][3:ran]"),
        ("| | The dog | ran |", "[1:][2:The dog ][3:ran]"),
    ],
)
def test_a_mark_separates_regions(read, text, regions):
    assert shown(read(f'text\n"{text}"\n')) == [(regions,)]


def test_rows_of_an_item_and_a_condition_are_one_sentence(read):
    rows = [
        "1,a,np,The dog,7",
        "1,b,np,The cat,7",
        "1,a,verb,ran |.,8",
        "1,b,verb,,9",
        "1,b,end,.,9",
    ]
    stimuli = read("\n".join(["item,condition,region,text,length", *rows]))
    assert list(stimuli.columns) == ["item", "condition", "length"]
    assert shown(stimuli) == [
        ("[np:The dog ][verb:ran |.]", "1", "a", "7"),
        ("[np:The cat ][verb:][end:.]", "1", "b", "7"),
    ]
    assert [r.cells[2] for r in stimuli.sentences[1].regions] == ["7", "9", "9"]
    assert [s.line for s in stimuli.sentences] == [2, 3]
    assert [found[:2] for found in stimuli.conditions()] == [("1", "a"), ("1", "b")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "item,words\n1,a\n",
            "1: no column 'text' or 'sentence', but item, words",
        ),
        ("", "1: no column 'text' or 'sentence', but none"),
        ("text\n", " no stimuli in this table"),
        ("item,text\n1,a\n2, \n", "3: column 'text': no text"),
        ("item,text\n1,a\n2,b,c\n", "3: 3 columns, and the first line has 2: put text with"),
        ('item,text\n1,"a\nb"\n2\n', "4: 1 columns, and the first line has 2"),
        ("item,text,item\n1,a,1\n", "1: two columns are called 'item': rename one"),
        ('item,text\n1,"a" b\n', "2: ',' expected after '\"'; write a quotation mark"),
        ("item,text\n1,\xe9\n".encode("latin-1"), "2: not utf-8"),
        ("region,text\n1,a\n", "1: the column region needs a column item or condition"),
        ("item,region,text\n1,x,a\n1,x,b\n", "3: the sentence '1' has the region 'x' twice"),
    ],
)
def test_other_tables_are_errors_with_their_line(read, content, message):
    with pytest.raises(InputError, match=r"items\.csv:" + re.escape(message)):
        read(content)


def test_sentences_need_words_and_not_too_many(read, monkeypatch):
    stimuli = read("item,text\n1,Dogs ran. Cats sat.\n")
    [sentence] = stimuli.tokenised(Segmenter(), RawText(True))
    assert sentence.tokens == ("Dogs", "ran", ".", "Cats", "sat", ".")
    monkeypatch.setattr(sources, "MAX_LENGTH", 5)
    with pytest.raises(InputError, match=r"items\.csv:2: a sentence of 6 tokens, more than"):
        stimuli.tokenised(Segmenter(), RawText(True))
    with pytest.raises(InputError, match=r"items\.csv:3: a line without words"):
        read("item,region,text\n\n1,x,\n").tokenised(Segmenter(), RawText(True))
