"""Comparing two parses, on trees small enough to count by hand."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner
from nltk import Tree

from rnng_dy.cli import main
from rnng_dy.evaluation import evalb
from rnng_dy.evaluation.comparison import by_label, by_length, most_different, on_common_sentences
from rnng_dy.evaluation.evalb_files import score_files

GOLD = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog) (PP (P in) (NP (N parks))))))"
FLAT = "(S (NP (D the) (N cat)) (VP (V saw) (NP (D a) (N dog)) (PP (P in) (NP (N parks)))))"
POOR = "(S (NP (D the)) (VP (N cat) (V saw) (D a) (N dog) (P in) (N parks)))"
OTHER = "(S (NP (N dogs)) (VP (V bark)))"


def trees(*texts):
    return [Tree.fromstring(text) for text in texts]


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def write(folder, **files):
    """Files of one tree a line; their paths."""
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return [str(folder / name) for name in files]


def test_counts_by_label_and_length():
    systems = trees(POOR, OTHER), trees(FLAT, OTHER), trees(GOLD, OTHER)
    rows = {r.kind: r.systems for r in by_label(trees(GOLD, OTHER), systems)}
    # NP: cat, dog with its PP, parks, dogs
    assert [np.gold for np in rows["NP"]] == [4, 4, 4]
    assert [np.system for np in rows["NP"]] == [2, 4, 4]
    assert [np.matched for np in rows["NP"]] == [1, 3, 4]
    assert [pp.f1 for pp in rows["PP"]] == [0, 100, 100]
    lengths = {r.kind: r.systems for r in by_length(trees(GOLD), [trees(POOR), trees(FLAT)])}
    assert list(lengths) == ["1", "2", "3-4", "5-8"]
    # S, VP
    assert lengths["5-8"][1].matched == lengths["5-8"][0].gold == 2
    assert lengths["3-4"][0].gold == 1


def test_labels_that_evaluation_takes_for_equal_are_one():
    gold, system = trees("(S (V gave) (PRT (RP up)))", "(S (V gave) (ADVP (RP up)))")
    [advp, s] = by_label([gold], [[system], [gold]])
    assert (s.kind, advp.kind, advp.systems[0].f1) == ("S", "ADVP", 100)


def test_the_most_different_sentences_come_first():
    golds = trees(OTHER, GOLD, GOLD)
    first = evalb.score(golds, trees(OTHER, FLAT, POOR))
    second = evalb.score(golds, trees(OTHER, GOLD, GOLD))
    assert most_different([first, second], 5) == [2, 1]
    assert most_different([second, second, first], 1) == [2]
    assert most_different([second, second], 5) == []


def test_systems_are_compared_on_the_sentences_that_all_of_them_have():
    golds = trees(GOLD, OTHER, GOLD, OTHER)
    nothing, other_words = Tree("", []), Tree.fromstring("(S (NP (N cats)) (VP (V bark)))")
    lacking = [nothing, *trees(OTHER, POOR, OTHER)]
    other = [*trees(GOLD, OTHER, FLAT), other_words]
    systems = [golds, lacking, other]
    common = on_common_sentences(golds, systems, [evalb.score(golds, of) for of in systems])
    assert common.indices == (1, 2)
    assert common.lacking == ((), (0,), (3,))
    assert common.golds == tuple(golds[1:3])
    assert [scores.valid for scores in common.scores] == [2, 2, 2]
    assert common.scores[1].f1 == evalb.score(golds[1:3], lacking[1:3]).f1
    assert common.trees[2] == tuple(other[1:3])


def test_common_sentences_are_in_the_order_of_the_file():
    golds = trees(OTHER) * 18
    nothing = Tree("", [])
    first = [nothing if i == 14 else gold for i, gold in enumerate(golds)]
    second = [gold if i in (9, 17) else nothing for i, gold in enumerate(golds)]
    systems = [first, second]
    common = on_common_sentences(golds, systems, [evalb.score(golds, of) for of in systems])
    assert common.indices == (9, 17)


def test_the_command_compares_what_every_system_has_and_says_what_is_left_out(tmp_path):
    """A sentence that one system lacks must not count for the other either: here it is the other's worst."""
    gold, few, all_of_them = write(
        tmp_path, gold=[GOLD, OTHER, OTHER], few=["()", OTHER, OTHER], all=[POOR, OTHER, OTHER]
    )
    result = run("compare", gold, few, all_of_them)
    assert result.exit_code == 0, result.output
    lacking, left_out, f1, difference, *_ = result.stdout.splitlines()
    assert lacking == "few: EVALB cannot score 1 of 3 sentences: 1"
    assert left_out == "F1 is of the 2 of 3 sentences that all systems have"
    assert f1 == "F1: few 100.00, all 100.00"
    assert difference.startswith("  all less few: +0.00 (95 %: ")
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith(("NP ", "2 "))]
    assert rows == [
        ["2", "2", "100.00", "100.00", "+0.00"],
        ["NP", "2", "100.00", "100.00", "+0.00"],
    ]
    assert "\nsentence " not in result.stdout
    [empty] = write(tmp_path, two=["", OTHER, OTHER])
    assert run("compare", gold, empty, all_of_them).stdout == result.stdout.replace("few", "two")
    [none] = write(tmp_path, none=["()", "()", "()"])
    result = run("compare", gold, none, all_of_them)
    assert result.exit_code == 2
    assert "no sentence can be scored for every system" in result.stderr


