"""What a segmenter learns from training tokens, and text.json."""

import json

import pytest

from oracle.brackets import read_trees
from oracle.common.errors import InputError
from oracle.treebank import words
from rnng_dy.text.segmenter import Segmenter


def learnt(*sentences):
    return Segmenter.of_training([sentence.split() for sentence in sentences])


def one(segmenter, text):
    [sentence] = segmenter.sentences(text, one_per_line=True)
    return " ".join(sentence.tokens)


@pytest.mark.parametrize(
    ("training", "text", "tokens"),
    [
        ('" Yes , " he said', '"No," she said “so”', '" No , " she said " so "'),
        ("“ Yes ” he said", '"No," she said “so”', "“ No , ” she said “ so ”"),
        ("`` Yes '' he said", '"No," she said “so”', "`` No , '' she said `` so ''"),
        ("[ a ] — b – c …", "[x] — y – z…", "[ x ] — y – z …"),
        ("-LSB- a -RSB-", "[x]", "-LSB- x -RSB-"),
        ("long - term high - rise non-stop", "short-term non-linear", "short - term non-linear"),
        ("and / or 1/2", "or/and 3/4", "or / and 3/4"),
        ("1\\/2", "3/4", "3\\/4"),
        ("Ges. m.b.H. sagt", "Die Ges. Nord", "Die Ges. Nord"),
        ("‘ it ’s ’", "‘she’s’", "‘ she ’s ’"),
        ("cafe\u0301", "ne\u0301", "ne\u0301"),
        ("he said", "2. [x]", "2 . [ x ]"),
        ("' Yes ' he said", "‘No’", "' No '"),
        ("` Yes ' he said", "‘No’", "` No '"),
        ("long long - term high - rise non-stop", "long-term", "long - term"),
        # one quote or curly apostrophe among many others is not the treebank's way
        ('`` a \'\'|"', '"x"', '" x "'),
        (200 * "`` a ''|" + '"', '"x"', "`` x ''"),
        ("it 's|it ’s", "it’s", "it ’s"),
        (20 * "it 's|" + "it ’s", "it’s", "it 's"),
        # a word that mostly stands alone is no prefix
        ("a-b non-stop|a - term b - rise c - key" + 20 * "|a cats", "a-c non-d", "a - c non-d"),
        # the period at the end is what it mostly is in training, also of one abbreviation
        ("at Acme Corp. he|at Corp .|Corp. Corp.", "at Corp.", "at Corp ."),
        ("at Acme Corp. he|at Corp. .|Corp. Corp.", "at Corp.", "at Corp. ."),
        ("at Acme Corp. he|at Corp.|Corp. Corp.", "at Corp.", "at Corp."),
        ("a Corp. b|a Corp.|a Ltd. b|Ltd. b|a Ltd .|Inc. b|Inc. b|a Inc .", "at Corp.", "at Corp."),
        # initials at the end are an abbreviation, one letter is none
        ("at Corp. he|at Corp.", "She joined the F.B.I.", "She joined the F.B.I."),
        ("at Corp. he", "It is plan B.", "It is plan B ."),
    ],
)  # fmt: skip
def test_text_is_written_as_training_writes_it(training, text, tokens):
    assert one(learnt(*training.split("|")), text) == tokens


def test_a_usual_abbreviation_stays_one_where_other_capitals_make_a_word_of_it():
    segmenter = learnt("Mr. Smith saw", "the MR scan", "an MR scan", "10 ms .")
    assert [len(s.tokens) for s in segmenter.sentences("Mr. Smith knew. Mrs. Smith did.")] == [4, 4]
    assert one(learnt("in Dec 1990", "dec dec"), "On Dec. 25") == "On Dec. 25"
    assert one(learnt("in Dec . 1990"), "On Dec. 25") == "On Dec . 25"
    # and the ends of sentences after such words say nothing about abbreviations
    words = ["Ms. A saw", "10 ms .", "Vs. A", "5 vs ."]
    assert one(learnt("at Corp.", *words), "at Acme Inc.") == "at Acme Inc."


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It was Acme Corp. The dog ran.", 2),
        ("It was Acme Corp. Smith ran.", 1),
        ("A man of M.I.T. He left.", 2),
        ("A man of M.I.T. Tolkien left.", 1),
        ("It was Mr. Long of Ohio. The man left.", 2),
        ("It was Sen. Long of Ohio. The man left.", 2),
        ("It was H. G. Long of Ohio. The man left.", 2),
    ],
)
def test_a_word_that_training_has_in_lower_case_begins_a_sentence_but_no_name(text, sentences):
    segmenter = learnt("the dog of Acme Corp. ran he left", "The dog ran a long way", "Mr. Smith")
    assert len(segmenter.sentences(text)) == sentences


def test_a_word_that_training_knows_ends_a_sentence_also_before_lower_case():
    segmenter = learnt("a dog ran")
    assert [len(s.tokens) for s in segmenter.sentences("a dog. it ran. approx. five")] == [3, 3, 2]


def test_gum_divides_compounds_and_keeps_its_quotes(shared):
    path = shared / "treebanks" / "gum" / "dev.trees"
    segmenter = Segmenter.of_training([words(t.tree) for t in read_trees(path)])
    assert one(segmenter, '"A long-term, non-linear plan (his)," she said—it\'s “good”.') == (
        '" A long - term , non-linear plan -LRB- his -RRB- , " she said — it \'s “ good ” .'
    )


def test_sinica_is_of_words(shared):
    path = shared / "treebanks" / "sinica" / "dev.trees"
    segmenter = Segmenter.of_training([words(t.tree) for t in read_trees(path)])
    assert segmenter.conventions.han == "words"
    with pytest.raises(InputError, match="no blank tells"):
        segmenter.sentences("我和嘉珍住在同一條巷子，友情。")


@pytest.fixture
def text_json(tmp_path, generative_sentences):
    segmenter = Segmenter.of_training([s.tokens for s in generative_sentences])
    segmenter.save(tmp_path / "text.json")
    return tmp_path / "text.json"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000, {"version": 2}, {"quotes": None}]
)
def test_a_damaged_text_json_is_named(text_json, content):
    if isinstance(content, dict):
        content = json.dumps(json.loads(text_json.read_text()) | content).encode()
    text_json.write_bytes(content)
    says = "text.json: .*the file is damaged: train the model again"
    with pytest.raises(InputError, match=says):
        Segmenter.load(text_json)
