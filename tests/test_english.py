"""The English models of the package, and how their treebanks are made."""

from __future__ import annotations

import json
import math
import re
import tarfile
import zipfile
from pathlib import Path

import click
import numpy as np
import pytest

import rnng_dy
from oracle.brackets import parse_line
from rnng_dy import cli, model_folder
from rnng_dy.cli.rules import require_once
from scripts.english import __main__ as recipe
from scripts.english import circuits, commands, figures, score, texts, treebanks, vectors
from tests.commands import invoke

NAMES = ("english", "english-generative", "english-judge", "english-lstm")
LARGEST = 85e6
SENTENCE = "The board will meet on Friday."
TREE = (
    "(S (NP (DT The) (NN board)) "
    "(VP (MD will) (VP (VB meet) (PP (IN on) (NP (NNP Friday))))) (. .))"
)


def test_the_archives_are_small_and_name_their_terms():
    paths = [model_folder.SHIPPED / f"{name}.rnng.zip" for name in NAMES]
    assert sum(path.stat().st_size for path in paths) <= LARGEST
    sources = (model_folder.SHIPPED / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for path in paths:
        terms = model_folder.read_about(path)["terms"]
        assert terms["licence"] == "CC BY 4.0" and "ATTRIBUTION.md" in terms["data"]
    assert all(name in sources for name in ("MASC", "CRAFT", "GUM"))


def test_three_lines_parse_a_sentence():
    [tree] = rnng_dy.load("english")(SENTENCE)
    assert tree == parse_line(TREE)


def test_titles_before_names_end_no_sentence():
    text = "The board will meet on Friday. Mr. Smith knew why. Mrs. Jones met Dr. Lee."
    trees = rnng_dy.load("english")(text)
    assert [tree.leaves()[0] for tree in trees] == ["The", "Mr.", "Mrs."]


def test_one_name_gives_trees_and_surprisals():
    parsed = invoke("parse", "--model", "english", "--text", "-", input=SENTENCE).stdout
    assert parsed == f"{TREE}\n"
    rows = invoke("surprisal", "--model", "english", "--text", "-", input=SENTENCE).stdout
    cells = [row.split("\t") for row in rows.splitlines()[1:]]
    assert [row[2] for row in cells] == ["The", "board", "will", "meet", "on", "Friday", "."]
    assert all(0 < float(row[5]) < 30 for row in cells)


def test_every_word_has_a_surprisal():
    text = "The zyzzyvas xkcded \u732b."
    rows = invoke("surprisal", "--model", "english", "--text", "-", "--open", input=text).stdout
    header, *cells = [row.split("\t") for row in rows.splitlines()]
    spelled = [float(row[header.index("spelling_surprisal")]) for row in cells]
    assert [row[2] for row in cells] == ["The", "zyzzyvas", "xkcded", "\u732b", "."]
    assert spelled[0] == spelled[-1] == 0 and all(10 < bits < 200 for bits in spelled[1:-1])


def test_what_is_no_word_and_what_cannot_be_read_is_left_out(tmp_path):
    path = tmp_path / "VOL15_3.mrg"
    path.write_text(
        "( (S (NP-SBJ (PRP it)) (EDITED (CODE <x>)) (VP (VBZ works)) (SU /)) )\n(CODE <TURN>)\n"
        "( (SBAR (WRB how) ( (S (NP-SBJ-1 (NNP Mr.) (NNP Whopsle))))) )\n"
    )
    assert treebanks.tree_lines(path) == [
        "(S (NP (PRP it)) (VP (VBZ works)))\n",
        "(SBAR (WRB how) (S (S (NP (NNP Mr.) (NNP Whopsle)))))\n",
    ]


def test_tags_are_those_of_the_penn_treebank_where_treebanks_differ(tmp_path):
    path = tmp_path / "craft.mrg"
    path.write_text("(S (VP (VB Go) (PP (IN To) (NP (NN work)))) (, ;) (NP (IN so)) (. .))\n")
    line = "(S (VP (VB Go) (PP (TO To) (NP (NN work)))) (: ;) (NP (IN so)) (. .))\n"
    assert treebanks.tree_lines(path) == [line]


def test_figures_are_those_of_the_decoded_trees(here, monkeypatch):
    monkeypatch.setattr(figures, "make", lambda *arguments: None)
    gold, tag = "(S (NP (NN a)) (VP (VB b)))\n", "(S (NP (NN a)) (VP (XX b)))\n"
    label = "(S (NP (NN a)) (NP (VB b)))\n"
    Path("masc.dev.trees").write_text(gold)
    Path("scored").mkdir()
    endings = {"greedy": tag, "mbr": gold, "map": label, "both": gold}
    endings |= {"props": "0 ||| -1 ||| (S (NP a) (VP b))\n", "scores": f"2\t{1 + math.log(64)}\n"}
    for ending, content in endings.items():
        Path("scored", f"masc.dev.{ending}").write_text(content)
    assert figures.figures("masc.dev") == pytest.approx([50.0, 100.0, 100.0, 200 / 3, 100.0, 8.0])


def result(suite, share):
    """A result as `suite` writes it; of several predictions, all together hold of no item."""
    both = suite == "fgd_hierarchy"
    predictions = [{"accuracy": share}, {"accuracy": 0.0}][: 1 + both]
    accuracy = 0.0 if both else share
    known = {"model": "m", "suite": suite, "of": 10}
    return known | {"accuracy": accuracy, "predictions": predictions}


def test_scores_by_phenomenon_are_means_over_the_suites_that_the_publication_counts(
    shared, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("matplotlib")
    published = shared / "scoreboard" / "published.tsv"
    with open(published, encoding="utf-8") as stream:
        names = [line.split("\t")[0] for line in stream][1:-1]
    results = [result(n, 0.5 * (n not in ("number_orc", "subordination"))) for n in names]
    Path(tmp_path, "suites.json").write_text(json.dumps(results))
    drawn = tmp_path / "circuits.svg"
    monkeypatch.setattr("sys.argv", ["", str(tmp_path / "suites.json"), str(published), str(drawn)])
    circuits.main()
    table = capsys.readouterr().out
    assert "\n| agreement | 25.0 | 72.3 | 0.9 |" in table and "\n| garden paths | 50.0 |" in table
    assert "\n| subordination | 33.3 |" in table and "\n| long distance | 50.0 |" in table
    # 21 of 23 suites, and the published mean of these
    assert "\n| all | 45.7 | 59.6 | 35.3 |" in table
    assert "garden" in drawn.read_text(encoding="utf-8")


def test_variants_are_scored_over_suites_and_paradigms_and_seeds(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    shares = {"good": ((0.8, 0.5), (0.6, 0.7)), "bad": ((0.1, 0.5), (0.3, 0.7))}
    for name, seeds in shares.items():
        for seed, (gym, blimp) in enumerate(seeds):
            folder = tmp_path / name / str(seed)
            folder.mkdir(parents=True)
            suites = [result("number_src", gym), result("fgd-embed3", 1.0)]
            (folder / "syntaxgym.json").write_text(json.dumps(suites))
            (folder / "blimp.json").write_text(json.dumps([result("wh_island", blimp)]))
    drawn = tmp_path / "circuits.svg"
    monkeypatch.setattr("sys.argv", ["", str(drawn), *(str(tmp_path / name) for name in shares)])
    score.main()
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| good | 70.0 | 60.0 | 65.0 | 65.0 to 65.0 | 0.0 | 0.0 to 0.0 |",
        "| bad | 20.0 | 60.0 | 40.0 | 40.0 to 40.0 | -25.0 | -25.0 to -25.0 |",
        "",
        "| variant | agreement | all |",
        "|---|---|---|",
        # 95 % of binomial samples of ten items
        "| good | 70.0 (40.0 to 100.0) | 70.0 (40.0 to 100.0) |",
        "| bad | 20.0 (0.0 to 50.0) | 20.0 (0.0 to 50.0) |",
    ]
    picture = drawn.read_text(encoding="utf-8")
    assert all(text in picture for text in ("good", "bad", "agreement"))
    assert "licensing" not in picture


def test_the_interval_of_a_score_is_that_of_its_suites_and_paradigms():
    value, low, high = score.interval([np.array([0.0, 100.0] * 10), np.array([50.0])])
    # the standard error is 50 / sqrt(20) for the suites, half of that for the mean of both
    width = 1.96 * 50 / math.sqrt(20) / 2
    assert value == 50 and (low, high) == pytest.approx((50 - width, 50 + width), abs=1.5)


def test_each_step_of_the_recipe_is_a_command_with_options_that_exist(here, monkeypatch):
    def step(words, **_):
        name, *arguments = words[1:]
        command = cli.main.get_command(None, name)
        if isinstance(command, click.Group):
            group = command.make_context(name, arguments)
            _, command, arguments = command.resolve_command(group, arguments)
        context = command.make_context(name, [*arguments])
        require_once(command.params, context.meta["rnng_dy.order"], context.params)
        if name == "train":
            Path(arguments[arguments.index("--model") + 1]).mkdir(parents=True)
        elif "-o" in arguments:
            Path(arguments[-1]).write_text("" if name == "parse" else f"{TREE}\n")
        return 0

    monkeypatch.setattr(commands.subprocess, "call", step)
    for split in ("train", "dev", "masc.train", "gum.train", "tagger"):
        Path(f"{split}.trees").write_text(f"{TREE}\n" * 2)
    recipe.oracles()
    recipe.make_parser()
    recipe.make_language_models()
    assert {*Path().glob("english*.rnng.zip")} == {Path(f"{name}.rnng.zip") for name in NAMES}


def test_unlabelled_sentences_are_of_documents_without_trees(tmp_path):
    (tmp_path / "masc" / "letters").mkdir(parents=True)
    (tmp_path / "masc" / "letters" / "known.mrg").touch()
    unseen = "It_PRP works_VBZ ._. \n No_UH !_. trailing_VBG"
    kept_back = next(iter(treebanks.DOCUMENTS))
    with zipfile.ZipFile(tmp_path / "masc_tagged.zip", "w") as archive:
        for document in ("known", "unseen", kept_back):
            archive.writestr(f"masc_tagged/written/{document}.txt", unseen)
        archive.writestr("masc_tagged/README", unseen)
    assert list(texts.tagged_text(tmp_path, tmp_path)) == [["It", "works", "."], ["No", "!"]]


def test_different_sentences_of_some_words_without_gold_trees_are_parsed_for_training(tmp_path):
    trees = tmp_path / "gum.dev.trees"
    trees.write_text("(S (NN it) (VB was) (JJ dev))\n")
    known, fitting = ["it", "was", "dev"], ["It", "works", "."]
    texts.write_sentences([known, fitting, fitting, ["No", "!"]], tmp_path / "masc.txt")
    (tmp_path / "news.txt").write_text("Mr. Smith left. It did. No!\n\nIt works. It works well.\n")
    texts.write_sentences(texts.segmented([tmp_path / "news.txt"], trees), tmp_path / "open.txt")
    into = tmp_path / "text"
    texts.write_different(tmp_path, into, {"masc.txt": 5, "open.txt": 2}, range(3, 5))
    assert into.read_text() == "It works .\nMr. Smith left .\nIt works .\n"


def test_vectors_are_of_the_frequent_words_of_trees_and_texts(tmp_path):
    (tmp_path / "train.trees").write_text("(S (NN Cat) (VB saw) (JJ rare))\n" * 4)
    texts.write_sentences([["cat", "saw"]] * 6, tmp_path / "text")
    vectors.write_vectors(tmp_path, tmp_path / "vectors", "text")
    assert re.findall("[a-z]+", (tmp_path / "vectors").read_text()) == ["cat", "saw"]


def test_words_with_the_same_neighbours_have_like_vectors():
    nouns, verbs = ("cat", "dog", "Bird"), ("saw", "met", "heard")
    sentences = [["the", n, v, "a", m, "."] for n in nouns for v in verbs for m in nouns] * 2
    # numbers of one form share a vector, though each is rare
    sentences += [
        ["in", year, "."] for year in ("1990", "1991", "1992", "1990", "1991", "1992") * 5
    ]
    words, array = vectors.vectors_of(sentences, dimension=3)
    unit = array / np.linalg.norm(array, axis=1, keepdims=True)
    likeness = unit @ unit.T
    row = {word: i for i, word in enumerate(words)}
    assert likeness[row["cat"], row["bird"]] > 0.99 > 0.9 > likeness[row["cat"], row["saw"]]
    assert likeness[row["saw"], row["heard"]] > 0.99
    assert array[row["1990"]].tolist() == array[row["1992"]].tolist()


@pytest.mark.slow
def test_the_parts_have_the_trees_that_the_page_counts(shared, tmp_path):
    said = list(treebanks.write_trees(shared / "treebanks" / "open", tmp_path))
    page = (Path(__file__).parents[1] / "docs" / "english.md").read_text(encoding="utf-8")
    numbers = {int(re.search(r": (\d+) trees", line)[1]) for line in said}
    assert len(said) == 10 and all(f"{number:,}" in page for number in numbers)


@pytest.mark.parametrize("with_test", [False, True])
def test_models_that_are_compared_are_tested_on_documents_that_others_are_chosen_on(
    tmp_path, with_test
):
    for treebank in treebanks.TREEBANKS:
        with tarfile.open(tmp_path / f"{treebank}.tar.xz", "w:xz") as archive:
            for name in ("unseen", "lw1", "chZ"):
                path = tmp_path / f"{name}.mrg"
                path.write_text(f"(X (NN {name}))\n")
                archive.add(path, path.name)
    list(treebanks.write_trees(tmp_path, tmp_path, with_test))
    trees = {path.name: path.read_text() for path in tmp_path.glob("masc.*.trees")}
    assert trees.pop("masc.train.trees") == "(X (NN unseen))\n"
    dev, test = "(X (NN lw1))\n", "(X (NN chZ))\n"
    divided = {"masc.dev.trees": dev, "masc.test.trees": test}
    assert trees == (divided if with_test else {"masc.dev.trees": test + dev})


def test_the_sources_of_all_texts_are_named(shared):
    sources = (model_folder.SHIPPED / "ATTRIBUTION.md").read_text(encoding="utf-8")
    asked = re.findall(r'> "(.*?)"$', (shared / "open_text" / "README.md").read_text("utf-8"), re.M)
    assert len(asked) == 15 and all(line in sources for line in asked)
    files = {path.name.removesuffix(".txt.xz") for path in (shared / "open_text").glob("*.xz")}
    assert set(texts.OPEN) == files - {"speeches_old"}
