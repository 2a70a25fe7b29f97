"""Texts and sentences on the command line and in Python, with the package's models."""

import math
import re

import numpy as np
import pytest

import rnng_dy
from oracle.common.errors import RnngError
from tests.commands import invoke, table

TEXT = "The old man the boat."


@pytest.mark.parametrize("command", ["parse", "surprisal", "perplexity"])
def test_an_argument_with_a_blank_is_the_text_itself(command, here):
    (here / "t.txt").write_text(TEXT, encoding="utf-8")
    given = invoke(command, TEXT)
    assert given.stdout == invoke(command, "--text", "t.txt").stdout
    assert "INPUT is no file: it is read as running text" in given.stderr
    assert "INPUT is no file" in invoke(command, "He (and/or she) slept (here). ").stderr
    # a file's name may have a blank
    (here / "a b").write_text("He slept .", encoding="utf-8")
    assert "INPUT is no file" not in invoke(command, "a b").stderr


def test_a_text_obeys_the_options_of_texts():
    said = invoke("parse", TEXT, "--tagged", code=2).stderr
    assert "--tagged/--untagged goes without --text" in said
    two = "He slept. She did not."
    assert len(invoke("parse", two).stdout.splitlines()) == 2
    assert len(invoke("parse", two, "--one-per-line").stdout.splitlines()) == 1


@pytest.mark.parametrize("name", ["my stimuli.txt", "some folder/text"])
def test_what_looks_like_a_files_name_is_one(name):
    assert f"{name}: No such file" in invoke("parse", name, code=2).stderr


def test_several_texts_are_read_one_by_one():
    two = invoke("parse", "He slept.", "Stop!").stdout
    assert two == invoke("parse", "He slept.").stdout + invoke("parse", "Stop!").stdout
    assert "'The' is none" in invoke("parse", "The", "dog", "slept.", code=2).stderr


def test_marks_and_markup_in_a_text_are_no_words(tmp_path):
    said = invoke("surprisal", "The dog / slept.", code=2).stderr
    assert "'/' is a mark of regions, not a word: name it by --mark '/'" in said
    (tmp_path / "t.txt").write_text("The dog / slept .\nHe / left .\n", encoding="utf-8")
    for given in ("The dog / slept.", tmp_path / "t.txt"):
        assert ":1: '/' is text here; stimuli have regions" in invoke("parse", given).stderr
    (tmp_path / "t.txt").write_text("It slept .\nThe <unk> slept .\n", encoding="utf-8")
    for given, found in {"It <b>slept</b>.": "1: '<b>'", tmp_path / "t.txt": "2: '<unk>'"}.items():
        assert f":{found} is text here: take markup out" in invoke("parse", given).stderr


def test_a_text_may_have_regions():
    alone = invoke("surprisal", "The dog | slept.", "--by-region").stdout
    assert [row["content"] for row in table(alone)] == ["The dog", "slept."]
    assert invoke("surprisal", "The dog / slept.", "--mark", "/", "--by-region").stdout == alone


def test_judgements_are_no_words(tmp_path):
    (tmp_path / "t.txt").write_text("It is .\n*It are .\n", encoding="utf-8")
    for options in ([], ["--text"]):
        said = invoke("parse", tmp_path / "t.txt", *options, code=2).stderr
        assert "t.txt:2: '*It are .' begins with '*', a mark and no word" in " ".join(said.split())


def test_a_text_without_a_command_is_told_where_it_goes():
    assert f'rnng-dy parse "{TEXT}"' in invoke(TEXT, code=2).stderr


class Spacy:
    """What documents, spans and tokens of spaCy have."""

    def __init__(self, text, parts=()):
        self.text, self._parts = text, parts

    def __iter__(self):
        return iter(self._parts)


class Series(list):
    """A column of a table has the method `to_frame`."""

    to_frame = None


TOKENS = ["He", "slept", "."]


