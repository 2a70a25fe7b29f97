"""Tables of stimuli: CSV as spreadsheets write it, regions, and errors with their lines."""

import re
import zipfile
from unittest.mock import Mock

import pytest

from oracle.common.errors import InputError
from rnng_dy.text.segmenter import Segmenter
from rnng_dy.text.stimuli import USUAL, Columns, read_stimuli


@pytest.fixture
def read(tmp_path):
    def of(content, columns=USUAL):
        path = tmp_path / "items.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_stimuli(str(path), columns)

    return of


def shown(stimuli):
    """The sentences with `[name: text]` for each region, and the cells of its first region."""
    rows = []
    for s in stimuli.texts:
        marked = "".join(f"[{r.name or r.number}:{text}]" for r, text in s.region_texts)
        rows.append((marked, *s.regions[0].cells))
    return rows


ROWS = [("[1:A dog, or two]", "1", "a"), ('[1:"Yes"; no]', "2", "b")]


@pytest.mark.parametrize(
    "content",
    [
        'item,text,c\n1,"A dog, or two",a\n2,"""Yes""; no",b\n',
        'item;text;c\r\n1;A dog, or two;a\r\n\r\n;;\r\n2;"""Yes""; no";b\r\n',
        'item\ttext\tc\n1\tA dog, or two\ta\n2\t"""Yes""; no"\tb',
        '\ufeff\n"item", Text ,c\n1,"A dog,\tor\ntwo",a\n2, """Yes""; no",b\n'.replace(', "', ',"'),
        ',item,text,c\n1,1,"A dog, or two",a\n2,2,"""Yes""; no",b\n',
        'item;text;c\n1;A dog, or two ; a\n2 ;"""Yes""; no";b\u00a0\n',
    ],
)
def test_tables_of_spreadsheets_and_programs_are_read(read, content):
    stimuli = read(content)
    assert (list(stimuli.columns), shown(stimuli)) == (["item", "c"], ROWS)


def test_a_position_beside_sentences_is_that_of_a_trial(read):
    rows = "list,position,item,condition,sentence\nA,3,1,a,x | y\nB,9,1,a,x | y\n"
    assert [row[0] for row in shown(read(rows))] == ["[1:x ][2:y]"] * 2
    words = "position,item,word\n2,1,y\n1,1,x\n"
    assert [row[0] for row in shown(read(words))] == ["[1:x ][2:y]"]


def test_the_text_is_in_the_column_text_or_else_sentence(read):
    assert shown(read("id,sentence\n1,a b\n")) == [("[1:a b]", "1")]
    assert shown(read("text,sentence\na b,s1\n")) == [("[1:a b]", "s1")]


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("The dog | ran | home.", "[1:The dog ][2:ran ][3:home.]"),
        ("The dog|'s tail|, it|ran|.", "[1:The dog][2:'s tail][3:, it ][4:ran][5:.]"),
        ("Go,|he|(she)|“3.|5 go”|in", "[1:Go, ][2:he ][3:(she) ][4:“3.][5:5 go” ][6:in]"),
        ("我|喜欢|2 cats", "[1:我][2:喜欢][3:2 cats]"),
        ("| The dog |, or | | so |", "[1:The dog ][2:, or ][3:][4:so]"),
        ("| The dog | ran", "[1:][2:The dog ][3:ran]"),
        ("| | The dog | ran |", "[1:][2:The dog ][3:ran]"),
    ],
)
def test_a_mark_separates_regions(read, text, regions):
    assert shown(read(f'text\n"{text}"\n')) == [(regions,)]


