"""Words as they are: `train --open`, and `--open` of surprisal, score and perplexity."""

import json
import math
import shutil
from collections import Counter
from pathlib import Path

import pytest

import rnng_dy
from oracle.unknown import CLASSES
from rnng_dy.search.surprisal import SearchOptions
from rnng_dy.text.spelling import learnt_spelling
from tests.commands import invoke, value
from tests.commands import table as rows

from ..conftest import save_oracle

SMALL = ["--beam", "12", "--fast-track", "2", "--word-beam", "4"]
OPTIONS = SearchOptions(beam=12, fast_track=2, word_beam=4)
SYSTEMS = {
    "generator": ["--model", "generator"],
    "lm": ["--model", "lm"],
    "n-grams": ["--scorer", "kneser-ney=train.gen.oracle"],
}
# eight sentences, of which three have unknown words
SOME = [*range(16, 20), *range(76, 80)]
ODD = ["blorked", "X" * 300, "😀", "中文", "Qz-7s", "UNK-NUM", "\u00a0", "42%", "Ünderings"]
TEXT = f"the cat slept .\n\nthe {' '.join(ODD)} slept .\n"


def spell(model, trees):
    """Give the model of a folder an open vocabulary, learnt from the words of trees."""
    words = Counter(word for located in trees for word in located.tree.leaves())
    learnt_spelling(rnng_dy.load(model), words).save(Path(model) / "spelling.json")


@pytest.fixture(scope="module")
def made(tmp_path_factory, trees, generative_sentences, made_models):
    """Models without and with (spelling) a spelling model, trees, oracles and a text."""
    folder = tmp_path_factory.mktemp("made") / "open"
    shutil.copytree(made_models, folder)
    shutil.copytree(folder / "generator", folder / "plain")
    (folder / "train.trees").write_text("".join(f"{t.text}\n" for t in trees))
    (folder / "some.trees").write_text("".join(f"{t.text}\n" for t in map(trees.__getitem__, SOME)))
    (folder / "text").write_text(TEXT)
    (folder / "pairs").write_text("the cat slept .\tthe blorked slept .\n")
    (folder / "train.oracle").rename(folder / "train.gen.oracle")
    save_oracle(folder / "some.gen.oracle", [generative_sentences[i] for i in SOME])
    for model in ("generator", "lm"):
        spell(folder / model, trees)
    return folder


@pytest.fixture
def folder(made, here):
    shutil.copytree(made, here, dirs_exist_ok=True)
    return here


def surprisal(system, *more, source="text"):
    search = SMALL if system == "generator" else []
    return invoke("surprisal", *SYSTEMS[system], *search, source, *more).stdout


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_word_is_without_a_surprisal(folder, system):
    table = rows(surprisal(system, "--open", "--end"))
    assert [row["token"] for row in table if row["known"] == "0"][-len(ODD) :] == ODD
    for row in table:
        names = ("surprisal", "class_surprisal", "spelling_surprisal")
        whole, of_class, spelling = (float(row[name]) for name in names)
        assert math.isfinite(whole)
        assert whole == pytest.approx(of_class + spelling, abs=2e-6)
        assert (spelling > 0) == (row["known"] == "0")
        assert row["known"] != "0" or row["unk"] in CLASSES


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_class_surprisal_is_the_closed_surprisal(folder, system):
    source = "some.trees"
    closed = rows(surprisal(system, source=source))
    opened = rows(surprisal(system, "--open", source=source))
    assert [row["surprisal"] for row in closed] == [row["class_surprisal"] for row in opened]
    assert [row["unk"] for row in closed] == [row["unk"] for row in opened]
    assert any(row["known"] == "0" for row in opened)


@pytest.mark.parametrize("model", ["generator", "lm"])
def test_python_gives_the_same(folder, model):
    loaded = rnng_dy.load(folder / model)
    tokens = TEXT.splitlines()[2].split(" ")
    options = {"options": OPTIONS} if model == "generator" else {}
    records = loaded.surprisals(tokens, **options, open_vocabulary=True)
    table = [row for row in rows(surprisal(model, "--open")) if row["sentence_id"] == "3"]
    bits = [float(row["surprisal"]) for row in table]
    assert [r.surprisal for r in records] == pytest.approx(bits, rel=1e-5)
    several = loaded.surprisals_of([tokens], **options, open_vocabulary=True)[0]
    for record, other in zip(records, several[: len(tokens)], strict=True):
        assert record.spelling_surprisal == other.spelling_surprisal
    closed = loaded.surprisals(tokens[:1], **options)
    assert closed[0].class_surprisal is closed[0].spelling_surprisal is None


def test_the_spelling_model_travels_with_the_model(folder):
    invoke("models", "export", "generator", "-o", "generator.rnng.zip")
    words = ["blorked", "the"]
    models = [rnng_dy.load(name) for name in ("generator", "generator.rnng.zip")]
    first, other = [model.spelling.read(words) for model in models]
    assert first == other
    assert first[1][0] < 0 == first[1][1]


@pytest.mark.parametrize(
    "command",
    [
        ["surprisal", "--model", "plain", "text", "--open"],
        ["perplexity", "--model", "plain", "some.gen.oracle", "--open"],
        ["suite", "--model", "lm", "--model", "plain", "pairs", "--open"],
    ],
)
def test_without_a_spelling_model_the_message_says_how_to_make_one(folder, command):
    said = invoke(*command, code=2)
    assert "`rnng-dy train --open` makes one" in said.stderr and said.stdout == ""


