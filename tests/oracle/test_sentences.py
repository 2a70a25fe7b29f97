"""Sentences to parse, in each format."""

from __future__ import annotations

import pytest

from oracle.errors import InputError
from oracle.sentences import SourceSentence, read_sentences

ORACLE = """# (S (DT The) (NN cat))
DT NN
The cat
the cat
The UNK-LC
NT(S)
SHIFT
SHIFT
REDUCE

"""


def read(tmp_path, text, **options):
    path = tmp_path / "in.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_sentences(path, **options))


def test_an_oracle(tmp_path):
    first, second = read(tmp_path, ORACLE * 2)
    assert first == SourceSentence(("The", "cat"), ("DT", "NN"), ("The", "UNK-LC"), 1)
    assert second.line == 11


def test_trees_give_words_and_tags(tmp_path):
    text = "(S (DT The)\n   (NN cat))\n(NN yes) (S (NN a_b))\n"
    assert read(tmp_path, text) == [
        SourceSentence(("The", "cat"), ("DT", "NN"), None, 1),
        SourceSentence(("yes",), ("NN",), None, 3),
        SourceSentence(("a_b",), ("NN",), None, 3),
    ]


def test_trees_without_preterminals_give_words(tmp_path):
    sentences = read(tmp_path, "(S (NP it) (VP ran))\n(S (NP The cat) sleeps)\n")
    assert [(s.tokens, s.tags) for s in sentences] == [
        (("it", "ran"), None),
        (("The", "cat", "sleeps"), None),
    ]


def test_tokens_stand_between_ascii_white_space(tmp_path):
    sentences = read(tmp_path, "# 1 \u3000x\u00a0y\t( a(b\r\n||| <p> \u2028\n\n \n")
    assert [(s.tokens, s.line) for s in sentences] == [
        (("#", "1", "\u3000x\u00a0y", "-LRB-", "a-LRB-b"), 1),
        (("|||", "<p>", "\u2028"), 2),
    ]


@pytest.mark.parametrize("tagged", [None, True, False])
def test_an_empty_line_between_sentences_keeps_its_place(tmp_path, tagged):
    sentences = read(tmp_path, "\na_B c_D\n \t\n\ne_F\n\n", tagged=tagged)
    assert [len(s.tokens) for s in sentences] == [0, 2, 0, 0, 1]
    assert [s.line for s in sentences] == [1, 2, 3, 4, 5]
    assert {s.tags for s in sentences if not s.tokens} == {None if tagged is False else ()}


def test_tagged_tokens_are_seen_where_all_have_a_tag(tmp_path):
    text = "The_DT a_b_NN\n#_#\n"
    assert [(s.tokens, s.tags) for s in read(tmp_path, text)] == [
        (("The", "a_b"), ("DT", "NN")),
        (("#",), ("#",)),
    ]
    assert [s.tokens for s in read(tmp_path, text, tagged=False)] == [
        ("The_DT", "a_b_NN"),
        ("#_#",),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I_PRP 's_POS (_-LRB- his_PRP$ ''_'' ,_, $_$ 5_CD to_TO :_: '_`` wow_NN|UH\n",
        "\u4e0a\u6d77_NR \u7684_DEG \uff0c_PU \u4eca\u5929_NT-SHORT\n",
        "it_PRON rains_VERB ._PUNCT\n",
        "es_PPER regnet_VVFIN ._$.\n",
    ],
)
def test_tags_of_ptb_ctb_and_universal_dependencies_are_seen(tmp_path, text):
    [sentence] = read(tmp_path, text)
    assert len(sentence.tags) == len(sentence.tokens)


@pytest.mark.parametrize(
    ("text", "line", "tag"),
    [
        ("snake_case\n", 1, "case"),
        ("the_DT cat_NN\nmax_value\n", 2, "value"),
        ("x_1 y_1\n", 1, "1"),
        ("der_ART Hund_Nn\n", 1, "Nn"),
        ("\u4e2d_\u56fd\n", 1, "\u56fd"),
    ],
)
def test_underscores_that_may_belong_to_words_are_asked_about(tmp_path, text, line, tag):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert caught.value.line == line
    assert f"{tag!r} is not written as POS tags are: say --tagged" in str(caught.value)
    assert {s.tags for s in read(tmp_path, text, tagged=False)} == {None}
    assert tag in {t for s in read(tmp_path, text, tagged=True) for t in s.tags}


def test_tags_that_are_mostly_none_of_the_model_are_asked_about(tmp_path):
    text = "the_DT cat_NN\nMAX_VALUE MIN_VALUE MIN_SIZE\n"
    with pytest.raises(InputError, match=r":2: .* 'VALUE' is, as most of the others, no POS tag"):
        read(tmp_path, text, known_tags={"DT", "NN"})
    sentences = read(tmp_path, text, known_tags={"DT", "NN", "SIZE"})
    assert sentences == read(tmp_path, text, known_tags={"NN"}, tagged=True)


def test_an_underscore_here_and_there_is_no_tag(tmp_path):
    [sentence] = read(tmp_path, "the file_name is _ here\n")
    assert sentence == SourceSentence(("the", "file_name", "is", "_", "here"), None, None, 1)


def test_where_most_tokens_are_tagged_the_others_are_an_error(tmp_path):
    text = "The_DT cat_NN\nsleeps_VBZ .\n"
    with pytest.raises(InputError, match=r"in\.txt:2: 3 of 4 tokens are word_TAG, but '\.' is not"):
        read(tmp_path, text)
    with pytest.raises(InputError, match=r"in\.txt:2: the token '\.' is not word_TAG"):
        read(tmp_path, text, tagged=True)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no sentence"),
        (" \n\n", None, "no sentence"),
        ("a b\n(S (NP c) d)\n", 2, "a tree among tokenised sentences"),
        ("a b\n( (S (NN x)))\n", 2, "a tree among tokenised sentences"),
        ("(S (NN a))\nb c\n", 2, "'b' stands beside the brackets"),
        (ORACLE + "a b\n", 11, "begins with `# ` and its tree"),
        ("a\ncaf\xe9\n".encode("latin-1"), 2, "not utf-8"),
        (b"(S (NN caf\xe9))\n", 1, "not utf-8"),
    ],
)
def test_other_input_is_refused_with_its_line(tmp_path, text, line, message):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert caught.value.line == line
    assert message in str(caught.value)
