"""`rnng-dy rerank`: the original's perplexity and MAP trees from the original's samples and likelihoods."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from rnng_dy.cli import main


def run(*arguments):
    result = CliRunner().invoke(main, ["rerank", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("composition", ["corrected", "buggy"])
def test_perplexity_and_map_trees_of_the_original(shared, tmp_path, composition):
    folder = shared / "clab_reference" / composition
    result = run(
        folder / "disc.samples.alpha0.8.props", folder / "gen.likelihoods", "-o", tmp_path / "map"
    )
    theirs = (folder / "llh.txt").read_text().splitlines()
    ours = result.stdout.splitlines()
    for name in ("LLH", "PPL"):
        [expected] = [float(line[4:]) for line in theirs if line.startswith(f"{name}=")]
        [found] = [float(line[4:]) for line in ours if line.startswith(f"{name}=")]
        assert found == pytest.approx(expected, rel=1e-9)
    pattern = re.compile(r"prob: (\S+) \(len=(\d+)\)")
    marginals = [
        [pattern.match(line).groups() for line in lines if pattern.match(line)]
        for lines in (ours, theirs)
    ]
    assert len(marginals[0]) == 40
    for (our_value, our_words), (value, words) in zip(*marginals, strict=True):
        assert (float(our_value), our_words) == (pytest.approx(float(value), rel=1e-9), words)
    assert (tmp_path / "map").read_text() == (folder / "rescored.trees").read_text()


SAMPLES = "0 ||| -1 ||| (S a b)\n0 ||| -1 ||| (S (X a) b)\n1 ||| -2 ||| (S c)\n1 ||| -2 ||| (S c)\n"


def test_sentences_without_probability_are_left_out_and_counted(tmp_path):
    (tmp_path / "p").write_text(SAMPLES)
    (tmp_path / "l").write_text("2\t3\n2\t4\n1\tinf\n1\tinf\n")
    result = run(tmp_path / "p", tmp_path / "l", "--ess")
    assert "sentences=1 of 2" in result.stdout
    assert "len=2 words" in result.stdout
    assert "1 of 2 sentences" in result.stderr
    assert result.stdout.startswith("prob: ")
    assert "ess=" in result.stdout.splitlines()[0]


def test_map_trees_get_the_words_and_tags_of_an_oracle(tmp_path):
    (tmp_path / "p").write_text(SAMPLES)
    (tmp_path / "l").write_text("2\t4\n2\t3\n1\t1\n1\t1\n")
    blocks = ["# x\nDT NN\nThe cat\nthe cat\na b\nNT(S)\nSHIFT\nSHIFT\nREDUCE\n\n"]
    blocks += ["# y\nVB\nGo\ngo\nc\nNT(S)\nSHIFT\nREDUCE\n\n"]
    (tmp_path / "o").write_text("".join(blocks))
    run(tmp_path / "p", tmp_path / "l", "-o", tmp_path / "map", "--oracle", tmp_path / "o")
    assert (tmp_path / "map").read_text() == "(S (X (DT The)) (NN cat))\n(S (VB Go))\n"