def test_suites_compare_words_as_they_are(folder):
    (folder / "other").write_text("the cat slept .\nthe blorked slept .\n")
    invoke("surprisal", *SYSTEMS["lm"], "other", "-o", "other.tsv")
    systems = ["--model", "generator", "--model", "lm", "--scorer", "kneser-ney=train.gen.oracle"]
    suite = ["suite", "pairs", *systems, "--scorer", "surprisals=other.tsv", *SMALL, "-o"]
    found = []
    for more in ["closed"], ["opened", "--open"]:
        said = invoke(*suite, f"{more[0]}.tsv", *more[1:], "-o", "-")
        assert said.stderr.count("words outside the model's vocabulary: 1 of 8, blorked (1)") == 4
        assert [line.split()[-1] for line in said.stdout.splitlines()[1:]] == ["1"] * 4
        found.append(rows((folder / f"{more[0]}.tsv").read_text()))
    closed, opened = found
    for i, system in enumerate(SYSTEMS):
        table = rows(surprisal(system, "--open", source="other"))
        for row, number in zip(opened[2 * i :], "12", strict=False):
            total = sum(float(word["surprisal"]) for word in table if word["sentence_id"] == number)
            assert float(row["surprisal"]) == pytest.approx(total, abs=1e-4)
        assert closed[2 * i] == opened[2 * i]
        assert closed[2 * i + 1] != opened[2 * i + 1]
    # the table of another program stays as it is
    assert opened[-2:] == closed[-2:]


def test_the_spelling_is_a_part_of_the_probability_of_a_tree(folder, trees):
    model = rnng_dy.load("generator")
    for tree in (trees[i].tree for i in SOME):
        spelled = sum(model.spelling.read(tree.leaves())[1])
        added = model.log_prob(tree, open_vocabulary=True) - model.log_prob(tree)
        assert added == pytest.approx(spelled, abs=1e-3)


@pytest.mark.parametrize("system", SYSTEMS)
def test_perplexity_counts_strings(folder, system):
    search = SMALL if system == "generator" else []

    def measured(*more):
        return invoke("perplexity", "some.gen.oracle", *SYSTEMS[system], *search, *more).stdout

    closed, opened = measured(), measured("--open", "-o", "n.json", "-o", "open.tsv", "-o", "-")
    surprisal(system, "--open", "--end", "-o", "bits.tsv", source="some.gen.oracle")
    by_table = ("--scorer", "surprisals=bits.tsv", "--against", "open.tsv")
    for more in ((), ("--open",)):
        again = invoke("perplexity", "some.gen.oracle", *by_table, *more)
        assert "vocabulary is open" not in again.stderr and "bits/character=" in again.stdout
    trained = invoke("perplexity", "some.gen.oracle", "--scorer", "kneser-ney=bits.tsv", code=2)
    assert "bits.tsv: a table is no text to train on" in trained.stderr
    table = rows((folder / "bits.tsv").read_text())
    bits = sum(float(row["spelling_surprisal"]) for row in table)
    llh = value("LLH", opened)
    assert llh == pytest.approx(value("LLH", closed) - bits * math.log(2), rel=1e-5)
    characters = len("".join(row["token"] for row in table if row["token"] != "</s>"))
    assert f"characters={characters} bytes={characters}" in opened and "characters" not in closed
    # PTB-like tokens are `` the '' -- cat ...; the e has its accent as a second character
    (folder / "raw").write_text("“th\u0065\u0301” – cat…\n")
    raw = invoke("perplexity", "raw", "--text", "--open", *SYSTEMS[system], *search)
    assert "characters=10 bytes=19" in raw.stdout
    numbers = json.loads((folder / "n.json").read_text())
    expected = pytest.approx(-llh / math.log(2) / characters, rel=1e-9)
    assert numbers["bits_per_byte"] == numbers["bits_per_character"] == expected


# making spelling models


@pytest.mark.parametrize("kind", ["generative", "lstm-lm"])
def test_training_makes_the_same_spelling_model(folder, kind, trees):
    train = ["train", kind, "--trees", "train.trees", "--dev-trees", "some.trees", "--hidden", "8"]
    train += ["--set", "lstm_input=8", "--epochs", "1", "--preset", "fast", "--model", "new"]
    invoke(*train, "--open")
    made = (folder / "new/spelling.json").read_bytes()
    assert rnng_dy.load("new").spelling.words == json.loads(made)["words"]
    (folder / "new/spelling.json").unlink()
    spell("new", trees)
    assert (folder / "new/spelling.json").read_bytes() == made
    (folder / "new/spelling.json").unlink()
    assert "new was trained without --open" in invoke(*train, "--open", "--resume", code=2).stderr


def test_a_continued_model_keeps_its_spelling_model(folder):
    train = ["train", "generative", "--trees", "some.trees", "--dev-trees", "some.trees"]
    invoke(*train, "--epochs", "1", "--preset", "fast", "--init", "generator", "--model", "new")
    first, second = (folder / name / "spelling.json" for name in ("generator", "new"))
    assert first.read_bytes() == second.read_bytes()
