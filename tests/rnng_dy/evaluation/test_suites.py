"""Test suites: what files say, and results computed by hand from surprisals that are given."""

import json
import math
import re
from typing import NamedTuple

import pytest

from oracle.common.errors import InputError, RnngError
from rnng_dy.drawing import pages
from rnng_dy.evaluation import suite_reports
from rnng_dy.evaluation.suite_files import read_suites, suites_of
from rnng_dy.evaluation.suite_scores import evaluate
from rnng_dy.evaluation.suites import Condition, Item, Suite
from rnng_dy.text.columns import Columns
from rnng_dy.text.segmenter import Segmenter

SUITE = {
    "meta": {"name": "number", "metric": "sum"},
    "region_meta": {"1": "subject", "2": "gap", "3": "verb", "4": "rest"},
    "predictions": [
        {"type": "formula", "formula": "(3;%match%) < (3;%mismatch%)"},
        {"type": "formula", "formula": "(*;%match%) < 17"},
    ],
    "items": [],
}


def item(number, *sentences):
    """An item whose conditions are (name, contents of the regions)."""
    conditions = []
    for name, contents in sentences:
        regions = [{"region_number": i, "content": text} for i, text in enumerate(contents, 1)]
        conditions.append({"condition_name": name, "regions": regions})
    return {"item_number": number, "conditions": conditions}


def pair_of(number, subject, right, wrong):
    words = {"match": right, "mismatch": wrong}
    return item(number, *((name, (subject, "", w, "here .")) for name, w in words.items()))


ITEMS = [
    pair_of(1, "The dogs", "are", "is"),
    pair_of(2, "The dog", "is", "are"),
    pair_of(3, "The yak", "is", "are"),
]
# a word's surprisal, whatever comes before: "here ." has 3 bits
BITS = {"The": 1.0, "dogs": 4.0, "dog": 9.5, "yak": math.inf}
BITS |= {"are": 2.0, "is": 2.5, "here": 2.5, ".": 0.5}


class Record(NamedTuple):
    token: str | None
    surprisal: float
    known: bool | None


def surprisals(sentences):
    """Of each word, as the table has it, and of the end; a yak is not known."""
    return [
        [*(Record(w, BITS[w], w != "yak") for w in words), Record(None, 7.0, None)]
        for words in sentences
    ]


@pytest.fixture
def write(tmp_path):
    """Writes a suite with some of its parts changed; gives the path."""

    def write_suite(content=None, **changed):
        path = tmp_path / "bad.json"
        whole = {**SUITE, "items": ITEMS, **changed} if content is None else content
        text = whole if isinstance(whole, str) else json.dumps(whole)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return str(path)

    return write_suite


def read_suite(path):
    [suite] = read_suites(path)
    return suite


# results


def page_of(results, model):
    return "".join(pages.parts("suites.html", results=results, model=model))


def test_accuracies_and_sums_are_those_computed_by_hand(write):
    [result] = evaluate([read_suite(write())], surprisals)
    # 1: are < is, 5 + 2 + 3 < 17; 2: is > are, 10.5 + 2.5 + 3 < 17; 3: is > are, infinite
    assert [r.outcomes for r in result.items] == [(True, True), (False, True), (False, False)]
    # the unknown word is in the first region of item 3, which only the second one compares
    assert [r.compares_oov for r in result.items] == [(False, False), (False, False), (False, True)]
    assert [found for *_, found in result.rows()] == [(1, 3, 0, 0), (2, 3, 0, 1), (1, 3, 0, 1)]
    assert result.accuracy.share == pytest.approx(1 / 3)
    assert [result.items[0].values["mismatch", i] for i in (1, 2, 3, 4)] == [5.0, 0.0, 2.5, 3.0]
    # the infinite subject is in no mean
    assert result.means()["match"] == pytest.approx({1: 7.75, 2: 0.0, 3: 7 / 3, 4: 3.0})


