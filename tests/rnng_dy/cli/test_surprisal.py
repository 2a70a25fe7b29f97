"""`rnng-dy surprisal`: from a model and sentences to tables, trees, beams, JSON and a page."""

import csv
import io
import json
import math
import re
import signal
from pathlib import Path

import pytest

from rnng_dy import GenerativeModel
from rnng_dy.evaluation.word_tables import TOKEN_COLUMNS
from rnng_dy.search import surprisal as searching
from rnng_dy.search.surprisal import SearchOptions
from tests import commands
from tests.commands import table

from ..conftest import save_oracle

COLUMNS = [*TOKEN_COLUMNS, *searching.measures_of(SearchOptions())]
TEXT = "the train slept .\n\nshe read no old letter .\n"
SMALL = ["--beam", "12", "--fast-track", "2", "--word-beam", "4"]
OPTIONS = SearchOptions(beam=12, fast_track=2, word_beam=4)
KINDS = {
    "generator": ["--model", "generator", *SMALL],
    "lm": ["--model", "lm"],
    "n-grams": ["--scorer", "kneser-ney=train.oracle"],
}


@pytest.fixture(autouse=True)
def folder(models, generative_sentences):
    """The current folder, with a model of each kind and sentences."""
    save_oracle("test.oracle", generative_sentences[:2])
    (models / "s.txt").write_text(TEXT, encoding="utf-8")
    (models / "many.txt").write_text("she slept .\na letter\n" * 10, encoding="utf-8")
    return models


def run(*arguments, code=0, stdin=None):
    result = commands.invoke("surprisal", *arguments, code=code, input=stdin)
    if code:
        assert not result.stdout
        assert len([x for x in result.stderr.splitlines() if x.startswith("Error: ")]) == 1
    return result


def outputs(*names):
    return [word for name in names for word in ("-o", name)]


def read(path):
    return Path(path).read_bytes()


# the table


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_tokens_of_numbered_lines_and_columns_what_the_model_has(kind):
    result = run(*KINDS[kind], "s.txt")
    rows = table(result.stdout)
    assert list(rows[0]) == (COLUMNS if kind == "generator" else COLUMNS[:6])
    words = [(str(i), str(k), w) for i, line in enumerate(TEXT.splitlines(), 1)
             for k, w in enumerate(line.split(), 1)]  # fmt: skip
    assert [(r["sentence_id"], r["token_id"], r["token"]) for r in rows] == words
    assert all(len(r["surprisal"].partition(".")[2]) == 6 for r in rows)
    assert all(float(r["surprisal"]) > 0 for r in rows)
    assert "surprisal: 3 sentences [" in result.stderr


@pytest.mark.parametrize("more", [[], ["--text", "--one-per-line", "--merge"]])
def test_csv_has_the_cells_of_the_table_with_tabs(more):
    Path("quoted").write_text('the " slept ,\n" the " .\n', encoding="utf-8")
    arguments = [*KINDS["lm"], "quoted", "--end", *more]
    with_tabs = table(run(*arguments).stdout)
    assert run(*arguments, "-o", "out.csv").stdout == ""
    text = read("out.csv").decode()
    assert list(csv.DictReader(io.StringIO(text, newline=""), strict=True)) == with_tabs
    assert text.count("\r\n") == text.count("\n") == len(with_tabs) + 1
    assert len(with_tabs) == 10


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_has_a_row_of_its_own(kind):
    rows = table(run(*KINDS[kind], "s.txt", "--end").stdout)
    ends = [(r["sentence_id"], r["token_id"], r["unk"]) for r in rows if r["token"] == "</s>"]
    assert ends == [("1", "5", ""), ("3", "7", "")]
    without = table(run(*KINDS[kind], "s.txt").stdout)
    assert [r for r in rows if r["token"] != "</s>"] == without


def test_numbers_are_those_of_the_python_interface():
    generator = GenerativeModel.load("generator")
    rows = table(run(*KINDS["generator"], "s.txt", "--end").stdout)
    records = [r for line in TEXT.splitlines() if line
               for r in generator.surprisals(line.split(), OPTIONS, end=True)]  # fmt: skip
    for row, record in zip(rows, records, strict=True):
        assert row["unk"] == (record.unk or "")
        assert row["known"] == {True: "1", False: "0", None: ""}[record.known]
        for name in COLUMNS[5:]:
            assert float(row[name]) == pytest.approx(getattr(record, name), abs=2e-4), name
        shares = sum(float(row[name]) for name in ("structure", "cluster", "word_in_cluster"))
        assert shares == pytest.approx(float(row["surprisal"]), abs=3e-6)


def test_tokens_that_would_break_a_table_are_escaped():
    rows = table(run(*KINDS["lm"], "-", stdin="# a\u2028b \\t x\x85 (x)\n").stdout)
    assert [r["token"] for r in rows] == ["#", "a\\u2028b", "\\t", "x\\x85", "-LRB-x-RRB-"]