def test_any_number_of_systems_all_pairs_with_holms_correction(tmp_path):
    many = 40
    files = write(
        tmp_path,
        gold=[GOLD] * many,
        poor=[POOR] * many,
        flat=[FLAT] * many,
        same=[FLAT] * (many - 1) + [GOLD],
    )
    result = run("compare", *files, "-n", 1)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    f1 = [score_files(files[0], path).f1 for path in files[1:]]
    assert lines[0] == f"F1: poor {f1[0]:.2f}, flat {f1[1]:.2f}, same {f1[2]:.2f}"
    assert [line.split(":")[0] for line in lines[1:4]] == [
        "  flat less poor",
        "  same less poor",
        "  same less flat",
    ]
    # the least p there is from 10,000 replicates, of both signs, is taken three times
    assert lines[1].endswith("p = 0.0002, by Holm 0.0006)")
    assert lines[2].endswith("p = 0.0002, by Holm 0.0006)")
    # the highest of them stays as it is
    [(p, by_holm)] = re.findall(r"p = (0\.7\d\d\d), by Holm (.*)\)", lines[3])
    assert p == by_holm
    header = next(line for line in lines if line.startswith("label"))
    assert header.split() == ["label", "gold", "poor", "F1", "flat", "F1", "same", "F1"]
    assert f"sentence {many}" in lines
    assert [line.split()[0] for line in lines[-4:]] == ["gold", "poor", "flat", "same"]
    named = run("compare", *files, "-n", 0, *["--name", "a", "--name", "b", "--name", "c"])
    assert named.stdout.startswith(f"F1: a {f1[0]:.2f}, b ")
    assert "  c less a: " in named.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["gold"], "two systems at least"),
        (["gold", "gold", "--name", "a"], "--name is given once for each of the 2 systems"),
        (["gold", "gold", *["--samples", "gold", "gold"]], "--samples is given once for each"),
        (["gold", "gold"], "two systems have one name: give each its own by --name"),
        (["gold", "gold", "--name", "a", "--name", "a"], "two systems have one name"),
        (["-", "-"], "only one of the files can be standard input"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, options, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, gold=[GOLD])
    result = run("compare", "gold", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_files_of_systems_with_the_same_name_are_told_apart(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        write(tmp_path / name, trees=[GOLD])
    first, second = tmp_path / "a/trees", tmp_path / "b/trees"
    result = run("compare", first, first, second, "-n", 0)
    assert result.stdout.startswith(f"F1: {first} 100.00, {second} 100.00\n")


def test_a_tree_that_cannot_be_read_is_named(tmp_path):
    gold, untagged, short = write(
        tmp_path, gold=[OTHER, OTHER], bare=[OTHER, "(S (NP the dogs) bark)"], short=[OTHER]
    )
    result = run("compare", gold, gold, untagged)
    assert (result.exit_code, f"{untagged}:2: " in result.stderr) == (2, True)
    result = run("compare", gold, short, gold)
    assert (result.exit_code, f"{short}:2: the file ends" in result.stderr) == (2, True)


def _samples(folder, words, **indices):
    """Files of one sample of each of these sentences, and their likelihoods; the options that name them."""
    found = []
    for name, of_system in indices.items():
        props, likelihoods = folder / f"{name}.p", folder / f"{name}.l"
        props.write_text("".join(f"{i} ||| -1 ||| (S {words})\n" for i in of_system))
        likelihoods.write_text("".join(f"{len(words.split())}\t{9 + i}\n" for i in of_system))
        found.append((props, likelihoods))
    return found


def test_perplexities_are_compared_of_the_same_sentences(tmp_path):
    [gold] = write(tmp_path, g=[GOLD] * 4)
    words = " ".join(trees(GOLD)[0].leaves())
    a, b, c = _samples(tmp_path, words, a=(0, 2, 3), b=(0, 1, 2), c=(0, 2))

    def compare(*systems):
        options = [part for of_system in systems for part in ("--samples", *of_system)]
        options += [part for path, _ in systems for part in ("--name", path)]
        return run("compare", gold, *[gold] * len(systems), "-n", 0, *options)

    result = compare(a, b, c)
    assert result.exit_code == 0, result.output
    said = "perplexity is of the 2 of 4 sentences that have samples and p > 0 by every system\n"
    assert said in result.stdout
    ppl = [line for line in result.stdout.splitlines() if line.startswith("perplexity: ")]
    values = {part.split()[-1] for part in ppl[0].split(", ")}
    assert len(ppl) == 1 and len(values) == 1
    assert (
        "perplexity is of" not in compare(*_samples(tmp_path, words, d=range(4), e=range(4))).stdout
    )
    [short] = _samples(tmp_path, "the cat", short=(0, 2))
    result = compare(a, short)
    assert result.exit_code == 2
    assert f"{short[0]}: sentence 1 has 2 words, {len(words.split())} in {a[0]}" in result.stderr
    [apart] = _samples(tmp_path, words, apart=(1,))
    result = compare(a, apart)
    assert result.exit_code == 2
    assert "no sentence has samples and p > 0 by every system" in result.stderr


def test_the_command_prints_all_parts(tmp_path):
    paths = write(tmp_path, g=[GOLD, OTHER], b=[POOR, OTHER], c=[FLAT, OTHER])
    result = run("compare", *paths, "-n", 1)
    assert result.exit_code == 0, result.output
    f1 = [score_files(paths[0], path).f1 for path in paths[1:]]
    assert result.output.startswith(f"F1: b {f1[0]:.2f}, c {f1[1]:.2f}\n  c less b: +")
    for part in ("words in constituent", "label ", "sentence 1", f"gold  {GOLD}", f"b  {POOR}"):
        assert part in result.output
    assert "sentence 2" not in result.output
    named = run("compare", *paths, "--name", "buggy", "--name", "other")
    assert named.output.startswith(f"F1: buggy {f1[0]:.2f}, other {f1[1]:.2f}\n")
    assert " buggy F1 " in named.output and f"buggy  {POOR}" in named.output
    # an argument of bytes that are not UTF-8 is printed as it was given
    named = CliRunner().invoke(main, ["compare", *paths, "--name", "\udcff", "--name", "other"])
    assert named.stdout_bytes.startswith(b"F1: \xff ")