def test_effects_are_paired_differences_with_their_interval(write):
    [result] = evaluate([read_suite(write())], surprisals)
    of_kind = {"prediction": [], "condition": [], "difference": []}
    for effect in result.effects():
        of_kind[effect.kind].append(effect)
    effects = {effect.region: effect for effect in of_kind["difference"]}
    assert [*effects] == [1, 2, 3, 4]
    values = [[item.values[c, 3] for c in ("match", "mismatch")] for item in result.items]
    [a, b, c] = [match - mismatch for match, mismatch in values]
    mean = (a + b + c) / 3
    # the t distribution with two degrees of freedom has 95 % within 4.3027
    half = 4.3027 * math.sqrt(sum((x - mean) ** 2 for x in (a, b, c)) / 2 / 3)
    found = effects[3]
    assert found[3:8] == ("difference", "match - mismatch", 3, "verb", 3)
    assert found[8:] == pytest.approx((mean, mean - half, mean + half), abs=1e-4)
    # the first prediction is of that region; the second, of a sum that is infinite in one item
    assert of_kind["prediction"][0][7:] == found[7:]
    assert of_kind["prediction"][1][7:9] == (2, -4.0)
    places = [(of.effect, of.region) for of in of_kind["condition"]]
    assert places[3:5] == [("match", 4), ("mismatch", 1)]
    # the infinite subject of item 3 has no difference
    assert effects[1].items == 2
    header, *lines = suite_reports.effect_lines([result])
    names = "model suite kind effect region name items mean low high"
    assert header.split() == names.split()
    assert lines[-2].split("\t")[1:6] == ["number", "difference", "match - mismatch", "3", "verb"]
    assert page_of([result], "m").count("match - mismatch") == 4


def test_items_that_decide_nothing_are_left_out(write):
    predictions = [{"formula": "(*;%match%) < (*;%mismatch%)"}, {"formula": "(3;%match%) < 2.2"}]
    [result] = evaluate([read_suite(write(predictions=predictions))], surprisals)
    assert result.items[2].outcomes == (None, False)
    # that of item 3, with an unknown word, is not decided
    assert result.rows()[0][-1] == (1, 2, 1, 0)
    # the other prediction decides item 3: it is wrong
    assert result.accuracy == (1, 3, 0, 1)
    assert result.items[2].holds is False


def test_an_item_of_one_prediction_alone_decides_nothing_about_all(write):
    predictions = [{"formula": "(3;%match%) < 2.2"}, {"formula": "(3;%match%) < (3;%mismatch%)"}]
    first, *others = ITEMS
    others = [{**item, "conditions": item["conditions"][:1]} for item in others]
    suite = read_suite(write(items=[first, *others], predictions=predictions))
    [result] = evaluate([suite], surprisals)
    assert result.rows()[0][-1].of == len(ITEMS)
    assert result.accuracy.of == 1


def test_fillers_are_left_out_and_items_without_a_part_of_a_prediction(write, caplog):
    items = [*ITEMS, item(4, ("match", ("The", "", "is"))), item(5, ("filler", ("The",)))]
    predictions = [{"formula": "(1;%match%) < (1;%mismatch%)"}, {"formula": "(3;%match%) < 2.2"}]
    [suite] = suites_of([write(items=items, predictions=predictions)], (), None)
    says = "2 of 5 items, which lack a condition or region of it: 4, 5; item 4 has no cond"
    assert f"left out: {says}" in caplog.text
    assert [found.name for found in suite.items] == [1, 2, 3, 4]
    [result] = evaluate([suite], surprisals)
    assert result.items[3].outcomes == (None, False)
    # those without a part of a prediction do not belong to it
    assert [row[-1].left_out for row in result.rows()] == [1, 0, 0]


