"""`rnng-dy surprisal`: rows of written words, from running text and from tables of stimuli."""

import json
import math
import re
from functools import partial
from pathlib import Path

import pytest

import rnng_dy
from rnng_dy.drawing.measured_words import panels_of
from rnng_dy.evaluation.word_tables import WordRows
from rnng_dy.text.stimuli import read_stimuli
from tests import commands
from tests.commands import table

run = partial(commands.invoke, "surprisal")
ITEMS = """\
item;condition;text;rating
1;short;The train | slept.;NA
1;long;"""
ITEMS += '"The old train, | slept  ""here""."' + ";1,5\n"
SMALL = ["--beam", "12", "--fast-track", "2", "--word-beam", "4"]
KINDS = {"generator": ["--model", "generator", *SMALL], "lm": ["--model", "lm"]}


@pytest.fixture(autouse=True)
def inside(models):
    Path("items.csv").write_text(ITEMS, encoding="utf-8")


def column(rows, name):
    return [row[name] for row in rows]


def test_the_items_and_conditions_that_were_read_are_counted():
    content = "item,condition,text\n1,a,He slept.\n1,b,He did.\n2,a,She slept.\n"
    Path("counted.csv").write_text(content, encoding="utf-8")
    said = run(*KINDS["lm"], "--stimuli", "counted.csv").stderr
    assert "items: 2; texts of each condition: a (2), b (1)" in said


def test_the_distance_of_hale_et_al_is_that_of_their_program_alone():
    Path("two.csv").write_text("text\nthe train | slept .\n", encoding="utf-8")
    options = ["--model", "generator", "--stimuli", "two.csv"]
    assert "distance" not in table(run(*options).stdout)[0]
    words = table(run(*options, "--like-reference").stdout)
    assert column(words, "distance") == column(words, "actions")
    regions = table(run(*options, "--like-reference", "--by-region").stdout)
    sums = [sum(int(w["distance"]) for w in words if w["region"] == r["region"]) for r in regions]
    assert [int(region["distance"]) for region in regions] == sums


@pytest.mark.parametrize("kind", KINDS)
def test_stimuli_have_a_row_per_written_word_with_their_columns(kind):
    rows = table(run(*KINDS[kind], "--stimuli", "items.csv").stdout)
    assert list(rows[0])[:13] == [
        *("item", "condition", "rating", "region", "word_id", "start", "end"),
        *("sentence_id", "token_id", "token", "unk", "known", "surprisal"),
    ]
    written = 'The train slept. The old train, slept "here".'
    assert column(rows, "token") == written.split()
    assert column(rows, "region") == ["1", "1", "2", "1", "1", "1", "2", "2"]
    assert column(rows, "rating") == ["NA"] * 3 + ["1,5"] * 5
    assert column(rows, "word_id") == ["1", "2", "3", "1", "2", "3", "4", "5"]
    assert column(rows, "token_id")[-3:] == ["3-4", "5", "6-9"]
    text = 'The old train, slept  "here".'
    for row in rows[3:]:
        assert text[int(row["start"]) : int(row["end"])] == row["token"]


def test_json_has_the_columns_of_the_stimuli_at_each_token():
    arguments = [*KINDS["lm"], "--stimuli", "items.csv", "--end", "-o", "-", "-o", "j.jsonl"]
    rows = table(run(*arguments).stdout)
    found = [json.loads(line) for line in Path("j.jsonl").read_text().splitlines()]
    names = ("item", "condition", "rating", "region")
    of_tokens = [[str(word[name]) for name in names] for of in found for word in of["words"]]
    of_words = []
    for row in rows:
        first, _, last = row["token_id"].partition("-")
        of_words += [[row[n] for n in names]] * (int(last or first) - int(first) + 1)
    assert of_tokens == of_words and len(of_words) > len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_the_surprisals_are_those_of_the_sentences_as_text(kind):
    Path("s.txt").write_text("The train slept.\n", encoding="utf-8")
    words = table(run(*KINDS[kind], "--stimuli", "items.csv").stdout)[:3]
    alone = table(run(*KINDS[kind], "--text", "--one-per-line", "--merge", "s.txt").stdout)
    assert [{name: row[name] for name in alone[0]} for row in words] == alone


