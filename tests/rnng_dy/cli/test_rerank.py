"""`rnng-dy rerank`: the original's perplexity and MAP trees from its samples and likelihoods."""

import os
import re
from functools import partial

import pytest

from oracle.blocks import read_oracle
from oracle.brackets import format_tree
from oracle.treebank import with_words
from rnng_dy.evaluation.evalb import score_systems
from rnng_dy.search.importance import read_sampled
from rnng_dy.search.posterior import posterior
from tests.commands import invoke

run = partial(invoke, "rerank")


@pytest.mark.parametrize("composition", ["corrected", "buggy"])
def test_perplexity_and_map_trees_of_the_original(shared, tmp_path, composition):
    folder = shared / "clab_reference" / composition
    files = folder / "disc.samples.alpha0.8.props", folder / "gen.likelihoods"
    result = run(*files, "-o", tmp_path / "map")
    theirs = (folder / "llh.txt").read_text().splitlines()
    ours = result.stdout.splitlines()
    for name in ("LLH", "PPL"):
        [expected] = [float(line[4:]) for line in theirs if line.startswith(f"{name}=")]
        [found] = [float(line[4:]) for line in ours if line.startswith(f"{name}=")]
        assert found == pytest.approx(expected, rel=1e-9)
    pattern = re.compile(r"^prob: (\S+) \(len=(\d+)\)", re.MULTILINE)
    marginals = [pattern.findall("\n".join(lines)) for lines in (ours, theirs)]
    assert len(marginals[0]) == 40
    for (our_value, our_words), (value, words) in zip(*marginals, strict=True):
        assert (float(our_value), our_words) == (pytest.approx(float(value), rel=1e-9), words)
    assert (tmp_path / "map").read_text() == (folder / "rescored.trees").read_text()


SAMPLES = "0 ||| -1 ||| (S a b)\n0 ||| -1 ||| (S (X a) b)\n1 ||| -2 ||| (S c)\n1 ||| -2 ||| (S c)\n"


def test_sentences_without_probability_are_left_out_and_counted(tmp_path):
    (tmp_path / "p").write_text(SAMPLES)
    (tmp_path / "l").write_text("2\t3\n2\t4\n1\tinf\n1\tinf\n")
    result = run(tmp_path / "p", tmp_path / "l", "-o", tmp_path / "map")
    assert "sentences=1 of 2" in result.stdout
    assert "len=2 words" in result.stdout
    assert "1 of 2 sentences" in result.stderr
    says = "p = 0 for all samples of 1 sentences, so q alone decides: 2\n"
    assert f"{tmp_path / 'l'}: {says}" in result.stderr
    assert result.stdout.startswith("prob: ")


def test_map_trees_get_the_words_and_tags_of_an_oracle(tmp_path):
    (tmp_path / "p").write_text(SAMPLES)
    (tmp_path / "l").write_text("2\t4\n2\t3\n1\t1\n1\t1\n")
    blocks = ["# x\nDT NN\nThe cat\nthe cat\na b\nNT(S)\nSHIFT\nSHIFT\nREDUCE\n\n"]
    blocks += ["# y\nVB\nGo\ngo\nc\nNT(S)\nSHIFT\nREDUCE\n\n"]
    (tmp_path / "o").write_text("".join(blocks))
    run(tmp_path / "p", tmp_path / "l", "-o", tmp_path / "map", "--oracle", tmp_path / "o")
    assert (tmp_path / "map").read_text() == "(S (X (DT The)) (NN cat))\n(S (VB Go))\n"
    (tmp_path / "o").write_text("".join(blocks).replace("a b", "The b"))
    arguments = tmp_path / "p", tmp_path / "l", "--oracle", tmp_path / "o"
    assert "p:2: the tree does not have the words of" in run(*arguments, code=2).stderr