# what may be the input


@pytest.mark.parametrize("kind", KINDS)
def test_an_oracle_its_trees_and_its_words_are_the_same(kind, generative_sentences, trees):
    of_oracle = run(*KINDS[kind], "test.oracle").stdout
    text = "".join(" ".join(s.tokens) + "\n" for s in generative_sentences[:2])
    assert run(*KINDS[kind], "-", stdin=text).stdout == of_oracle
    bracketed = "".join(f"{t.tree.pformat(margin=10**9)}\n" for t in trees[:2])
    assert run(*KINDS[kind], "-", stdin=bracketed).stdout == of_oracle


def test_tags_are_left_out():
    plain = run(*KINDS["lm"], "-", stdin="the train\n").stdout
    assert run(*KINDS["lm"], "-", "--tagged", stdin="the_DT train_NN\n").stdout == plain
    assert "the_DT" in run(*KINDS["lm"], "-", "--untagged", stdin="the_DT train_NN\n").stdout


def test_along_trees_the_words_have_the_joint_log_probability(trees):
    text = "".join(f"{t.tree.pformat(margin=10**9)}\n" for t in trees[:10])
    Path("t.trees").write_text(text, encoding="utf-8")
    arguments = ["--model", "generator", "t.trees", "--along-trees", "--end"]
    run(*arguments, *outputs("out", "best.trees", "j.jsonl"))
    rows = table(read("out").decode())
    shown = ["structure", "cluster", "word_in_cluster", "top_down", "bottom_up", "left_corner"]
    assert list(rows[0])[6:] == [*shown, "depth"]
    scored = commands.invoke("score", "--model", "generator", "t.trees").stdout.splitlines()
    for i, line in enumerate(scored, 1):
        bits = sum(float(row["surprisal"]) for row in rows if row["sentence_id"] == str(i))
        assert bits * math.log(2) == pytest.approx(float(line.split()[1]), rel=1e-5)
    unlabelled = [re.sub(r"\([^ ()]+ ([^ ()]+)\)", r"(XX \1)", t) for t in text.splitlines()]
    assert read("best.trees").decode().splitlines() == unlabelled
    Path("t.trees").write_text(f"{text}(S (NOWHERE (NN train) (NN train)))\n", encoding="utf-8")
    says = "unseen in training: NOWHERE: `rnng-dy prepare` takes function tags out, --open"
    assert f"t.trees:11: {says}" in run(*arguments, code=2).stderr


# words that a model cannot give, and searches that find no way


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_that_the_model_cannot_give_is_infinite_and_the_run_goes_on(kind, folder):
    # no UNK class for a number with a dash and capitals is in the small training data
    result = run(*KINDS[kind], "-", "-o", "-", "-o", "out.jsonl", "-o", "page.html", "--end",
                 stdin="she A1-S slept .\nshe slept .\n")  # fmt: skip
    rows = table(result.stdout)
    assert [r["surprisal"] == "inf" for r in rows] == [i == 1 for i in range(9)]
    says = "-:1: not in the model's vocabulary, so skipped: A1-S (UNK-CAPS-NUM-DASH-s)"
    assert says in result.stderr
    first = json.loads(read("out.jsonl").splitlines()[0])
    assert first["words"][1]["surprisal"] is None
    assert first["words"][1]["infinite"] is True
    # the words after it are read as if it were not there
    found, expected = ([float(r["surprisal"]) for r in of] for of in (rows[2:5], rows[6:]))
    assert found == pytest.approx(expected, abs=1e-4)


def test_a_search_that_finds_no_way_says_where():
    search = ["--search", "variable", "--particles", "1", "--end"]
    result = run("--model", "generator", *search, "s.txt")
    says = "s.txt:1: no partial tree that the search kept leads to word 1, 'the': it needs to look"
    assert says in result.stderr
    rows = table(result.stdout)
    assert [r["surprisal"] for r in rows] == ["inf"] * 12
    assert rows[0]["rounds"] and not rows[0]["open"]
    assert not rows[1]["rounds"]