@pytest.mark.parametrize("kind", KINDS)
def test_regions_are_sums_over_their_words(kind):
    words = table(run(*KINDS[kind], "--stimuli", "items.csv").stdout)
    regions = table(run(*KINDS[kind], "--stimuli", "--by-region", "items.csv").stdout)
    assert column(regions, "content") == ["The train", "slept.", "The old train,", 'slept "here".']
    assert column(regions, "words") == ["2", "1", "3", "2"]
    for row in regions:
        inside = [w for w in words if (w["item"], w["condition"], w["region"]) ==
                  (row["item"], row["condition"], row["region"])]  # fmt: skip
        sums = sum(float(word["surprisal"]) for word in inside)
        assert float(row["surprisal"]) == pytest.approx(sums, abs=1e-5)
        assert int(row["unknown"]) == column(inside, "known").count("0")
        assert (row["start"], row["end"]) == (inside[0]["start"], inside[-1]["end"])
    if kind == "generator":
        ends = [w for w, after in zip(words, [*words[1:], {}], strict=True)
                if w["region"] != after.get("region")]  # fmt: skip
        assert column(regions, "entropy") == column(ends, "entropy")


def test_the_page_names_items_and_conditions():
    run(*KINDS["lm"], "--stimuli", "items.csv", "-o", "page.html", "-o", "o.tsv")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<h2>1 (1 short): " in page and "<h2>2 (1 long): " in page


def test_an_empty_region_has_no_words_and_the_sum_0():
    Path("r.csv").write_text("item,region,text\n1,a,She\n1,comma,\n1,b,slept.\n", encoding="utf-8")
    rows = table(run(*KINDS["lm"], "--stimuli", "r.csv", "--by-region").stdout)
    assert column(rows, "region_name") == ["a", "comma", "b"]
    assert (rows[1]["words"], rows[1]["surprisal"], rows[1]["start"]) == ("0", "0.000000", "4")


def test_running_text_is_merged_by_itself():
    text = "The train slept. She\n  didn't (not) read."
    Path("t.txt").write_text(text, encoding="utf-8")
    rows = table(run(*KINDS["lm"], "--text", "--merge", "t.txt").stdout)
    assert column(rows, "token") == text.split()
    assert [text[int(row["start"]) : int(row["end"])] for row in rows] == text.split()
    assert column(rows, "sentence_id") == ["1"] * 3 + ["2"] * 4
    tokens = table(run(*KINDS["lm"], "--text", "t.txt").stdout)
    both = float(tokens[5]["surprisal"]) + float(tokens[6]["surprisal"])
    assert tokens[6]["token"] == "n't"
    assert float(rows[4]["surprisal"]) == pytest.approx(both, abs=2e-6)


def test_a_word_belongs_to_the_region_in_which_it_begins():
    # a non-breaking space separates words, too
    content = """text\n"The train|, the\u00a0dog|'s letter."\n"""
    Path("r.csv").write_text(content, encoding="utf-8")
    rows = table(run(*KINDS["lm"], "--stimuli", "r.csv").stdout)
    assert column(rows, "token") == ["The", "train,", "the", "dog's", "letter."]
    assert column(rows, "region") == ["1", "1", "2", "2", "3"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--stimuli", "--text"], "--text goes without --stimuli"),
        (["--stimuli", "--untagged"], "--tagged/--untagged goes without --text or --stimuli"),
        (["--stimuli", "--merge"], "--merge goes with --text"),
        (["--column", "text"], "--column goes with --stimuli"),
        (["--stimuli", "--by-region", "--end"], "--by-region goes without --end"),
        (["--text", "--by-region", "--merge"], "--by-region goes without --end or --merge"),
        (["--region", "a", "--region", "b", "--stimuli"], "--region is given twice"),
    ],
)
def test_options_and_tables_that_do_not_fit_are_refused(arguments, says):
    assert says in run(*KINDS["lm"], "items.csv", *arguments, "-o", "o.tsv", code=2).stderr
    assert not Path("o.tsv").exists()


