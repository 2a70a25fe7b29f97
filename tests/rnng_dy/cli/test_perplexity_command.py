"""`rnng-dy perplexity` of the generative model, by its searches."""

import errno
import json
import math
import re
from dataclasses import replace

import pytest

from oracle.brackets import read_trees
from oracle.samples import read_likelihoods
from oracle.treebank import words
from rnng_dy.cli import perplexity as module
from rnng_dy.evaluation.significance import perplexity_difference
from rnng_dy.search.importance import read_sampled
from rnng_dy.search.surprisal import SearchOptions, measure
from tests.commands import invoke, value

from ..conftest import make_generator, make_parser, save_oracle

SEARCH = ["--beam", "30", "--fast-track", "3", "--word-beam", "5"]
OPTIONS = SearchOptions("beam", 30, 3, 5)
SENTENCES = 10


@pytest.fixture
def folder(here, sentences, generative_sentences):
    """A folder with both models, oracles and samples, in which commands run."""
    make_parser(sentences).save("parser")
    make_generator(generative_sentences).save("generator")
    for name, of_kind in (("test.oracle", sentences), ("test.gen.oracle", generative_sentences)):
        save_oracle(name, of_kind[:SENTENCES])
    return here


def perplexity(*more, code=0, source="test.gen.oracle"):
    return invoke("perplexity", source, "--model", "generator", *SEARCH, *more, code=code)


def measured(generator, sentences, options=OPTIONS):
    tokens, unkified = [s.tokens for s in sentences], [s.unkified for s in sentences]
    return list(measure(generator, tokens, options, True, unkified))


def test_likelihood_and_trees_are_those_of_the_search(folder, generator, generative_sentences):
    chosen = generative_sentences[:SENTENCES]
    expected = measured(generator, chosen)
    said = perplexity("-o", "one.tsv", "-o", "one.json", "-o", "-").stdout
    log_ps = [m.log_mass for m in expected]
    total = sum(len(s.tokens) for s in chosen)
    assert value("LLH", said) == pytest.approx(math.fsum(log_ps), rel=1e-5)
    assert value("PPL", said) == pytest.approx(math.exp(-math.fsum(log_ps) / total), rel=1e-4)
    rows = read_likelihoods("one.tsv")
    assert [n for n, _ in rows] == [len(s.tokens) for s in chosen]
    assert [-p for _, p in rows] == pytest.approx(log_ps, rel=1e-5)
    numbers = json.loads((folder / "one.json").read_text())
    assert numbers["llh"] == pytest.approx(value("LLH", said))
    assert numbers["search"]["beam"] == 30
    invoke("parse", "--model", "generator", *SEARCH, "test.gen.oracle", "-o", "parsed")
    trees = [located.tree for located in read_trees("parsed")]
    assert [tuple(words(tree)) for tree in trees] == [s.tokens for s in chosen]
    best = [generator.transitions.actions_of(tree) for tree in trees]
    assert best == [list(m.trees[0].actions) for m in expected]


def test_trees_and_text_are_read_as_surprisal_reads_them(folder, generative_sentences):
    chosen = generative_sentences[:SENTENCES]
    (folder / "text").write_text("".join(f"{' '.join(s.tokens)}\n\n" for s in chosen))
    invoke("parse", "--model", "generator", *SEARCH, "test.gen.oracle", "-o", "some.trees")
    perplexity("-o", "of-oracle.tsv")
    perplexity("-o", "of-trees.tsv", source="some.trees")
    perplexity("-o", "of-text.tsv", "--text", source="text")
    contents = {(folder / f"of-{name}.tsv").read_bytes() for name in ("oracle", "trees", "text")}
    assert len(contents) == 1
    ngrams = ("--scorer", "kneser-ney=test.gen.oracle")
    sources = "some.trees", "test.gen.oracle"
    assert len({invoke("perplexity", source, *ngrams).stdout for source in sources}) == 1


