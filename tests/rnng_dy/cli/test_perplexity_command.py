"""`rnng-dy perplexity` of the generative model, by its searches."""

from __future__ import annotations

import errno
import json
import math
import re
from dataclasses import replace

import pytest

from oracle.blocks import write_oracle
from oracle.brackets import read_trees
from oracle.files import replacing
from oracle.samples import read_likelihoods
from oracle.treebank import words
from rnng_dy.cli import perplexity as module
from rnng_dy.evaluation.perplexity import gap
from rnng_dy.search.importance import read_sampled
from rnng_dy.search.surprisal import SearchOptions, measure
from tests.commands import invoke, value

from ..conftest import make_generator, make_parser

SEARCH = ["--beam", "30", "--fast-track", "3", "--word-beam", "5"]
OPTIONS = SearchOptions("beam", 30, 3, 5)
SENTENCES = 10


@pytest.fixture
def folder(tmp_path, monkeypatch, sentences, generative_sentences):
    """A folder with both models, oracles and samples, in which commands run."""
    monkeypatch.chdir(tmp_path)
    make_parser(sentences).save("parser")
    make_generator(generative_sentences).save("generator")
    for name, of_kind in (("test.oracle", sentences), ("test.gen.oracle", generative_sentences)):
        with replacing(name) as stream:
            write_oracle(of_kind[:SENTENCES], stream)
    return tmp_path


def perplexity(*more, code=0, source="test.gen.oracle"):
    return invoke("perplexity", source, "--model", "generator", *SEARCH, *more, code=code)


def measured(generator, sentences, options=OPTIONS):
    tokens, unkified = [s.tokens for s in sentences], [s.unkified for s in sentences]
    return list(measure(generator, tokens, options, True, unkified))


def test_likelihood_and_trees_are_those_of_the_search(folder, generator, generative_sentences):
    chosen = generative_sentences[:SENTENCES]
    expected = measured(generator, chosen)
    said = perplexity("-o", "one", "--trees", "trees", "--json", "json").stdout
    log_ps = [m.log_mass for m in expected]
    total = sum(len(s.tokens) for s in chosen)
    assert value("LLH", said) == pytest.approx(math.fsum(log_ps), rel=1e-5)
    assert value("PPL", said) == pytest.approx(math.exp(-math.fsum(log_ps) / total), rel=1e-4)
    assert value("seconds", said) >= 0
    rows = read_likelihoods("one")
    assert [n for n, _ in rows] == [len(s.tokens) for s in chosen]
    assert [-p for _, p in rows] == pytest.approx(log_ps, rel=1e-5)
    numbers = json.loads((folder / "json").read_text())
    assert numbers["llh"] == pytest.approx(value("LLH", said))
    assert numbers["search"]["beam"] == 30
    trees = [located.tree for located in read_trees("trees")]
    assert [tuple(words(tree)) for tree in trees] == [s.tokens for s in chosen]
    best = [generator.transitions.actions_of(tree) for tree in trees]
    assert best == [list(m.trees[0].actions) for m in expected]
    assert not list(folder.glob("*.sentences*"))
    # `parse` finds the same
    invoke("parse", "--model", "generator", *SEARCH, "test.gen.oracle", "-o", "parsed")
    assert (folder / "parsed").read_text() == (folder / "trees").read_text()


def test_trees_and_text_are_read_as_surprisal_reads_them(folder, generative_sentences):
    chosen = generative_sentences[:SENTENCES]
    (folder / "text").write_text("".join(f"{' '.join(s.tokens)}\n\n" for s in chosen))
    perplexity("--trees", "trees", "-o", "of-oracle")
    perplexity("-o", "of-trees", source="trees")
    perplexity("-o", "of-text", "--text", source="text")
    assert (folder / "of-trees").read_bytes() == (folder / "of-oracle").read_bytes()
    assert (folder / "of-text").read_bytes() == (folder / "of-oracle").read_bytes()
    ngrams = ("--kneser-ney", "test.gen.oracle")
    found = {invoke("perplexity", path, *ngrams).stdout for path in ("trees", "test.gen.oracle")}
    assert len(found) == 1


def test_ends_of_sentences_are_words_only_where_that_is_asked(folder, generative_sentences):
    given = ("perplexity", "test.gen.oracle", "--kneser-ney", "test.gen.oracle", "--json", "json")
    found = []
    for more in ((), ("--with-eos",)):
        invoke(*given, *more)
        found.append(json.loads((folder / "json").read_text()))
    plain, with_ends = found
    total = sum(len(s.tokens) for s in generative_sentences[:SENTENCES])
    assert (plain["words"], with_ends["words"]) == (total, total + SENTENCES)
    assert plain["llh"] == with_ends["llh"]


@pytest.mark.parametrize("search", ["beam", "particles", "variable"])
def test_jobs_change_nothing_for_any_search(folder, search):
    sizes = {"beam": SEARCH, "particles": ["--runs", "2", "--particles", "20"]}
    given = ("--search", search, *sizes.get(search, ["--particles", "20"]), "--seed", "3")
    command = ("perplexity", "test.gen.oracle", "--model", "generator", *given)
    invoke(*command, "-o", "one")
    invoke(*command, "-o", "two", "--jobs", "2", "--resume")
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()


def test_a_finished_search_is_kept_until_all_is_written(folder, monkeypatch):
    """A full disk after the search: the next run reads what was found."""
    perplexity("-o", "one", "--trees", "trees")

    def full(path, lines):
        raise OSError(errno.ENOSPC, "No space left on device", path)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_output", full)
        perplexity("-o", "two", "--trees", "trees", code=2)
        assert (folder / "two.part").exists()
    with monkeypatch.context() as patch:
        patch.setattr(module.marginals, "marginal_lines", lambda *given: pytest.fail())
        perplexity("-o", "two", "--trees", "trees", "--resume")
    assert (folder / "two").read_bytes() == (folder / "one").read_bytes()
    assert not (folder / "two.part").exists()