@pytest.mark.parametrize(
    ("mark", "texts", "regions"),
    [
        ("/", ["A dog / ran and/or sat", "It ran"], ["[1:A dog ][2:ran and/or sat]", "[1:It ran]"]),
        ("//", ["A dog // ran ."], ["[1:A dog ][2:ran .]"]),
        ("*", ["A *dog* ran", "*Dogs* ran"], ["[1:A ][2:dog ][3:ran]", "[1:][2:Dogs ][3:ran]"]),
        ("[]", ["[The dog] [ran].", "[It] [5]"], ["[1:The dog ][2:ran.]", "[1:It ][2:5]"]),
        ("|", ["Dogs / cats ran", "All [sic]"], ["[1:Dogs / cats ran]", "[1:All [sic]]"]),
        # without a name: what is text in one sentence out of many, or after a number, is no mark
        (None, ["Up 5 % of it", "Up 1 / 2 %", "A / B ran", "He [sic] ran"], None),
    ],
)  # fmt: skip
def test_a_mark_that_is_named_separates_or_encloses_regions(read, mark, texts, regions):
    content = "".join(f'"{text}"\n' for text in ("text", *texts))
    found = [row[0] for row in shown(read(content, Columns(mark=mark)))]
    assert found == (regions or [f"[1:{text}]" for text in texts])


@pytest.mark.parametrize(
    ("mark", "texts", "message"),
    [
        (None, ["The dog / ran", "A cat / sat"], "2: 'The dog / ran': '/' is a mark of regions, not a word"),
        (None, ["It rained", "It ^ ran", "It ^ sat"], "3: 'It ^ ran': '^' is a mark"),
        (None, ["The *dog* ran", "A *cat* sat"], "by --mark '*'"),
        (None, ["The [dog] ran", "A [cat] sat"], "by --mark '[]'"),
        (None, ["The dog/ ran/ home", "A cat/ sat"], "by --mark '/'"),
        (None, ["The_dog that_barked ran", "A_cat sat"], "'_' joins words"),
        ("/", ["A dog/ ran", "A / cat"], "2: the mark '/' stands between blanks, or around words: 'A dog/ ran'"),
        ("/", ["He and/or she"], " no text has the mark '/'"),
        ("a", ["a b a c"], "'a' is no mark: one or two characters"),
        ("[]", ["A [dog ran"], "2: the mark '[]' stands"),
    ],
)  # fmt: skip
def test_a_mark_is_never_read_as_a_word(read, mark, texts, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read("text\n" + "\n".join(texts), Columns(mark=mark))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["A b", "*A c"], "3: '*A c' begins with '*', a mark and no word: take it out"),
        (["A b", "??A c"], "3: '??A c' begins with '??'"),
        (["A b", "#A cat"], "3: '#A cat' begins with '#'"),
        (["A b", "NA"], "3: 'NA' is a number or a missing value: it is in column 'text'"),
        (["A b", "#REF!"], "3: '#REF!' is a number or a missing value"),
        (["A b", "1,5"], "3: '1,5' is a number"),
        (["True", "False"], "2: column 'text' has only True and False: labels, not sentences"),
        (["x1", "x2", "x1"], "2: column 'text' has only x1 and x2: labels"),
        (["A <b>dog</b> ran"], "2: 'A <b>dog</b> ran' has '<b>', which is markup"),
        (["A <unk> ran"], "2: 'A <unk> ran' has '<unk>'"),
        (["5", "dogs", "ran", "."], " each text is one word: name the column of words' numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_sentence_is_not_read_as_one(read, texts, message):
    with pytest.raises(InputError, match=r"items\.csv:" + re.escape(message)):
        read("text\n" + "".join(f'"{text}"\n' for text in texts))


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("word,zone,item", ["ran,10,1", "Dogs,9,1"]),
        ("text_id;word_index_in_sent;Word_Index_In_Text;word", ["b;1;2;ran", "b;1;1;Dogs"]),
        ("sentid,sentpos,word", ["1,2.0,ran", "1,1.0,Dogs"]),
        ("PART,WORD_ID,WORD", ["7,1-5-12,ran", "7,1-5-2,Dogs"]),
        ("item,region,content", ["1,0,ran", "1,-1,Dogs"]),
        ("item,region,content", ["1,1.5,ran", "1,1.25,Dogs"]),
    ],
)
def test_words_and_regions_are_in_the_order_of_their_numbers(read, header, rows):
    columns = Columns(item="PART" if "PART" in header else ())
    assert [text.text for text in read("\n".join([header, *rows]), columns).texts] == ["Dogs ran"]


