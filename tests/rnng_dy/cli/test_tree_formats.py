"""`rnng-dy parse`: the forms of its outputs, --nbest, --decode mbr and --generator."""

import json
from pathlib import Path

import nltk
import pytest

from oracle.brackets import format_tree
from oracle.sentences import SourceSentence
from oracle.treebank import with_words
from rnng_dy import load
from rnng_dy.search import decoding
from rnng_dy.search.posterior import posterior
from rnng_dy.search.sampling import sample_batch
from rnng_dy.text.sources import NumberedSentence
from tests.commands import invoke
from tests.conftest import DATA

PARSER = DATA / "models-0.1.0" / "parser"
GENERATOR = DATA / "models-0.1.0" / "generator"
TEXT = "the_DT dog_NN ran_VBD ._.\n\na_DT cat_NN slept_VBD\n"
pytestmark = pytest.mark.usefixtures("here")


def parse(*options, text=TEXT, model=PARSER, code=0):
    Path("in.txt").write_text(text, encoding="utf-8")
    tagged = ["--tagged"] if "_" in text else []
    return invoke("-q", "parse", "--model", model, "in.txt", *tagged, *options, code=code)


def samples(text):
    """(sentence, log q, tree) of each line."""
    rows = [line.split(" ||| ") for line in text.splitlines()]
    return [(int(index), float(log_q), nltk.Tree.fromstring(tree)) for index, log_q, tree in rows]


@pytest.mark.parametrize("words, most", [(24, 25), (100, 20), (400, 6), (10_000, 1)])
def test_a_batch_of_the_parser_holds_many_long_sentences_but_few_very_long_ones(words, most):
    items = [NumberedSentence(i, SourceSentence(("a",) * words, None, None, 1)) for i in range(40)]
    assert len(next(decoding.GreedyTrees().batches(items))) == most


def test_brackets_are_the_default_and_an_empty_line_stays():
    trees = parse().stdout
    assert parse("--format", "trees").stdout == trees
    first, empty, second = trees.splitlines()
    assert first.startswith("(S (NP (DT the)") and empty == "" and "(NN cat)" in second


@pytest.mark.parametrize(
    ("style", "options"),
    [("trees", ()), ("jsonl", ()), ("trees", ("--nbest", 4)), ("jsonl", ("--decode", "mbr"))],
)
def test_a_file_has_what_is_printed_with_any_number_of_jobs(style, options):
    shown = parse("--format", style, *options).stdout
    assert parse("--format", style, *options, "-o", "out", "--jobs", 2).stdout == ""
    assert Path("out").read_text(encoding="utf-8") == shown
    assert sorted(path.name for path in Path().iterdir()) == ["in.txt", "out"]


def test_the_best_trees_come_best_first_with_their_log_q():
    found = samples(parse("--nbest", 5).stdout)
    assert [index for index, *_ in found] == [0] * 5 + [2] * 5
    parser = load(PARSER)
    log_qs = [q for _, q, _ in found]
    assert log_qs == pytest.approx([parser.log_prob(t) for *_, t in found], abs=1e-4)
    assert log_qs[:5] == sorted(log_qs[:5], reverse=True)
    greedy = nltk.Tree.fromstring(parse().stdout.splitlines()[0])
    assert found[0][1] >= parser.log_prob(greedy) - 1e-4


def test_mbr_trees_are_decided_from_the_samples():
    parser, sentences = load(PARSER), {0: TEXT.split("\n")[0], 2: TEXT.split("\n")[2]}

    def posterior_of(number, n, seed):
        words, tags = zip(*(token.split("_") for token in sentences[number].split()), strict=True)
        [drawn] = sample_batch(parser, [parser.encode(words, tags)], n, 1.0, [[seed, number]])
        trees = [(parser.tree_of(actions, words, tags), log_q) for actions, log_q in drawn]
        return posterior(trees, preterminals=True)

    trees = parse("--decode", "mbr", "--samples", 30, "--seed", 3).stdout.splitlines()
    for number in sentences:
        assert nltk.Tree.fromstring(trees[number]) == posterior_of(number, 30, 3).decode()
    assert trees[1] == ""
    by_100 = parse("--decode", "mbr", "--samples", 100).stdout
    assert parse("--decode", "mbr", "--jobs", 2).stdout == by_100
    [row, *_] = map(json.loads, parse("--decode", "mbr", "--format", "jsonl").stdout.splitlines())
    [found] = row["trees"]
    assert (found["tree"], found["log_prob"]) == (by_100.splitlines()[0], None)
    expected = posterior_of(0, 100, 1).of_constituents(nltk.Tree.fromstring(found["tree"]))
    assert found["posteriors"] == pytest.approx(expected, abs=1e-6)