@pytest.mark.parametrize("scorer", [["--model", "lm"], ["--scorer", "surprisals=words.tsv"]])
def test_unknown_words_can_be_an_error_before_the_work(scorer):
    Path("r.csv").write_text("item,text\n1,she slept.\n2,a zorbed blick.\n", encoding="utf-8")
    run("--model", "lm", "--stimuli", "r.csv", "-o", "words.tsv")
    for more in ([], ["--by-region"]):
        result = run(*scorer, "--stimuli", "r.csv", *more, "--unknown", "error", "-o", "x", code=2)
        assert "Error: r.csv:3: the model does not know 'zorbed', and reads it as " in result.stderr
        assert ", zorbed (1), blick (1))" in result.stderr
        assert not Path("x").exists()
    run(*scorer, "--stimuli", "r.csv")


def test_a_column_must_not_have_the_name_of_an_added_one():
    Path("r.csv").write_text("token,text\n1,She slept.\n", encoding="utf-8")
    message = "r.csv:1: the output has a column 'token', too: rename"
    assert message in run(*KINDS["lm"], "--stimuli", "r.csv", code=2).stderr
    Path("r.csv").write_text("item,part,region_name,text\n1,x,y,She slept.\n", encoding="utf-8")
    said = run(*KINDS["lm"], "--stimuli", "r.csv", "--region", "part", code=2).stderr
    assert "the output has a column 'region_name', too: rename" in said


def test_words_keep_their_cells_and_regions_of_several_words_what_they_share():
    rows = "1,subject,The,3\n1,subject,train,5\n1,verb,slept.,5\n"
    Path("r.csv").write_text(f"item,region,word,letters\n{rows}", encoding="utf-8")
    words = table(run(*KINDS["lm"], "--stimuli", "r.csv").stdout)
    assert list(words[0])[:4] == ["item", "letters", "region_name", "region"]
    assert column(words, "letters") == ["3", "5", "5"]
    assert column(words, "region") == ["1", "1", "2"]
    regions = table(run(*KINDS["lm"], "--stimuli", "r.csv", "--by-region").stdout)
    assert column(regions, "content") == ["The train", "slept."]
    assert column(regions, "letters") == ["", "5"]
    [*_, end] = table(run(*KINDS["lm"], "--stimuli", "r.csv", "--end").stdout)
    assert [end[name] for name in ("item", "letters", "region_name")] == ["1", "", ""]
    whole = rnng_dy.load("lm").table("r.csv").by_sentence()
    assert [row["content"] for row in whole] == ["The train slept."]
    assert whole[0].keys().isdisjoint(["region", "region_name"])
    regions = [{"item": 1, "region": n, "text": "She", "role": n} for n in (1, 2)]
    assert rnng_dy.load("lm").table(regions).by_sentence()[0]["role"] == ""


def test_regions_of_a_row_per_word_have_the_sums_of_marked_ones(shared):
    def sums(items, folder, *names):
        scorer = ["--scorer", f"surprisals={shared}/study/{folder}/surprisals.tsv"]
        rows = table(run(*scorer, "--stimuli", shared / "study" / items, "--by-region").stdout)
        return [[row[name] for name in ("item", "condition", "surprisal", *names)] for row in rows]

    named = sums("words/words.csv", "words", "region_name")
    assert [row[:3] for row in named] == sums("interaction/items.csv", "interaction")
    assert [row[3] for row in named[:4]] == ["subclause", "subject", "critical", "spill"]
    scorer = ["--scorer", f"surprisals={shared}/study/words/surprisals.tsv", "--text"]
    formula = ["--prediction", "(critical;%trans_none%) > (critical;%trans_comma%)"]
    said = commands.invoke("suite", shared / "study" / "words" / "words.csv", *scorer, *formula)
    assert re.search(r"words +1 +8 +8 +100.0 %", said.stdout)