def test_what_does_not_fit_into_memory_is_named_and_not_a_number(monkeypatch, folder):
    measure = GenerativeModel.measure

    def full(model, tokens, *others):
        if any(len(of) > 5 for of in tokens):
            raise MemoryError
        return measure(model, tokens, *others)

    monkeypatch.setattr(GenerativeModel, "measure", full)
    named = outputs("-", "t.trees", "h.html", "j.jsonl")
    result = run(*KINDS["generator"], "s.txt", "--end", *named)
    assert "s.txt:3: does not fit into memory" in result.stderr
    assert "outside the model's vocabulary" not in result.stderr
    rows = table(result.stdout)
    assert [r["known"] for r in rows[5:]] == [""] * 7
    assert [r["surprisal"] for r in rows[5:]] == ["nan"] * 7
    assert math.isfinite(float(rows[4]["surprisal"]))
    assert read("t.trees").count(b"\n") == 3
    assert "3: ? bits" in (folder / "h.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_words_are_counted(kind):
    text = "she qwxed the train .\nshe qwxed Zorgs .\n"
    result = run(*KINDS[kind], "-", "--end", stdin=text)
    assert "words outside the model's vocabulary: 3 of 9, qwxed (2), Zorgs (1)" in result.stderr
    known = [r["known"] for r in table(result.stdout)]
    assert known == ["1", "0", "1", "1", "1", "", "1", "0", "0", "1", ""]
    assert "outside" not in run(*KINDS[kind], "-", stdin="she slept .\n").stderr


# searches


def test_a_particle_filter_repeats_its_seed(folder):
    (folder / "short").write_text("the train\nthe train\n", encoding="utf-8")
    search = ["--search", "particles", "--particles", "20"]
    arguments = ["--model", "generator", "short", *search]
    one, again = run(*arguments).stdout, run(*arguments).stdout
    assert one == again
    assert run(*arguments, "--seed", "2").stdout != one
    rows = table(one)
    assert "structure" in rows[0]
    assert rows[0]["surprisal"] != rows[2]["surprisal"], "sentences draw apart"
    both = [table(one), table(run(*arguments, "--seed", "2").stdout)]
    for mean, *of_seeds in zip(table(run(*arguments, "--runs", "2").stdout), *both, strict=True):
        for name in ("surprisal", "structure", "entropy", "opened"):
            values = [float(row[name]) for row in of_seeds]
            assert float(mean[name]) == pytest.approx(sum(values) / 2, abs=1e-5)
        a, b = (float(row["surprisal"]) for row in of_seeds)
        # half the difference is the standard deviation of two, over the square root of 2
        assert float(mean["standard_error"]) == pytest.approx(abs(a - b) / 2, abs=1e-5)


def test_the_standard_error_of_several_tokens_is_that_of_their_sum(folder):
    (folder / "text").write_text("the train slept.\n", encoding="utf-8")
    search = ["--search", "particles", "--particles", "20"]
    arguments = ["--model", "generator", "--text", "text", *search]
    of_seeds = [table(run(*arguments, "--seed", str(seed)).stdout) for seed in (1, 2)]
    words = table(run(*arguments, "--runs", "2", "--merge").stdout)
    assert [word["token_id"] for word in words] == ["1", "2", "3-4"]
    for word in words:
        first, _, last = word["token_id"].partition("-")
        inside = slice(int(first) - 1, int(last or first))
        a, b = (sum(float(row["surprisal"]) for row in rows[inside]) for rows in of_seeds)
        assert float(word["standard_error"]) == pytest.approx(abs(a - b) / 2, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "parser", "s.txt"], "parser is a parser, which gives words no probability"),
        ([*KINDS["lm"], "--scorer", "kneser-ney=train.oracle", "s.txt"], "either --model or --scorer"),
        ([*KINDS["lm"], "s.txt", "-o", "t.trees"], "-o FILE.trees is for generative models"),
        ([*KINDS["lm"], "s.txt", "-o", "t.json"], "this command writes .tsv, .csv, .jsonl, .trees, .html"),
        ([*KINDS["lm"], "s.txt", "--word-beam", "5"], "--word-beam is for generative models"),
        ([*KINDS["n-grams"], "s.txt", "--search", "beam"], "--search is for generative models"),
        (["--model", "generator", "s.txt", "--particles", "9"], "--particles goes with --search particles/variable"),
        (["--scorer", "kneser-ney", "s.txt"], "n-grams need training sentences"),
        ([*KINDS["generator"], "s.txt", "--runs", "2"], "--runs goes with --search particles"),
        (["--scorer", "kneser-ney:x=train.oracle", "s.txt"], "'x' is not a valid integer range"),
        (["--scorer", "surprisals:3=t.tsv", "s.txt"], ":3 is the n of n-grams, and surprisals has none"),
        ([*KINDS["generator"], "s.txt", "--along-trees"], "--beam is for searches, and --along-trees has none"),
        ([*KINDS["lm"], "s.txt", "--along-trees"], "--along-trees is for generative models with trees"),
        (["--model", "generator", "s.txt", "--along-trees"], "s.txt:1: 'the' stands beside the brackets"),
        ([*KINDS["generator"], "nowhere.txt"], "nowhere.txt"),
        (["--model", "nowhere", "s.txt"], "nowhere"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(folder, arguments, says):
    before = sorted(folder.iterdir())
    assert says in run(*arguments, "-o", "out", code=2).stderr
    assert sorted(folder.iterdir()) == before


# other outputs


def test_trees_have_the_words(folder):
    run(*KINDS["generator"], "s.txt", "-o", "t.trees")
    trees = (folder / "t.trees").read_text(encoding="utf-8").split("\n")
    assert [line.count("(XX ") for line in trees] == [4, 0, 6, 0]
    assert all(line.startswith("(") for line in trees if line)


def test_json_has_the_table_and_the_beam(folder):
    run(*KINDS["generator"], "s.txt", *outputs("out", "j.jsonl"))
    sentences = [json.loads(line) for line in read("j.jsonl").splitlines()]
    assert [s["sentence_id"] for s in sentences] == [1, 2, 3]
    assert sentences[1]["words"] == []
    words = [word for s in sentences for word in s["words"]]
    for row, word in zip(table(read("out").decode()), words, strict=True):
        assert float(row["surprisal"]) == pytest.approx(word["surprisal"], abs=1e-6)
        assert len(word["beam"]) <= 4
        assert word["beam"][0]["tree"].endswith(word["token"])


# where it goes


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "out.html", "-o", "./out.html"], "./out.html is the name of two outputs"),
        (["-o", "-", "-o", "/dev/stdout"], "would both hold tsv"),
        (["-o", "nowhere/out"], "no folder"),
        (["-o", "lm"], "lm is a folder"),
        (["-o", "/dev/full"], "/dev/full: No space left on device"),
    ],
)
def test_outputs_that_cannot_be_written(folder, arguments, says):
    assert says in run(*KINDS["lm"], "s.txt", *arguments, code=2).stderr
    assert (folder / "s.txt").read_text(encoding="utf-8") == TEXT
    assert not [path for path in folder.glob("out*") if ".part" not in path.name]


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_jobs_changes_no_byte(kind):
    endings = ["tsv", "jsonl", "html", *(["trees"] if kind == "generator" else [])]
    for jobs in "12":
        named = outputs(*(f"j{jobs}.{name}" for name in endings))
        run(*KINDS[kind], "many.txt", *named, "--end", "--jobs", jobs)
    for name in endings:
        assert read(f"j1.{name}") == read(f"j2.{name}"), name