def test_particles_draw_as_in_surprisal_after_an_empty_line(folder):
    (folder / "gap").write_text("the train\n\nthe train\n", encoding="utf-8")
    options = ("gap", "--model", "generator", "--search", "particles", "--particles", "9")
    invoke("surprisal", *options, "--end", "-o", "words.jsonl")
    lines = (folder / "words.jsonl").read_text().splitlines()
    bits = sum(word["surprisal"] for line in lines for word in json.loads(line)["words"])
    assert value("LLH", invoke("perplexity", *options).stdout) == pytest.approx(-bits * math.log(2))


def test_a_finished_search_is_kept_until_all_is_written(folder, monkeypatch):
    """A full disk after the search: the next run reads what was found."""
    perplexity("-o", "one.tsv", "-o", "one.json")

    def full(path, lines):
        raise OSError(errno.ENOSPC, "No space left on device", path)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_output", full)
        perplexity("-o", "two.tsv", "-o", "two.json", code=2)
        assert (folder / "two.tsv.part").exists()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_searched", lambda *_, **options: pytest.fail())
        perplexity("-o", "two.tsv", "-o", "two.json")
    assert (folder / "two.tsv").read_bytes() == (folder / "one.tsv").read_bytes()
    assert not (folder / "two.tsv.part").exists()


def test_two_models_are_compared_on_the_sentences_of_both(folder):
    perplexity("-o", "search.tsv")
    ngrams = ("perplexity", "test.gen.oracle", "--scorer", "kneser-ney=test.gen.oracle")
    said = invoke(*ngrams, "--against", "search.tsv", "-o", "-", "-o", "numbers.json").stdout
    other = [-negative for _, negative in read_likelihoods("search.tsv")]
    invoke(*ngrams, "-o", "ngrams.tsv")
    rows = read_likelihoods("ngrams.tsv")
    own, lengths = [-negative for _, negative in rows], [n for n, _ in rows]
    less = perplexity_difference(other, own, lengths)
    assert f"\ndifference: {less.value:.6g} (95 % interval {less.low:.6g} to " in said
    assert f"), p={less.p:.4g}\n" in said
    gap = (math.fsum(other) - math.fsum(own)) / len(own)
    assert f"gap: {gap:.6g} nats per sentence" in said
    numbers = json.loads((folder / "numbers.json").read_text())["against"]
    assert numbers["difference"]["p"] == less.p
    assert numbers["second"]["llh"] == pytest.approx(math.fsum(other), rel=1e-8)


def test_importance_sampling_stands_beside_a_search(folder):
    invoke("sample", "--model", "parser", "--samples", "5", "test.oracle", "-o", "props")
    invoke("score", "--model", "generator", "props", "-o", "scores")
    (folder / "sampled").write_text(invoke("rerank", "props", "scores").stdout)
    said = perplexity("--against", "sampled", "-o", "-", "-o", "one.tsv").stdout
    searched = [-negative for _, negative in read_likelihoods("one.tsv")]
    sampled = read_sampled("props", "scores")
    expected = math.fsum(s.estimate.log_marginal for s in sampled) - math.fsum(searched)
    found = float(re.search(r"^gap: (\S+) nats per sentence", said, re.MULTILINE)[1])
    assert found == pytest.approx(expected / len(searched), rel=1e-5)


def test_a_table_of_surprisals_has_a_perplexity(folder):
    rows = ["sentence_id\ttoken\tsurprisal", *("1\tgo\t3", "1\t.\t1", "1\t</s>\t2")]
    rows += ["2\tstop\t4"]
    (folder / "bits.tsv").write_text("\n".join(rows) + "\n")
    (folder / "text").write_text("go .\nstop\n")
    result = invoke("perplexity", "text", "--scorer", "surprisals=bits.tsv")
    assert value("PPL", result.stdout) == pytest.approx(8)
    says = "text:2: p = 0, a word or the end (`surprisal --end`) has no probability"
    assert says in result.stderr