def test_results_of_a_web_experiment_are_texts_and_times(shared):
    study = shared / "study"
    scorer = ["--scorer", f"surprisals={study}/interaction/surprisals.tsv"]
    run(*scorer, "--stimuli", study / "pcibex" / "results.csv", "-o", "words.tsv")
    assert len(table(Path("words.tsv").read_text(encoding="utf-8"))) == 320
    people = "subject=MD5 hash of participant's IP address"
    options = ["--column", people, "--column", "condition=condition", "--spillover", "0"]
    times = ["words.tsv", "--times", study / "pcibex" / "results.csv"]
    said = commands.invoke("reading-times", *times, *options).stderr
    assert "480 of 480 rows in 8 items" in said


def test_a_workbook_with_marks_is_a_suite_without_its_fillers(shared):
    study = shared / "study"
    scorer = ["--scorer", f"surprisals={study}/interaction/surprisals.tsv", "--text"]
    book = [study / "marks" / "merged_items.xlsx", "--mark", "/", "--condition", "verb"]
    formula = ["--prediction", "(3;%trans_none%) > (3;%trans_comma%)"]
    said = commands.invoke("suite", *book, *scorer, "--condition", "comma", *formula)
    assert "8   8   100.0 %" in said.stdout
    assert "left out: 2 of 10 items" in said.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_of_one_cell_are_measured_one_by_one(kind):
    content = "item,text\n1,The train slept. She | read.\n2,She read.\n"
    Path("r.csv").write_text(content, encoding="utf-8")
    rows = table(run(*KINDS[kind], "--stimuli", "r.csv").stdout)
    assert list(rows[0])[:4] == ["item", "sentence_of_text", "region", "word_id"]
    assert column(rows, "sentence_of_text") == ["1", "1", "1", "2", "2", "1", "1"]
    assert column(rows, "sentence_id") == ["1", "1", "1", "2", "2", "3", "3"]
    assert column(rows, "word_id") == ["1", "2", "3", "4", "5", "1", "2"]
    ends = table(run(*KINDS[kind], "--stimuli", "r.csv", "--end").stdout)
    assert column(ends, "word_id") == ["1", "2", "3", "", "4", "5", "", "1", "2", ""]
    assert column(rows, "region") == ["1"] * 4 + ["2", "1", "1"]
    assert column(rows[3:5], "surprisal") == column(rows[5:], "surprisal")
    regions = table(run(*KINDS[kind], "--stimuli", "--by-region", "r.csv").stdout)
    assert column(regions, "content") == ["The train slept. She", "read.", "She read."]
    sums = [sum(float(row["surprisal"]) for row in of) for of in (rows[:4], rows[4:5], rows[5:])]
    assert [float(row["surprisal"]) for row in regions] == pytest.approx(sums, abs=1e-5)
    one = table(run(*KINDS[kind], "--stimuli", "--one-per-line", "r.csv").stdout)
    assert set(column(one, "sentence_id")) == {"1", "2"}


def test_tables_in_python_have_the_numbers_of_the_command():
    rows = table(run(*KINDS["lm"], "--stimuli", "items.csv").stdout)
    model = rnng_dy.load("lm")
    found = model.table("items.csv")
    assert [str(row["start"]) for row in found] == column(rows, "start")
    bits = [float(row["surprisal"]) for row in rows]
    assert [row["surprisal"] for row in found] == pytest.approx(bits, abs=1e-6)
    stimuli = [{"item": 7, "condition": "x", "text": "The train | slept. She | read."}]
    found = model.table(stimuli)
    assert {row["item"] for row in found} == {7}
    assert [row["content"] for row in found.by_region()] == ["The train", "slept. She", "read."]
    [whole] = found.by_sentence()
    assert whole["content"] == "The train slept. She read."
    assert whole["surprisal"] == pytest.approx(sum(row["surprisal"] for row in found))


