"""`rnng-dy suite`: from a model folder to accuracies."""

import csv
import json
import math
import shutil
from functools import partial

import pytest

import rnng_dy
from rnng_dy.baselines.lstm_lm import LstmLanguageModel
from rnng_dy.cli import inputs as module
from tests.commands import invoke, table

PAIRS = "the train slept .\tthe train the .\nshe read a letter .\tread she letter a .\n"
run = partial(invoke, "suite")


@pytest.fixture
def folder(models):
    """A folder with models and pairs, in which commands run."""
    (models / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    return models


def test_the_sums_are_the_models_and_the_accuracy_is_theirs(folder):
    result = run("pairs.tsv", "--model", "lm", "--jobs", "2", "-o", "r.tsv", "-o", "r.json")
    rows = tidy(folder / "r.tsv")
    assert [row["condition"] for row in rows] == ["good", "bad"] * 2
    bits = [float(row["surprisal"]) for row in rows]
    sentences = [sentence.split() for line in PAIRS.splitlines() for sentence in line.split("\t")]
    model = rnng_dy.load("lm")
    for sentence, found in zip(sentences, bits, strict=True):
        [log_p, _] = model.example_log_probs([model.encode(sentence)])[0]
        assert found == pytest.approx(-log_p / math.log(2), abs=1e-4)
    right = (bits[0] < bits[1]) + (bits[2] < bits[3])
    [numbers] = json.loads((folder / "r.json").read_text())
    assert (numbers["right"], numbers["of"]) == (right, 2)
    assert f"{50 * right:.1f} %" in result.stdout


def test_a_table_that_lacks_a_sentence_is_an_error_before_a_model_measures(folder, monkeypatch):
    (folder / "other.tsv").write_text("sentence_id\ttoken\tsurprisal\n1\tthe\t1.0\n")
    monkeypatch.setattr("rnng_dy.baselines.lstm_lm.LstmLanguageModel.records_of", None)
    said = run("pairs.tsv", "--model", "lm", "--scorer", "surprisals=other.tsv", code=2).output
    assert "no sentence 'the train slept .' in this table" in said


def test_suites_of_the_package_are_known_by_name_and_files_by_path(folder):
    both = run("agreement-pp", "./pairs.tsv", "--model", "lm", "-o", "page.html").stdout
    assert [line.split()[0] for line in both.splitlines()[1:]] == ["agreement-pp"] * 3 + ["pairs"]
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "prepositional phrase" in page


def test_a_model_of_the_package_is_the_default(folder, monkeypatch):
    monkeypatch.setattr(module, "DEFAULT_MODEL", "lm")
    assert run("pairs.tsv").stdout == run("pairs.tsv", "--model", "lm").stdout


def test_words_that_the_model_cannot_give_are_named_and_the_items_left_out(folder):
    # no UNK class for a number with a dash and capitals is in the small training data
    (folder / "odd.tsv").write_text("A1-S slept\tA1-S read\nshe slept\tA1-S read\n")
    result = run("odd.tsv", "--model", "lm")
    assert "words that the model cannot give: A1-S (2)" in result.stderr
    assert result.stdout.splitlines()[1].split()[-10:-6] == ["1", "1", "100.0", "%"]
    assert result.stdout.splitlines()[1].split()[-2:] == ["1", "1"]
    assert "words outside the model's vocabulary: 2 of 6, A1-S (2)" in result.stderr


def test_sentences_that_do_not_fit_into_memory_are_named(folder, monkeypatch):
    whole = LstmLanguageModel.surprisals_of

    def small(model, sentences, *arguments, **options):
        if any("read" in sentence for sentence in sentences):
            raise MemoryError
        return whole(model, sentences, *arguments, **options)

    monkeypatch.setattr(LstmLanguageModel, "surprisals_of", small)
    result = run("pairs.tsv", "--model", "lm")
    assert "lm: 2 sentences do not fit into memory: she read a letter ., read she" in result.stderr


def test_a_sentence_that_a_search_gives_no_tree_is_named(folder):
    (folder / "odd.txt").write_text("the train slept .\nA1-S slept .\n", encoding="utf-8")
    result = invoke("parse", "--model", "generator", "odd.txt", *SMALL)
    assert result.stdout.splitlines()[1] == ""
    assert "odd.txt:2: not in the model's vocabulary, so skipped: A1-S" in result.stderr


SMALL = ["--beam", "12", "--fast-track", "2", "--word-beam", "4"]


def tidy(path):
    return table(path.read_text(encoding="utf-8"))


def test_models_and_tables_of_surprisals_stand_side_by_side(folder):
    (folder / "generator").rename("rnng")
    (folder / "s.txt").write_text(PAIRS.replace("\t", "\n"), encoding="utf-8")
    invoke("surprisal", "--model", "lm", "s.txt", "-o", "other.tsv")
    invoke("surprisal", "--model", "rnng", *SMALL, "s.txt", "-o", "words.tsv")
    systems = ["--model", "rnng", "--model", "lm", "--scorer", "surprisals=other.tsv"]
    result = run("pairs.tsv", *systems, *SMALL, "-o", "t.tsv", "-o", "p.html")
    names = [line.split()[0] for line in result.stdout.splitlines()]
    assert names == ["model", "rnng", "lm", "surprisals=other.tsv"]
    bits = {name: [] for name in names[1:]}
    for row in tidy(folder / "t.tsv"):
        bits[row["model"]].append(float(row["surprisal"]))
    assert bits["lm"] == pytest.approx(bits["surprisals=other.tsv"], abs=1e-4)
    sums = [0.0] * 4
    for row in tidy(folder / "words.tsv"):
        sums[int(row["sentence_id"]) - 1] += float(row["surprisal"])
    assert bits["rnng"] == pytest.approx(sums, abs=1e-4)


STIMULI = """\
item,condition,text
one,short,The train | slept .
one,long,The old train | slept .
two,short,She | slept .
two,long,The old letter | slept .
"""


def test_stimuli_with_predictions_are_a_suite(folder):
    (folder / "items.csv").write_text(STIMULI, encoding="utf-8")
    formula = "(2;%long%) < (2;%short%)"
    arguments = ["--model", "lm", "--prediction", formula, "--prediction", "(*;%long%) > 0"]
    result = run("items.csv", *arguments, "-o", "t.tsv")
    rows = tidy(folder / "t.tsv")
    bits = {(r["item"], r["condition"], r["region"]): float(r["surprisal"]) for r in rows}
    right = sum(bits[item, "long", "2"] < bits[item, "short", "2"] for item in ("one", "two"))
    first, second, _ = [line.split() for line in result.stdout.splitlines()[1:]]
    assert first[:4] == ["items", "1", str(right), "2"] and second[:4] == ["items", "2", "2", "2"]
    run("items.csv", *arguments, "--effects", "e.csv")
    with (folder / "e.csv").open(encoding="utf-8", newline="") as stream:
        effect = [*csv.DictReader(stream)][-1]
    difference = [bits[item, "short", "2"] - bits[item, "long", "2"] for item in ("one", "two")]
    assert float(effect["mean"]) == pytest.approx(sum(difference) / 2, abs=1e-4)
    assert [effect[name] for name in ("effect", "region", "items")] == ["short - long", "2", "2"]
    invoke("surprisal", "--model", "lm", "--stimuli", "items.csv", "--by-region", "-o", "r.tsv")
    sums = [float(row["surprisal"]) for row in tidy(folder / "r.tsv")]
    assert list(bits.values()) == pytest.approx(sums, abs=1e-4)


REGIONS = """\
item,condition,field,region,text
1,short,a,subject,the
1,short,,subject,train
1,short,,verb,slept .
1,long,,subject,the old train
1,long,,verb,slept .
2,short,b,subject,she
2,short,,verb,slept .
2,long,,verb,slept .
"""


def test_formulas_name_regions_and_items_have_groups(folder):
    (folder / "items.csv").write_text(REGIONS, encoding="utf-8")
    arguments = ["--model", "lm", "--by", "field", "--prediction", "(verb;%long%) < (verb;%short%)"]
    more = ["--prediction", "(subject;%long%) > (subject;%short%)", "--effects", "e.csv"]
    printed = [line.split() for line in run("items.csv", *arguments, *more).stdout.splitlines()]
    # the second prediction is of no item of group b
    assert [" ".join([*row[1:-10], row[-9]]) for row in printed[1:]] == [
        *("a 1 1", "a 2 1", "a all predictions 1", "b 1 1"),
        *("all 1 2", "all 2 1", "all all predictions 1"),
    ]
    with (folder / "e.csv").open(encoding="utf-8", newline="") as stream:
        effects = [*csv.DictReader(stream)]
    groups = [row["group"] for row in effects if row["kind"] == "prediction"]
    assert groups == ["a", "a", "b", "all", "all"]
    said = run("items.csv", *arguments, "--prediction", "(noun;%long%) > 0", code=2).stderr
    assert "'noun' names no region, or regions of several numbers: subject, verb" in said
    assert "items.csv:5: empty groups: read as those above, in 2 rows" in said
    said = run("items.csv", *arguments[:2], "--by", "list", *arguments[4:], code=2).stderr
    assert "items.csv:1: no column 'list', but item, condition, field" in said
    (folder / "items.csv").write_text(REGIONS.replace(",b,", ",,"), encoding="utf-8")
    said = run("items.csv", *arguments, code=2).stderr
    assert "items.csv:7: item 2 has no group: write one in its first row" in said
    said = run("items.csv", *arguments[:2], "--by", "region_name", *arguments[4:], code=2).stderr
    assert "items.csv:2: item 1 has several groups" in said


@pytest.mark.parametrize("mark", ["/", "*", "[]"])
def test_regions_may_have_another_mark(folder, mark):
    begin, end = (" / ", "") if mark == "/" else (f" {mark[0]}", mark[-1])
    text = STIMULI.replace(" | slept .", f"{begin}slept .{end}")
    arguments = ["--model", "lm", "--prediction", "(2;%long%) < (2;%short%)", "-o", "t.tsv"]
    bits = []
    for content, options in ((text, ["--mark", mark]), (STIMULI, [])):
        (folder / "items.csv").write_text(content, encoding="utf-8")
        said = run("items.csv", *arguments, code=2 if options else 0).stderr
        assert (f"name it by --mark '{mark}'" in said) == bool(options)
        run("items.csv", *arguments, *options)
        found = [row["surprisal"] for row in tidy(folder / "t.tsv") if row["region"] == "2"]
        bits.append(found)
    assert bits[0] == bits[1] and len(found) == 4


def test_plain_stimuli_have_the_tokens_and_values_of_surprisal(folder):
    """As Excel writes them: a mark of UTF-8, semicolons, and apostrophes that are curved."""
    text = "Item;Condition;Note;Sentence\r\n1;a;x;She didn’t | read (a letter), | “slept”.\r\n"
    (folder / "items.csv").write_bytes(text.encode("utf-8-sig"))
    run("items.csv", "--text", "--model", "lm", "--prediction", "(2;%a%) > 0", "-o", "t.tsv")
    invoke("surprisal", "--model", "lm", "--stimuli", "items.csv", "--by-region", "-o", "r.tsv")
    found, expected = tidy(folder / "t.tsv"), tidy(folder / "r.tsv")
    assert found[0]["content"] == "She did n't"
    for row, of_surprisal in zip(found, expected, strict=True):
        assert float(row["surprisal"]) == pytest.approx(float(of_surprisal["surprisal"]), abs=1e-4)


@pytest.mark.parametrize(
    ("content", "formula", "says"),
    [
        (STIMULI, "(2;%long%) <", "Error: '(2;%long%) <'"),
        (STIMULI, "(3;%long%) < 1", "items.csv: prediction 1: item one has no region 3"),
        (STIMULI.replace("long", "short", 1), "(2;%short%) > 0", "item 'one' has the condition 'short' again"),
        (STIMULI.replace("She | slept .", "|"), "(2;%short%) > 0", "a sentence without words"),
        (STIMULI.replace("condition", "c"), "(2;%short%) > 0", "items.csv:3: item 'one' has several rows: if"),
        ("item,text\n1,a b\n", "(2;%short%) > 0", "items.csv:1: no column 'condition', which a test"),
    ],
)  # fmt: skip
def test_stimuli_that_are_no_suite_are_refused(folder, content, formula, says):
    (folder / "items.csv").write_text(content, encoding="utf-8")
    said = run("items.csv", "--model", "lm", "--prediction", formula, code=2).stderr
    assert says in " ".join(said.split())


def test_unknown_words_are_counted_for_each_model(folder):
    (folder / "odd.tsv").write_text("she slept\tshe read\nshe zorbed\tshe read\n", encoding="utf-8")
    shutil.copytree("lm", "again")
    said = run("odd.tsv", "--model", "lm", "--model", "again").stderr
    for name in ("lm", "again"):
        assert f"{name}: words outside the model's vocabulary: 1 of 6, zorbed (1)" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "lm", "--model", "lm"], "--model lm is given twice"),
        (["--model", "lm", "--beam", "9"], "--beam is for generative models with trees"),
        (["--scorer", "surprisals=pairs.tsv"], "pairs.tsv:1: no column 'token'"),
        (["--scorer", "surprisals"], "surprisals need a table"),
        (["--model", "lm", "--column", "b"], "two --column name the good and the bad sentences"),
        (["--model", "lm", "-o", "a.tsv", "--effects", "a.tsv"], "a.tsv is the name of two outputs"),
        (["--model", "lm", "-o", "lm/parameters.npz"], "lm/parameters.npz is the input as well"),
    ],
)  # fmt: skip
def test_systems_that_do_not_fit_are_refused(folder, arguments, says):
    assert says in run("pairs.tsv", *arguments, code=2).stderr


def test_plain_text_is_split(folder):
    (folder / "plain.tsv").write_text("She didn't read.\tShe didn't slept.\n", encoding="utf-8")
    said = "plain: running text? 'read.' ends in a mark (2 of 2 sentences): add --text"
    assert said in run("plain.tsv", "--model", "lm").stderr
    assert "running text?" not in run("plain.tsv", "--model", "lm", "--text").stderr
    run("plain.tsv", "--model", "lm", "--text", "-o", "r.tsv")
    assert "She did n't read ." in (folder / "r.tsv").read_text()