def test_sentences_without_probability_are_named_and_left_out(folder, generative_sentences):
    first, second = generative_sentences[:2]
    # no class of a number with a dash and capitals is in the small training data
    tokens, classes = ("A1-S", *first.tokens[1:]), ("UNK-CAPS-NUM-DASH-s", *first.unkified[1:])
    unseen = replace(first, tokens=tokens, unkified=classes)
    save_oracle("odd.gen.oracle", [unseen, second])
    outputs = ("-o", "-", "-o", "one.tsv", "-o", "one.json")
    result = perplexity(*outputs, source="odd.gen.oracle")
    assert re.search(r"odd.gen.oracle:1: p = 0, .*\(UNK-CAPS-NUM-DASH-s\)", result.stderr)
    assert "sentences=1 of 2" in result.stdout
    words = [word for s in (unseen, second) for word in zip(s.tokens, s.unkified, strict=True)]
    unknown = [token for token, word in words if token != word]
    said = f"words outside the model's vocabulary: {len(unknown)} of {len(words)}, "
    assert said in result.stderr and unknown[0] in result.stderr
    header, row, _ = (folder / "one.tsv").read_text().splitlines()
    assert header.replace("\t", " ") == "words negative_log_p unknown vocabulary read model"
    here = sum(token != word for token, word in words[: len(first.tokens)])
    read = " ".join(unseen.unkified)
    assert row == f"{len(first.tokens)}\tinf\t{here}\tclosed\t{read}\tgenerator"
    figures = json.loads((folder / "one.json").read_text())
    assert (figures["model"], figures["vocabulary"]) == ("generator", "closed")
    assert sum(figures["unknown"]) == len(unknown)


def test_models_of_other_words_have_neither_interval_nor_p(folder, generative_sentences):
    """A table with another word; an open vocabulary; a file that does not say it."""
    perplexity("-o", "own.tsv")
    said = perplexity("--against", "own.tsv").stdout
    assert "\ndifference: 0 (95 % interval 0 to 0), no p" in said
    header, first, *rows = (folder / "own.tsv").read_text().splitlines()
    last = generative_sentences[0].unkified[-1]
    cells = [row.split("\t") for row in (first, *rows)]
    unlike, number = first.replace(f"{last}\tgenerator", "UNK\tgenerator"), cells[0][2]
    other = unlike.replace(f"\t{number}\tclosed", f"\t{int(number) + 1}\tclosed")
    printed = [f"prob: -{negative} (len={words})" for words, negative, *_ in cells]
    opened = [row.replace("closed", "open") for row in (first, *rows)]
    for table, says in (
        ([header, other, *rows], "its model knows other words ("),
        ([header, *opened], "one vocabulary is o"),
        (printed, "it does not say which words its model knows"),
    ):
        (folder / "other.tsv").write_text("\n".join(table) + "\n")
        result = perplexity("--against", "other.tsv", "-o", "-", "-o", "x.json")
        assert f"other.tsv: {says}" in result.stderr
        assert f"(no interval), no p: {says}" in result.stdout
        difference = json.loads((folder / "x.json").read_text())["against"]["difference"]
        assert [difference[name] for name in ("low", "high", "p")] == [None] * 3
    # a known word that differs is of another sentence
    (folder / "other.tsv").write_text("\n".join([header, unlike, *rows]))
    assert "other.tsv:2: not the words" in perplexity("--against", "other.tsv", code=2).stderr


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--against", "props"], "props"),
        (["--against", "odd"], "odd: not the numbers of words of the 10 sentences of INPUT"),
        (["--against", "joint"], "joint: neither a .tsv of `rnng-dy perplexity` nor what `rerank`"),
        (["--scorer", "kneser-ney=test.gen.oracle"], "either"),
        (["--clusters", "odd"], "--clusters goes with --scorer kneser-ney"),
    ],
)
def test_what_does_not_fit_is_refused(folder, given, says):
    (folder / "odd").write_text("words\tnegative_log_p\n1\t2\n")
    # what `score` writes has the probabilities of trees
    (folder / "joint").write_text("1\t2\n")
    assert says in perplexity(*given, code=2).output