def test_suites_of_two_files_of_one_name_have_their_paths(tmp_path):
    paths = [tmp_path / name / "pairs.tsv" for name in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("she slept\tslept she\n", encoding="utf-8")
    suites = suites_of([*map(str, paths)], (), None)
    assert [suite.name for suite in suites] == [f"{path}: pairs" for path in paths]


def test_the_differences_of_all_groups_have_the_order_of_conditions_of_all_items():
    def item(name, *conditions):
        of = [Condition(c, [(1, ("The",))], group=group) for c, group in conditions]
        return Item.of(name, of)

    items = item(1, ("a", "x"), ("b", "x")), item(2, ("b", "y")), item(3, ("b", "y"), ("a", "y"))
    suite = Suite("s", "s", {}, (), items)
    results = evaluate([*suite.by_group(), suite], surprisals)
    assert [[e.effect for e in r.effects()] for r in results] == [["a", "b", "a - b"]] * 3


def test_the_sentences_of_a_context_are_scored_alone(write):
    asked = []
    context = Condition("a", [(1, ("The", "dog")), (2, (".", "is", "."))], (3,))
    suite = Suite("s", "s", {}, (), (Item.of("x", [context]),))
    [result] = evaluate([suite], lambda of: asked.extend(of) or surprisals(of))
    assert asked == [("The", "dog", "."), ("is", ".")]
    assert result.items[0].values == {("a", 1): 10.5, ("a", 2): 3.5}
    sentences = [["it"] * 4_000] * 3
    long = Condition("a", enumerate(sentences, 1), (4_000, 8_000))
    assert len(Item.of("y", [long]).sentences["a"]) == 3
    with pytest.raises(RnngError, match="a sentence of 12000 words"):
        Item.of("y", [long._replace(regions=enumerate(sentences, 1), ends=())])


def test_predictions_that_are_texts_of_meta_are_known_too(write):
    texts = [p["formula"] for p in SUITE["predictions"]]
    meta = {**SUITE["meta"], "string_predictions": texts}
    [first, second] = [read_suite(write(**c)) for c in ({}, {"meta": meta, "predictions": []})]
    [first, second] = evaluate([first, second], surprisals)
    assert first.items == second.items
    with pytest.raises(InputError, match="see prediction 1"):
        read_suite(write(meta={"string_predictions": [1]}, predictions=[]))


def test_a_suite_on_one_line_with_the_words_good_and_bad_is_no_pair(write):
    """As in number_orc.json of Hu et al. (2020)."""
    regions = ("a", "good", "bad", ".")
    read = read_suite(write(items=[item(1, ("match", regions), ("mismatch", regions))]))
    assert len(read.items[0].regions) == 8


def test_records_of_other_tokens_are_refused(write):
    with pytest.raises(RnngError, match="records are not of the tokens"):
        evaluate([read_suite(write())], lambda sentences: [[]] * len(sentences))


def test_a_region_with_a_word_without_surprisal_has_no_value(write, monkeypatch):
    monkeypatch.setitem(BITS, "dogs", math.nan)
    [result] = evaluate([read_suite(write())], surprisals)
    values = result.items[0].values
    assert math.isnan(values["match", 1]) and values["match", 2] == 0


# minimal pairs


def test_pairs_are_the_same_in_all_forms(tmp_path):
    pairs = [("The dogs are .", "The dogs is ."), ("The dog is .", "The dog are .")]
    pairs.append(("The .", "The ."))
    tabs, lines = tmp_path / "pairs.tsv", tmp_path / "pairs.jsonl"
    tabs.write_text("".join(f"{good}\t{bad}\n" for good, bad in pairs) + "\n", encoding="utf-8")
    blimp = [{"sentence_good": g, "sentence_bad": b, "UID": "x"} for g, b in pairs]
    lines.write_text("\n".join(map(json.dumps, blimp)) + "\n", encoding="utf-8")
    first, second = evaluate([read_suite(str(tabs)), read_suite(str(lines))], surprisals)
    assert first.suite.name == "pairs"
    assert [r.values for r in first.items] == [r.values for r in second.items]
    others = {
        "table.csv": "id,Bad,Good\n" + "".join(f"1,{b},{g}\n" for g, b in pairs),
        "array.json": json.dumps([{"grammatical": g, "ungrammatical": b} for g, b in pairs]),
    }
    for name, content in others.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        [result] = evaluate([read_suite(str(tmp_path / name))], surprisals)
        assert [r.outcomes for r in result.items] == [r.outcomes for r in first.items]
    # the last pair is a tie, which is wrong
    assert [r.outcomes for r in first.items] == [(True,), (False,), (False,)]
    assert first.accuracy == (1, 3, 0, 0)
    # neither the end, of 7 bits, nor anything else is added
    assert first.items[0].values == {("good", 1): 7.5, ("bad", 1): 8.0}


def test_pairs_of_several_phenomena_are_several_suites(tmp_path):
    path = tmp_path / "blimp.jsonl"
    pairs = [{"sentence_good": f"The {w} .", "sentence_bad": ". The", "UID": u} for w, u in
             (("dog", "x"), ("dogs", "y"), ("yak", "x"))]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    suites = read_suites(str(path))
    found = [(suite.name, [item.name for item in suite.items]) for suite in suites]
    assert found == [("x", [1, 3]), ("y", [2])]
    path.write_text(json.dumps(pairs[0]), encoding="utf-8")
    assert read_suite(str(path)).name == "blimp"


ROWS = [("b1 ", "p ", "It is .", "It are ."), ("b2", " q", "It is .", "It am .")]


@pytest.mark.parametrize(
    ("name", "header", "columns"),
    [
        ("p.csv", "item,UID,sentence_good,sentence_bad", ()),
        ("p.csv", "pairID,Test Case,Good sentence,Bad-sentence", ()),
        ("p.csv", "id,PID,source_sentence,target", ("source_sentence", "target")),
        ("p.jsonl", "id,PID,source_sentence,target", ("source_sentence", "target")),
        ("p.csv", "item_id,phenomenon,good_continuation,bad_continuation,prefix", ()),
    ],
)
def test_pairs_keep_their_items_under_any_names(tmp_path, name, header, columns):
    given = Columns(columns, "id" if columns else ())
    # at the beginning of a word, a prefix is none
    rows = [(*row, *["I"] * ("prefix" in header)) for row in ROWS]
    lines = [header, *map(",".join, rows)]
    if name == "p.jsonl":
        lines = [json.dumps(dict(zip(header.split(","), row, strict=True))) for row in rows]
    (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    first, second = suites_of([str(tmp_path / name)], (), None, given)
    assert (first.name, second.name) == ("p", "q")
    assert [item.name for suite in (first, second) for item in suite.items] == ["b1", "b2"]
    before = ("I",) * ("prefix" in header)
    assert second.items[0].regions["bad", 1] == (*before, "It", "am", ".")


def test_merged_cells_of_pairs_have_the_value_of_the_first_but_a_prefix(tmp_path, caplog):
    path = tmp_path / "p.csv"
    rows = "7,So,a,It is .,It are .\n,,,It is .,It am .\n,我,,我来 。,我 。\n"
    path.write_text(f"item,prefix,uid,good,bad\n{rows}", encoding="utf-8")
    first, second, third = read_suite(str(path)).items
    assert (first.name, second.name) == (7, 7)
    assert second.regions["bad", 1] == ("It", "am", ".")
    assert third.regions["good", 1] == ("我来", "。")
    assert "p.csv:3: empty items or groups: read as those above, in 2 rows" in caplog.text
    path.write_text("field,good,bad\n,It is .,It are .\n")
    with pytest.raises(InputError, match=r"p.csv:2: no 'field', which groups need"):
        suites_of([str(path)], (), None, Columns(by="field"))


def test_plain_text_is_split_as_the_treebank_is(tmp_path, write):
    path = tmp_path / "pairs"
    path.write_text('"It doesn\'t rain," (he) said.\tIt.\n', encoding="utf-8")
    [[pair]] = [suite.items for suite in suites_of([str(path)], (), Segmenter())]
    tokens = "`` It does n't rain , '' -LRB- he -RRB- said ."
    assert list(pair.regions["good", 1]) == tokens.split()
    # a mark at the edge of a region is not at that of the sentence
    regions = ("", "He met Mr.", 'Smith "', 'here".')
    both = item(1, ("match", regions), ("mismatch", regions))
    [suite] = suites_of([write(items=[both])], (), Segmenter())
    tokens = [(), ("He", "met", "Mr."), ("Smith", "``"), ("here", "''", ".")]
    assert [*suite.items[0].regions.values()] == 2 * tokens
    with pytest.raises(InputError, match=r"^/.*: a sentence of 10001 words: .*; see item 1 of"):
        suites_of([write(items=[item(1, ("match", ("a " * 10001,)))])], (), Segmenter())


# bad input


NULL = item(1, ("match", ("a", None)))
REGION_TWICE = item(1, ("match", ("a", "b")))
REGION_TWICE["conditions"][0]["regions"][1]["region_number"] = 1

BAD_SUITES = [
    ({"predictions": [{"formula": "(9;%match%) < 1"}]}, "prediction 1: item 1 has no region 9"),
    ({"predictions": [{"formula": "1 < (3;%nomatch%)"}]}, "item 1 has no condition 'nomatch'"),
    ({"predictions": [{"formula": "1 < 2"}, {"formula": "(3;%match%) <"}]}, "or in another place; see prediction 2"),
    ({"predictions": [{}]}, "KeyError: 'formula'; see prediction 1"),
    ({"predictions": []}, "predictions and items are needed"),
    ({"items": None}, "predictions and items are needed"),
    ({"items": [{"conditions": ITEMS[0]["conditions"]}]}, "KeyError: 'item_number'; see item 1 of the file"),
    ({"items": [{**ITEMS[0], "item_number": "x"}]}, "see item 1 of the file"),
    ({"items": [item(7, ("match", ("a",)), ("match", ("b",)))]}, "item 7: the condition 'match' is there twice"),
    ({"items": [item(7, ("match", ("", " ")))]}, "item 7, condition 'match': a sentence without words"),
    ({"items": [ITEMS[0], *ITEMS]}, "item 1 is there twice: number items apart"),
    ({"items": [REGION_TWICE]}, "item 1, condition 'match': the region 1 is there twice"),
    ({"items": [NULL]}, "item 1, condition match, region 2: content is null, not a text"),
    ({"items": [item(1, ("match", ("A", "<unk>")))]}, "'A <unk>' has '<unk>', which is markup and no word"),
    ({"region_meta": {"x": "y"}}, "invalid literal"),
    ({"meta": {"metric": "mean"}}, "the metric 'mean' is not the sum of surprisals"),
    ({"meta": []}, "'list' object has no attribute 'get'"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "says"), BAD_SUITES)
def test_a_bad_suite_is_refused_with_its_file_and_place(write, changed, says):
    with pytest.raises(InputError) as told:
        read_suite(write(**changed))
    assert "bad.json:" in str(told.value)
    assert says in str(told.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n \n", "bad.json: no test suite"),
        ('{"items": [\n\n}', "bad.json: Expecting value: line 3 column 1"),
        ('{"items": ' + "[" * 100_000, "bad.json: maximum recursion"),
        ('{"items": "\\ud800"}', "bad.json: not utf-8"),
        ('{"meta": {}}', "KeyError: 'items'"),
        ("a b\n", "bad.json:1: 1 columns"),
        ("a\tb\n\nc\td\te\n", "bad.json:3: 3 columns"),
        ("a\tb\n \tc\n", "bad.json:2: item 2, condition 'good': a sentence without words"),
        ('{"sentence_good": "a"}\n', "bad.json:1: no columns of pairs (sentence_good and sentence_bad, good and bad, "
         "...) among sentence_good: name the good and the bad one by --column GOOD --column BAD"),
        ('{"sentence_good": "a", "sentence_bad": "b"}\n[1]\n', "bad.json:2: no object with a good"),
        ('{"sentence_good": "a", "sentence_bad": 1}\n', "bad.json:1: sentence_bad is 1, not a text"),
        ('{"sentence_good": "a", "sentence_bad": "b"}\n{x\n', "bad.json:2: Expecting property"),
        ("caf\udce9\tb\n", "bad.json:1: not utf-8"),
        ('[{"good": "a", "bad": ["b"]}]', "bad.json:1: bad is [\"b\"], not a text"),
        ("True\tIt is .\nFalse\tIt are .\n", "bad.json:1: the column of good sentences has only True and False"),
        ("label\tsentence\n1\tIt is .\n0\tIt are .\n", "bad.json:2: '1' is a number"),
        ("source\ttarget\nIt is .\tIt are .\n", "among source, target: name the good and the bad one by --column"),
        ("Right one\tWrong one\nIt is .\tIt are .\n", "among Right one, Wrong one: name the good and the bad"),
        ("id,source,target\n1,It is .,It are .\n", "bad.json:1: no columns of pairs (sentence_good and sentence_bad"),
        ('"It is, ."\tIt are .\n', "bad.json:1: quotation marks: add a header, good and bad"),
        ("prefix,good,bad\nThe,Theo ran,The ran\n", "bad.json:2: only one sentence begins with the prefix 'The'"),
        ("It is .\t*It are .\n", "bad.json:1: '*It are .' begins with '*'"),
        ("It is .\tIt | are .\n", "bad.json:1: 'It | are .': '|' is a mark of regions"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_suite_is_refused_with_its_line(write, text, says):
    with pytest.raises(InputError, match=re.escape(says)):
        read_suite(write(text))


def test_a_name_that_nothing_has_is_told_with_those_that_there_are():
    says = "agreement-pq is no file and none of the suites agreement-pp"
    with pytest.raises(RnngError, match=says):
        read_suite("agreement-pq")


# what is told


def test_names_cannot_break_the_table_the_columns_or_the_page(write):
    name = "<b>a\tb\n&"
    path = write(
        meta={"name": name},
        region_meta={"1": name},
        predictions=[{"formula": f"(1;%{name}%) > 0"}],
        items=[item(1, (name, ("The",)))],
    )
    results = evaluate([read_suite(path)], surprisals)
    assert len(suite_reports.accuracy_table(results).splitlines()) == 2
    assert [line.count("\t") for line in suite_reports.region_lines(results)] == [9, 9]
    page = page_of(results, name)
    assert "<b>" not in page and "&lt;b&gt;" in page


def test_the_page_and_json_have_accuracies_and_means(write):
    results = evaluate([read_suite(write())], surprisals)
    page = page_of(results, "lm")
    assert re.findall(r'<rect class="total" height="6" width="(.*?)"', page)[:2] == ["33.3", "66.7"]
    for shown in ("33.3 %", "66.7 %", "7.75", "2.33", "3 verb", "(3;%match%) &lt; (3;%mismatch%)"):
        assert shown in page
    [numbers] = suite_reports.as_json(results)
    assert (numbers["right"], numbers["of"], numbers["left_out"]) == (1, 3, 0)
    assert numbers["predictions"][1]["accuracy"] == pytest.approx(2 / 3)
    assert numbers["means"]["mismatch"][3] == pytest.approx((2.5 + 2 + 2) / 3)
    row = "1 of 3</summary>.*<td>3</td><td>yak</td><td>wrong</td><td>wrong, compares"
    assert re.search(row, page, re.S)
    unknown = {"unknown": (False, False), "unknown_words": []}
    assert numbers["outcomes"][1] == {"item": 2, "predictions": (False, True), **unknown}
    assert numbers["outcomes"][2]["unknown"] == (False, True) and numbers["unknown"] == 1
    assert numbers["outcomes"][2]["unknown_words"] == ["yak"]


def test_the_tidy_table_has_numbers_of_tokens_and_of_unknown_words(write):
    [found] = evaluate([read_suite(write())], surprisals, "lm")
    lines = [line.rstrip("\n").split("\t") for line in suite_reports.region_lines([found])]
    assert lines[0][-3:] == ["tokens", "surprisal", "unknown"]
    place = ["lm", "number", "1", "match"]
    assert lines[1] == [*place, "1", "subject", "The dogs", "2", "5.000000", "0"]
    assert lines[2] == [*place, "2", "gap", "", "0", "0.000000", "0"]
    assert lines[17][-4:] == ["The yak", "2", "inf", "1"]