def test_a_figure_has_a_panel_per_item_and_a_curve_per_condition():
    pytest.importorskip("matplotlib")
    outputs = ["-o", "f.svg", "-o", "page.html", "-o", "t.tsv"]
    run(*KINDS["lm"], "--stimuli", "items.csv", *outputs, "--end")
    svg = Path("f.svg").read_text(encoding="utf-8")
    for text in ("item 1", "short", "long", "The train", "The old train,"):
        assert f">{text}</text>" in svg
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.count("<figure><svg ") == 1 and ">item 1</text>" in page
    Path("w.csv").write_text("text\nShe slept.\n", encoding="utf-8")
    run(*KINDS["lm"], "--stimuli", "w.csv", "-o", "w.svg")
    assert ">line 2</text>" in Path("w.svg").read_text(encoding="utf-8")
    content = "condition,text\na,She slept.\nb,She read.\na,He slept.\n"
    Path("w.csv").write_text(content, encoding="utf-8")
    run(*KINDS["lm"], "--stimuli", "w.csv", "-o", "w.svg")
    svg = Path("w.svg").read_text(encoding="utf-8")
    assert all(f">{name}</text>" in svg for name in ("a", "b", "a, line 4"))
    assert "add --stimuli" in run(*KINDS["lm"], "--text", "w.csv", "-o", "w.svg", code=2).stderr


def test_the_first_panel_has_means_of_each_text_once_and_fillers_are_in_none():
    pytest.importorskip("matplotlib")
    table = "item,condition,text\n1,a,the train | slept\n1,b,she | slept\n2,a,she | read\n"
    svgs = []
    for more in ("", "9,,the old train slept\n", "1,a,the train | slept\n"):
        Path("f.csv").write_text(table + more, encoding="utf-8")
        run(*KINDS["lm"], "--stimuli", "f.csv", *["-o", "f.png", "-o", "f.pdf", "-o", "f.svg"])
        svgs.append(Path("f.svg").read_text(encoding="utf-8"))
    assert {*svgs} == {svgs[0]} and ">means of 2 items, with 95 % intervals</text>" in svgs[0]
    Path("f.csv").write_text(table.replace("2,a", "2,c"), encoding="utf-8")
    assert len(panels()) == 2
    assert [Path(f"f.{form}").read_bytes()[:4] for form in ("png", "pdf")] == [b"\x89PNG", b"%PDF"]


def panels():
    """The panels of the figure of f.csv, by the LSTM."""
    model, stimuli = rnng_dy.load("lm"), read_stimuli("f.csv")
    texts = stimuli.tokenised(model.segmenter)
    records = model.surprisals_of([list(sentence.tokens) for [sentence] in texts])
    return panels_of(WordRows(texts, stimuli), records).values()


def test_regions_stand_in_the_order_of_their_numbers_and_where_others_of_their_number_do():
    rows = ["1,a,1", "1,a,3", "1,b,1", "1,b,2", "2,a,2", "2,a,3"]
    table = ["item,condition,region,text", *(f"{row},train" for row in rows)]
    Path("f.csv").write_text("\n".join(table), encoding="utf-8")
    means, one, two = panels()
    assert [curve.labels for curve in means.values()] == [("1", "2", "3"), ("1", "2", "")]
    regions = [[math.isfinite(bits) for bits in curve.bits] for curve in one.values()]
    assert regions == [[True, False, True], [True, True, False]]
    assert [len(curve.bits) for curve in two.values()] == [2]


def test_means_are_of_regions_of_one_name_and_place():
    rows = [f"{i},a,{n},{name},the train" for i in (1, 2) for n, name in enumerate("xyx")]
    table = ["item,condition,region_number,region_name,text", *rows]
    Path("f.csv").write_text("\n".join(table), encoding="utf-8")
    means, one, _ = panels()
    assert means["a"].labels == ("x", "y", "x")
    assert means["a"].bits == pytest.approx(one["a"].bits)