def test_both_models_decide_with_a_generator():
    options = "--samples", 30, "--seed", 3
    both = *options, "--generator", GENERATOR
    trees = parse(*both).stdout.splitlines()
    invoke("-q", "sample", "--model", PARSER, "in.txt", "--tagged", *options, "-o", "props")
    scores = invoke("-q", "score", "--model", GENERATOR, "props").stdout.splitlines()
    log_joint = [-float(line.split("\t")[1]) for line in scores]
    drawn = samples(Path("props").read_text())
    for number, tagged in ((0, "the_DT dog_NN ran_VBD ._."), (2, "a_DT cat_NN slept_VBD")):
        chosen = [i for i, (index, *_) in enumerate(drawn) if index == number]
        pairs = [drawn[i][2:0:-1] for i in chosen]
        given = [log_joint[i] for i in chosen]
        expected = posterior(pairs, given, preterminals=False, weight=0.2).decode()
        tokens, tags = zip(*(token.split("_") for token in tagged.split()), strict=True)
        assert trees[number] == format_tree(with_words(expected, tokens, tags))
    assert trees[1] == ""
    assert parse(*both, "--jobs", 2).stdout.splitlines() == trees
    [row, *_] = map(json.loads, parse(*both, "--format", "jsonl").stdout.splitlines())
    assert row["trees"][0]["tree"] == trees[0] and row["trees"][0]["posteriors"]


def test_a_generator_decides_beside_a_parser_only():
    assert "--nbest" in parse("--generator", GENERATOR, "--nbest", 2, code=2).stderr
    assert "--decode" in parse("--generator", GENERATOR, "--decode", "best", code=2).stderr
    assert "rerank" in parse("--generator", GENERATOR, model=GENERATOR, code=2).stderr
    assert "generative" in parse("--generator", PARSER, code=2).stderr


def test_mbr_goes_with_samples_of_a_parser_only():
    assert "--nbest" in parse("--decode", "mbr", "--nbest", 2, code=2).stderr
    assert "rerank" in parse("--decode", "mbr", model=GENERATOR, code=2).stderr


def test_json_has_tokens_tags_and_trees():
    lines = parse("--format", "jsonl", "--nbest", 2).stdout.split("\n")[:-1]
    rows = [*map(json.loads, lines)]
    assert [(row["sentence"], row["line"]) for row in rows] == [(1, 1), (2, 2), (3, 3)]
    pairs = [("a", "DT"), ("cat", "NN"), ("slept", "VBD")]
    assert rows[2]["tokens"] == [{"token": token, "tag": tag} for token, tag in pairs]
    assert (rows[1]["tokens"], rows[1]["trees"], rows[0]["text"]) == ([], [], None)
    trees = rows[0]["trees"]
    assert [set(tree) for tree in trees] == [{"tree", "log_prob"}] * 2
    log_q = load(PARSER).log_prob(nltk.Tree.fromstring(trees[0]["tree"]))
    assert trees[0]["log_prob"] == pytest.approx(log_q, abs=1e-4)


def test_a_sentence_that_does_not_fit_into_memory_keeps_its_place(monkeypatch):
    whole = decoding.parse_batch

    def small(parser, sentences):
        if any(len(sentence.words) > 3 for sentence in sentences):
            raise MemoryError
        return whole(parser, sentences)

    monkeypatch.setattr(decoding, "parse_batch", small)
    result = parse("--format", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [len(row["trees"]) for row in rows] == [0, 0, 1]
    assert len(rows[0]["tokens"]) == 4 and "in.txt:1: left out" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "xml"), "is not one of 'trees', 'jsonl'"),
        (("--samples", 2), "--samples goes with --decode mbr or --generator"),
        (("-o", "a.trees", "-o", "b.trees"), "would both hold trees"),
        (("-o", "a.trees", "-o", "b.jsonl"), "give one -o"),
        (("-o", "a.svg"), "this command writes .trees, .jsonl"),
        (("--nbest", 0), "--nbest"),
        (("--samples", 0), "--samples"),
        (("--nbest", 9, "--beam", 8), "--nbest 9 needs --beam 9 or more"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    assert message in " ".join(parse(*options, code=2).stderr.split())


def test_tokens_of_raw_text_say_where_they_stood():
    text = 'The cat (a "big" one) ran.\n'
    row = json.loads(parse("--text", "--format", "jsonl", text=text, model=GENERATOR).stdout)
    assert row["text"] == text.strip()
    places = [(token["token"], text[token["start"] : token["end"]]) for token in row["tokens"]]
    assert places[2:7] == [("-LRB-", "("), ("a", "a"), ("``", '"'), ("big", "big"), ("''", '"')]