def test_several_columns_make_an_item(read):
    content = "item,sentence,position,word\n1,1,1,Dogs\n1,1,2,ran\n1,2,1,Cats\n"
    found = read(content, Columns(("word",), ("item", "sentence"))).texts
    assert [(text.item, text.text) for text in found] == [("1_1", "Dogs ran"), ("1_2", "Cats")]


def test_merged_cells_have_the_value_of_the_first(read, caplog):
    found = read("item,condition,text\n1,a,A dog\n,b,A cat\n9,,It rained\n").texts
    assert [(text.item, text.condition) for text in found] == [("1", "a"), ("1", "b"), ("9", "")]
    says = "items.csv:3: empty items or conditions: read as those above, in {} rows"
    regions = "item,condition,region,text\n1,a,1,A\n1,,2,dog\n,b,1,A\n,,2,cat\n"
    assert [text.text for text in read(regions).texts] == ["A dog", "A cat"]
    assert all(says.format(number) in caplog.text for number in (1, 3))
    lists = "list,item,text\nA,1,A dog\n,2,A cat\nB,,It rained\n"
    found = read(lists, Columns(item=("list", "item"))).texts
    assert [text.item for text in found] == ["A_1", "A_2", "B_"]
    caplog.clear()
    assert [text.item for text in read("item,text\n,A dog\n1,A cat\n").texts] == ["", "1"]
    assert "read as" not in caplog.text


def test_rows_of_an_item_and_a_condition_are_one_sentence(read):
    rows = "1,a,np,The dog,7\n1,b,np,The cat,7\n1,a,verb,ran |.,8\n1,b,verb,,9\n1,b,end,.,9"
    stimuli = read(f"item,condition,region,text,length\n{rows}")
    assert list(stimuli.columns) == ["item", "condition", "length", "region_name"]
    assert shown(stimuli) == [
        ("[np:The dog ][verb:ran |.]", "1", "a", "7", "np"),
        ("[np:The cat ][verb:][end:.]", "1", "b", "7", "np"),
    ]
    assert [r.number for r in stimuli.texts[1].regions] == [1, 2, 3]
    assert [r.cells[2] for r in stimuli.texts[1].regions] == ["7", "9", "9"]
    assert [(s.line, s.name) for s in stimuli.texts] == [(2, "1 a"), (3, "1 b")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,words\n1,a\n", "1: no column text, sentence, content, stimulus or word, but item, words: name it by"),
        ("Text,TEXT\na,b\n", "1: columns Text, TEXT are alike: name one by"),
        ("", "1: no column text, sentence, content, stimulus or word, but none"),
        ("text\n", " no stimuli in this table"),
        ("item,text\n1,a\n2, \n", "3: column 'text': no text"),
        ("item,text\n1,a\n2,b,c\n", "3: 3 columns, and the first line has 2: put text with"),
        ('item,text\n1,"a\nb"\n2\n', "4: 1 columns, and the first line has 2"),
        ("item,text,item\n1,a,1\n", "1: two columns are called 'item': rename one"),
        ('item,text\n1,"a" b\n', "2: ',' expected after '\"'; write a quotation mark"),
        ("item,text\n1,\xe9\n".encode("latin-1"), "2: not utf-8"),
        ("region,text\n1,a\n", "1: regions need a column item or condition"),
        ("item,region,text\n1,1,x | y\n", "2: '|' in '1': one row per region"),
        ("item,region,text\n1,1,Dogs\n1,2,ran |\n", "3: '|' in '2': one row per region"),
        ("item,region,text\n1,1,Dogs\n1,2,[ran]\n", "2: 'Dogs [ran]': '[]' is a mark of regions"),
        ("item,region_number,text\n1,x,a\n", "2: 'x' is no number of a region"),
        ("item,region_number,text\n1,2-3,a\n", "2: '2-3' is no number of a region"),
        (
            "item,sentence,word\n1,1,a\n1,1,b\n",
            "2: '1' is a number or a missing value: it is in column 'sentence'; name that of texts",
        ),
        ("item,condition,text\n1,a,Dogs ran\n1,a,It ran.\n", "3: item '1' has the condition 'a' again: if"),
        ("item,condition,text\n1,a,Dogs ran\n,,It ran.\n", "3: item '1': an empty condition: fill the cell"),
        ("item,region,text\n1,x,a b\n1,x,c\n", "3: the sentence '1' has the region 'x' twice"),
        ("item,region,word\n1,x,a\n1,y,b\n1,x,c\n", "4: the sentence '1' has the region 'x' twice"),
        ("item,region,word\n1,x,a\n1,x,a\n", "3: the sentence '1' has the region 'x' twice"),
        ("item,region,word,zone\n1,x,a,1\n1,x,b,2\n1,x,a,1\n", "4: the sentence '1' has 2 rows for 'a', and 1 for 'b'"),
        ("item,zone,word\n1,1,a\n1,2,b\n1,1,a\n1,2,c\n", "5: the sentence '1' has the region '2'"),
        ('item;text\n1;"Yes; he\nran"\n2;"a" b\n', "4: ';' expected after '\"'"),
        ('item\tzone\tword\n1\t1\t"Yes,\n1\t2\tsir."\n', "2: one cell has the end of a row and the beginning"),
        ("# Results on Monday\n# 1. item.\n1,a\n", "3: 2 columns, and the comments name 1"),
        ("item,region,text\n1,x,NA\n", "2: 'NA' in 'x': leave an empty region empty"),
        ("item,text\n1,A dog\n1,ran home\n", "3: item '1' has several rows: if the rows are regions"),
        ("sentence,idx,word\nA dog,1,A\nA dog,2,dog\n", "2: sentences in several rows, beside 'word'"),
        ("item,sentence,region,word\n1,A dog,1,A\n1,A dog,2,dog\n", "3: all regions of '1' have the same text"),
    ],
)  # fmt: skip
def test_other_tables_are_errors_with_their_line(read, content, message):
    with pytest.raises(InputError, match=r"items\.csv:" + re.escape(message)):
        read(content)


