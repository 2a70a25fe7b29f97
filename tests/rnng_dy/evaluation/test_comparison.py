"""Comparing two parses, on trees small enough to count by hand."""

from __future__ import annotations

from click.testing import CliRunner
from nltk import Tree

from rnng_dy.cli import main
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.comparison import by_label, by_length, most_different

GOLD = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog) (PP (P in) (NP (N parks))))))"
FLAT = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog)) (PP (P in) (NP (N parks)))))"
POOR = "(S (NP (D the)) (VP (N cat) (V saw) (D a) (N dog) (P in) (N parks)))"
OTHER = "(S (NP (N dogs)) (VP (V bark)))"


def trees(*texts):
    return [Tree.fromstring(text) for text in texts]


def test_counts_by_label_and_length():
    rows = {r.kind: r for r in by_label(trees(GOLD, OTHER), trees(POOR, OTHER), trees(FLAT, OTHER))}
    # NP: cat, dog with its PP, parks, dogs
    assert (rows["NP"].first.gold, rows["NP"].second.gold) == (4, 4)
    assert (rows["NP"].first.system, rows["NP"].first.matched) == (2, 1)
    assert (rows["NP"].second.system, rows["NP"].second.matched) == (4, 3)
    assert rows["PP"].first.f1 == 0
    assert rows["PP"].second.f1 == 100
    lengths = {r.kind: r for r in by_length(trees(GOLD), trees(POOR), trees(FLAT))}
    assert list(lengths) == ["1", "2", "3-4", "5-8"]
    # S, VP
    assert lengths["5-8"].second.matched == lengths["5-8"].first.gold == 2
    assert lengths["3-4"].first.gold == 1


def test_labels_that_evaluation_takes_for_equal_are_one():
    gold, system = trees("(S (V gave) (PRT (RP up)))", "(S (V gave) (ADVP (RP up)))")
    [advp, s] = by_label([gold], [system], [gold])
    assert (s.kind, advp.kind, advp.first.f1) == ("S", "ADVP", 100)


def test_the_most_different_sentences_come_first():
    golds = trees(OTHER, GOLD, GOLD)
    first = evalb.score(golds, trees(OTHER, FLAT, POOR))
    second = evalb.score(golds, trees(OTHER, GOLD, GOLD))
    assert most_different(first, second, 5) == [2, 1]
    assert most_different(first, second, 1) == [2]


def test_perplexities_are_compared_of_the_same_sentences(tmp_path):
    (tmp_path / "g").write_text(f"{GOLD}\n{GOLD}\n{GOLD}\n")
    words = " ".join(next(iter(trees(GOLD))).leaves())
    length = len(words.split())
    for name, indices in (("a", (0, 2)), ("b", (0, 1)), ("c", (0, 2))):
        (tmp_path / f"{name}.p").write_text(
            "".join(f"{i} ||| -1 ||| (S {words})\n" for i in indices)
        )
        (tmp_path / f"{name}.l").write_text(f"{length}\t9\n" * 2)
    gold = str(tmp_path / "g")

    def compare(first, second):
        samples = [[str(tmp_path / f"{name}.{part}") for part in "pl"] for name in (first, second)]
        options = ["--first-samples", *samples[0], "--second-samples", *samples[1]]
        return CliRunner().invoke(main, ["compare-composition", gold, gold, gold, *options])

    result = compare("a", "b")
    assert result.exit_code == 2
    assert "its sentences are not those of the other samples" in result.output
    result = compare("a", "c")
    assert result.exit_code == 0
    assert "perplexity is of 2 of 3 sentences" in result.output


def test_the_command_prints_all_parts(tmp_path):
    for name, text in (("g", GOLD), ("b", POOR), ("c", FLAT)):
        (tmp_path / name).write_text(f"{text}\n{OTHER}\n")
    paths = [str(tmp_path / name) for name in "gbc"]
    result = CliRunner().invoke(main, ["compare-composition", *paths, "-n", "1"])
    assert result.exit_code == 0, result.output
    f1 = [evalb.score_files(paths[0], path).f1 for path in paths[1:]]
    assert result.output.startswith(f"F1: b {f1[0]:.2f}, c {f1[1]:.2f}, difference +")
    for part in ("words in constituent", "label ", "sentence 1", f"gold  {GOLD}", f"b  {POOR}"):
        assert part in result.output
    assert "sentence 2" not in result.output
    named = CliRunner().invoke(main, ["compare-composition", *paths, "--names", "buggy", "other"])
    assert named.output.startswith(f"F1: buggy {f1[0]:.2f}, other {f1[1]:.2f}")
    assert " buggy F1 " in named.output and f"buggy  {POOR}" in named.output
    # an argument of bytes that are not UTF-8 is printed as it was given
    named = CliRunner().invoke(main, ["compare-composition", *paths, "--names", "\udcff", "other"])
    assert named.stdout_bytes.startswith(b"F1: \xff ")
    (tmp_path / "b").write_text(GOLD + "\n")
    result = CliRunner().invoke(main, ["compare-composition", *paths])
    assert result.exit_code == 2
    assert f"1 trees, but {paths[0]} has 2" in result.output
