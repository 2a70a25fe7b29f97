"""Sentences to parse, in each format."""

import pytest

from oracle.common.errors import InputError
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
    assert read(tmp_path, "(S (DT The)\n   (NN cat))\n(NN yes) (S (NN a_b))\n") == [
        SourceSentence(("The", "cat"), ("DT", "NN"), None, 1),
        SourceSentence(("yes",), ("NN",), None, 3),
        SourceSentence(("a_b",), ("NN",), None, 3),
    ]


def test_trees_without_preterminals_give_words(tmp_path):
    sentences = read(tmp_path, "(S (NP it) (VP ran))\n(S (NP The cat) sleeps)\n")
    assert [s.tokens for s in sentences] == [("it", "ran"), ("The", "cat", "sleeps")]
    assert [s.tags for s in sentences] == [None, None]


def test_tokens_stand_between_ascii_white_space(tmp_path):
    sentences = read(tmp_path, "# 1 \u3000x\u00a0y\t( a(b\r\n||| <p> \u2028\n\n \n")
    assert [(s.tokens, s.line) for s in sentences] == [
        (("#", "1", "\u3000x\u00a0y", "-LRB-", "a-LRB-b"), 1),
        (("|||", "<p>", "\u2028"), 2),
    ]


@pytest.mark.parametrize("tagged", [True, False])
def test_an_empty_line_between_sentences_keeps_its_place(tmp_path, tagged):
    sentences = read(tmp_path, "\na_B c_D\n \t\n\ne_F\n\n", tagged=tagged)
    assert [len(s.tokens) for s in sentences] == [0, 2, 0, 0, 1]
    assert [s.line for s in sentences] == [1, 2, 3, 4, 5]
    assert {s.tags for s in sentences if not s.tokens} == {() if tagged else None}


def test_tagged_tokens_are_read_as_words_and_tags(tmp_path):
    text = "The_DT a_b_NN\n#_#\n"
    assert [(s.tokens, s.tags) for s in read(tmp_path, text, tagged=True)] == [
        (("The", "a_b"), ("DT", "NN")),
        (("#",), ("#",)),
    ]
    untagged = read(tmp_path, text, tagged=False)
    assert [s.tokens for s in untagged] == [("The_DT", "a_b_NN"), ("#_#",)]
    assert [s.tags for s in untagged] == [None, None]


@pytest.mark.parametrize(
    ("text", "line", "token"),
    [
        ("I_PRP 's_POS (_-LRB- 5_CD\n", 1, "I_PRP"),
        ("\nsnake_case\n", 2, "snake_case"),
        ("a the_DT cat_NN\n", 1, "the_DT"),
        ("The/DT dog/NN -LRB-/-LRB- ./.\n", 1, "The/DT"),
    ],
)
def test_a_text_that_looks_tagged_is_asked_about(tmp_path, text, line, token):
    with pytest.raises(InputError, match="say --tagged if they are, --untagged") as told:
        read(tmp_path, text)
    assert told.value.line == line
    assert repr(token) in str(told.value)


def test_a_slash_before_tags(tmp_path):
    [sentence] = read(tmp_path, "1/2/CD of/IN\n", tagged=True)
    assert (sentence.tokens, sentence.tags) == (("1/2", "of"), ("CD", "IN"))
    [sentence] = read(tmp_path, "and/or he/she left\n")
    assert sentence.tags is None


def test_an_underscore_here_and_there_is_no_tag(tmp_path):
    [sentence] = read(tmp_path, "the file_name is _ here\n")
    assert sentence == SourceSentence(("the", "file_name", "is", "_", "here"), None, None, 1)


def test_where_tokens_are_tagged_each_is(tmp_path):
    with pytest.raises(InputError, match=r"in\.txt:2: the token '\.' is not word_TAG"):
        read(tmp_path, "The_DT cat_NN\nsleeps_VBZ .\n", tagged=True)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "no sentence"),
        (" \n\n", None, "no sentence"),
        ("a b\n(S (NP c) d)\n", 2, "a tree or likelihood among tokenised sentences"),
        ("a b\n( (S (NN x)))\n", 2, "a tree or likelihood among tokenised sentences"),
        ("0 ||| -1.5 ||| (S x)\n", 1, "a tree or likelihood among tokenised sentences"),
        ("4\t25.1\n", 1, "a tree or likelihood among tokenised sentences"),
        ("(S (NN a))\nb c\n", 2, "'b' stands beside the brackets"),
        ("(S (NN a))\n(S (-NONE- *) (VB b))\n", 2, "a trace (-NONE-), which is no word"),
        ("a b\n\ufeffc d\n", 2, "a byte order mark"),
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
