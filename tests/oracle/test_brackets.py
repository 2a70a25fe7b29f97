"""Reading and writing bracketed trees."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from oracle.brackets import format_tree, parse_line, read_tree_lines
from oracle.common.errors import InputError, RnngError
from oracle.common.files import read_lines

# everything but surrogates, brackets and the white space that separates words
SYMBOLS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="() \t\n\r\v\f"), min_size=1
)
PLAIN = SYMBOLS.filter(lambda text: set("0=@|").isdisjoint(text))
"""Without what marks discontinuous and binarised trees."""


def constituents(children, symbols=SYMBOLS):
    return st.builds(Tree, symbols, st.lists(children, min_size=1, max_size=4))


def tagged_trees(symbols):
    preterminals = st.builds(lambda tag, word: Tree(tag, [word]), symbols, symbols)
    grown = partial(constituents, symbols=symbols)
    return grown(st.recursive(preterminals, grown, max_leaves=15))


BARE_TREES = constituents(st.recursive(SYMBOLS, constituents, max_leaves=15))


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "in.trees"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_tree_lines(read_lines(path, encoding), path))


def refusal(tmp_path, text) -> InputError:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    return caught.value


@given(tagged_trees(SYMBOLS) | BARE_TREES)
def test_a_tree_written_and_read_is_the_same_tree(tree):
    assert parse_line(format_tree(tree)) == tree


@given(st.lists(tagged_trees(PLAIN), min_size=1, max_size=3))
def test_trees_in_a_file_are_read_whatever_white_space_is_between_symbols(tmp_path_factory, trees):
    text = " ".join(map(format_tree, trees))
    spread = text.replace(" (", "\r\n  \t(").replace(")", " )\f")
    tmp_path = tmp_path_factory.mktemp("spread")
    assert [located.tree for located in read(tmp_path, text)] == trees
    assert [located.tree for located in read(tmp_path, spread)] == trees


def test_trees_know_their_line_and_the_text_of_a_line_that_is_theirs_alone(tmp_path):
    located = read(tmp_path, "\n  (S  (A a)) \r\n(S (A b)) (S (A c))\n(S\n  (A d))\n")
    assert [tree.line for tree in located] == [2, 3, 3, 4]
    assert [tree.text for tree in located] == ["  (S  (A a))", None, None, None]
    assert [tree.tree.leaves() for tree in located] == [["a"], ["b"], ["c"], ["d"]]


def test_a_unicode_space_is_part_of_a_word(tmp_path):
    word = "a\u00a0b\u3000c\u2028d\u0085e\x1cf"
    [located] = read(tmp_path, f"(S (A {word}))\n")
    assert located.tree == Tree("S", [Tree("A", [word])])
    assert format_tree(located.tree) == located.text


def test_a_deep_tree_is_read_and_written(tmp_path):
    text = "(S " * 20000 + "(A a)" + ")" * 20000
    [located] = read(tmp_path, text)
    assert format_tree(located.tree) == text


CTB = """<?xml version="1.0"?>
<DOC>
<DOCID> CTB-001 </DOCID>
<HEADER>
1994 (a date)
<DATE> 0101 </DATE>
</HEADER>
<DATETIME>
20000101
</DATETIME>
<BODY>
<HEADLINE>
<S ID=1>
( (NP-HLN (NR 上海)
          (PU <)))
</S>
</HEADLINE>
<TEXT>
<S ID=2> ( (IP (VV 去)) ) </S>
</TEXT></BODY></DOC>
<TITLE>
<S ID=3> ( (IP (VV 来)) ) </S> </TITLE>
"""


def test_the_sgml_of_ctb_is_passed_over(tmp_path):
    located = read(tmp_path, CTB)
    assert [tree.tree.leaves() for tree in located] == [["上海", "<"], ["去"], ["来"]]
    assert [tree.line for tree in located] == [14, 19, 22]


@pytest.mark.parametrize("element", ["<S ID=1>", "<P>"])
def test_text_in_an_element_of_sentences_is_no_tree(tmp_path, element):
    error = refusal(tmp_path, f"{element}\n上海 浦东\n")
    assert error.line == 2
    assert "'上海' stands beside the brackets" in str(error)


BRACKET_WORD = "a bracket that is a word is written -LRB- or -RRB-"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("(S (A a))\n(S (A a)\n(S (A b))\n", 2, "1 closing brackets are missing"),
        ("(S (A a))\n(S (A a)))\n", 2, "nothing is open that this ) could close"),
        ("(S (A a)\n  ())\n", 2, "() is empty"),
        ("(S (A a) (NP))\n", 1, "(NP) is empty: fill it"),
        ("(S (-LRB- () (NN part) (-RRB- )))\n", 1, BRACKET_WORD),
        ("(S (A a) (SYM :\\)))\n", 1, BRACKET_WORD),
        ("(S (A a))\nword (S (A a))\n", 2, "'word' stands beside the brackets"),
        ("(S (A a) word)\n", 1, "the word 'word' has no POS tag"),
        ("(S word (A a))\n", 1, "the word 'word' has no POS tag"),
        ("(S (NP the cat))\n", 1, "the word 'cat' has no POS tag"),
        ("(S ((A a)))\n", 1, "a constituent without a label"),
        ("(S (A a))\n(S (NP (A 0=Das) (B 2=Buch)) (C 1=kenne))\n", 2, "discontinuous trees"),
        ("(S (NP (A 0) (B 2)) (C 1))\n", 1, "discontinuous trees: make them continuous first"),
        ("(S (A a) (@S (B b) (C c)))\n", 1, "'@S' is a node of a binarised tree: undo that first"),
        ("(S (A a) (S|<B-C> (B b) (C c)))\n", 1, "'S|<B-C>' is a node of a binarised tree"),
        (
            "%% word tag\n#BOS 1\n",
            1,
            "this is the export format, which is not read: convert it to brackets",
        ),
        ("#BOS 1\nSie PPER SB 500\n", 1, "this is the export format"),
        ("(S (A a))\n<DATE>\n1994\n", 2, "the markup that begins here is never closed"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path, text, line, message):
    error = refusal(tmp_path, text)
    assert error.line == line
    assert str(error).startswith(f"{tmp_path / 'in.trees'}:{line}: ")
    assert message in str(error)


@pytest.mark.parametrize("encoding", ["klingon", "base64"])
def test_an_encoding_that_gives_no_lines_of_text_is_refused(tmp_path, encoding):
    with pytest.raises(RnngError, match=encoding):
        read(tmp_path, "(S (A a))", encoding=encoding)


@pytest.mark.parametrize("text", ["", "(S a) (S b)", "(S a", "(S a))", "word", "(S \udce9)"])
def test_a_line_that_is_not_one_tree_is_refused(text):
    with pytest.raises(InputError) as caught:
        parse_line(text, "f", 3)
    assert str(caught.value).startswith("f:3: ")


def test_brackets_in_words_are_written_as_in_the_ptb():
    assert format_tree(Tree("S", [Tree("-LRB-", ["("]), "a)b"])) == "(S (-LRB- -LRB-) a-RRB-b)"


@pytest.mark.parametrize(
    "tree",
    [
        Tree("S", [""]),
        Tree("S", ["a b"]),
        Tree("S", ["a\n"]),
        Tree("S(", ["a"]),
        Tree("S", [Tree("", ["a"])]),
    ],
)
def test_what_would_read_back_as_another_tree_is_not_written(tree):
    with pytest.raises(RnngError):
        format_tree(tree)