@pytest.mark.parametrize(
    "rows",
    [
        "item,condition,region,word\n1,a,np,The\n1,a,np,dog\n1,a,v,ran\n1,b,v,Dogs\n1,b,end,ran\n",
        "item,condition,region_name,word,zone\n1,a,v,ran,3\n1,a,np,dog,2\n1,a,np,The,1\n"
        "1,b,v,Dogs,1\n1,b,end,ran,2\n",
    ],
)
def test_neighbouring_words_with_one_name_are_a_region(read, rows):
    both = read(rows).texts
    found = [[(r.number, r.name, text.strip()) for r, text in of.region_texts] for of in both]
    assert found == [[(1, "np", "The dog"), (2, "v", "ran")], [(2, "v", "Dogs"), (3, "end", "ran")]]


def test_a_name_that_a_sentence_has_again_is_another_region(read):
    rows = "1,,The,1\n1,,dog,2\n1,verb,ran,3\n1,,home,4\n"
    [found] = read(f"item,region,word,zone\n{rows}").texts
    assert [(r.number, r.name, text) for r, text in found.region_texts] == [
        (1, "", "The dog "), (2, "verb", "ran "), (3, "", "home")
    ]  # fmt: skip
    # a word has the cells of its row, a region those that its words share
    assert [found.cells_at(4), found.regions[0].cells] == [("1", "2", ""), ("1", "", "")]


def test_a_region_without_a_name_has_a_number_alone(read):
    stimuli = read("item,region,word\n1,,Dogs\n1,,ran\n")
    assert (stimuli.columns, shown(stimuli)) == (["item"], [("[1:Dogs ran]", "1")])
    assert read("item,region,word\n1,,Dogs\n1,,/\n", Columns(mark="|")).texts[0].text == "Dogs /"


@pytest.mark.parametrize("other", ["x", "2b", "1.5", ""])
def test_a_region_with_a_number_keeps_it(read, other):
    with pytest.raises(InputError, match=":2: give whole numbers to all regions"):
        read(f"item,condition,region,text\nf,a,{other},Cats purred\n1,a,1,Dogs\n1,a,2,ran\n")


