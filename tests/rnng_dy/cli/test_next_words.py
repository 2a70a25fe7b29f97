"""`rnng-dy next-words`: the most probable next words after texts."""

from pathlib import Path

import pytest

import rnng_dy
from rnng_dy.generator import GenerativeModel
from tests.commands import invoke, table

pytestmark = pytest.mark.usefixtures("models")


def run(*arguments, code=0):
    return invoke("next-words", "--model", "generator", *arguments, code=code)


def test_texts_end_at_their_gaps_and_their_last_sentences_are_continued(tmp_path):
    text = "she slept. the  train ___ here.\n\nthe old letter\n____ slept\n"
    (tmp_path / "cloze.txt").write_text(text, encoding="utf-8")
    rows = table(run("cloze.txt", "-k", 3).stdout)
    begun = {"1": "she slept. the train", "3": "the old letter", "4": ""}
    assert {row["text_id"]: row["text"] for row in rows} == begun
    assert [row["rank"] for row in rows] == 3 * ["1", "2", "3"]
    for number, tokens in ("1", ["the", "train"]), ("3", ["the", "old", "letter"]), ("4", []):
        expected = dict(rnng_dy.load("generator").next_words(tokens, 3))
        of_text = {r["word"]: float(r["probability"]) for r in rows if r["text_id"] == number}
        assert of_text == pytest.approx(expected, rel=1e-4)
    given = run("she slept. the  train ___ here.", "the old letter", "-k", 3)
    assert given.stdout.splitlines()[1:4] == run("cloze.txt", "-k", 3).stdout.splitlines()[1:4]
    assert "it is read as running text" in given.stderr


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("she met Mr. ___ there", "she met Mr."),
        ('she said " ___', "she said ``"),
        ("she slept. ___", ""),
        ("___", ""),
        ("she slept.", "she slept ."),
    ],
)
def test_a_gap_shows_what_the_text_before_it_is(monkeypatch, text, tokens):
    read = []
    monkeypatch.setattr(GenerativeModel, "next_words", lambda model, of, *_: read.append(of) or [])
    Path("begun.txt").write_text(text, encoding="utf-8")
    run("begun.txt")
    assert " ".join(read[0]) == tokens


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["bad.txt"], "bad.txt:2: unseen in training: UNK-CAPS-NUM-DASH-s"),
        (["bad.txt", "-k", 0], "-k"),
        (["nowhere.txt"], "nowhere.txt"),
        (["the dog", "bad.txt"], "'bad.txt' is none"),
        (["bad.txt", "--particles", 9], "--particles goes with --search particles/variable"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, arguments, says):
    (tmp_path / "bad.txt").write_text("she slept\nshe A1-S\n", encoding="utf-8")
    assert says in run(*arguments, "-o", "out", code=2).stderr
    assert not (tmp_path / "out").exists()
