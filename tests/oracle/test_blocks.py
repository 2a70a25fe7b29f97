"""Oracle files."""

import io

import pytest

from oracle.blocks import make_oracle, read_oracle, write_oracle
from oracle.brackets import read_trees
from oracle.common.errors import InputError
from oracle.common.files import replacing
from oracle.treebank import words
from oracle.unknown import UnknownWords, known_words

BLOCK = """# (S (NP (DT The) (NN cat)) (VBZ sleeps))
DT NN VBZ
The cat sleeps
the cat sleeps
UNK-INITC UNK-LC UNK-LC-s
NT(S)
NT(NP)
SHIFT
SHIFT
REDUCE
SHIFT
REDUCE

"""
LINES = BLOCK.splitlines(keepends=True)
GENERATIVE = "".join(LINES[:1] + LINES[2:3] + LINES[4:])


def read(tmp_path, content):
    path = tmp_path / "in.oracle"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_oracle(path)


def written(sentences) -> str:
    stream = io.StringIO(newline="\n")
    write_oracle(sentences, stream)
    return stream.getvalue()


def make(tmp_path, text, generative=False, rules="berkeley"):
    path = tmp_path / "in.trees"
    path.write_text(text, encoding="utf-8", newline="\n")
    trees = list(read_trees(path))
    known = known_words(words(located.tree) for located in trees)
    return list(make_oracle(trees, UnknownWords(rules, known), generative))


def test_a_block_is_made_as_the_original_prints_it(tmp_path):
    text = LINES[0].removeprefix("# ")
    assert written(make(tmp_path, text)) == BLOCK
    assert written(make(tmp_path, text, generative=True)) == GENERATIVE


@pytest.mark.parametrize("content", [BLOCK * 2, GENERATIVE * 2])
def test_what_is_read_is_written_the_same(tmp_path, content):
    sentences = read(tmp_path, content)
    assert written(sentences) == content
    assert [s.line for s in sentences] == [1, 1 + content.count("\n") // 2]


def test_the_tree_stays_as_its_line_has_it(tmp_path):
    text = "  (S  (A a)\t(B b) ) \t\r\n(S\n (A a))\n(S (A a)) (S (A b))\n"
    trees = [sentence.tree for sentence in make(tmp_path, text)]
    assert trees == ["  (S  (A a)\t(B b) )", "(S (A a))", "(S (A a))", "(S (A b))"]


@pytest.mark.parametrize("generative", [False, True])
@pytest.mark.parametrize(
    "tree",
    [
        "(NP (# #) (CD 1) (NN x))",
        "(#S (NN #) (NN #))",
        "(S|NP> (NN|VB a|b) (NN |||))",
        "(S (NN a\u00a0b) (NN \u3000) (NN c\u2028d) (NN e\u0085f))",
        "(S (-LRB- -LRB-) (NN 上海) (NN Ünal) (NN \u0130))",
        "(S (NN REDUCE) (NN SHIFT) (NN NT))",
    ],
)
def test_odd_words_and_labels_survive(tmp_path, tree, generative):
    made = make(tmp_path, f"{tree}\n(S (NN x))\n", generative)
    path = tmp_path / "out.oracle"
    with replacing(path) as stream:
        write_oracle(made, stream)
    assert read_oracle(path) == made
    assert made[0].tree == tree


def test_bytes_that_are_not_utf8_survive(tmp_path):
    content = GENERATIVE.replace("cat", "caf\xe9").encode("latin-1")
    sentences = read(tmp_path, content)
    path = tmp_path / "out.oracle"
    with replacing(path) as stream:
        write_oracle(sentences, stream)
    assert path.read_bytes() == content


def test_the_lines_of_dos_and_a_missing_last_line_do_no_harm(tmp_path):
    expected = read(tmp_path, BLOCK)
    assert read(tmp_path, BLOCK.replace("\n", "\r\n")) == expected
    assert read(tmp_path, BLOCK.rstrip()) == expected


def test_a_tree_without_actions_is_refused_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"in\.trees:2: .*only a preterminal"):
        make(tmp_path, "(S (NN x))\n(NN yes)\n")
    with pytest.raises(InputError, match=r"in\.trees:1: .*rnng-dy prepare"):
        make(tmp_path, "( (S (NN x)))\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("# (S", "(S", 14, "begins with `# ` and its tree"),
        ("DT NN VBZ\n", "", 14, "lines between the tree and its actions"),
        ("DT NN VBZ\n", "DT NN\n", 16, "3 words here, 2 on line 15"),
        ("the cat sleeps", "the cat", 17, "2 words here, 3 on line 15"),
        ("UNK-LC-s", "", 18, "2 words here, 3 on line 15"),
        ("SHIFT\nREDUCE\n\n", "REDUCE\n\n", 14, "would close the tree before its last word"),
        ("SHIFT\nREDUCE\n\n", "", 14, "1 constituents open"),
        ("NT(NP)\n", "NT(N P)\n", 14, "'NT(N P)' has a blank"),
        ("NT(NP)\n", "NP\n", 14, "'NP', is none of NT(X)"),
        ("NT(S)\nNT(NP)\n", "", 14, "action 1, 'SHIFT', puts a word outside all constituents"),
        (BLOCK, GENERATIVE, 14, "a generative and a discriminative oracle in one file"),
    ],
)
def test_a_block_that_does_not_fit_is_refused_with_its_line(tmp_path, old, new, line, message):
    bad = BLOCK.replace(old, new)
    assert bad != BLOCK
    with pytest.raises(InputError) as caught:
        read(tmp_path, BLOCK + bad)
    assert caught.value.line == line
    assert message in str(caught.value)


def test_the_first_actions_of_a_short_block_are_no_words(tmp_path):
    actions = ["SHIFT", "PJ(NP)", "SHIFT", "REDUCE", "PJ(S)", "SHIFT", "REDUCE", "FINISH"]
    lines = ["# (S (NP The cat) sat)", "The cat sat", *actions]
    with pytest.raises(InputError, match=":1: needs 2 "):
        read(tmp_path, "\n".join(lines))


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_oracle_is_refused(tmp_path, content):
    with pytest.raises(InputError, match="no sentence"):
        read(tmp_path, content)
