"""`rnng-dy oracle` and `rnng-dy prepare`."""

import pytest

from tests.commands import invoke, messages

TREES = "(S (NP (DT The) (NN cat)) (VBZ sleeps))\n(S (NP (DT The) (NN cat)) (VBZ eats))\n"


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "train.trees"
    path.write_text(TREES)
    return path


def test_an_oracle_is_made(trees, tmp_path):
    output = tmp_path / "out.oracle"
    result = invoke("oracle", "--train", trees, trees, "-o", output)
    assert result.stdout == ""
    assert messages(result) == "2 trees read\n"
    assert output.read_text().splitlines()[:7] == [
        "# (S (NP (DT The) (NN cat)) (VBZ sleeps))",
        "DT NN VBZ",
        "The cat sleeps",
        "the cat sleeps",
        "The cat UNK-LC-s",
        "NT(S)",
        "NT(NP)",
    ]


def test_a_generative_oracle_goes_through_pipes(trees):
    options = ["--generative", "--unk", "single"]
    result = invoke("oracle", "--train", trees, *options, "-", input=TREES.encode())
    assert result.stdout.splitlines()[1:4] == ["The cat sleeps", "The cat UNK", "NT(S)"]


def test_preterminals_are_refused_or_skipped_and_counted(trees, tmp_path):
    trees.write_text(f"(JJ last)\n{TREES}(NN yes)\n")
    output = tmp_path / "out"
    for command in (["oracle", "--train", trees], ["prepare", "--from", "trees"]):
        refused = invoke(*command, trees, "-o", output, code=2)
        assert f"{trees}:1: (JJ last) is only a preterminal, no tree (2 such" in refused.stderr
        assert not output.exists()
    skipped = invoke(*command, trees, "-o", output, "--skip-preterminals")
    assert "4 trees read, 0 emptied, 2 preterminals skipped" in skipped.stderr


def test_preterminals_never_count_as_training_words(trees, tmp_path):
    train = tmp_path / "more.trees"
    train.write_text(f"{TREES}(VBZ sleeps)\n")
    assert "The cat UNK-LC-s" in invoke("oracle", "--train", train, trees, "--generative").stdout


def test_trees_are_prepared(tmp_path):
    (tmp_path / "02").mkdir()
    (tmp_path / "02" / "wsj_0200.mrg").write_text(
        "\n( (S (NP-SBJ-1 (PRP It)) (VP (VBD ran)\n  (NP (-NONE- *-1)))))\n( (S (-NONE- *)))\n"
    )
    output = tmp_path / "out.trees"
    result = invoke("prepare", tmp_path, "--from", "ptb", "--sections", "2", "-o", output)
    assert messages(result) == "2 trees read, 1 emptied, 0 preterminals skipped, 1 written\n"
    assert output.read_text() == "(S (NP (PRP It)) (VP (VBD ran)))\n"


def test_labels_are_kept_after_their_functions_are_cut(trees, tmp_path):
    trees.write_text("( (SQ (VBD did) (NP-SBJ-1 (PRP it)) (VP (VB run) (NP (-NONE- *-1)))) )\n")
    prepare = ("prepare", trees, "--from", "trees", "--keep-labels")
    assert invoke(*prepare, "VP,NP").stdout == "(S (VBD did) (NP (PRP it)) (VP (VB run)))\n"
    output = tmp_path / "out.trees"
    for labels, name in (("NP,PRP", "PRP"), ("NP,,VP", ""), ("", ""), ("NP-SBJ", "NP-SBJ")):
        refused = invoke(*prepare, labels, "-o", output, code=2)
        assert f"--keep-labels: no constituent has the label {name!r}" in refused.stderr
        assert not output.exists()


def test_chinese_files_are_prepared_as_utf8(tmp_path):
    path = tmp_path / "chtb_001.fid"
    path.write_bytes("<S ID=1>\n( (IP-HLN (NR 上海)\n (NN 浦东)) )\n</S>\n".encode("gb18030"))
    result = invoke("prepare", path, "--from", "ctb")
    assert result.stdout == "(IP (NR 上海) (NN 浦东))\n"
    named = invoke("prepare", path, "--from", "trees", "--encoding", "gb18030")
    assert named.stdout == result.stdout
    for encoding, says in (("utf-8", "prepare --encoding"), ("ascii", "not utf-8")):
        given = ("prepare", path, "--from", "trees", "--encoding", encoding)
        assert says in invoke(*given, code=2).stderr


def test_input_without_trees_is_an_error(trees, tmp_path):
    empty = tmp_path / "empty"
    empty.write_text("\n")
    for command in (("oracle", "--train", trees), ("prepare", "--from", "trees")):
        assert f"{empty}: no tree" in invoke(*command, empty, "-o", tmp_path / "out", code=2).stderr
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["oracle", "--train", "-", "-"], "only one of the files can be standard input"),
        (["prepare", "--from", "ptb"], "needs a SOURCE"),
        (["prepare", "--from", "nltk", "x"], "takes no SOURCE"),
        (["prepare", "x", "--from", "trees", "--sections", "1"], "--sections needs"),
        (["prepare", "-", "--from", "trees", "--encoding", "undefined"], "undefined"),
    ],
)
def test_options_that_do_not_fit_end_with_exit_code_2(args, message):
    assert message in invoke(*args, input=TREES, code=2).stderr
