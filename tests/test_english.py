"""The English models of the package, and how their treebanks are made."""

from __future__ import annotations

import json
import math
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rnng_dy
from oracle.brackets import parse_line
from rnng_dy import model_folder
from scripts.english import circuits, figures, texts, treebanks, vectors
from scripts.english.self_training import add_different, mix
from tests.commands import invoke

NAMES = ("english", "english-generative")
LARGEST = 45e6
SENTENCE = "The board will meet on Friday."
TREE = "(S (NP (DT The) (NN board)) (VP (MD will) (VP (VB meet) (PP (IN on) (NP (NNP Friday))))) (. .))"


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
    found = figures.figures("masc.dev")
    assert found == pytest.approx([50.0, 100.0, 100.0, 200 / 3, 100.0, 8.0])


def test_scores_by_phenomenon_are_means_over_suites(shared, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    published = shared / "scoreboard" / "published.tsv"
    with open(published, encoding="utf-8") as stream:
        names = [line.split("\t")[0] for line in stream][1:]
    scores = [{"model": "m", "suite": n, "accuracy": 0.5 * (n != "number_orc")} for n in names]
    Path(tmp_path, "suites.json").write_text(json.dumps(scores))
    drawn = tmp_path / "circuits.svg"
    monkeypatch.setattr("sys.argv", ["", str(tmp_path / "suites.json"), str(published), str(drawn)])
    circuits.main()
    table = capsys.readouterr().out
    assert "\n| agreement | 25.0 | 72.3 | 0.9 |" in table and "\n| garden paths | 50.0 |" in table
    assert "garden" in drawn.read_text(encoding="utf-8")


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


def test_different_sentences_of_some_words_are_parsed_for_training(tmp_path):
    sentences = ["It_PRP works_VBZ ._. ", "It_PRP always_RB works_VBZ well_RB ._. "] * 2
    with zipfile.ZipFile(tmp_path / "masc_tagged.zip", "w") as archive:
        archive.writestr("masc_tagged/written/unseen.txt", "".join(sentences))
    texts.write_unlabelled(tmp_path, tmp_path, tmp_path / "text")
    assert (tmp_path / "text").read_text() == "It always works well .\n"


def test_words_with_the_same_neighbours_have_like_vectors():
    nouns, verbs = ("cat", "dog", "Bird"), ("saw", "met", "heard")
    sentences = [["the", n, v, "a", m, "."] for n in nouns for v in verbs for m in nouns]
    # numbers of one form share a vector, though each is rare
    sentences += [
        ["in", year, "."] for year in ("1990", "1991", "1992", "1990", "1991", "1992") * 2
    ]
    words, found = vectors.vectors_of(sentences, dimension=3)
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    likeness = unit @ unit.T
    of = {word: i for i, word in enumerate(words)}
    assert likeness[of["cat"], of["bird"]] > 0.99 > 0.9 > likeness[of["cat"], of["saw"]]
    assert likeness[of["saw"], of["heard"]] > 0.99
    assert found[of["1990"]].tolist() == found[of["1992"]].tolist()


@pytest.mark.slow
def test_the_parts_have_the_trees_that_the_page_counts(shared, tmp_path):
    found = list(treebanks.write_trees(shared / "treebanks" / "open", tmp_path))
    page = (Path(__file__).parents[1] / "docs" / "english.md").read_text(encoding="utf-8")
    numbers = {int(re.search(r": (\d+) trees", line)[1]) for line in found}
    assert len(found) == 10 and all(f"{number:,}" in page for number in numbers)


def test_silver_trees_are_those_whose_constituents_are_probable(tmp_path):
    gold, parsed, train = (tmp_path / name for name in ("gold", "parsed", "train"))
    gold.write_text("(S (NP (DT a)))\n")
    shares = {"(S (NP (NN sure)))": [1.0, 0.5], "(S (NP (NN unsure)))": [1.0, 0.25]}
    trees = ({"tree": tree, "posteriors": of_tree} for tree, of_tree in shares.items())
    parsed.write_text("".join(json.dumps({"trees": [tree]}) + "\n" for tree in trees))
    assert mix(gold, parsed, 0.7, train) == 1
    assert train.read_text() == "(S (NP (DT a)))\n(S (NP (NN sure)))\n"


def test_a_sentence_of_text_is_learned_once_and_is_not_one_to_judge_by(tmp_path):
    gold, dev, one, two, train = (tmp_path / name for name in ("gold", "dev", "1", "2", "train"))
    gold.write_text("(S (NN it) (VB is) (JJ gold))\n(X (UH No))\n")
    dev.write_text("(S (NN it) (VB was) (JJ dev))\n")
    one.write_text(
        "(S (NN it) (VB is) (NN gold))\n\n(S (DT the) (NN cat) (VB slept))\n(X (UH Yes))\n"
    )
    two.write_text(
        "(S (NN it) (NP (VB was) (JJ dev)))\n(X (DT the) (NN cat) (VB slept))\n(S (NN we) (VB saw) (NN it))\n"
    )
    assert add_different(gold, [one, two], [dev], train) == (2, 2)
    assert train.read_text() == (
        f"{gold.read_text()}(S (DT the) (NN cat) (VB slept))\n(S (NN we) (VB saw) (NN it))\n"
    )


def test_the_sources_of_all_texts_are_named(shared):
    sources = (model_folder.SHIPPED / "ATTRIBUTION.md").read_text(encoding="utf-8")
    asked = re.findall(r'> "(.*?)"$', (shared / "open_text" / "README.md").read_text("utf-8"), re.M)
    assert len(asked) == 15 and all(line in sources for line in asked)
    files = {path.name.removesuffix(".txt.xz") for path in (shared / "open_text").glob("*.xz")}
    assert set(texts.OPEN) == files - {"speeches_old"}