def test_mbr_trees_are_of_the_weighted_samples(shared, tmp_path):
    folder = shared / "clab_reference" / "corrected"
    props, likelihoods = folder / "disc.samples.alpha0.8.props", folder / "gen.likelihoods"
    oracle, map_trees, mbr_trees = folder.parent / "test.oracle", tmp_path / "map", tmp_path / "mbr"
    run(props, likelihoods, "--oracle", oracle, "-o", map_trees)
    run(props, likelihoods, "--oracle", oracle, "-o", mbr_trees, "--decode", "mbr")
    lines = mbr_trees.read_text().splitlines()
    rows = zip(read_sampled(props, likelihoods), read_oracle(oracle), lines, strict=True)
    for sampled, sentence, line in rows:
        pairs = [(sample.tree, sample.log_q) for sample, _ in sampled.samples]
        found = posterior(pairs, [log_p for _, log_p in sampled.samples], preterminals=False)
        expected = with_words(found.decode(), sentence.tokens, sentence.tags)
        assert line == format_tree(expected)
    assert lines != map_trees.read_text().splitlines()


def test_the_weight_lets_the_parser_decide_too(tmp_path):
    # log q is -1 and -3, log p is -4 and -3
    (tmp_path / "p").write_text("0 ||| -1 ||| (S (X a) b)\n0 ||| -3 ||| (S a (X b))\n")
    (tmp_path / "l").write_text("2\t4\n2\t3\n")
    (tmp_path / "o").write_text(block("x", ["a", "b"]))
    files = tmp_path / "p", tmp_path / "l", "--oracle", tmp_path / "o", "-o", "-"
    second = "(S (XX a) (X (XX b)))"
    for weight, tree in ((1, second), (0.7, second), (0.6, "(S (X (XX a)) (XX b))")):
        assert run(*files, "--weight", weight).stdout.splitlines()[0] == tree
    mbr = (*files, "--decode", "mbr", "--weight")
    assert run(*mbr, 0.4).stdout.startswith(second)
    assert run(*mbr, 0.1).stdout.startswith("(S (X (XX a)) (X (XX b)))")
    for wrong in (0, 1.5, "nan"):
        assert "--weight" in run(*files, "--weight", wrong, code=2).stderr
    # the tree of another parser, or alpha, has another q
    (tmp_path / "p").write_text("0 ||| -1 ||| (S (X a) b)\n0 ||| -3 ||| (S (X a) b)\n")
    (tmp_path / "l").write_text("2\t4\n" * 2)
    said = run(*files, "--weight", 0.7, code=2).stderr
    assert "p:2: this tree has log q -3, and before -1: --weight is for samples of one" in said
    assert run(*files).stdout.startswith("(S (X (XX a))")


@pytest.mark.parametrize(
    ("sample", "negatives", "says"),
    [
        (
            "(S a b)",
            (3, 4),
            "l:2: this tree has log p -4, and before -3: score these samples again",
        ),
        ("(S a b)", (3, "inf"), "l:2: this tree has log p -inf, and before -3"),
        ("(S a c)", (3, 4), "p:2: other words than in the samples of sentence 0 before: join"),
    ],
)
def test_samples_and_likelihoods_that_are_not_of_one_sentence_are_refused(
    tmp_path, sample, negatives, says
):
    (tmp_path / "p").write_text(f"0 ||| -1 ||| (S a b)\n0 ||| -1 ||| {sample}\n")
    (tmp_path / "l").write_text("".join(f"2\t{negative}\n" for negative in negatives))
    assert says in run(tmp_path / "p", tmp_path / "l", code=2).stderr


@pytest.mark.parametrize("options", [(), ("--weight", 0.5), ("--decode", "mbr")])
def test_of_samples_without_probability_the_parser_chooses(tmp_path, options):
    (tmp_path / "p").write_text("0 ||| -9 ||| (S a b)\n" + "0 ||| -1 ||| (S (X a) (X b))\n" * 3)
    (tmp_path / "l").write_text("2\tinf\n" * 4)
    (tmp_path / "o").write_text(block("x", ["a", "b"]))
    files = tmp_path / "p", tmp_path / "l", "-o", "-", "--oracle", tmp_path / "o"
    assert run(*files, *options).stdout.startswith("(S (X (XX a)) (X (XX b)))\n")