@pytest.mark.parametrize(
    ("given", "trees"),
    [
        ("He slept. She did not.", 2),
        (Spacy("He slept. She did not.", [Spacy("He")]), 2),
        (["He slept.", "She did not."], 2),
        (np.array(["He slept.", "She did not."]), 2),
        (Series(["He slept.", "Yes"]), 2),
        ([Spacy("He slept."), Spacy("She did not.")], 2),
        ([TOKENS, np.array(TOKENS)], 2),
        (TOKENS, None),
        (np.array(TOKENS), None),
        (list(map(Spacy, TOKENS)), None),
        ([("He", "PRP"), ("slept", "VBD"), (".", ".")], None),
    ],
)
def test_sentences_are_read_as_people_hold_them(given, trees):
    found = rnng_dy.parse(given)
    assert (found[0] if trees else found).leaves() == TOKENS
    assert trees is None or len(found) == trees


def test_surprisals_of_the_packages_model():
    first, second = rnng_dy.surprisals("He slept. She did not.")
    assert [record.token for record in second] == ["She", "did", "not", "."]
    model = rnng_dy.load("english-generative")
    assert model.surprisals("He slept.") == first == model.surprisals(tuple(TOKENS))
    assert [record.token for record in model.surprisals("can't")] == ["ca", "n't"]
    assert model.surprisals_of([tuple(TOKENS)]) == [first]
    tagged = [("He", "PRP"), ("slept", "VBD"), (".", ".")]
    assert model.surprisals_of([tagged]) == [model.surprisals(tagged)] == [first]
    with pytest.raises(RnngError, match=re.escape("('He', 'PRP') looks like a tagged word")):
        model.surprisals_of(tagged)
    with pytest.raises(AttributeError, match="load a generative model, such as english-generative"):
        rnng_dy.load("english").surprisals("He slept.")
    assert {"parse", "surprisals", "load"} <= {*dir(rnng_dy)}


TABLE = type("DataFrame", (list,), {"columns": ["text"]})(["sentence"])


@pytest.mark.parametrize("given", [None, 5, {"He": 1}, TABLE, ["He", 3], ["He slept.", None]])
def test_what_is_no_sentence_is_refused(given):
    for use in (rnng_dy.parse, rnng_dy.surprisals):
        with pytest.raises(RnngError):
            use(given)
    for other in ({"He": 1}, TABLE, {"He"}):
        with pytest.raises(RnngError, match="a sentence is a list of words"):
            rnng_dy.load("english-lstm").surprisals(other)


@pytest.mark.parametrize("use", [rnng_dy.parse, rnng_dy.surprisals])
def test_a_list_has_its_texts_or_says_which_is_none(use):
    assert use([]) == use("") == []
    assert len(use(["Stop!", "Yes.", "No."])) == len(use(Series(["Yes", "No", "Yes"]))) == 3
    for bad in (None, math.nan, "", "  ", []):
        with pytest.raises(RnngError, match=re.escape(f"text 2 of the list is {bad!r}")):
            use(["He slept.", bad])
    with pytest.raises(RnngError, match=re.escape("'*He sleep.' begins with '*'")):
        use("*He sleep.")
    for text, reason in (("NA", "is a number or a missing value"), ("*He sleep.", "begins with")):
        with pytest.raises(RnngError, match=rf"text 2 of the list: .*{reason}"):
            use(["He slept.", text])


def test_what_is_no_table_is_refused():
    model = rnng_dy.load("english-generative")
    lists = [[{"text": ["He", "slept"]}], [{"text": b"He slept"}]]
    for given in (*lists, None, 5, [], [3], [{"a": 1}], [{"text": "He slept."}, {"x": 2}]):
        with pytest.raises(RnngError, match=r"^stimuli"):
            model.table(given)


def test_a_document_is_its_text():
    document = Spacy("He slept. She did not.", [Spacy("He")])
    assert rnng_dy.surprisals(document) == rnng_dy.surprisals(document.text)