KILLED = """
import os, signal
from rnng_dy.{module} import {owner} as owner
done, left = owner.{name}, [{n}]
def killed(*arguments):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.{signal})
    return done(*arguments)
owner.{name} = killed
from rnng_dy.cli import main
main()
"""
IN_THE_WORK = {"module": "cli.job", "owner": "Results", "name": "write", "n": 3}
IN_THE_OUTPUT = {"module": "drawing", "owner": "measured_words", "name": "best_tree", "n": 1}


def run_and_die(program, *arguments, code):
    given = (program, "surprisal", *arguments)
    return commands.run(None, *given, code=code, command=commands.PYTHON)


@pytest.mark.parametrize("place", [IN_THE_WORK, IN_THE_OUTPUT], ids=["work", "output"])
def test_a_kill_loses_nothing(folder, place):
    arguments = [*KINDS["generator"], "many.txt", "--end"]
    run(*arguments, *outputs("whole", "whole.trees"))
    cut = outputs("cut", "cut.trees")
    program = KILLED.format(signal="SIGKILL", **place)
    run_and_die(program, *arguments, *cut, code=-signal.SIGKILL)
    assert not (folder / "cut").exists()
    run(*arguments, *cut)
    assert read("cut") == read("whole")
    assert read("cut.trees") == read("whole.trees")
    assert not list(folder.glob("cut.part*"))


@pytest.mark.parametrize(
    ("signal", "code", "outputs"),
    [
        ("SIGINT", 130, ["-o", "cut"]),
        ("SIGTERM", 143, ["-o", "-", "-o", "cut.jsonl"]),
        ("SIGHUP", 143, ["-o", "cut"]),
    ],
)
def test_a_signal_to_end_says_where_what_is_done_is(folder, signal, code, outputs):
    """Beside the first output that is a file."""
    arguments = [*KINDS["generator"], "many.txt", *outputs]
    stopped = run_and_die(KILLED.format(signal=signal, **IN_THE_WORK), *arguments, code=code)
    part = folder.resolve() / f"{outputs[-1]}.part"
    assert stopped.stderr.splitlines()[-1] == f"stopped; the same command continues with {part}"
    assert part.exists()


def test_a_signal_before_the_first_result_promises_nothing(folder):
    place = {"module": "cli", "owner": "job", "name": "split_on_memory_error", "n": 1}
    program = KILLED.format(signal="SIGINT", **place)
    stopped = run_and_die(program, *KINDS["lm"], "many.txt", "-o", "first", code=130)
    assert "continues" not in stopped.stderr and not list(folder.glob("first*"))