def test_a_wider_word_beam_finds_more(folder):
    found = [(), ("--word-beam", "30")]
    kept, wide = (value("LLH", perplexity(*given).stdout) for given in found)
    assert wide > kept + 0.01


def test_importance_sampling_stands_beside_it(folder):
    invoke("sample", "--model", "parser", "--samples", "5", "test.oracle", "-o", "props")
    invoke("score", "--model", "generator", "props", "-o", "scores")
    given = ("--samples", "props", "--likelihoods", "scores")
    said = perplexity(*given, "-o", "one", "--json", "json").stdout
    searched = [-negative for _, negative in read_likelihoods("one")]
    sampled = read_sampled("props", "scores")
    lengths = [of_sentence.words for of_sentence in sampled]
    expected = gap(searched, [s.estimate.log_marginal for s in sampled], lengths)
    numbers = json.loads((folder / "json").read_text())["beside_samples"]
    for name in ("nats_per_sentence", "nats_per_word", "ratio"):
        assert numbers[name] == pytest.approx(getattr(expected, name), rel=1e-5)
    assert numbers["above"] == expected.above
    assert numbers["sampled"]["llh"] == pytest.approx(expected.sampled.llh)
    assert f"search above samples: {expected.above} sentences" in said
    # samples of some sentences alone are beside these alone
    lines = (folder / "props").read_text().splitlines(True)
    (folder / "props").write_text("".join(lines[5:15]))
    scores = (folder / "scores").read_text().splitlines(True)
    (folder / "scores").write_text("".join(scores[5:15]))
    assert "p > 0 by search and samples: 2 sentences" in perplexity(*given).stdout
    # the probability of other words is no estimate for the sentence
    word = sampled[1].samples[0][0].tree.leaves()[0]
    (folder / "props").write_text("".join(lines[5:15]).replace(f" {word}", " UNK-CAPS-NUM"))
    result = perplexity(*given)
    assert (
        f"left out, whose samples have other words than the generative model reads, such as UNK-CAPS-NUM for {word}"
        in result.stderr
    )
    assert "p > 0 by search and samples: 1 sentences" in result.stdout


def test_samples_belong_to_their_sentences_beside_empty_lines(folder, sentences):
    tagged = [map("_".join, zip(s.tokens, s.tags, strict=True)) for s in sentences[:2]]
    lines = [" ".join(words) + "\n" for words in tagged]
    found = []
    for name, text in (("dense", lines), ("sparse", [lines[0], "\n", lines[1]])):
        (folder / name).write_text("".join(text), encoding="utf-8")
        invoke("sample", "--model", "parser", "--samples", "5", "--tagged", name, "-o", "props")
        invoke("score", "--model", "generator", "props", "-o", "scores")
        given = ("--samples", "props", "--likelihoods", "scores", "--json", "json")
        perplexity(*given, "--tagged", source=name)
        found.append(json.loads((folder / "json").read_text())["beside_samples"])
    assert found[0]["sampled"]["sentences"] == found[1]["sampled"]["sentences"] == 2


def test_sentences_without_probability_are_named_and_left_out(folder, generative_sentences):
    first, second = generative_sentences[:2]
    unseen = replace(first, unkified=("UNK-NEVER", *first.unkified[1:]))
    with replacing("odd.gen.oracle") as stream:
        write_oracle([unseen, second], stream)
    result = perplexity("-o", "one", "--trees", "trees", source="odd.gen.oracle")
    assert re.search(r"odd.gen.oracle:1: p = 0, .*\(UNK-NEVER\)", result.stderr)
    assert "sentences=1 of 2" in result.stdout
    words = [word for s in (unseen, second) for word in zip(s.tokens, s.unkified, strict=True)]
    unknown = [token for token, word in words if token != word]
    said = f"words outside the model's vocabulary: {len(unknown)} of {len(words)}, "
    assert said in result.stderr and unknown[0] in result.stderr
    assert (folder / "one").read_text().splitlines()[0] == f"{len(first.tokens)}\tinf"
    lines = (folder / "trees").read_text().splitlines()
    assert [bool(line) for line in lines] == [False, True]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--samples", "props"], "go together"),
        (["--likelihoods", "scores"], "go together"),
        (["--samples", "props", "--likelihoods", "scores"], "props"),
        (["--samples", "odd", "--likelihoods", "odd.scores"], "odd:1: "),
        (["--trees", "test.gen.oracle"], "test.gen.oracle"),
        (["-o", "one", "--trees", "one"], "one is the name of two outputs"),
        (["--kneser-ney", "test.gen.oracle"], "either"),
        (["--order", "3"], "--order is for n-gram models"),
    ],
)
def test_what_does_not_fit_is_refused(folder, given, says):
    (folder / "odd").write_text("0 ||| -1 ||| (S a)\n")
    (folder / "odd.scores").write_text("1\t2\n")
    assert says in perplexity(*given, code=2).output


@pytest.mark.parametrize(
    "option", ["--samples props --likelihoods scores", "--trees trees", "--beam 9"]
)
def test_other_models_have_neither_samples_nor_trees_nor_searches(folder, option):
    given = ("--kneser-ney", "test.gen.oracle", *option.split())
    assert "generative model" in invoke("perplexity", "test.gen.oracle", *given, code=2).output
