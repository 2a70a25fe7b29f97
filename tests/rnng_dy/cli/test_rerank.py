"""`rnng-dy rerank`: the original's perplexity and MAP trees from its samples and likelihoods."""

import os
import re
from functools import partial
from pathlib import Path

import pytest

from oracle.blocks import read_oracle
from oracle.brackets import format_tree
from oracle.treebank import with_words
from rnng_dy.evaluation.evalb import score_systems
from rnng_dy.search.importance import read_sampled
from rnng_dy.search.posterior import posterior
from tests.commands import invoke

pytestmark = pytest.mark.usefixtures("here")
run = partial(invoke, "rerank")


def rerank(samples, likelihoods, *options, oracle="", code=0):
    """`rerank` with the files p, l, and o if there is an oracle, which are written first."""
    for name, text in {"p": samples, "l": likelihoods, "o": oracle}.items():
        Path(name).write_text(text)
    return run("p", "l", *options, *(["--oracle", "o"] if oracle else []), code=code)


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


def test_sentences_without_probability_are_left_out_and_counted():
    result = rerank(SAMPLES, "2\t3\n2\t4\n1\tinf\n1\tinf\n", "-o", "map")
    assert "sentences=1 of 2" in result.stdout
    assert "len=2 words" in result.stdout
    assert "1 of 2 sentences" in result.stderr
    assert "l: p = 0 for all samples of 1 sentences, so q alone decides: 2\n" in result.stderr
    assert result.stdout.startswith("prob: ")


def test_map_trees_get_the_words_and_tags_of_an_oracle():
    likelihoods = "2\t4\n2\t3\n1\t1\n1\t1\n"
    blocks = ["# x\nDT NN\nThe cat\nthe cat\na b\nNT(S)\nSHIFT\nSHIFT\nREDUCE\n\n"]
    blocks += ["# y\nVB\nGo\ngo\nc\nNT(S)\nSHIFT\nREDUCE\n\n"]
    found = rerank(SAMPLES, likelihoods, "-o", "-", oracle="".join(blocks)).stdout
    assert found.startswith("(S (X (DT The)) (NN cat))\n(S (VB Go))\n")
    other = "".join(blocks).replace("a b", "The b")
    said = rerank(SAMPLES, likelihoods, oracle=other, code=2).stderr
    assert "p:2: the tree does not have the words of" in said


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
        assert line == format_tree(with_words(found.decode(), sentence.tokens, sentence.tags))
    assert lines != map_trees.read_text().splitlines()


def test_the_weight_lets_the_parser_decide_too():
    # log q is -1 and -3, log p is -4 and -3
    samples = "0 ||| -1 ||| (S (X a) b)\n0 ||| -3 ||| (S a (X b))\n"
    reranked = partial(rerank, samples, "2\t4\n2\t3\n", "-o", "-", oracle=block("x", ["a", "b"]))
    second = "(S (XX a) (X (XX b)))"
    for weight, tree in ((1, second), (0.7, second), (0.6, "(S (X (XX a)) (XX b))")):
        assert reranked("--weight", weight).stdout.splitlines()[0] == tree
    mbr = partial(reranked, "--decode", "mbr", "--weight")
    assert mbr(0.4).stdout.startswith(second)
    assert mbr(0.1).stdout.startswith("(S (X (XX a)) (X (XX b)))")
    for wrong in (0, 1.5, "nan"):
        assert "--weight" in reranked("--weight", wrong, code=2).stderr


def test_a_weight_is_for_samples_of_one_distribution():
    of_two = "0 ||| -1 ||| (S (X a) b)\n0 ||| -3 ||| (S (X a) b)\n", "2\t4\n" * 2, "-o", "-"
    said = rerank(*of_two, "--weight", 0.7, code=2).stderr
    assert "p:2: this tree has log q -3, and before -1: --weight is for samples of one" in said
    assert rerank(*of_two).stdout.startswith("0 ||| -4 ||| (S (X a) b)")


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
def test_samples_and_likelihoods_that_are_not_of_one_sentence_are_refused(sample, negatives, says):
    samples = f"0 ||| -1 ||| (S a b)\n0 ||| -1 ||| {sample}\n"
    assert says in rerank(samples, "2\t{}\n2\t{}\n".format(*negatives), code=2).stderr


@pytest.mark.parametrize("options", [(), ("--weight", 0.5), ("--decode", "mbr")])
def test_of_samples_without_probability_the_parser_chooses(options):
    samples = "0 ||| -9 ||| (S a b)\n" + "0 ||| -1 ||| (S (X a) (X b))\n" * 3
    given = (samples, "2\tinf\n" * 4, "-o", "-", *options)
    found = rerank(*given, oracle=block("x", ["a", "b"])).stdout
    assert found.startswith("(S (X (XX a)) (X (XX b)))\n")


def test_mbr_trees_need_an_oracle():
    given = SAMPLES, "2\tinf\n2\tinf\n1\t1\n1\t1\n", "--decode", "mbr", "-o", "-"
    assert "--oracle" in rerank(*given, code=2).stderr
    found = rerank(*given, oracle=block("x", ["a", "b"]) + block("y", ["c"])).stdout
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


def test_sentences_without_samples_are_named_and_keep_their_places():
    given = "0 ||| -1 ||| (S a b)\n2 ||| -2 ||| (S c)\n", "2\t3\n1\t1\n", "-o", "map"
    golds = ["(S (XX a) (XX b))", "(S (XX d))", "(S (XX c))", "(S (XX e))"]
    oracle = "".join(block(g, g.replace(")", "").split()[2::2]) for g in golds)
    Path("gold").write_text("\n".join(golds) + "\n")
    for of_words, count, missing in (("", 3, "2"), (oracle, 4, "2, 4")):
        result = rerank(*given, oracle=of_words, code=1)
        assert f"sentences=2 of {count}" in result.stdout
        assert f"no samples of {len(missing.split())} sentences: {missing}\n" in result.stderr
        lines = Path("map").read_text().split("\n")[:-1]
        assert [bool(line) for line in lines] == [True, False, True, False][:count]
    # EVALB skips the empty lines
    [scores] = score_systems("gold", ["map"])
    figures = scores.figures()
    assert [figures[name] for name in ("sentences", "skipped", "valid", "f1")] == [4, 2, 2, 100]


@pytest.mark.parametrize(
    ("likelihood", "says"), [("-inf", "above 1"), ("-5", "above 1"), ("nan", "not a number")]
)
def test_likelihoods_that_are_none_are_refused(likelihood, says):
    said = rerank("0 ||| -1 ||| (S a)\n", f"1\t{likelihood}\n", code=2).stderr
    assert "l:1: the negative log joint is" in said and says in said


@pytest.mark.parametrize("command", ["evalb", "rerank", "show", "oracle"])
def test_a_pipe_that_is_named_twice_is_not_waited_for(tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    pipe = tmp_path / "pipe"
    options = {"show": ["--gold", pipe], "oracle": ["--train", pipe]}
    result = invoke(command, pipe, *options.get(command, [pipe]), code=2)
    assert "only one of the files can be standard input, or one pipe" in result.stderr


def test_samples_of_a_sentence_stand_together():
    samples = "0 ||| -1 ||| (S a)\n1 ||| -1 ||| (S b)\n0 ||| -1 ||| (S a)\n"
    said = rerank(samples, "1\t1\n" * 3, code=2).stderr
    assert "p:3: a sample of sentence 0 after those of 1" in said