IBEX = """\
# Results on Monday, 02 March 2026
# 1. Label.
# 2. item.
# 3. Parameter.
# 4. Value.
# 5. Reading time.
intro,NULL,_Trial_,Start,NULL
a,1,1,One%2C,250
a,1,2,two,260
b,1,1,One%2C,240
b,1,2,two,230
# 3. Comments.
end,1,5
"""


def test_results_of_a_web_experiment_are_the_texts_that_were_read(read):
    [text] = read(IBEX).texts
    assert (text.text, text.line) == ("One, two", 8)
    # what differs between the readers is empty
    assert text.regions[0].cells == ("", "1", "")


@pytest.mark.parametrize(
    ("file", "columns"),
    [
        ("marks/slash.csv", Columns(conditions=("verb", "comma"), mark="/")),
        ("marks/merged_items.xlsx", Columns(conditions=("verb", "comma"), mark="/")),
        ("words/words.csv", USUAL),
    ],
)
def test_a_design_has_the_same_regions_however_it_is_laid_out(shared, file, columns):
    def regions(path, columns):
        if path.endswith("xlsx"):
            pytest.importorskip("openpyxl")
        texts = read_stimuli(str(shared / "study" / path), columns).texts
        return {text.name: [of for _, of in text.region_texts] for text in texts if text.condition}

    assert regions(file, columns) == regions("interaction/items.csv", USUAL)


def test_the_texts_of_a_whole_experiment_are_read_from_its_results(shared):
    def texts(path):
        stimuli = read_stimuli(str(shared / "study" / path))
        return {(t.item, t.condition): t.text for t in stimuli.texts}

    items = texts("interaction/items.csv").items()
    joined = {key: " ".join(text.replace("| ", "").split()) for key, text in items}
    assert texts("pcibex/results.csv") == joined


def test_sentences_need_words(read):
    [[sentence]] = read("text\nDogs ran. Cats sat.\n").tokenised(Segmenter(), one_per_line=True)
    assert sentence.tokens == ("Dogs", "ran", ".", "Cats", "sat", ".")
    with pytest.raises(InputError, match=r"items\.csv:3: a line without words"):
        read("item,region,text\n\n1,x,\n").tokenised(Segmenter(), one_per_line=True)


def test_published_names_and_named_columns_are_found(read):
    rows = "1,near,2,verb,runs\n1,near,1,subject,The dog\n1,far,1,subject,The dogs\n"
    stimuli = read("item_number,condition_name,region_number,region_name,content\n" + rows)
    found = [(s.item, s.condition, s.line) for s in stimuli.texts]
    assert found == [("1", "near", 2), ("1", "far", 4)]
    # regions with numbers are in their order
    assert shown(stimuli)[0][0] == "[subject:The dog ][verb:runs]"
    assert [r.number for r in stimuli.texts[0].regions] == [1, 2]
    named = Columns(("Satz",), "Nr", ("number", "gender"), "Teil")
    text = "Nr;number;gender;Teil;Satz\n7;sg;f;10;ran\n7;sg;f;9;She\n"
    [found] = read(text, named).texts
    assert (found.item, found.condition, found.text) == ("7", "sg_f", "She ran")
    with pytest.raises(InputError, match=r"items\.csv:1: no column 'Teil', but text"):
        read("text\na\n", Columns(region="Teil"))


def test_a_column_for_each_condition(read):
    stimuli = read("item,a,b\n1,A dog,Dogs\n", Columns(("a", "b")))
    assert stimuli.columns == ["item", "condition"]
    assert shown(stimuli) == [("[1:A dog]", "1", "a"), ("[1:Dogs]", "1", "b")]
    assert [s.name for s in stimuli.texts] == ["1 a", "1 b"]
    # beside the conditions of rows
    text = "item,kind,condition,a,b\n1,x,y,A dog,Dogs\n1,x,z,A cat,Cats\n"
    stimuli = read(text, Columns(("a", "b")))
    assert stimuli.columns == ["item", "kind", "condition"]
    assert shown(stimuli)[0] == ("[1:A dog]", "1", "x", "y_a")
    assert [s.name for s in stimuli.texts] == ["1 y_a", "1 y_b", "1 z_a", "1 z_b"]
    with pytest.raises(InputError, match=":2: column 'b' begins in lower case: if it has regions"):
        read("item,a,b\n1,A dog,ran\n", Columns(("a", "b")))


