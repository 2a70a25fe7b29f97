"""Trees in the style of PPCHE and IcePaHC; the sentences are our own."""

import pytest

from oracle.brackets import format_tree, parse_line
from oracle.treebank import clean, is_no_text, without_lemma
from tests.commands import invoke, messages

ICELANDIC = """\
( (CODE {COM:a_page_is_torn}))
( (IP-MAT (NP-SBJ (PRO-N Hún-hún))
\t  (VBDI sá-sjá)
\t  (NP-OB1 (N-A hest$-hestur) (D-A $inn-hinn)
\t\t  (CP-REL (WNP-1 0)
\t\t\t  (C sem-sem)
\t\t\t  (IP-SUB (NP-SBJ *T*-1)
\t\t\t\t  (CODE <P_7>)
\t\t\t\t  (VBDI hljóp-hlaupa))))
\t  (. .-.))
  (ID 2024.OURS.NAR-FIC,.1))

( (METADATA (AUTHOR nobody) (YEAR 2024)))
( (IP-MAT-SPE (NP-SBJ *con*) (VBDI kom-koma) (ADVP (ADV á-fram-á-fram)) (, ,-,) (. ---)) (ID 2024.OURS,.2))
( (IP-MAT (NP-SBJ *pro*)) (ID 2024.OURS,.3))
"""
STRIPPED = [
    "(IP (NP (PRO Hún)) (VBDI sá) (NP (N hest$) (D $inn) (CP (C sem) (IP (VBDI hljóp)))) (. .))",
    "(IP (VBDI kom) (ADVP (ADV á-fram)) (, ,) (. -))",
]
ENGLISH = """\
( (IP-MAT (NP-SBJ (PRO She)) (VBD told) (NP-OB2 (PRO me))
\t  (CP-THT (C 0) (IP-SUB (NP-SBJ-1 (EX there)) (BED were) (NP-1 (NUM 0) (ADJ well-known) (NS cures))
\t\t  (CP-REL *ICH*-2)))
\t  (E_S .))
  (ID OURS-E3-H,1.2))
"""


def prepare(path, text, *options):
    path.write_text(text, encoding="utf-8")
    return invoke("prepare", path, *options)


def test_icelandic_trees_are_left_with_their_words(tmp_path):
    result = prepare(tmp_path / "a.psd", ICELANDIC, "--from", "icepahc")
    assert result.stdout.splitlines() == STRIPPED
    assert messages(result) == "5 trees read, 3 emptied, 0 preterminals skipped, 2 written\n"


def test_a_folder_gives_its_psd_files_by_name(tmp_path):
    (tmp_path / "notes.txt").write_text("no tree")
    (tmp_path / "b.psd").write_text("( (IP (N b-b)) (ID 2))")
    prepare(tmp_path / "a.psd", "( (IP (N a-a)) (ID 1))", "--from", "icepahc")
    assert invoke("prepare", tmp_path, "--from", "icepahc").stdout == "(IP (N a))\n(IP (N b))\n"
    (tmp_path / "none").mkdir()
    refused = invoke("prepare", tmp_path / "none", "--from", "icepahc", code=2)
    assert ".psd (IcePaHC)" in refused.stderr


def test_words_with_hyphens_are_not_cut_where_words_have_no_lemmas(tmp_path):
    (tmp_path / "a.psd").write_text(ENGLISH)
    refused = invoke("prepare", tmp_path, "--from", "icepahc", code=2)
    assert "a.psd:1: few words have a lemma" in refused.stderr and "--strip-ids" in refused.stderr


def test_english_words_have_no_lemma_and_keep_their_hyphens(tmp_path):
    assert prepare(tmp_path / "a.psd", ENGLISH, "--from", "trees", "--strip-ids").stdout == (
        "(IP (NP (PRO She)) (VBD told) (NP (PRO me)) (CP (IP (NP (EX there)) (BED were) "
        "(NP (NUM 0) (ADJ well-known) (NS cures)))) (E_S .))\n"
    )


@pytest.mark.parametrize(
    "node",
    [
        "(ID A,1.2)",
        "(CODE <P_12>)",
        "(CODE (X y))",
        "(METADATA (AUTHOR x))",
        "(COM {COM:torn})",
        "(NP-SBJ *T*-1)",
        "(CP *ICH*-2)",
        "(NP *)",
        "(C 0)",
        "(WNP-1 0)",
        "(-NONE- x)",
    ],
)
def test_nodes_without_words(node):
    assert is_no_text(parse_line(node))
    assert format_tree(clean(parse_line(f"(S (X {node}) (N x))"), is_no_text)) == "(S (N x))"
    assert clean(parse_line(node), is_no_text) is None


@pytest.mark.parametrize(
    "node", ["(NUM 0)", "(NUM-N 0)", "(CD 0)", "(N 10)", "(N ID)", "(N a*)", "(IDX x)", "(X (C 0))"]
)
def test_nodes_with_words_and_constituents(node):
    assert not is_no_text(parse_line(node))


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("maður-maður", "maður"),
        ("mönnum-maður", "mönnum"),
        ("all-mörg-margur", "all-mörg"),
        (".-.", "."),
        ("---", "-"),
        ("-", "-"),
        ("--", "--"),
        ("-x", "-x"),
        ("x-", "x-"),
        ("-LRB-", "-LRB-"),
        ("word", "word"),
    ],
)
def test_the_word_stands_before_its_lemma(token, word):
    assert without_lemma(token) == word


MARKUP = ["(NP-SBJ *con*)", "(CODE <P_1>)", "(CODE {COM:torn})", "(X *T*-1)", ") (ID A,1.2"]
MARKUP += ["(-DFL- E_S)", "(CODE (SYM SpeakerA1))", "(RM (-DFL- \\[))"]


@pytest.mark.parametrize("markup", MARKUP)
def test_markup_is_no_word_of_other_trees(tmp_path, markup):
    path = tmp_path / "a.trees"
    tree = f"( (IP (VBD left) {markup}))"
    assert prepare(path, tree, "--from", "trees", "--strip-ids").stdout == "(IP (VBD left))\n"
    for command in (("prepare", "--from", "trees"), ("oracle", "--train", path)):
        said = " ".join(invoke(*command, path, code=2).stderr.split())
        assert "a.trees:1:" in said
        assert "is no word: `rnng-dy prepare --strip-ids` leaves it" in said