def test_mbr_trees_need_an_oracle(tmp_path):
    (tmp_path / "p").write_text(SAMPLES)
    (tmp_path / "l").write_text("2\tinf\n2\tinf\n1\t1\n1\t1\n")
    (tmp_path / "o").write_text(block("x", ["a", "b"]) + block("y", ["c"]))
    files = tmp_path / "p", tmp_path / "l", "--decode", "mbr", "-o", "-"
    assert "--oracle" in run(*files, code=2).stderr
    found = run(*files, "--oracle", tmp_path / "o").stdout
    # by the samples of the first sentence, X is as likely as not
    assert found.startswith("(S (X (XX a)) (XX b))\n(S (XX c))\n")


def block(tree, words):
    """A block of an oracle."""
    unkified = " ".join(words)
    return (
        f"# {tree}\n{' '.join(['XX'] * len(words))}\n"
        + f"{unkified}\n" * 3
        + "NT(S)\n"
        + ("SHIFT\n" * len(words) + "REDUCE\n\n")
    )


def test_sentences_without_samples_are_named_and_keep_their_places(tmp_path):
    (tmp_path / "p").write_text("0 ||| -1 ||| (S a b)\n2 ||| -2 ||| (S c)\n")
    (tmp_path / "l").write_text("2\t3\n1\t1\n")
    golds = ["(S (XX a) (XX b))", "(S (XX d))", "(S (XX c))", "(S (XX e))"]
    (tmp_path / "o").write_text("".join(block(g, g.replace(")", "").split()[2::2]) for g in golds))
    (tmp_path / "gold").write_text("\n".join(golds) + "\n")
    output = ("-o", tmp_path / "map")
    for given, count, missing in (((), 3, "2"), (("--oracle", tmp_path / "o"), 4, "2, 4")):
        arguments = (tmp_path / "p", tmp_path / "l", *output, *given)
        result = run(*arguments, code=1)
        assert f"sentences=2 of {count}" in result.stdout
        assert f"no samples of {len(missing.split())} sentences: {missing}\n" in result.stderr
        lines = (tmp_path / "map").read_text().split("\n")[:-1]
        assert [bool(line) for line in lines] == [True, False, True, False][:count]
    # EVALB skips the empty lines
    [scores] = score_systems(str(tmp_path / "gold"), [str(tmp_path / "map")])
    figures = scores.figures()
    assert [figures[name] for name in ("sentences", "skipped", "valid", "f1")] == [4, 2, 2, 100]


@pytest.mark.parametrize(
    ("likelihood", "says"), [("-inf", "above 1"), ("-5", "above 1"), ("nan", "not a number")]
)
def test_likelihoods_that_are_none_are_refused(tmp_path, likelihood, says):
    (tmp_path / "p").write_text("0 ||| -1 ||| (S a)\n")
    (tmp_path / "l").write_text(f"1\t{likelihood}\n")
    result = run(tmp_path / "p", tmp_path / "l", code=2)
    assert f"{tmp_path / 'l'}:1: the negative log joint is" in result.output
    assert says in result.output


@pytest.mark.parametrize("command", ["evalb", "rerank", "show", "oracle"])
def test_a_pipe_that_is_named_twice_is_not_waited_for(tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    pipe = tmp_path / "pipe"
    options = {"show": ["--gold", pipe], "oracle": ["--train", pipe]}
    result = invoke(command, pipe, *options.get(command, [pipe]), code=2)
    assert "only one of the files can be standard input, or one pipe" in result.stderr


def test_samples_of_a_sentence_stand_together(tmp_path):
    (tmp_path / "p").write_text("0 ||| -1 ||| (S a)\n1 ||| -1 ||| (S b)\n0 ||| -1 ||| (S a)\n")
    (tmp_path / "l").write_text("1\t1\n" * 3)
    result = run(tmp_path / "p", tmp_path / "l", code=2)
    assert f"{tmp_path / 'p'}:3: a sample of sentence 0 after those of 1" in result.output
