"""EVALB's rules: scores counted by hand, and by their definitions."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree

from oracle.common.errors import InputError
from rnng_dy.evaluation.evalb import Scores, read_one_per_line, score
from rnng_dy.evaluation.evalb_params import NEW, Params
from rnng_dy.evaluation.evalb_report import format_evalb
from rnng_dy.evaluation.evalb_sentence import SentenceScore, Status, score_sentence


def tree(text: str) -> Tree:
    return Tree.fromstring(text) if text else Tree("", [])


GOLD = "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .))"
# gold, system, (matched, gold brackets, system brackets, crossing, words, correct tags)
BY_HAND = {
    "identical": (GOLD, GOLD, (3, 3, 3, 0, 3, 3)),
    "another label": (GOLD, GOLD.replace("VP", "NP"), (2, 3, 3, 0, 3, 3)),
    "a tag changed": (GOLD, GOLD.replace("VBZ", "NNS"), (3, 3, 3, 0, 3, 2)),
    "punctuation may hang anywhere, since it is deleted": (
        "(S (NP (NN a) (, ,) (NN b)) (VP (VB c)) (. .))", "(S (NP (NN a) (NN b)) (, ,) (VP (VB c) (. .)))",
        (3, 3, 3, 0, 3, 3)),
    "TOP is deleted on either side": (f"(TOP {GOLD})", GOLD, (3, 3, 3, 0, 3, 3)),
    "ADVP matches PRT": (
        "(VP (VB go) (PRT (RP up)) (ADVP (RB there)))", "(VP (VB go) (ADVP (RP up)) (PRT (RB there)))",
        (3, 3, 3, 0, 3, 3)),
    "each gold bracket takes the first free match": (
        "(X (ADVP (PRT (NN a))))", "(X (PRT (ADVP (NN a))))", (3, 3, 3, 0, 1, 1)),
    "a repeated bracket matches once": (
        "(NP (NP (NN a) (NN b)))", "(NP (NP (NP (NN a) (NN b))))", (2, 2, 3, 0, 2, 2)),
    "one crossing system bracket": (
        "(S (X (NN a) (NN b)) (Y (NN c) (NN d)))", "(S (NN a) (X (NN b) (NN c)) (NN d))",
        (1, 3, 2, 1, 4, 4)),
    "a system bracket that crosses two gold brackets counts once": (
        "(S (X (X (NN a) (NN b)) (NN c)) (NN d))", "(S (NN a) (X (NN b) (NN c) (NN d)))",
        (1, 3, 2, 1, 4, 4)),
    "labels are cut at - and =, tags are not": (
        "(S (NP-SBJ-1 (NN a)) (NP=2 (NN-X b)))", "(S (NP (NN a)) (NP (NN b)))", (3, 3, 3, 0, 2, 1)),
    "a trace and what it empties are deleted": (
        "(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))", (2, 2, 2, 0, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("rule", BY_HAND)
def test_rules_of_collins_prm(rule):
    gold, system, expected = BY_HAND[rule]
    s = score_sentence(tree(gold), tree(system))
    assert (s.matched, s.gold, s.system, s.crossing, s.words, s.correct_tags) == expected
    assert s.status == 0
    assert s.complete == (s.matched == s.gold == s.system)


def test_a_deleted_label_takes_its_equals_along_for_brackets_not_for_tags():
    params = Params(delete_label=frozenset(["A"]), eq_label=frozenset([("A", "B")]))
    t = tree("(S (B (A x) (B y)))")
    s = score_sentence(t, t, params)
    assert (s.gold, s.words) == (1, 1)


def test_equal_words():
    params = Params(eq_word=frozenset([("colour", "color")]))
    gold, system = tree("(NP (NN color))"), tree("(NP (NN colour))")
    assert score_sentence(gold, system, params).complete
    assert score_sentence(gold, system).problem == "Words unmatch (color|colour)"


@pytest.mark.parametrize(
    ("gold", "system", "status", "length", "problem"),
    [
        ("(S (NN a) (. .))", "(S (NN a) (NN .))", 1, 2, "Length unmatch (1|2)"),
        ("(S (NN a) (NN b))", "(S (NN a) (NN c))", 1, 2, "Words unmatch (b|c)"),
        ("", "(S (NN a))", 1, 0, "Length unmatch (0|1)"),
        ("(S (NN a))", "", 2, 1, "No words in the system's tree"),
        ("(S (NN a))", "(S (. a))", 2, 1, "No words in the system's tree"),
        ("", "", 2, 0, "No words in the system's tree"),
    ],
)
def test_sentences_that_cannot_be_scored(gold, system, status, length, problem):
    s = score_sentence(tree(gold), tree(system))
    assert (s.status, s.length, s.problem) == (status, length, problem)
    assert (s.matched, s.gold, s.system, s.words, s.complete) == (0, 0, 0, 0, False)


QUOTED = "(S (NP (NNS dogs) (POS ')) (NP (NN b)) (NN c))"


@pytest.mark.parametrize("swap", [False, True])
def test_new_prm_puts_back_a_quote_that_one_side_deleted(swap):
    gold, system = tree(QUOTED), tree(QUOTED.replace("POS", "''"))
    if swap:
        gold, system = system, gold
    s = score_sentence(gold, system, NEW)
    assert (s.matched, s.gold, s.system, s.words, s.correct_tags) == (3, 3, 3, 4, 3)
    assert score_sentence(gold, system).status == 1


def test_a_quote_that_both_sides_keep_is_left_alone():
    gold = tree("(S (NP (NNS dogs) (POS ')) (NP (NN b) (POS ')) (NN c))")
    system = tree("(S (NP (NNS dogs) (POS ')) (NP (NN b) ('' ')) (NN c))")
    s = score_sentence(gold, system, NEW)
    assert (s.matched, s.gold, s.system, s.words, s.correct_tags) == (3, 3, 3, 5, 4)


def test_a_quote_is_put_back_inside_its_bracket():
    gold = tree("(S (X ('' ')) (Y (NN a) ('' ')) (Z (NN b)))")
    system = tree("(S (X (POS ')) (Y (NN a) (POS ')) (Z (NN b)))")
    s = score_sentence(gold, system, NEW)
    assert (s.matched, s.gold, s.system, s.words, s.correct_tags) == (4, 4, 4, 4, 2)


# --- wrong and missed constituents, numbered from the top down


@pytest.mark.parametrize(
    ("gold", "system", "missed", "wrong"),
    [
        ("(S (NP (DT a)) (VP (V b)))", "(S (NP (DT a)) (VP (V b)))", [], []),
        ("(S (NP (DT a)) (VP (V b)))", "(S (PP (DT a)) (VP (V b)))", [1], [1]),
        ("(S (NP (DT a)) (VP (V b)))", "(S (NP (DT a)) (V b))", [2], []),
        ("(S (NP (N a)) (V b))", "(S (NP (NP (N a))) (V b))", [], [2]),
        ("(S (NP (NP (N a))) (V b))", "(S (NP (N a)) (V b))", [2], []),
        # what does not count is not marked: TOP, punctuation, function tags
        ("(TOP (S (NP-SBJ (N a)) (PRT (R b)) (. .)))", "(S (NP (N a)) (ADVP (R b) (. .)))", [], []),
        ("(S (N a) (N b))", "(S (. .) (. .))", [], []),
    ],
)
def test_wrong_and_missed_constituents(gold, system, missed, wrong):
    s = score_sentence(tree(gold), tree(system))
    assert (sorted(s.missed), sorted(s.wrong)) == (missed, wrong)


# --- a corpus


def test_corpus_scores_sum_over_the_scored_sentences():
    golds = [GOLD, "(S (NN a) (NN b))", "(S (NN a))", "(S (X (NN a) (NN b)) (NN c))"]
    systems = [GOLD, "(S (NN a) (NN c))", "", "(S (NN a) (X (NN b) (NN c)))"]
    scores = score([tree(t) for t in golds], [tree(t) for t in systems])
    assert scores.recall == scores.precision == scores.f1 == 80.0
    assert scores.figures() == {
        **{"sentences": 4, "errors": 1, "skipped": 1, "valid": 2},
        **{"recall": 80.0, "precision": 80.0, "f1": 80.0, "complete_match": 50.0},
        **{"average_crossing": 0.5, "no_crossing": 50.0, "two_or_less_crossing": 100.0},
        "tagging_accuracy": 100.0,
    }
    assert [number for number, _ in scores.unscorable] == [2, 3]
    two = Scores((SentenceScore(Status.SCORED, 5, crossing=2),))
    assert two.figures()["two_or_less_crossing"] == 100


def test_nothing_to_score_gives_zeros():
    scores = score([tree("")], [tree("")])
    assert set(scores.figures().values()) == {0, 1}
    listing = format_evalb(scores)
    assert "Bracketing FMeasure       =   -nan\n" in listing
    assert "\n      0     0     0.00\n=== Summary ===\n" in listing


def test_different_numbers_of_trees_are_refused():
    with pytest.raises(InputError, match="system:2: there is no tree here, and gold has one"):
        score([tree(GOLD)] * 2, [tree(GOLD)])


def test_no_limit_on_words_sentences_and_depth():
    word = "x" * 5000
    gold = tree("(S " + f"(NN {word}) " * 1000 + ")")
    s = score_sentence(gold, gold)
    assert (s.words, s.matched, s.complete) == (1000, 1, True)
    deep = Tree("NN", ["x"])
    for _ in range(5000):
        deep = Tree("NP", [deep])
    assert score_sentence(deep, deep).matched == 5000


@st.composite
def drawn(draw, start: int = 0, end: int = 7) -> Tree:
    """Trees over the words start .. end-1, unary chains among them."""
    cuts = draw(st.sets(st.integers(start, end), max_size=3)) | {start, end}
    edges = sorted(cuts)
    children = []
    for left, right in pairwise(edges):
        if draw(st.booleans()):
            children.append(draw(drawn(left, right)))
        else:
            children += [Tree("T", [str(word)]) for word in range(left, right)]
    return Tree(draw(st.sampled_from("AB")), children)


def brackets(t: Tree) -> list[tuple[str, int, int]]:
    """Label, begin and end of each constituent, of a tree whose words are their places."""
    constituents = t.subtrees(lambda node: node.height() > 2)
    spans = ((node.label(), node.leaves()) for node in constituents)
    return [(label, int(leaves[0]), int(leaves[-1]) + 1) for label, leaves in spans]


@given(drawn(), drawn())
def test_matches_and_crossings_agree_with_their_definitions(gold, system):
    a, b = brackets(gold), brackets(system)
    s = score_sentence(gold, system, Params())
    assert s.matched == sum(min(a.count(x), b.count(x)) for x in set(a))
    assert s.crossing == sum(
        any(i < start < j < end or start < i < end < j for _, i, j in a) for _, start, end in b
    )


def test_an_empty_line_before_the_first_tree_hides_no_tree_of_several_lines(tmp_path):
    (tmp_path / "a.mrg").write_text("\n( (S\n  (A a)))\n")
    [tree] = read_one_per_line(str(tmp_path / "a.mrg"))
    assert tree.leaves() == ["a"]


def test_roots_that_count_and_only_one_file_has_are_warned_of(caplog):
    bare, unnamed, root = map(tree, ["(S (A a))", "( (S (A a)))", "(ROOT (S (A a)))"])
    score([unnamed, bare, root], [unnamed, tree("(TOP (S (A a)))"), tree("")])
    assert not caplog.text
    assert score([unnamed, bare], [bare, root]).recall == pytest.approx(100 * 2 / 3)
    for label in ("", "ROOT"):
        assert f"only one file has the roots ({label} ...) of 1 trees, which count" in caplog.text