def test_a_cell_may_have_several_sentences(read):
    stimuli = read('text\n"It rained. | The dog, e.g. | Rex, ran."\n')
    [sentences] = stimuli.tokenised(Segmenter())
    assert [" ".join(s.tokens) for s in sentences] == ["It rained .", "The dog , e.g. Rex , ran ."]
    assert [len(tokens) for _, tokens in stimuli.texts[0].regions_of(sentences)] == [3, 4, 4]


def test_workbooks_and_rows_of_python_are_tables(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    rows = [["item", "text", "rating"], [1, "A dog | ran.", 2.5], [], [2, "Dogs", None]]
    for row in rows:
        workbook.active.append(row)
    workbook.save(tmp_path / "items.xlsx")
    as_rows = [dict(zip(rows[0], row, strict=True)) for row in rows if row][1:]
    written = str(tmp_path / "items.xlsx")
    for table, cells in ((written, ["1", "2.5", "2", ""]), (as_rows, [1, 2.5, 2, None])):
        found = shown(read_stimuli(table))
        assert found == [("[1:A dog ][2:ran.]", *cells[:2]), ("[1:Dogs]", *cells[2:])]
    # as other programs write it
    with zipfile.ZipFile(written) as made, zipfile.ZipFile(tmp_path / "B.XLSX", "w") as other:
        for name in made.namelist():
            other.writestr(name, re.sub(rb'(<dimension ref=)"[^"]*', rb'\1"A1:B2', made.read(name)))
    first, second = (read_stimuli(str(tmp_path / name)) for name in ("items.xlsx", "B.XLSX"))
    assert first.texts == second.texts
    workbook.active["B4"] = '="Do"&"gs"'
    workbook.save(written)
    with pytest.raises(InputError, match=r"items\.xlsx:4: sheet 'Sheet', cell B4: a formula w"):
        read_stimuli(written)
    (tmp_path / "bad.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"bad\.xlsx: .*save it as CSV"):
        read_stimuli(str(tmp_path / "bad.xlsx"))


def test_na_of_pandas_is_an_empty_cell():
    na = type("NAType", (), {"__ne__": lambda self, _: self, "__bool__": lambda self: None})()
    assert read_stimuli([{"item": na, "text": "It ran"}]).texts[0].item == ""


def test_levels_of_the_index_of_a_data_frame_are_columns():
    rows = {"reset_index.return_value.to_dict.return_value": [{"item": 7, "text": "It ran"}]}
    frame = Mock(columns=["n", "text"], **{"index.names": ["item", None, "n"]}, **rows)
    assert read_stimuli(frame).texts[0].item == "7"
    frame.reset_index.assert_called_once_with(["item"])


@pytest.mark.parametrize("words", [{0: "It", 2: "ran"}, {1: "It", 2: None}, {2: "ran"}, {3: "off"}])
def test_a_number_without_a_word_is_warned_of(caplog, words):
    read_stimuli([{"item": 1, "position": p, "word": w} for p, w in words.items()])
    assert ("'1' lacks words of some numbers" in caplog.text) == (words != {3: "off"})


def test_a_region_beside_numbers_needs_a_whole_one_and_words_keep_their_order():
    rows = [{"item": 1, "region_number": n, "region_name": "it", "text": "It"} for n in (1, 1.5)]
    with pytest.raises(InputError, match="give whole numbers to all regions or to none"):
        read_stimuli(rows)
    rows = [{"item": 1, "region": n, "text": "It"} for n in (-1, 0)]
    assert [region.number for region in read_stimuli(rows).texts[0].regions] == [-1, 0]
    rows = [{"item": 1, "zone": n, "roi": r, "word": r} for n, r in ((2, "ran"), (1, "It"))]
    assert read_stimuli(rows, Columns(region="roi")).texts[0].text == "It ran"
